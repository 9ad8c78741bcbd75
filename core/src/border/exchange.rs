//! One request from an HTTP library of the host's, and its response.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http_body::{Body, Frame};
use oxmcp_proto::{Error, ErrorKind};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tower_service::Service as _;

use super::inbox::{Inbox, Item};
use super::runtime::runtime;
use crate::http::HttpService;

/// The head of a request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Its method, such as `POST`.
    pub method: String,
    /// Its path, and its query if it has one.
    pub target: String,
    /// The host and port it is for, where that is no header field (HTTP/2).
    pub authority: Option<String>,
    /// Its header fields, in their order.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What becomes of an exchange, in this order.
#[derive(Debug)]
pub enum ExchangeEvent {
    /// The response begins.
    Head {
        /// Its status.
        status: u16,
        /// Its header fields.
        headers: Vec<(Vec<u8>, Vec<u8>)>,
        /// Its whole body, unless that is a stream: nothing follows then.
        body: Option<Vec<u8>>,
    },
    /// Some of the body, as [asked for](Exchange::more).
    Chunk(Vec<u8>),
    /// The body is complete.
    End,
}

/// A request under way. Dropping it before its end means that the client left.
#[derive(Debug)]
pub struct Exchange {
    body: Option<mpsc::UnboundedSender<Bytes>>,
    asked: Arc<Semaphore>,
    task: AbortHandle,
}

impl Exchange {
    pub(super) fn begin(
        mut service: HttpService,
        token: u64,
        request: Request,
        inbox: &Arc<Inbox>,
    ) -> Result<Self, Error> {
        let (body, chunks) = mpsc::unbounded_channel();
        let mut request = request.into_http(Chunks(chunks))?;
        request.extensions_mut().insert(Token(token));
        let (asked, inbox) = (Arc::new(Semaphore::new(0)), Arc::clone(inbox));
        let wanted = Arc::clone(&asked);
        let task = runtime()?.spawn(async move {
            let Ok(response) = service.call(request).await;
            let (head, mut response) = response.into_parts();
            let is_whole = response.size_hint().exact().is_some();
            let whole = match is_whole {
                true => Some(next_chunk(&mut response).await.unwrap_or_default()),
                false => None,
            };
            let headers = head.headers.iter();
            let headers = headers.map(|(name, value)| (name.as_str().into(), value.as_bytes().into()));
            let event = ExchangeEvent::Head {
                status: head.status.as_u16(),
                headers: headers.collect(),
                body: whole.map(Vec::from),
            };
            inbox.push(Item::Exchange(token, event));
            if is_whole {
                return;
            }
            loop {
                // It is closed by nobody.
                let Ok(permit) = wanted.acquire().await else { return };
                permit.forget();
                match next_chunk(&mut response).await {
                    Some(chunk) => inbox.push(Item::Exchange(token, ExchangeEvent::Chunk(chunk.into()))),
                    None => return inbox.push(Item::Exchange(token, ExchangeEvent::End)),
                }
            }
        });
        Ok(Self {
            body: Some(body),
            asked,
            task: task.abort_handle(),
        })
    }

    /// Some of the body of the request. False when no more is wanted: leave the rest unread.
    pub fn body(&self, chunk: &[u8]) -> bool {
        let body = self.body.as_ref();
        body.is_some_and(|body| body.send(Bytes::copy_from_slice(chunk)).is_ok())
    }

    /// The body of the request is complete.
    pub fn end_body(&mut self) {
        self.body = None;
    }

    /// Asks for the next of the response's body: one [`Chunk`](ExchangeEvent::Chunk), or the
    /// [`End`](ExchangeEvent::End).
    pub fn more(&self) {
        self.asked.add_permits(1);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The host's name for an exchange, among the extensions of its request.
#[derive(Clone, Copy, Debug)]
struct Token(u64);

/// The HTTP request that brought a call.
#[derive(Clone, Debug)]
pub struct HttpOrigin {
    /// The token of its [exchange](super::HttpServer::exchange); `None` for one that came to a
    /// [port](super::HttpServer::bind).
    pub token: Option<u64>,
    /// Its head.
    pub request: Request,
}

impl HttpOrigin {
    pub(super) fn of(parts: &http::request::Parts) -> Self {
        Self {
            token: parts.extensions.get().map(|Token(token)| *token),
            request: Request::of(parts),
        }
    }
}

impl Request {
    pub(super) fn of(parts: &http::request::Parts) -> Self {
        let headers = parts.headers.iter();
        Self {
            method: parts.method.as_str().into(),
            target: parts.uri.path_and_query().map_or("/", |target| target.as_str()).into(),
            authority: parts.uri.authority().map(|authority| authority.as_str().into()),
            headers: headers
                .map(|(name, value)| (name.as_str().into(), value.as_bytes().into()))
                .collect(),
        }
    }

    fn into_http(self, body: Chunks) -> Result<http::Request<Chunks>, Error> {
        let uri = match self.authority {
            Some(authority) => format!("http://{authority}{}", self.target),
            None => self.target,
        };
        let wrong = |error: http::Error| Error::new(ErrorKind::Usage, format!("this is no HTTP request: {error}"));
        let request = http::Request::builder().method(&*self.method).uri(uri).body(body);
        let mut request = request.map_err(wrong)?;
        for (name, value) in self.headers {
            let name = HeaderName::from_bytes(&name).map_err(|error| wrong(error.into()))?;
            let value = HeaderValue::from_maybe_shared(Bytes::from(value)).map_err(|error| wrong(error.into()))?;
            request.headers_mut().append(name, value);
        }
        Ok(request)
    }
}

async fn next_chunk<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Bytes> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        if let Ok(data) = frame.ok()?.into_data() {
            return Some(data);
        }
    }
}

/// The body of a request, as the host reads it.
struct Chunks(mpsc::UnboundedReceiver<Bytes>);

impl Body for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::convert::Infallible>>> {
        self.0
            .poll_recv(cx)
            .map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}
