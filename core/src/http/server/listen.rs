//! Listening on a port, and closing in good order: streams end first, calls under way may finish, the rest is cut.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use oxmcp_proto::{Error, ErrorKind};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::heads::{HeadTimer, Heads, LastOfRequest};
use super::linger::lingering;
use super::route::{self, PortBody, Routes};
use super::stall::Stalling;
use super::{HttpService, exchange, refuse};

/// The largest head of a request, in bytes.
const HEAD: usize = 64 * 1024;
/// Requests under way at the same time on one connection of HTTP/2.
const STREAMS: u32 = 256;
/// How long to wait after a socket could not be accepted, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// How a port is listened on.
#[derive(Clone, Debug)]
pub(super) struct Listening {
    pub path: Arc<str>,
    /// What answers requests for other paths.
    pub routes: Option<Arc<dyn Routes>>,
    pub connections: usize,
    pub head_timeout: Duration,
    pub write_timeout: Duration,
    /// How long calls under way may go on once the server closes.
    pub drain: Duration,
}

impl Default for Listening {
    fn default() -> Self {
        Self {
            path: "/mcp".into(),
            routes: None,
            connections: 16_384,
            head_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            drain: Duration::from_secs(5),
        }
    }
}

/// A server that listens on a port: a future that is done when it was shut down.
#[must_use = "nothing is served until this is awaited or spawned"]
pub struct HttpServing {
    address: SocketAddr,
    handle: HttpHandle,
    future: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
}

/// A handle of a server that listens, from [`HttpServing::handle`].
#[derive(Clone)]
pub struct HttpHandle {
    service: HttpService,
    closing: watch::Sender<bool>,
}

impl HttpServing {
    /// The address it listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A handle to shut it down while it serves elsewhere.
    pub fn handle(&self) -> HttpHandle {
        self.handle.clone()
    }
}

impl HttpHandle {
    /// Takes no more connections and ends streams. Calls under way may finish for
    /// [`Limits::drain`](crate::Limits::drain); then all ends, and [`HttpServing`] is done.
    pub fn shut_down(&self) {
        self.closing.send_replace(true);
    }

    /// The service that is served.
    pub fn service(&self) -> &HttpService {
        &self.service
    }
}

