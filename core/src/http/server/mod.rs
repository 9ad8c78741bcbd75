//! The server's side of Streamable HTTP.

mod body;
mod builder;
mod connection;
mod desk;
mod exchange;
mod fleet;
mod headers;
mod heads;
mod linger;
mod listen;
mod mostly;
mod pipe;
mod receipt;
mod refuse;
pub(crate) mod route;
mod shared;
mod stall;
pub(super) mod state;
mod ticks;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;

pub use body::HttpBody;
pub use builder::HttpBuilder;
pub use listen::{HttpHandle, HttpServing};
use shared::Shared;

/// A server as a service of HTTP requests, for a router or an app of [tower](https://docs.rs/tower). Clones are
/// the same service.
///
/// It answers on any path. It needs a tokio runtime with time enabled.
///
/// ```
/// use axum::Router;
/// use oxmcp::Server;
///
/// # fn main() -> Result<(), oxmcp::Error> {
/// let service = Server::new("demo", "1.0").http().host("mcp.example.com").build()?;
/// let app: Router = Router::new().route_service("/mcp", service);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<Shared>,
}

/// How much a service holds, for tests and metrics, from [`HttpService::stats`]. All is zero when there are no sessions
/// and no requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpStats {
    /// Sessions, of revisions with a handshake.
    pub sessions: usize,
    /// What sessions, and requests without one, are served by.
    pub connections: usize,
    /// Calls of either side that wait for an answer, in sessions and streams of notifications.
    pub calls: usize,
}

impl HttpService {
    /// What it holds at the moment.
    pub fn stats(&self) -> HttpStats {
        self.shared.stats()
    }

    /// How many sessions there are in this process, of revisions with a handshake.
    pub fn sessions(&self) -> usize {
        self.shared.session_count()
    }

    /// Ends the streams that would not end by themselves, and refuses new ones: the first step of closing an app
    /// that waits for its responses to end. Calls under way go on.
    pub fn end_streams(&self) {
        self.shared.end_streams();
    }

    /// Ends all streams and sessions: calls in them are cancelled.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("server", &self.shared.server)
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: fmt::Display + Send,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { Ok(exchange::serve(shared, request).await) })
    }
}
