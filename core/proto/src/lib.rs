//! The Model Context Protocol as pure state machines.
//!
//! Nothing here knows a socket, a clock, a runtime or a source of randomness. A *driver* owns
//! those and moves a [`Session`] by five kinds of input, each of which returns at once:
//!
//! | input | when |
//! | --- | --- |
//! | [`receive`](Session::receive)`(bytes, now)` | the peer sent something, cut anywhere |
//! | [`begin`](Session::begin), [`notify`](Session::notify), [`cancel`](Session::cancel) | the program wants something of the peer |
//! | [`respond`](Session::respond), [`progress`](Session::progress), [`log`](Session::log), [`ask`](Session::ask) | a handler has something to say |
//! | [`handle_timeout`](Session::handle_timeout)`(now)` | the time of [`poll_timeout`](Session::poll_timeout) has come |
//! | [`end_input`](Session::end_input), [`close`](Session::close) | the connection ends, on their side or ours |
//!
//! After each input the driver drains [`poll_output`](Session::poll_output) until it gives `None`,
//! before the next input. [`notify`](Session::notify) and changes of the [`Registry`] may come several in
//! a row: the drain is the end of the driver's turn, and sends what is debounced once. [`Output::Wire`] comes after all other outputs, so that one drain makes
//! one write; what a handler emitted before its answer stands before it on the wire.
//!
//! A whole driver, for two sessions in memory:
//!
//! ```
//! use std::sync::Arc;
//! use oxmcp_proto::jsonrpc::json;
//! use oxmcp_proto::{Answer, CallOptions, Config, Implementation, Instant, Kind, Output, Registry, Session};
//!
//! let registry = Registry::new();
//! let greet = registry.add(Kind::Tool, "greet")?;
//! registry.describe(Kind::Tool, greet, &json(r#"{"name":"greet","inputSchema":{"type":"object"}}"#)?)?;
//! let mut server = Session::server(Config::new(Implementation::new("demo", "1.0")), Arc::new(registry));
//! let mut client = Session::client(Config::new(Implementation::new("demo", "1.0")));
//!
//! let now = Instant::default(); // a real driver reads its monotonic clock before each input
//! client.connect(None, now)?;
//! let mut greeting = None;
//! while greeting.is_none() {
//!     while let Some(output) = client.poll_output() {
//!         match output {
//!             Output::Wire(bytes) => server.receive(&bytes, now),
//!             Output::Ready(_) => {
//!                 client.call_tool("greet", Some(r#"{"name":"Ada"}"#), CallOptions::default(), now)?;
//!             }
//!             Output::Done { outcome, .. } => greeting = Some(outcome?),
//!             other => panic!("unexpected: {other:?}"),
//!         }
//!     }
//!     while let Some(output) = server.poll_output() {
//!         match output {
//!             Output::Wire(bytes) => client.receive(&bytes, now),
//!             Output::Call { id, .. } => {
//!                 server.respond(id, Answer::Result(r#"{"content":[{"type":"text","text":"Hello"}]}"#), now);
//!             }
//!             Output::Ready(_) => {}
//!             other => panic!("unexpected: {other:?}"),
//!         }
//!     }
//! }
//! assert!(greeting.unwrap().get().contains("Hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod child;
mod client;
mod few;
pub mod frame;
pub mod http;
pub mod jsonrpc;
mod revision;
pub mod schema;
mod seal;
mod server;
mod session;
mod time;
pub mod types;
pub mod uri_template;

pub use child::{ChildShutdown, ChildStep, INHERITED_VARIABLES};
pub use client::Verdicts;
#[doc(hidden)]
pub use few::Few;
pub use revision::Revision;
pub use seal::{Keyring, SealKey, SealKeyError};
pub use server::{Checks, EntryId, Kind, Registry, RegistryError, TakeOver, Watch};
pub use session::{
    Answer, CacheHints, CallOptions, Caller, Config, Direction, Error, ErrorKind, Fault, Implementation, InboundId,
    Limits, LogLevel, OutboundId, Output, Peer, Problem, ProblemKind, Role, Session, Stats, Target, Terms, TermsSet,
    duration_from_millis, encode_output, encode_text_result,
};
pub use time::Instant;