impl Future for HttpServing {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl fmt::Debug for HttpServing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServing")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpHandle")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Listening {
    pub(super) async fn bind(self, address: SocketAddr, service: HttpService) -> Result<HttpServing, Error> {
        let failed = |error: std::io::Error| {
            let message = format!("cannot listen on {address}: {error}; is the port in use?");
            Error::new(ErrorKind::Closed, message)
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let handle = HttpHandle {
            service,
            closing: watch::Sender::new(false),
        };
        let future = Box::pin(self.run(listener, handle.clone()));
        Ok(HttpServing {
            address,
            handle,
            future,
        })
    }

    async fn run(self, listener: TcpListener, handle: HttpHandle) -> Result<(), Error> {
        let (drain, room) = (self.drain, Arc::new(Semaphore::new(self.connections)));
        let shared = Arc::new(self);
        let mut closing = handle.closing.subscribe();
        let mut connections = JoinSet::new();
        loop {
            let accepted = async {
                // It is never closed.
                let permit = Arc::clone(&room).acquire_owned().await.ok();
                (permit, listener.accept().await)
            };
            tokio::select! {
                (permit, accepted) = accepted => match accepted {
                    Ok((stream, peer)) => {
                        let connection = Arc::clone(&shared).converse(stream, peer, handle.clone());
                        connections.spawn(async move {
                            let _permit = permit;
                            connection.await;
                        });
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
                Some(_) = connections.join_next() => {}
                () = told(&mut closing) => break,
            }
        }
        drop(listener);
        handle.service.end_streams();
        let finished = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(drain, finished).await;
        handle.service.close();
        connections.shutdown().await;
        handle.service.shared.state.leave().await;
        Ok(())
    }

    async fn converse(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, handle: HttpHandle) {
        // Without it small messages would wait for the acknowledgement of the ones before.
        let _ = stream.set_nodelay(true);
        let mut io = Stalling::new(stream, self.write_timeout);
        let mut closing = handle.closing.subscribe();
        let begins = tokio::time::timeout(self.head_timeout, io.begins_http2());
        let is_http2 = tokio::select! {
            begins = begins => begins,
            () = told(&mut closing) => return,
        };
        // A connection that breaks is its client's business; what it asked for is told by its responses.
        match is_http2 {
            Ok(Ok(true)) => self.converse_http2((io, peer), &handle, closing).await,
            Ok(Ok(false)) => self.converse_http1((io, peer), &handle, closing).await,
            Ok(Err(_)) | Err(_) => {}
        }
    }

    async fn converse_http1(
        &self,
        (io, peer): (Stalling, SocketAddr),
        handle: &HttpHandle,
        mut closing: watch::Receiver<bool>,
    ) {
        let heads = Heads::new();
        let io = io.with_heads(HeadTimer::new(&heads, self.head_timeout));
        let (heads, service) = (&heads, &handle.service);
        let service = hyper::service::service_fn(|request| async move {
            let request = lingering(request);
            heads.came(request.headers());
            let response = self.answer(service, peer, request).await;
            response.map(|response| response.map(|body| LastOfRequest::new(body, heads)))
        });
        let connection = http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(HEAD)
            .serve_connection(TokioIo::new(io), service);
        let mut connection = pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            () = told(&mut closing) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    async fn converse_http2(
        self: Arc<Self>,
        (io, peer): (Stalling, SocketAddr),
        handle: &HttpHandle,
        mut closing: watch::Receiver<bool>,
    ) {
        let streams = Streams::default();
        let mut under_way = streams.under_way.subscribe();
        let (me, handle) = (Arc::clone(&self), handle.clone());
        let service = hyper::service::service_fn(move |request| {
            let (me, handle) = (Arc::clone(&me), handle.clone());
            async move { me.answer(&handle.service, peer, request).await }
        });
        let connection = http2::Builder::new(streams)
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEAD as u32)
            .keep_alive_interval(self.head_timeout)
            .keep_alive_timeout(self.write_timeout)
            .serve_connection(TokioIo::new(io), service);
        let mut connection = pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            () = told(&mut closing) => connection.as_mut().graceful_shutdown(),
            () = idle(&mut under_way, self.head_timeout) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    async fn answer<B>(
        &self,
        service: &HttpService,
        peer: SocketAddr,
        request: Request<B>,
    ) -> Result<Response<PortBody>, Infallible>
    where
        B: Body,
        B::Error: fmt::Display,
    {
        let shared = Arc::clone(&service.shared);
        if request.uri().path() == &*self.path {
            return Ok(exchange::serve(shared, request).await.map(PortBody::Endpoint));
        }
        Ok(match &self.routes {
            // In a box of its own, so that others need no room for it.
            Some(routes) => Box::pin(route::serve(shared, &**routes, (&self.path, peer), request)).await,
            None => exchange::refused(&refuse::no_such_path(&self.path)).map(PortBody::Endpoint),
        })
    }
}

/// Runs the requests of one connection of HTTP/2, and knows how many are under way.
#[derive(Clone)]
struct Streams {
    under_way: watch::Sender<usize>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            under_way: watch::Sender::new(0),
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let counted = Counted::new(&self.under_way);
        tokio::spawn(async move {
            let _counted = counted;
            stream.await;
        });
    }
}

/// Counts for as long as it lives.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Waits until nothing was under way for so long.
async fn idle(under_way: &mut watch::Receiver<usize>, patience: Duration) {
    loop {
        // It fails only when nobody is left who could count.
        let _ = under_way.wait_for(|count| *count == 0).await;
        let more = under_way.wait_for(|count| *count > 0);
        if tokio::time::timeout(patience, more).await.is_err() {
            return;
        }
    }
}

/// Waits until the server is to close.
async fn told(closing: &mut watch::Receiver<bool>) {
    // It fails only when nobody is left who could tell.
    let _ = closing.wait_for(|closing| *closing).await;
}
