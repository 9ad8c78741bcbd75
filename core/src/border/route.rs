//! Requests to a server's port for other paths than the endpoint's, which the host answers.
//!
//! | the core says | the host answers |
//! | --- | --- |
//! | [`Request`](RouteEvent::Request): all of it, its body too | [`answer`](RouteReply::answer), whole; or [`begin`](RouteReply::begin) and the first [`chunk`](RouteReply::chunk); or [`unknown`](RouteReply::unknown) |
//! | [`More`](RouteEvent::More): what it was given was taken | the next `chunk`, or [`end`](RouteReply::end) |
//! | [`Left`](RouteEvent::Left): the client went away | nothing: nobody gets it |
//! | [`Late`](RouteEvent::Late): no answer began in time, and the client was told so | the same |

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use oxmcp_proto::{Error, ErrorKind};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::exchange::Request;
use super::inbox::Inbox;
use crate::http::route::{RouteBody, Routed, Routes};

/// A request for a path that is not the endpoint's, and what becomes of it. Tokens tell those of one server apart.
#[derive(Debug)]
pub enum RouteEvent {
    /// It has come.
    Request(RouteRequest),
    /// What was given of the body of its response was taken: the next may be given.
    More(u64),
    /// Its client went away, or the server closed, before the end of the response.
    Left(u64),
    /// No answer began in the time that there is for it.
    Late(u64),
}

/// A request to be answered.
#[derive(Debug)]
pub struct RouteRequest {
    /// Its name in later [events](RouteEvent).
    pub token: u64,
    /// Its head.
    pub head: Request,
    /// Who connected.
    pub peer: SocketAddr,
    /// Its whole body.
    pub body: Vec<u8>,
    /// What it is answered by.
    pub reply: RouteReply,
}

/// Answers one request, once. Dropping it unanswered is an answer too, with status 500; dropped before the end of a
/// body, it breaks the connection off.
#[derive(Debug)]
pub struct RouteReply(Mutex<Stage>);

#[derive(Debug)]
enum Stage {
    Asked(oneshot::Sender<Begun>),
    Streams(mpsc::Sender<Bytes>, Arc<AtomicBool>),
    Over,
}

/// How an answer begins; `None` when there is nothing at the path.
type Begun = Option<(Response<()>, Content)>;

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Chunks(mpsc::Receiver<Bytes>, Arc<AtomicBool>),
}

impl RouteReply {
    /// Gives the whole response. False when nobody gets it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when status (200 to 599) or header fields are none of HTTP; nothing is sent then.
    pub fn answer(&self, status: u16, headers: Vec<(Vec<u8>, Vec<u8>)>, body: Vec<u8>) -> Result<bool, Error> {
        let head = head(status, headers)?;
        Ok(self.start(Some((head, Content::Whole(body.into()))), Stage::Over))
    }

    /// There is nothing at this path. False when nobody is told.
    pub fn unknown(&self) -> bool {
        self.start(None, Stage::Over)
    }

    /// Begins a response whose body follows. False when nobody gets it.
    ///
    /// # Errors
    /// As for [`answer`](Self::answer).
    pub fn begin(&self, status: u16, headers: Vec<(Vec<u8>, Vec<u8>)>) -> Result<bool, Error> {
        let head = head(status, headers)?;
        let (chunks, taken) = mpsc::channel(1);
        let ended = Arc::new(AtomicBool::new(false));
        let content = Content::Chunks(taken, Arc::clone(&ended));
        Ok(self.start(Some((head, content)), Stage::Streams(chunks, ended)))
    }

    /// Gives the next of the body: at once after it began, and again when [`More`](RouteEvent::More) says so. False when
    /// nobody gets it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the one before was not taken yet.
    pub fn chunk(&self, chunk: Vec<u8>) -> Result<bool, Error> {
        let Stage::Streams(chunks, _) = &*self.stage() else {
            return Ok(false);
        };
        match chunks.try_send(chunk.into()) {
            Ok(()) => Ok(true),
            Err(TrySendError::Closed(_)) => Ok(false),
            Err(TrySendError::Full(_)) => {
                let why = "the part of the body before this one was not taken yet";
                Err(Error::new(ErrorKind::Usage, why))
            }
        }
    }

    /// The body is complete. False when nobody gets it.
    pub fn end(&self) -> bool {
        let Stage::Streams(chunks, ended) = std::mem::replace(&mut *self.stage(), Stage::Over) else {
            return false;
        };
        ended.store(true, Ordering::Release);
        !chunks.is_closed()
    }

