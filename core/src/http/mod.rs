//! Streamable HTTP: a [`Server`](crate::Server) on an address of its own, or in an app that is there already.
//!
//! ```no_run
//! use oxmcp::{Context, NoArguments, Server};
//!
//! # async fn run() -> Result<(), oxmcp::Error> {
//! let server = Server::new("demo", "1.0").tool("now", "Tells the time.", |_: Context, _: NoArguments| async { Ok("noon") });
//! server.http().bind(8000).await?.await // http://127.0.0.1:8000/mcp
//! # }
//! ```
//!
//! In an app, [`HttpService`] is a [tower](https://docs.rs/tower) `Service` of requests, which answers on any path:
//!
//! ```
//! # fn main() -> Result<(), oxmcp::Error> {
//! let service = oxmcp::Server::new("demo", "1.0").http().build()?;
//! let app: axum::Router = axum::Router::new().route_service("/mcp", service);
//! # Ok(())
//! # }
//! ```
//!
//! # What it does
//!
//! | | revisions with a handshake | 2026-07-28 |
//! | --- | --- | --- |
//! | state | a session, named by `Mcp-Session-Id` | none between requests |
//! | POST of a request | JSON, or an event stream where anything is said before the answer | the same |
//! | GET | the stream of what belongs to no request, or the rest of one that broke | 405 |
//! | DELETE | ends the session | 405 |
//! | a connection that breaks | the call goes on; its stream can be resumed | cancels the call |
//!
//! Requests for other hosts than those that are served, and from pages of other origins, are refused; see
//! [`HttpBuilder::host`]. All that a client can make the server hold has a bound; see [`HttpBuilder`].

mod server;

pub use oxmcp_proto::http::EventLimits;
pub use server::{HttpBody, HttpBuilder, HttpHandle, HttpService, HttpServing};
