//! What packages of other languages use to reach connections that live on tokio.
//!
//! Such a connection is an [`oxmcp_proto::Session`] that its transport drives. A package works on it by the
//! session's own verbs, through a [`Remote`], from any thread. What the session says comes to the package's event
//! loop in batches, by an [`Inbox`]. Nothing here waits for the host, and the host waits for nothing here: a
//! program that keeps its interpreter busy delays neither pings nor lists nor timeouts.
//!
//! | the package has | it calls | outputs are those of |
//! | --- | --- | --- |
//! | a client of a command, in memory | [`connect`] | the one connection |
//! | a client over HTTP | [`connect_http`] | the same |
//! | a server on a stream | [`serve`] | the one connection |
//! | a server on a port | [`HttpServer::bind`] | each session, or each request without one |
//! | a server in an HTTP library of its own | [`HttpServer::exchange`] | the same |
//!
//! A package that answers other requests to its port as well gets those by an inbox of their own
//! ([`HttpServer::with_routes`]).
//!
//! [`Output::Closed`](oxmcp_proto::Output::Closed) is the last output of a connection, but not all have one: a
//! request without a session may just be over. So what a package keeps, it keeps by call, and lets go of it when
//! it answers or when the call is cancelled.

mod exchange;
mod headers;
mod http;
mod inbox;
mod remote;
mod route;
mod runtime;
mod settings;
mod streams;

pub use exchange::{Exchange, ExchangeEvent, HttpOrigin, Request};
pub use http::HttpServer;
pub use inbox::{Inbox, Item};
pub use remote::Remote;
pub use route::{RouteEvent, RouteReply, RouteRequest};
pub use runtime::runtime;
pub use streams::{connect, connect_http, serve};
