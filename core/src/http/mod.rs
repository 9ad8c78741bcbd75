//! Streamable HTTP: a [`Server`](crate::Server) on an address of its own, or in an app that is there already; and
//! [`Http`], the way of a [`Client`](crate::Client) to a server.
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
//! # What a server does
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
//!
//! # Several processes
//!
//! With [`HttpBuilder::shared`] and a `RedisState` (feature `redis`) several processes behind a load balancer act as
//! one server. Any of them may get any request: no client has to stay with one. All must offer the same, and have the
//! same settings and the same [keys](crate::Server::state_keys).
//!
//! ```no_run
//! # #[cfg(feature = "redis")]
//! # async fn run(secret: [u8; 32]) -> Result<(), Box<dyn std::error::Error>> {
//! use oxmcp::http::RedisState;
//! use oxmcp::{Keyring, SealKey, Server};
//!
//! let server = Server::new("demo", "1.0").state_keys(Keyring::new(SealKey::from_bytes(&secret)?));
//! let shared = RedisState::connect("redis://127.0.0.1/").await?;
//! server.http().host("mcp.example.com").shared(shared).bind(8000).await?.await?;
//! # Ok(())
//! # }
//! ```
//!
//! | | over several processes |
//! | --- | --- |
//! | a session | goes on in whichever process gets its next request, with its revision, log level and subscriptions; the cap and the idle time count for all |
//! | a call | runs where it arrived; its client may answer its questions and cancel it at any process |
//! | an event stream of a session | is kept in Redis; resumed at any process it gives what was missed, and what follows |
//! | the stream of a GET | is told what belongs to no request, in whichever process that was said |
//! | lists that change, resources that are updated | are told to the clients of all processes; a session without an open stream hears of them when it opens one |
//! | a round of input (2026-07-28) | goes on at any process: what it needs is sealed in `requestState` |
//! | other notifications ([`Offers::notify`](crate::Offers::notify)) | reach the sessions that their process has served, and no `subscriptions/listen` |
//!
//! **A process that dies** takes the calls with it that ran in it, and nothing else. A client that resumes the stream
//! of such a call gets what was kept of it and then an error, -32603, as its answer, within two leases (of ten seconds
//! unless set). Every key has an end, so nothing stays behind. A process that is shut down in good order leaves the
//! same ends to its streams at once. One that stood still for longer than its lease counts as dead, too: its clients
//! that are still connected get their answers.
//!
//! **While Redis is away** requests of sessions are refused with 503 and `Retry-After`, in bounded time; 2026-07-28 is
//! served, and calls under way go on to their own clients. When it is back, all goes on by itself, with what Redis
//! kept: a session that it lost is unknown (404), and its client begins a new one. What happened meanwhile is written
//! and told then, up to a bound; a stream of which events did not fit cannot be resumed over the gap.
//!
//! What goes through Redis is not sealed: events, session ids and what clients said of themselves. Let nobody else
//! reach it. It must be one server; a cluster that spreads keys will not do. Sessions outlive it if it writes to disk
//! (`appendonly yes`). Give it a bound (`maxmemory`) over which it lets go of what was used longest ago
//! (`maxmemory-policy volatile-lru`).
//!
//! A load balancer must not hold back streams or cut them when they are quiet. For nginx:
//!
//! ```nginx
//! upstream mcp {
//!     server 10.0.0.1:8000;
//!     server 10.0.0.2:8000;
//!     server 10.0.0.3:8000;
//! }
//! server {
//!     listen 443 ssl;
//!     server_name mcp.example.com;
//!     location /mcp {
//!         proxy_pass http://mcp;
//!         proxy_http_version 1.1;
//!         proxy_set_header Connection "";
//!         proxy_set_header Host $host;
//!         proxy_buffering off;
//!         proxy_read_timeout 1h;
//!     }
//! }
//! ```
//!
//! A request that a server did not answer must not be sent to another one on its own account: a call could run twice.
//! nginx does so only for `GET` and `DELETE`, which do no harm.

pub(crate) mod client;
mod server;

pub use client::{Http, HttpSse};
pub use oxmcp_proto::http::EventLimits;
pub use oxmcp_proto::http::client::{Backoff, RedirectPolicy};
#[cfg(feature = "border")]
pub(crate) use server::route;
pub use server::state::SharedState;
#[cfg(feature = "redis")]
pub use server::state::{RedisOptions, RedisState};
pub use server::{HttpBody, HttpBuilder, HttpHandle, HttpService, HttpServing, HttpStats};

/// What [`SharedState`] is made of, for one of your own.
pub mod state {
    pub use oxmcp_proto::http::{EventId, EventReply};
    pub use oxmcp_proto::{Kind, Terms, TermsSet};

    pub use super::server::state::{
        Addressee, Announcement, Feed, Following, Later, Note, Place, Process, StateError, StateLimits, TermsChange,
        Visit,
    };
}
