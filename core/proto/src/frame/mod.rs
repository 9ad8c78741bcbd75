//! Framing: where one message ends and the next begins.

mod line;

pub use line::{Line, LineFramer};
