//! The client's end of Streamable HTTP, of all revisions, and of HTTP+SSE.
//!
//! The rules are in `oxmcp_proto::http::client`; here are the sockets and the tasks:
//!
//! | task | carries |
//! | --- | --- |
//! | `driver` | what the session says to its host, and its messages to the tasks below |
//! | `exchange`, one for each request | the POST, its answer or stream, and what has to follow |
//! | `lane` | notifications and answers to the server, in order |
//! | `listen` | the stream of a session, by GET |
//! | `http_sse` | the one stream of HTTP+SSE |
//!
//! What is sent waits in no queue without a bound: bytes that wait count against the backlog of the session. What
//! comes is read no faster than the host takes it.

mod body;
mod builder;
mod driver;
mod exchange;
mod http_sse;
mod lane;
mod listen;
mod own;
mod renew;
mod settings;
mod shared;
mod tls;
mod unauthorized;
mod wire;

pub(crate) use builder::HttpTransport;
pub use builder::{Http, HttpSse};
pub(crate) use driver::run;
pub use unauthorized::Unauthorized;
