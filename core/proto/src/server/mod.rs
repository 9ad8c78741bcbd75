//! The server's registry: what it offers, and the answers that need no user code.

mod descriptor;
mod page;
mod registry;
mod table;

pub use registry::{Checks, EntryId, Kind, Registry, RegistryError, TakeOver, Watch};
pub(crate) use registry::{Found, PageError};
