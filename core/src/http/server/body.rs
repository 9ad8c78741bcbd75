//! Bodies: of requests, read with a bound, and of responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use http_body::{Body, Frame, SizeHint};
use oxmcp_proto::frame::sse::write_comment;
use oxmcp_proto::http::Refusal;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, Sleep};

use super::connection::Connection;
use super::pipe::{Beginning, Pipe};
use super::receipt::Receipt;
use super::refuse;
use super::shared::Hold;

/// The body of a response.
#[derive(Debug)]
pub struct HttpBody(Kind);

#[derive(Debug)]
enum Kind {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// A stream of events, with a comment now and then when nothing happens.
#[derive(Debug)]
struct Events {
    reader: Reader,
    ended: bool,
    every: Duration,
    quiet: Option<Pin<Box<Sleep>>>,
}

/// Who reads one response.
pub(super) struct Reader {
    pub connection: Arc<Connection>,
    pub pipe: Arc<Pipe>,
    pub leaving: Leaving,
    pub _hold: Option<Hold>,
}

/// What it means when the client leaves before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It cancels what it asked for.
    Cancels,
    /// Nothing: the session goes on, and the stream may be resumed.
    Pauses,
    /// Nothing, but nobody else keeps the connection.
    Lingers,
}

impl Reader {
    pub(super) async fn beginning(&self) -> Beginning {
        std::future::poll_fn(|cx| self.pipe.poll_beginning(cx)).await
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let is_early = self.pipe.leave();
        match self.leaving {
            Leaving::Cancels if is_early => self.connection.close("the client closed the connection"),
            Leaving::Lingers if is_early => self.connection.linger(),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("pipe", &self.pipe)
            .finish_non_exhaustive()
    }
}

impl HttpBody {
    pub(super) fn empty() -> Self {
        Self(Kind::Whole(None))
    }

    pub(super) fn whole(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        Self(Kind::Whole(Some(text).filter(|text| !text.is_empty())))
    }

    /// What is kept of a stream, when all of it was taken from here.
    pub(super) fn take_receipt(&self) -> Option<Receipt> {
        match &self.0 {
            Kind::Events(events) if events.ended => events.reader.pipe.take_receipt(),
            _ => None,
        }
    }

    pub(super) fn events(reader: Reader, keep_alive: Duration) -> Self {
        Self(Kind::Events(Box::new(Events {
            reader,
            ended: false,
            every: keep_alive,
            quiet: None,
        })))
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Kind::Whole(whole) => whole.take(),
            Kind::Events(events) => ready!(events.poll_next(cx)),
        };
        Poll::Ready(next.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Kind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(whole) => SizeHint::with_exact(whole.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(events) = self.reader.pipe.poll_events(cx) {
            self.quiet = None;
            self.ended = events.is_none();
            return Poll::Ready(events.map(Bytes::from));
        }
        let every = self.every;
        let quiet = self.quiet.get_or_insert_with(|| Box::pin(tokio::time::sleep(every)));
        ready!(quiet.as_mut().poll(cx));
        quiet.as_mut().reset(Instant::now() + every);
        let mut comment = Vec::new();
        write_comment(&mut comment, "still here");
        Poll::Ready(Some(comment.into()))
    }
}

/// What comes of a future in the time it is given. A timer is only made for one that has to wait.
pub(super) async fn within<F: Future + Unpin>(patience: Duration, mut future: F) -> Result<F::Output, Elapsed> {
    let soon = std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut future).poll(cx))).await;
    match soon {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => tokio::time::timeout(patience, future).await,
    }
}

/// Reads the whole body of a request.
pub(super) async fn read<B>(body: B, limit: usize, patience: Duration) -> Result<Bytes, Refusal>
where
    B: Body,
    B::Error: std::fmt::Display,
{
    let read = within(patience, std::pin::pin!(read_all(body, limit))).await;
    read.unwrap_or_else(|_| Err(refuse::body_too_slow()))
}

async fn read_all<B>(body: B, limit: usize) -> Result<Bytes, Refusal>
where
    B: Body,
    B::Error: std::fmt::Display,
{
    let mut body = std::pin::pin!(body);
    // Mostly a body comes in one piece, which is taken as it is.
    let (mut first, mut whole) = (Bytes::new(), Vec::new());
    while !body.is_end_stream()
        && let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await
    {
        let Ok(mut data) = frame.map_err(refuse::body_broken)?.into_data() else {
            continue;
        };
        let before = first.len().max(whole.len());
        if before + data.remaining() > limit {
            return Err(Refusal::body_too_large(limit));
        }
        if before == 0 {
            first = data.copy_to_bytes(data.remaining());
            continue;
        }
        if whole.is_empty() {
            whole.extend_from_slice(&first);
        }
        whole.put(data);
    }
    Ok(if whole.is_empty() { first } else { whole.into() })
}
