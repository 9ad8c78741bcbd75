//! The turns of a connection: read, act on what came, start handlers, write. All on one thread.

use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::{Answer, Error, ErrorKind, InboundId, Instant, OutboundId, Output, Role, Session, Verdicts};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::descriptors::{self, Sink};
use crate::error::{exception, raise};
use crate::handler::Handler;
use crate::host::Host;
use crate::registry::Registry;
use crate::state::State;

/// What a reporter that never lets the loop run may hold back at the most.
const PROMPT: Duration = Duration::from_millis(1);

/// What handlers and contexts share with their connection.
pub(crate) struct Core {
    this: Weak<Core>,
    state: Mutex<State>,
    registry: Py<Registry>,
    host: Mutex<Option<Arc<Host>>>,
    /// Called with `(kind, id, first, second)` for what is rare: see `_connection.py`.
    on_event: Mutex<Option<Py<PyAny>>>,
    clock: std::time::Instant,
    /// Client: what the server's era is remembered by, if it is to be.
    server: Option<String>,
}

/// The era that each server was found to be of, for all clients of this process.
pub(crate) static VERDICTS: LazyLock<Verdicts> = LazyLock::new(Verdicts::default);

/// How a turn without a host ended.
pub(crate) enum Turn {
    Goes,
    NeedsHost,
    Over,
}

