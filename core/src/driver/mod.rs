//! The driver: it owns a transport, moves the session by what comes, and is the only place where
//! that is waited for.
//!
//! One poll does, in this order: hand out what the session has to say until it is silent, write,
//! read one chunk, look at the child and the timer; and again, until there is nothing to do. So
//! what came in one read is answered in one write, and a handler that finishes at once costs no
//! task and no wake-up.

mod host;
mod link;
mod outgoing;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use oxmcp_proto::{Error, ErrorKind, Instant};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::time::Sleep;

pub(crate) use host::{Host, Incoming};
#[cfg(feature = "http")]
pub(crate) use host::{cut_off, tell};
use link::Drained;
#[cfg(feature = "http")]
pub(crate) use link::{Carrier, MOMENT};
pub(crate) use link::{Event, Link};
pub(crate) use outgoing::Outgoing;

use crate::transport::Transport;

/// As much as is taken in before it is answered.
const CHUNK: usize = 64 * 1024;
/// Chunks taken in before other tasks of the runtime get their turn.
const CHUNKS_PER_TURN: usize = 64;
/// How long a child that closed its output may take to tell its exit status.
const EXIT_STATUS: Duration = Duration::from_millis(500);

/// One connection in motion. Dropping it ends the connection at once: our calls fail, handlers
/// are cancelled, a child is killed.
pub(crate) struct Driver<H: Host> {
    link: Arc<Link>,
    host: H,
    transport: Transport,
    input: Box<[u8]>,
    outgoing: Outgoing,
    events: Vec<Event>,
    state: Drained,
    timer: Timer,
    unflushed: bool,
    /// Nothing more comes from the peer.
    at_end: bool,
    /// Why the peer is taken for gone, and until when its exit status is waited for.
    lost: Option<(String, Timer)>,
    /// How the child ended, until what it wrote before that has been read.
    exited: Option<String>,
    /// What made the transport fail, if it was more than the peer's leaving.
    failure: Option<Error>,
}

impl<H: Host> Driver<H> {
    pub(crate) fn new(link: Arc<Link>, host: H, transport: Transport) -> Self {
        Self {
            link,
            host,
            transport,
            input: vec![0; CHUNK].into(),
            outgoing: Outgoing::default(),
            events: Vec::new(),
            state: Drained {
                deadline: None,
                closed: false,
                stop_reading: false,
                full: false,
            },
            timer: Timer::default(),
            unflushed: false,
            at_end: false,
            lost: None,
            exited: None,
            failure: None,
        }
    }

    /// Moves the connection from its start to its end.
    ///
    /// # Errors
    /// When the transport failed otherwise than by the peer's leaving.
    pub(crate) async fn run(mut self, patience: Duration) -> Result<(), Error> {
        poll_fn(|cx| self.converse(cx)).await;
        self.host.closed();
        self.flush(patience).await;
        let ended = async {
            match self.transport.child.take() {
                Some(child) => {
                    let (input, _output) = (self.transport.writer.take(), self.transport.reader.take());
                    child.shut_down(input).await;
                }
                None => self.transport.shut_down(patience).await,
            }
        };
        ended.await;
        self.failure.take().map_or(Ok(()), Err)
    }

    fn converse(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.unpark();
        for _ in 0..CHUNKS_PER_TURN {
            if self.settle() {
                return Poll::Ready(());
            }
            self.write(cx);
            if self.read(cx) || self.has_lost_peer(cx) {
                continue;
            }
            if self.timer.poll(&self.link, self.state.deadline, cx) {
                self.link.handle_timeout();
            } else if self.link.park(cx.waker(), self.outgoing.len()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands out all that the session has to say, and what that leads to. True once it is closed.
    fn settle(&mut self) -> bool {
        loop {
            let mut events = std::mem::take(&mut self.events);
            self.state = self.link.drain(&mut events, &mut self.outgoing);
            let silent = events.is_empty();
            for event in events.drain(..) {
                host::tell(&self.link, &mut self.host, event);
            }
            self.events = events;
            if silent {
                return self.state.closed;
            }
        }
    }

    /// Takes in one chunk. False when there is none at the moment.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.at_end || self.state.stop_reading || !self.host.has_room(cx) {
            return false;
        }
        let Some(reader) = &mut self.transport.reader else {
            return false;
        };
        let mut chunk = ReadBuf::new(&mut self.input);
        match Pin::new(reader).poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if chunk.filled().is_empty() => self.end_input(None),
            Poll::Ready(Ok(())) => self.link.receive(chunk.filled()),
            Poll::Ready(Err(error)) => self.end_input(Some(&error)),
        }
        true
    }

