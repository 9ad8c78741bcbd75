//! Framing: where one message ends and the next begins.

mod line;
pub mod sse;

pub use line::{Line, LineFramer};
