//! A session, wherever it lives: what handlers, contexts and clients speak through.
//!
//! One that the event loop's own thread drives (`core.rs`) is written to at the end of the loop's turn. One that
//! threads of the runtime drive looks after itself, and comes back by its mailbox. All else is the same.

use std::sync::Arc;

use oxmcp::border::{HttpOrigin, Remote};
use oxmcp_proto::{Answer, Error, ErrorKind, InboundId, Instant, LogLevel, OutboundId, Revision, Session};
use pyo3::prelude::*;

use crate::calls::Calls;
use crate::core::{Core, VERDICTS};
use crate::error::raise;
use crate::event_loop::EventLoop;
use crate::mailbox::Mailbox;
use crate::registry::Registry;

/// Clones are the same session.
#[derive(Clone)]
pub(crate) enum Port {
    /// Driven by the loop, over two descriptors.
    Loop(Arc<Core>),
    /// Driven by the runtime.
    Remote(Arc<Mailbox>, Remote),
}

impl Port {
    /// Tells the session from all others that share its table of calls.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Loop(_) => 0,
            Self::Remote(_, remote) => remote.number(),
        }
    }

    /// Tells it from all others of this process.
    pub(crate) fn identity(&self) -> (u64, u64) {
        match self {
            Self::Loop(core) => (0, core.serial),
            Self::Remote(mailbox, remote) => (mailbox.number, remote.number()),
        }
    }

    pub(crate) fn calls(&self) -> &Calls {
        match self {
            Self::Loop(core) => &core.calls,
            Self::Remote(mailbox, _) => &mailbox.calls,
        }
    }

    pub(crate) fn registry(&self) -> &Py<Registry> {
        match self {
            Self::Loop(core) => &core.registry,
            Self::Remote(mailbox, _) => &mailbox.registry,
        }
    }

    /// The loop that handlers run on; `None` when it was let go of.
    pub(crate) fn event_loop(&self) -> Option<Arc<EventLoop>> {
        match self {
            Self::Loop(core) => core.current_host().map(|host| Arc::clone(host.event_loop())),
            Self::Remote(mailbox, _) => mailbox.event_loop(),
        }
    }

    /// One input to the session.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        match self {
            Self::Loop(core) => core.with(work),
            Self::Remote(_, remote) => remote.with(work),
        }
    }

    /// The same for calls of ours, of which more may follow in this turn of the loop.
    fn with_more<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        match self {
            Self::Loop(core) => core.with(work),
            Self::Remote(_, remote) => remote.with_more(work),
        }
    }

    /// The same for what the peer caused: it counts against what the peer may leave unread.
    fn with_owed<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        match self {
            Self::Loop(core) => core.with(work),
            Self::Remote(_, remote) => remote.with_owed(work),
        }
    }

    /// Sees to it that what an input led to is written. From any thread.
    pub(crate) fn settle(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::Loop(core) => core.flush_later(py),
            Self::Remote(..) => Ok(()),
        }
    }

    /// Calls the hook for what is rare.
    pub(crate) fn tell<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        id: Option<u64>,
        first: impl IntoPyObject<'py>,
        second: impl IntoPyObject<'py>,
    ) -> PyResult<()> {
        match self {
            Self::Loop(core) => core.hook.tell(py, kind, id, first, second),
            Self::Remote(mailbox, _) => mailbox.hook.tell(py, kind, id, first, second),
        }
    }

    /// Remembers the revision of a client's server, or that nothing is known of it. The runtime does so by itself.
    pub(crate) fn learn(&self, revision: Option<Revision>) {
        let Self::Loop(core) = self else { return };
        let Some(server) = &core.server else { return };
        match revision {
            Some(revision) => VERDICTS.learn(server, revision),
            None => VERDICTS.forget(server),
        }
    }

    // What handlers do.

    /// Whether a call of the peer still waits for its answer.
    pub(crate) fn is_open(&self, id: InboundId) -> bool {
        self.with(|session, _| session.is_open(id))
    }

    /// Answers a call.
    pub(crate) fn respond(&self, py: Python<'_>, id: InboundId, answer: Answer<'_>) -> PyResult<()> {
        self.with_owed(|session, now| session.respond(id, answer, now));
        let task = self.calls().take_task(self.number(), id);
        drop(task);
        self.settle(py)
    }

    /// Forgets the task of a handler that ended without an answer. Whether one is still waited for.
    pub(crate) fn forget(&self, id: InboundId) -> bool {
        let task = self.calls().take_task(self.number(), id);
        drop(task);
        self.is_open(id)
    }

    /// Reports progress. True when the loop has been away for so long that the reporter should let
    /// it run; the report itself is written at once then.
    pub(crate) fn progress(
        &self,
        py: Python<'_>,
        id: InboundId,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> PyResult<bool> {
        // What nobody reads is left out: newer progress says all that older did.
        let sent = !self.is_full() && self.with_owed(|session, _| session.progress(id, progress, total, message));
        let late = match self {
            Self::Loop(core) => core.is_late(sent),
            Self::Remote(mailbox, _) => mailbox.is_late(),
        };
        if sent {
            self.settle(py)?;
        }
        Ok(late)
    }

    /// Sends a log message, unless the peer does not want it, or reads nothing.
    pub(crate) fn log(
        &self,
        py: Python<'_>,
        id: InboundId,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> PyResult<()> {
        if self.is_full() {
            return Ok(());
        }
        let sent = self.with_owed(|session, _| session.log(Some(id), level, logger, data));
        match sent.map_err(|error| raise(py, &error))? {
            true => self.settle(py),
            false => Ok(()),
        }
    }

    fn is_full(&self) -> bool {
        match self {
            Self::Loop(_) => false,
            Self::Remote(_, remote) => remote.is_full(),
        }
    }

    /// The HTTP request that brought a call, while it is under way.
    pub(crate) fn http_request(&self, id: InboundId) -> Option<HttpOrigin> {
        match self {
            Self::Loop(_) => None,
            Self::Remote(_, remote) => remote.http_request(id),
        }
    }

    /// What an HTTP library of the program's knows of that request.
    pub(crate) fn scope(&self, py: Python<'_>, id: InboundId) -> Option<Py<PyAny>> {
        match self {
            Self::Loop(_) => None,
            Self::Remote(mailbox, remote) => mailbox.scope(py, remote, id),
        }
    }

    /// The id of its session over HTTP, where it has one.
    pub(crate) fn session_id(&self) -> Option<Arc<str>> {
        match self {
            Self::Loop(_) => None,
            Self::Remote(_, remote) => remote.session_id(),
        }
    }

    /// Gives up the stream that the answer to a call would go on, where it goes on one of its own.
    pub(crate) fn end_stream(&self, id: InboundId) {
        if let Self::Remote(_, remote) = self {
            remote.end_stream(id);
        }
    }

    // What clients do, and handlers that ask.

    /// Begins a call of ours; gives its id and its future. The first one is written at once, others of the same turn
    /// together.
    pub(crate) fn begin<'py>(
        &self,
        py: Python<'py>,
        begin: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let future = self.new_future(py)?;
        let id = self.with_more(begin).map_err(|error| raise(py, &error))?;
        let first = self.calls().keep_future(self.number(), id, future.clone().unbind());
        match self {
            Self::Loop(core) => core.turn_after_call(py, first)?,
            Self::Remote(_, remote) if first => remote.settle(),
            Self::Remote(mailbox, remote) => mailbox.settle_soon(py, remote)?,
        }
        Ok((id.0, future))
    }

    /// The same for a handler. What several ask in one turn goes out together.
    pub(crate) fn ask<'py>(
        &self,
        py: Python<'py>,
        ask: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let future = self.new_future(py)?;
        let id = self.with_more(ask).map_err(|error| raise(py, &error))?;
        self.calls().keep_future(self.number(), id, future.clone().unbind());
        match self {
            Self::Loop(core) => core.flush_later(py)?,
            Self::Remote(mailbox, remote) => mailbox.settle_soon(py, remote)?,
        }
        Ok((id.0, future))
    }

    // On the loop's thread only: outcomes come there too, so none can come before its future is kept.
    fn new_future<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(event_loop) = self.event_loop() else {
            let closed = Error::new(ErrorKind::Closed, "the connection is closed");
            return Err(raise(py, &closed));
        };
        event_loop.new_future(py)
    }

    /// Cancels a call of ours. Its future is let go, not completed: whoever cancels has stopped waiting.
    pub(crate) fn cancel(&self, py: Python<'_>, id: OutboundId, reason: Option<&str>) -> PyResult<bool> {
        let future = self.calls().take_future(self.number(), id);
        let cancelled = self.with(|session, _| session.cancel(id, reason));
        drop(future);
        self.settle(py)?;
        Ok(cancelled)
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, py: Python<'_>, method: &str, params: Option<&str>) -> PyResult<()> {
        let sent = self.with(|session, _| session.notify(method, params));
        sent.map_err(|error| raise(py, &error))?;
        self.settle(py)
    }
}
