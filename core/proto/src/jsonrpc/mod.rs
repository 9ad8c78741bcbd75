//! JSON-RPC 2.0 as MCP uses it: ids, the four message shapes, errors, and the text of each.

mod canonical;
mod envelope;
mod error;
mod id;
mod message;
mod object;
mod params;
mod scan;
mod text;
pub(crate) mod write;

pub(crate) use canonical::{canonical, canonical_without};
pub use error::{ErrorCode, ErrorObject};
pub use id::RequestId;
pub use message::{Malformed, Meant, Message};
pub(crate) use message::{is_array, parse_batch, peek};
pub(crate) use object::ObjectWriter;
pub use params::Params;
pub use text::{Json, json};
pub(crate) use text::{Needle, decode_str, decode_str_lossy, members, object, reason};