    fn start(&self, begun: Begun, next: Stage) -> bool {
        let mut stage = self.stage();
        if !matches!(*stage, Stage::Asked(_)) {
            return false;
        }
        let Stage::Asked(asked) = std::mem::replace(&mut *stage, next) else {
            return false;
        };
        drop(stage);
        asked.send(begun).is_ok()
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn head(status: u16, fields: Vec<(Vec<u8>, Vec<u8>)>) -> Result<Response<()>, Error> {
    let wrong = |what: String| Error::new(ErrorKind::Usage, format!("this is no HTTP response: {what}"));
    if !(200..=599).contains(&status) {
        return Err(wrong(format!("its status is from 200 to 599, not {status}")));
    }
    let mut headers = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        let shown = String::from_utf8_lossy(&name).into_owned();
        let name = HeaderName::from_bytes(&name).map_err(|_| wrong(format!("{shown:?} names no header field")))?;
        let value = HeaderValue::from_maybe_shared(Bytes::from(value)).map_err(|_| {
            wrong(format!(
                "the header field {shown:?} has a value with control characters"
            ))
        })?;
        headers.append(name, value);
    }
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::from_u16(status).map_err(|error| wrong(error.to_string()))?;
    *head.headers_mut() = headers;
    Ok(head)
}

/// Hands requests to the host.
#[derive(Debug)]
pub(super) struct RouteDesk {
    inbox: Arc<Inbox<RouteEvent>>,
    /// How long an answer may take to begin.
    patience: Duration,
    last: AtomicU64,
}

impl RouteDesk {
    pub(super) fn new(inbox: &Arc<Inbox<RouteEvent>>, patience: Duration) -> Self {
        Self {
            inbox: Arc::clone(inbox),
            patience,
            last: AtomicU64::new(0),
        }
    }
}

impl Routes for RouteDesk {
    fn serve(&self, parts: Parts, peer: SocketAddr, body: Vec<u8>) -> Routed {
        let token = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (inbox, patience) = (Arc::clone(&self.inbox), self.patience);
        Box::pin(async move {
            let mut asking = Asking {
                token,
                inbox,
                reason: None,
            };
            let Ok(begun) = tokio::time::timeout(patience, asking.ask(&parts, peer, body)).await else {
                if asking.reason.is_some() {
                    asking.reason = Some(RouteEvent::Late);
                }
                return Some(plain(StatusCode::SERVICE_UNAVAILABLE, "no answer came in time"));
            };
            asking.reason = None;
            let Some(begun) = begun else {
                return Some(plain(StatusCode::INTERNAL_SERVER_ERROR, "internal error"));
            };
            let (head, content) = begun?;
            let body: RouteBody = match content {
                Content::Whole(body) => Box::pin(Whole(Some(body).filter(|body| !body.is_empty()))),
                Content::Chunks(chunks, ended) => {
                    asking.reason = Some(RouteEvent::Left);
                    Box::pin(Stream { chunks, ended, asking })
                }
            };
            Some(head.map(|()| body))
        })
    }
}

/// Tells the host, when it is dropped, that the client has left.
#[derive(Debug)]
struct Asking {
    token: u64,
    inbox: Arc<Inbox<RouteEvent>>,
    /// What the host would be told, if there is anything to tell.
    reason: Option<fn(u64) -> RouteEvent>,
}

impl Asking {
    /// Gives what the host says first; `None` when it let go of the request.
    async fn ask(&mut self, parts: &Parts, peer: SocketAddr, body: Vec<u8>) -> Option<Begun> {
        let inbox = &self.inbox;
        std::future::poll_fn(|cx| match inbox.has_room(cx) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        let (reply, begun) = oneshot::channel();
        self.reason = Some(RouteEvent::Left);
        self.inbox.push(RouteEvent::Request(RouteRequest {
            token: self.token,
            head: Request::of(parts),
            peer,
            body,
            reply: RouteReply(Mutex::new(Stage::Asked(reply))),
        }));
        begun.await.ok()
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(reason) = self.reason {
            self.inbox.push(reason(self.token));
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<RouteBody> {
    let body: RouteBody = Box::pin(Whole(Some(Bytes::from_static(text.as_bytes()))));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.take().map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}

/// A body that the host gives piece by piece.
struct Stream {
    chunks: mpsc::Receiver<Bytes>,
    ended: Arc<AtomicBool>,
    asking: Asking,
}

impl Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(chunk) = ready!(self.chunks.poll_recv(cx)) {
            self.asking.inbox.push(RouteEvent::More(self.asking.token));
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        // The host is the one who ended it, in one way or the other.
        self.asking.reason = None;
        match self.ended.load(Ordering::Acquire) {
            true => Poll::Ready(None),
            false => Poll::Ready(Some(Err(io::Error::other("the answer broke off")))),
        }
    }
}