    fn end_input(&mut self, error: Option<&io::Error>) {
        self.at_end = true;
        match (error, &self.transport.child) {
            (None, Some(child)) => self.lose_peer(format!("{} closed its output but still runs", child.name())),
            (None, None) => self.link.end_input(),
            (Some(error), _) => self.transport_failed("read from", error),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        match self.poll_write(cx) {
            Poll::Pending | Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => self.transport_failed("write to", &error),
        }
        if self.state.full {
            self.state.full = self.link.written(self.outgoing.len());
        }
    }

    /// Writes what waits; ready when all is written and flushed.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.transport.writer else {
            return Poll::Ready(Ok(()));
        };
        while !self.outgoing.is_empty() {
            match ready!(Pin::new(&mut *writer).poll_write(cx, self.outgoing.unwritten()))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.outgoing.advance(written),
            }
            self.unflushed = true;
        }
        if self.unflushed {
            ready!(Pin::new(writer).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn transport_failed(&mut self, what: &str, error: &io::Error) {
        if what == "write to" {
            self.transport.writer = None;
            self.outgoing.clear();
        }
        let why = format!("the connection broke: cannot {what} the peer: {error}");
        if !has_left(error) {
            self.failure = Some(Error::new(ErrorKind::Closed, why.clone()));
        }
        self.lose_peer(why);
    }

    /// The peer is gone. A child is given the time to tell its exit status, which says more.
    fn lose_peer(&mut self, why: String) {
        if self.transport.child.is_none() {
            self.link.lose_peer(&why);
        } else if self.lost.is_none() {
            self.lost = Some((why, Timer::default()));
        }
    }

    /// Looks after the child. True when that needs another turn.
    fn has_lost_peer(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(child) = &self.transport.child else {
            return false;
        };
        if let Some(how) = self.exited.take() {
            if !self.start_over() {
                self.link.lose_peer(&how);
            }
            return true;
        }
        if let Poll::Ready(status) = child.poll_exit(cx) {
            // Its last words may have come since the last read: another turn reads them first.
            self.exited = Some(format!("{} ended ({status})", child.name()));
            return true;
        }
        let Some((why, timer)) = &mut self.lost else {
            return false;
        };
        let until = timer.armed.unwrap_or_else(|| self.link.now() + EXIT_STATUS);
        if timer.poll(&self.link, Some(until), cx) {
            self.link.lose_peer(why);
            return true;
        }
        false
    }

    /// A server that left at the first question may be one of the handshake, and is started once more.
    fn start_over(&mut self) -> bool {
        let Some(restart) = self.transport.restart.take().filter(|_| self.link.start_over()) else {
            return false;
        };
        let Ok(mut next) = restart() else { return false };
        if let (Some(child), Some(next)) = (&mut self.transport.child, next.child.take()) {
            child.replace_by(next);
        }
        (self.transport.reader, self.transport.writer) = (next.reader.take(), next.writer.take());
        self.outgoing.clear();
        (self.unflushed, self.at_end) = (false, false);
        (self.lost, self.failure) = (None, None);
        true
    }

    /// Writes what is left, as long as the peer goes on taking it.
    async fn flush(&mut self, patience: Duration) {
        let mut left = usize::MAX;
        while self.outgoing.len() < left {
            left = self.outgoing.len();
            let writing = poll_fn(|cx| {
                let polled = self.poll_write(cx);
                let done = polled.is_ready() || self.outgoing.len() < left;
                if done { Poll::Ready(polled) } else { Poll::Pending }
            });
            match tokio::time::timeout(patience, writing).await {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(_)) | Err(_) => return,
            }
        }
    }
}

impl<H: Host> Drop for Driver<H> {
    /// No call outlives its connection, also when the runtime goes first.
    fn drop(&mut self) {
        host::cut_off(&self.link, &mut self.host);
    }
}

/// Whether an error only says that the peer is no longer there.
fn has_left(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof
    )
}

/// A timer that is only set anew for an earlier time: one that comes early does no harm, and a
/// deadline that moves with every call would cost more than the call.
#[derive(Debug, Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    armed: Option<Instant>,
}

impl Timer {
    /// True when `deadline`, or an earlier one, has come.
    fn poll(&mut self, link: &Link, deadline: Option<Instant>, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = deadline else { return false };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(link.on_clock(deadline))));
        if self.armed.is_none_or(|armed| deadline < armed) {
            sleep.as_mut().reset(link.on_clock(deadline));
            self.armed = Some(deadline);
        }
        let fired = sleep.as_mut().poll(cx).is_ready();
        if fired {
            self.armed = None;
        }
        fired
    }
}
