//! How long a connection of HTTP/1 may wait for the head of its next request.
//!
//! To set a timer and take it back for each request is work that nearly none of them needs. So there is one for each
//! connection: when it fires, it is looked at how long was waited.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::receipt::Receipts;
use super::route::PortBody;

/// Whether a connection waits for a head, and since when.
#[derive(Debug)]
pub(super) struct Heads {
    begin: Instant,
    /// In microseconds after the beginning; [`BUSY`] while a request is under way.
    since: AtomicU64,
    receipts: Receipts,
}

const BUSY: u64 = u64::MAX;

/// Ends the wait for a head that takes too long.
pub(super) struct HeadTimer {
    heads: Arc<Heads>,
    patience: Duration,
    sleep: Pin<Box<Sleep>>,
}

/// The body of a response, after which the next head is waited for.
pub(super) struct LastOfRequest {
    body: PortBody,
    heads: Arc<Heads>,
}

impl Heads {
    /// A head is waited for from now on.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            begin: Instant::now(),
            since: AtomicU64::new(0),
            receipts: Receipts::default(),
        })
    }

    /// The head of a request came.
    pub(super) fn came(&self, fields: &HeaderMap) {
        self.since.store(BUSY, Ordering::Relaxed);
        self.receipts.settle(fields);
    }

    fn waits_since(&self) -> Option<Instant> {
        let since = self.since.load(Ordering::Relaxed);
        (since != BUSY).then(|| self.begin + Duration::from_micros(since))
    }
}

impl HeadTimer {
    pub(super) fn new(heads: &Arc<Heads>, patience: Duration) -> Self {
        Self {
            heads: Arc::clone(heads),
            patience,
            sleep: Box::pin(tokio::time::sleep(patience)),
        }
    }

    /// Looks at the time, while nothing comes.
    ///
    /// # Errors
    /// When a head was waited for too long.
    pub(super) fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.sleep.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let until = self.heads.waits_since().unwrap_or(now) + self.patience;
            if until <= now {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.sleep.as_mut().reset(until);
        }
        Ok(())
    }
}

impl LastOfRequest {
    pub(super) fn new(body: PortBody, heads: &Arc<Heads>) -> Self {
        Self {
            body,
            heads: Arc::clone(heads),
        }
    }
}

impl Drop for LastOfRequest {
    fn drop(&mut self) {
        if let PortBody::Endpoint(body) = &self.body
            && let Some(receipt) = body.take_receipt()
        {
            self.heads.receipts.written(receipt);
        }
        let since = u64::try_from(self.heads.begin.elapsed().as_micros()).unwrap_or(BUSY);
        self.heads.since.store(since, Ordering::Relaxed);
    }
}

impl Body for LastOfRequest {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
