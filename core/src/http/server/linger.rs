//! Requests over HTTP/1 that are answered before all of them was read, as those whose body is too large.
//!
//! Many clients read nothing before they have written everything, and a connection that is closed with something
//! unread is reset, which may cost the client the response (RFC 9112 §9.6). So what is left of such a body is read
//! and dropped for a while.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::EXPECT;
use http_body::{Body, Frame, SizeHint};
use hyper::Request;
use hyper::body::Incoming;

/// How long the rest of a body is read.
const LINGER: Duration = Duration::from_secs(5);

/// The body of a request, whose rest is read when nobody wants it any more.
pub(super) struct Lingering {
    /// There until it is dropped.
    body: Option<Incoming>,
    lingers: bool,
}

/// The request with such a body.
pub(super) fn lingering(request: Request<Incoming>) -> Request<Lingering> {
    // A client that waits to be told to go on sends nothing after a refusal.
    let lingers = !request.headers().contains_key(EXPECT);
    request.map(|body| Lingering {
        body: Some(body),
        lingers,
    })
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| self.lingers && !body.is_end_stream()) else {
            return;
        };
        // There is none when the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = tokio::time::timeout(LINGER, read_off(body)).await;
            });
        }
    }
}

async fn read_off(body: Incoming) {
    let mut body = pin!(body);
    // What fails to come is as good as what came.
    while let Some(Ok(_)) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {}
}
