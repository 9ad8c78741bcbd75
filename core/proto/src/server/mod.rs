//! The server's registry: what it offers, and the answers that need no user code.

mod registry;

pub use registry::{Registry, RegistryError, ToolIndex};
