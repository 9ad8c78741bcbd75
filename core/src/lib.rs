//! The Model Context Protocol for Rust, and the core under the oxmcp packages of every other language.
//!
//! A [`Server`] offers tools: async functions with typed arguments. A [`Client`] calls them. Both speak
//! every revision of the protocol with a handshake, 2024-11-05 to 2025-11-25.
//!
//! A whole server, for a client that starts it as a child process:
//!
//! ```no_run
//! use oxmcp::{Context, Server, ToolError};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Weather {
//!     /// The name of a city.
//!     city: String,
//! }
//!
//! async fn weather(ctx: Context, Weather { city }: Weather) -> Result<String, ToolError> {
//!     ctx.report_progress(1, Some(2.0), Some("looking out of the window"));
//!     Ok(format!("It is sunny in {city}."))
//! }
//!
//! fn main() -> Result<(), oxmcp::Error> {
//!     Server::new("weather", "1.0").tool("weather", "Tells the weather in a city.", weather).run_stdio()
//! }
//! ```
//!
//! And a client of it:
//!
//! ```no_run
//! use oxmcp::{ChildProcess, Client};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), oxmcp::Error> {
//!     let client = Client::connect(ChildProcess::new("./weather-server")).await?;
//!     let result = client.call_tool("weather", serde_json::json!({"city": "Oslo"})).await?;
//!     println!("{}", result.text());
//!     client.close().await;
//!     Ok(())
//! }
//! ```
//!
//! # What to rely on
//!
//! - A call without an answer fails after 60 s, or after the time that the client or the call sets. A call
//!   that times out or is dropped is cancelled at the server, and a late answer is dropped.
//! - No call outlives its connection: when that ends, calls fail with [`ErrorKind::Closed`], which says why.
//! - A handler whose call is cancelled is dropped at its next `await`; nothing more is written for it.
//! - Progress is written before the result it comes before.
//! - A line that is no message, a handler that panics, an answer to nothing: each is reported to the hook
//!   `on_problem`, and the connection goes on.
//! - A child process never outlives its client: closed input, 2 s, `SIGTERM`, 2 s, `SIGKILL`, to its whole group.
//! - On stdio, standard output is the wire, and stray prints go to standard error.
//! - Every bound is in [`Limits`]: 16 MiB per message, 128 levels of JSON, 16 MiB waiting to be written.
//!
//! # The parts
//!
//! The protocol itself is in `oxmcp-proto`, as state machines without I/O. This crate adds the runtime:
//! one driver per connection reads, moves the session, runs handlers and writes, on any tokio runtime.
//! Messages of one read are answered by one write.

#![deny(unsafe_code)]

mod client;
mod driver;
mod server;
pub mod transport;
mod types;

pub use client::{Call, Client, ClientBuilder};
pub use oxmcp_proto::{
    Direction, Error, ErrorKind, Fault, INHERITED_VARIABLES, Implementation, Limits, Peer, Problem, ProblemKind,
    Revision, jsonrpc,
};
pub use server::{Context, IntoToolResult, Json, NoArguments, Server, Serving, ServingHandle, ToolError};
pub use transport::ChildProcess;
pub use types::{CallToolResult, Content, MediaContent, Members, Progress, TextContent, Tool};

/// The version of this crate, which is the version of every oxmcp package built on it.
///
/// ```
/// assert_eq!(oxmcp::VERSION.split('.').count(), 3);
/// ```
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How much a connection holds, for tests and metrics. All is zero when nothing is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls of the peer that wait for an answer.
    pub inbound: usize,
    /// Calls of ours that wait for an answer.
    pub outbound: usize,
    /// Handlers that run.
    pub handlers: usize,
    /// Callers that wait.
    pub callers: usize,
    /// Bytes of a line that is not complete yet.
    pub buffered: usize,
    /// Bytes that wait to be written.
    pub unwritten: usize,
}

/// The examples of the crate's page, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Page;