impl Core {
    pub(crate) fn new(state: State, registry: Py<Registry>, server: Option<String>, on_event: Py<PyAny>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            state: Mutex::new(state),
            registry,
            host: Mutex::new(None),
            on_event: Mutex::new(Some(on_event)),
            clock: std::time::Instant::now(),
            server,
        })
    }

    /// Lets go of the hook for rare events.
    pub(crate) fn take_hook(&self) -> Option<Py<PyAny>> {
        self.on_event.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros(self.clock.elapsed().as_micros() as u64)
    }

    /// Another handle on this core; only handed out while one exists.
    pub(crate) fn shared(&self) -> Arc<Self> {
        self.this
            .upgrade()
            .unwrap_or_else(|| unreachable!("called through a handle"))
    }

    /// Whether a call of the peer still waits for its answer.
    pub(crate) fn is_open(&self, id: InboundId) -> bool {
        self.state().session.is_open(id)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn host(&self) -> MutexGuard<'_, Option<Arc<Host>>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn current_host(&self) -> Option<Arc<Host>> {
        self.host().as_ref().map(Arc::clone)
    }

    /// One blocking read, and all that can be answered without Python. Interrupted by signals.
    pub(crate) fn serve_once(&self) -> io::Result<Turn> {
        self.write_all(None)?;
        let mut chunk = std::mem::take(&mut self.state().chunk);
        let input = self.state().input;
        let bytes = descriptors::read(input, &mut chunk);
        let now = self.now();
        let mut state = self.state();
        state.chunk = chunk;
        if let Err(error) = &bytes {
            match error.kind() {
                io::ErrorKind::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
                io::ErrorKind::WouldBlock => {
                    drop(state);
                    descriptors::wait_readable(input)?;
                    return Ok(Turn::Goes);
                }
                _ => {}
            }
        }
        state.receive(bytes, now);
        let outputs = state.drain();
        state
            .waiting
            .extend(outputs.into_iter().filter(|output| !matches!(output, Output::Ready(_))));
        let closed = matches!(state.waiting.back(), Some(Output::Closed));
        if state.waiting.iter().any(|output| !matches!(output, Output::Closed)) {
            return Ok(Turn::NeedsHost);
        }
        drop(state);
        self.write_all(None)?;
        Ok(if closed { Turn::Over } else { Turn::Goes })
    }

    /// Writes what is queued, waiting for the peer to read, until a deadline if there is one.
    pub(crate) fn write_all(&self, deadline: Option<Instant>) -> io::Result<()> {
        loop {
            let mut state = self.state();
            state.write();
            let full = !state.unsent.is_empty();
            let Some(fd) = state.sink.as_ref().map(Sink::fd).filter(|_| full) else {
                return Ok(());
            };
            drop(state);
            let left = deadline.map_or(Duration::MAX, |deadline| self.now().until(deadline));
            if left.is_zero() {
                return Ok(());
            }
            descriptors::wait_writable(fd, left)?;
        }
    }

    pub(crate) fn read_once(&self) -> (Vec<Output>, bool) {
        let now = self.now();
        let mut state = self.state();
        let mut chunk = std::mem::take(&mut state.chunk);
        let bytes = descriptors::read(state.input, &mut chunk);
        state.chunk = chunk;
        let ended = state.receive(bytes, now);
        (state.drain(), ended)
    }

    /// Acts on outputs, then writes. Handlers that start during it need not ask for a write.
    pub(crate) fn take_turn(&self, py: Python<'_>, outputs: Vec<Output>) -> PyResult<()> {
        let Some(host) = self.current_host() else {
            self.state().waiting.extend(outputs);
            return Ok(());
        };
        let before = {
            let mut state = self.state();
            state.last_turn = self.now();
            std::mem::replace(&mut state.flush_is_due, true)
        };
        let (mut started, mut fatal) = (false, None);
        for output in outputs {
            // Whatever the program's own code does, the other outputs have their turn too.
            match self.act(py, &host, output) {
                Ok(started_one) => started |= started_one,
                Err(error) if error.is_instance_of::<PyException>(py) => error.write_unraisable(py, None),
                Err(error) => fatal = Some(error),
            }
        }
        if !before && started && !host.eager {
            // The tasks run later in this turn of the loop; the write comes after them.
            host.flush_soon(py)?;
        } else if !before {
            self.flush(py)?;
        }
        fatal.map_or(Ok(()), Err)
    }

    /// Does what one output asks for. True when it started a handler.
    pub(crate) fn act(&self, py: Python<'_>, host: &Host, output: Output) -> PyResult<bool> {
        match output {
            Output::Call {
                id,
                target,
                params,
                wants_progress,
            } => {
                let Some(entry) = self.registry.get().handler(py, &target) else {
                    let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "it was removed a moment ago");
                    self.respond(py, id, Answer::Error(error))?;
                    return Ok(false);
                };
                let handler = Handler::new(self, id, entry, params, wants_progress);
                self.start(py, host, id, handler)?;
                return Ok(true);
            }
            Output::Cancelled { id, .. } => {
                let task = self.state().tasks.remove(&id);
                if let Some(task) = task {
                    task.bind(py).call_method0(intern!(py, "cancel"))?;
                }
            }
            Output::Done { id, outcome } => {
                let future = self.state().futures.remove(&id);
                if let Some(future) = future {
                    complete(future.bind(py), &outcome)?;
                }
            }
            Output::Closed => self.closed(py, host)?,
            output => self.report(py, output)?,
        }
        Ok(false)
    }

    /// The session is over. A client's descriptors are closed next, so nothing may touch them any more;
    /// a server still writes what is left.
    pub(crate) fn closed(&self, py: Python<'_>, host: &Host) -> PyResult<()> {
        let watched = {
            let mut state = self.state();
            state.write();
            match state.session.role() {
                Role::Client => state.release_output(),
                Role::Server => None,
            }
        };
        if let Some(fd) = watched {
            host.unwatch_output(py, fd)?;
        }
        self.tell(py, "closed", None, py.None(), py.None())
    }

    /// Hands a rare output to Python.
    pub(crate) fn report(&self, py: Python<'_>, output: Output) -> PyResult<()> {
        match output {
            Output::Ready(peer) => {
                let has_handshake = peer.revision.has_handshake();
                if let Some(server) = &self.server {
                    VERDICTS.learn(server, peer.revision);
                }
                let about = (
                    peer.revision.name(),
                    has_handshake,
                    peer.info.get(),
                    peer.capabilities.get(),
                );
                self.tell(py, "ready", None, about, peer.instructions)?;
            }
            Output::ConnectFailed(error) => {
                if let Some(server) = &self.server {
                    VERDICTS.forget(server);
                }
                self.tell(py, "connect_failed", None, exception(py, &error)?, py.None())?;
            }
            Output::Describe { id, kind } => self.tell(py, "describe", Some(id.0), kind.name(), py.None())?,
            Output::Progress { id, params } => {
                self.tell(
                    py,
                    "progress",
                    Some(id.0),
                    PyBytes::new(py, params.get().as_bytes()),
                    py.None(),
                )?;
            }
            Output::Notification {
                method,
                params,
                subscription,
            } => {
                let params = params.map(|params| PyBytes::new(py, params.get().as_bytes()));
                self.tell(py, "notification", subscription.map(|id| id.0), method, params)?;
            }
            Output::Trace { direction, line } => self.tell(py, "trace", None, direction.name(), line)?,
            Output::Problem(problem) => self.tell(py, "problem", None, problem.kind.name(), problem.message)?,
            Output::Call { .. }
            | Output::Cancelled { .. }
            | Output::Done { .. }
            | Output::Closed
            | Output::Message { .. }
            | Output::Wire(_) => {}
        }
        Ok(())
    }

    /// Calls the hook for rare events, unless the connection was let go of.
    pub(crate) fn tell<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        id: Option<u64>,
        first: impl IntoPyObject<'py>,
        second: impl IntoPyObject<'py>,
    ) -> PyResult<()> {
        let hook = {
            let hook = self.on_event.lock().unwrap_or_else(PoisonError::into_inner);
            hook.as_ref().map(|hook| hook.clone_ref(py))
        };
        match hook {
            // The lock is free again: the hook may come back to this connection.
            Some(hook) => hook.bind(py).call1((kind, id, first, second)).map(drop),
            None => Ok(()),
        }
    }

    pub(crate) fn start(&self, py: Python<'_>, host: &Host, id: InboundId, handler: Handler) -> PyResult<()> {
        let handler = Bound::new(py, handler)?;
        let task = host.start(py, handler.clone().into_any())?;
        if !handler.get().is_over() {
            self.state().tasks.insert(id, task.unbind());
        }
        Ok(())
    }

    /// Answers a call, and sees to it that the answer is written in this turn of the loop.
    pub(crate) fn respond(&self, py: Python<'_>, id: InboundId, answer: Answer<'_>) -> PyResult<()> {
        let task = {
            let now = self.now();
            let mut state = self.state();
            state.session.respond(id, answer, now);
            state.tasks.remove(&id)
        };
        drop(task);
        self.flush_later(py)
    }

    /// Forgets the task of a handler that ended without an answer.
    pub(crate) fn forget(&self, id: InboundId) -> bool {
        let mut state = self.state();
        let task = state.tasks.remove(&id);
        let open = state.session.is_open(id);
        drop(state);
        drop(task);
        open
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
        let late = {
            let now = self.now();
            let mut state = self.state();
            if !state.session.progress(id, progress, total, message) {
                return Ok(now - state.last_turn > PROMPT);
            }
            let late = now - state.last_turn > PROMPT;
            if late && !state.awaits_writable {
                let outputs = state.drain();
                state.waiting.extend(outputs);
                state.write();
            }
            late
        };
        self.flush_later(py)?;
        Ok(late)
    }

    /// Has what is queued written at the end of this turn of the loop. May be called from any thread.
    pub(crate) fn flush_later(&self, py: Python<'_>) -> PyResult<()> {
        let Some(host) = self.current_host() else {
            // Nobody takes turns yet, so this one ends here.
            let mut state = self.state();
            if !state.detached {
                let outputs = state.drain();
                state.waiting.extend(outputs);
                state.write();
            }
            return Ok(());
        };
        if std::mem::replace(&mut self.state().flush_is_due, true) {
            return Ok(());
        }
        match is_on_loop(py, &host)? {
            true => host.flush_soon(py),
            false => host.flush_from_thread(py),
        }
    }

    /// Writes what is queued; arms what is needed for the rest.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let (outputs, change) = {
            let mut state = self.state();
            state.flush_is_due = false;
            state.last_turn = self.now();
            let mut outputs: Vec<_> = std::mem::take(&mut state.waiting).into();
            outputs.extend(state.drain());
            state.write();
            let full = !state.unsent.is_empty();
            let paused = state.is_over_backlog();
            let change = Interest {
                writable: (full != state.awaits_writable).then_some(full),
                readable: (paused != state.paused).then_some(!paused),
                input: state.input,
                output: state.sink.as_ref().map(Sink::fd),
            };
            state.awaits_writable = full;
            state.paused = paused;
            (outputs, change)
        };
        let Some(host) = self.current_host() else { return Ok(()) };
        change.tell(py, &host, self)?;
        self.arm_timer(py, &host)?;
        if outputs.is_empty() {
            Ok(())
        } else {
            self.take_turn(py, outputs)
        }
    }

    /// Sets the loop's timer if none is set that comes early enough.
    pub(crate) fn arm_timer(&self, py: Python<'_>, host: &Host) -> PyResult<()> {
        let (deadline, old) = {
            let mut state = self.state();
            let Some(deadline) = state.session.poll_timeout() else {
                return Ok(());
            };
            if state.armed.as_ref().is_some_and(|(at, _)| *at <= deadline) {
                return Ok(());
            }
            (deadline, state.armed.take())
        };
        if let Some((_, timer)) = old {
            timer.bind(py).call_method0(intern!(py, "cancel"))?;
        }
        let delay = self.now().until(deadline).as_secs_f64();
        let timer = host.call_later(py, delay)?;
        self.state().armed = Some((deadline, timer.unbind()));
        Ok(())
    }

    /// Begins a call of ours; gives its id and its future.
    pub(crate) fn begin<'py>(
        &self,
        py: Python<'py>,
        begin: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let (id, future, first) = self.register(py, begin)?;
        self.turn_after_call(py, first)?;
        Ok((id, future))
    }

    /// The same for a handler. What several ask in one turn goes out together.
    pub(crate) fn ask<'py>(
        &self,
        py: Python<'py>,
        ask: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let (id, future, _) = self.register(py, ask)?;
        self.flush_later(py)?;
        Ok((id, future))
    }

    fn register<'py>(
        &self,
        py: Python<'py>,
        begin: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>, bool)> {
        let Some(host) = self.current_host() else {
            let closed = Error::new(ErrorKind::Closed, "the connection is closed");
            return Err(raise(py, &closed));
        };
        let future = host.new_future(py)?;
        let now = self.now();
        let (begun, first) = {
            let mut state = self.state();
            let begun = begin(&mut state.session, now);
            if let Ok(id) = &begun {
                state.futures.insert(*id, future.clone().unbind());
            }
            (begun, state.futures.len() == 1)
        };
        let id = begun.map_err(|error| raise(py, &error))?;
        Ok((id.0, future, first))
    }

    /// Cancels a call of ours. Its future is let go, not completed: whoever cancels has stopped waiting.
    pub(crate) fn cancel(&self, py: Python<'_>, id: OutboundId, reason: Option<&str>) -> PyResult<bool> {
        let (cancelled, future) = {
            let mut state = self.state();
            let future = state.futures.remove(&id);
            (state.session.cancel(id, reason), future)
        };
        drop(future);
        self.turn_after_call(py, false)?;
        Ok(cancelled)
    }

    /// Writes at once when nothing else is under way, else together with the rest of this turn.
    pub(crate) fn turn_after_call(&self, py: Python<'_>, at_once: bool) -> PyResult<()> {
        if at_once && !self.state().flush_is_due {
            return self.flush(py);
        }
        self.flush_later(py)
    }
}

