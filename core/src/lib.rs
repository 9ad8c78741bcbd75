//! The Model Context Protocol for Rust, and the core under the oxmcp packages of every other language.
//!
//! A [`Server`] offers tools, resources and prompts: async functions with typed arguments. A [`Client`] uses them.
//! Both speak every revision of the protocol, 2024-11-05 to 2026-07-28, and find out by themselves which one the
//! other side speaks; programs are the same for all.
//!
//! A whole server, for a client that starts it as a child process:
//!
//! ```no_run
//! use oxmcp::{Context, Elicited, HandlerError, Server, ToolError};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Weather {
//!     /// The name of a city.
//!     city: String,
//! }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Day {
//!     /// How many days from now.
//!     ahead: u32,
//! }
//!
//! async fn weather(ctx: Context, Weather { city }: Weather) -> Result<String, ToolError> {
//!     ctx.report_progress(1, Some(2.0), Some("looking out of the window"));
//!     match ctx.elicit::<Day>("For which day?").await? {
//!         Elicited::Accepted(Day { ahead: 0 }) => Ok(format!("It is sunny in {city}.")),
//!         Elicited::Accepted(_) => Err(ToolError::new("nobody knows the weather of tomorrow")),
//!         Elicited::Declined | Elicited::Cancelled => Ok("As you like.".to_owned()),
//!     }
//! }
//!
//! async fn city(_: Context, Weather { city }: Weather) -> Result<String, HandlerError> {
//!     Ok(format!("{city} is a city."))
//! }
//!
//! fn main() -> Result<(), oxmcp::Error> {
//!     Server::new("weather", "1.0")
//!         .tool("weather", "Tells the weather in a city.", weather)
//!         .resource_template("city://{city}", "city", city)
//!         .prompt("describe", "Describes a city.", city)
//!         .run_stdio()
//! }
//! ```
//!
//! And a client of it:
//!
//! ```no_run
//! use oxmcp::types::ElicitRequestFormParams;
//! use oxmcp::{ChildProcess, Client, ClientContext, Elicited};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), oxmcp::Error> {
//!     let client = Client::builder()
//!         .on_elicitation(|_: ClientContext, question: ElicitRequestFormParams| async move {
//!             println!("{}", question.message);
//!             Ok(Elicited::Accepted(serde_json::json!({"ahead": 0})))
//!         })
//!         .connect(ChildProcess::new("./weather-server"))
//!         .await?;
//!     let result = client.call_tool("weather", serde_json::json!({"city": "Oslo"})).await?;
//!     println!("{}", result.text());
//!     println!("{:?}", client.read_resource("city://Oslo").await?.contents);
//!     client.close().await;
//!     Ok(())
//! }
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! | --- | --- |
//! | tools, resources, prompts, completions, methods of your own | [`Server`], and [`ToolOffer`] and its like for all that can be said of each |
//! | what changes while a server serves | [`Offers`] |
//! | progress, logs, and what a handler asks of its client | [`Context`], [`Ask`] |
//! | what a client asks of a server | [`Client`], [`Call`] |
//! | where the server is | [`ChildProcess`], [`transport`] |
//! | what a client answers and is told | [`ClientBuilder`], [`Listening`] |
//! | the data of the protocol | [`types`] |
//! | what goes wrong | [`Error`] for calls, [`ToolError`] and [`HandlerError`] for handlers |
//!
//! # What to rely on
//!
//! - A call without an answer fails after 60 s, or after the time that the client or the call sets. A call
//!   that times out or is dropped is cancelled at the server, and a late answer is dropped.
//! - No call outlives its connection: when that ends, calls fail with [`ErrorKind::Closed`], which says why.
//! - A handler whose call is cancelled is dropped at its next `await`; nothing more is written for it.
//! - In revision 2026-07-28 a handler that asks its client for something runs again from its start, see [`Ask`].
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

#[cfg(feature = "border")]
#[doc(hidden)]
pub mod border;
mod client;
mod driver;
mod handler;
#[cfg(feature = "http")]
pub mod http;
mod server;
pub mod transport;
pub mod types;

pub use client::{Call, Client, ClientBuilder, ClientContext, IntoElicitResult, Listening, Notification};
pub use handler::{HandlerError, InputRequired};
pub use oxmcp_proto::{
    CacheHints, Direction, Error, ErrorKind, Fault, INHERITED_VARIABLES, Keyring, Limits, LogLevel, Peer, Problem,
    ProblemKind, Revision, SealKey, SealKeyError, jsonrpc,
};
pub use server::{
    Ask, Caller, Completing, Context, Elicited, IntoCompletion, IntoPromptResult, IntoResourceResult, IntoToolResult,
    Json, NoArguments, Offer, Offered, Offers, PromptOffer, ResourceOffer, Server, Serving, ServingHandle,
    TemplateOffer, ToolError, ToolOffer,
};
pub use transport::ChildProcess;
pub use types::{CallToolResult, Progress};

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