/// What the loop should watch from now on.
struct Interest {
    writable: Option<bool>,
    readable: Option<bool>,
    input: i32,
    output: Option<i32>,
}

impl Interest {
    fn tell(&self, py: Python<'_>, host: &Host, core: &Core) -> PyResult<()> {
        match (self.writable, self.output) {
            (Some(true), Some(fd)) => host.watch_output(py, fd)?,
            (Some(false), Some(fd)) => host.unwatch_output(py, fd)?,
            (_, None) | (None, _) => {}
        }
        match self.readable {
            Some(true) => core.tell(py, "resume_reading", None, self.input, py.None()),
            Some(false) => core.tell(py, "pause_reading", None, self.input, py.None()),
            None => Ok(()),
        }
    }
}

/// Gives a call's future its outcome.
fn complete(future: &Bound<'_, PyAny>, outcome: &Result<Json, Error>) -> PyResult<()> {
    let py = future.py();
    // The waiting task may have been cancelled in the same turn.
    if future.call_method0(intern!(py, "done"))?.is_truthy()? {
        return Ok(());
    }
    match outcome {
        Ok(result) => {
            let bytes = PyBytes::new(py, result.get().as_bytes());
            future.call_method1(intern!(py, "set_result"), (bytes,)).map(drop)
        }
        // The handler that asked is cancelled as well; to its task this is the same event.
        Err(error) if error.kind() == ErrorKind::Cancelled => future.call_method0(intern!(py, "cancel")).map(drop),
        Err(error) => {
            let exception =
                exception(py, error).unwrap_or_else(|failure| failure.into_value(py).into_bound(py).into_any());
            future
                .call_method1(intern!(py, "set_exception"), (exception,))
                .map(drop)
        }
    }
}

/// Whether this thread runs the host's loop.
fn is_on_loop(py: Python<'_>, host: &Host) -> PyResult<bool> {
    static RUNNING: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
    let running = RUNNING.import(py, "asyncio", "_get_running_loop")?.call0()?;
    Ok(running.is(host.event_loop(py)))
}
