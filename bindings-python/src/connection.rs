//! A connection: a session, two descriptors and the event loop that serves them.
//!
//! One turn: one read, parse, start the handlers, one write, all on the loop's thread. Before a
//! handler is needed a server has no loop at all: [`Connection::serve_without_host`] answers what
//! the core can answer by itself.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oxmcp_proto::{
    CallOptions, Config, Implementation, InboundId, Instant, OutboundId, Output, Registry, Role, Session,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::descriptors::{self, Sink};
use crate::error::{exception, raise};
use crate::handler::Handler;
use crate::host::Host;
use crate::session::invalid;
use crate::tool::Tool;

const CHUNK: usize = 64 * 1024;

/// What a reporter that never lets the loop run may hold back at the most.
const PROMPT: Duration = Duration::from_millis(1);

/// A server's or a client's connection over two descriptors.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Connection {
    pub(crate) core: Arc<Core>,
}

/// What handlers and contexts share with their connection.
pub(crate) struct Core {
    this: Weak<Core>,
    state: Mutex<State>,
    tools: Mutex<Vec<Py<Tool>>>,
    host: Mutex<Option<Arc<Host>>>,
    /// Called with `(kind, id, first, second)` for what is rare: see `_connection.py`.
    on_event: Mutex<Option<Py<PyAny>>>,
    clock: std::time::Instant,
}

struct State {
    session: Session,
    input: i32,
    sink: Sink,
    /// Bytes for the peer that did not fit into the descriptor yet.
    unsent: Vec<u8>,
    chunk: Vec<u8>,
    /// Outputs that wait for the event loop to exist.
    waiting: VecDeque<Output>,
    flush_is_due: bool,
    awaits_writable: bool,
    paused: bool,
    /// When the loop last came round to us.
    last_turn: Instant,
    armed: Option<(Instant, Py<PyAny>)>,
    tasks: HashMap<InboundId, Py<PyAny>>,
    futures: HashMap<OutboundId, Py<PyAny>>,
}

#[pymethods]
impl Connection {
    /// A server's end. The tools are described later, when a peer asks for them.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn server(
        py: Python<'_>,
        name: String,
        version: String,
        title: Option<String>,
        instructions: Option<String>,
        trace: bool,
        tools: Vec<Py<Tool>>,
        input: i32,
        output: i32,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let registry = Registry::new();
        for tool in &tools {
            registry.add_tool(&tool.get().name(py)?).map_err(invalid)?;
        }
        let mut config = Config::new(Implementation { name, version, title });
        config.instructions = instructions;
        config.trace = trace;
        Ok(Self::new(
            Session::server(config, Arc::new(registry)),
            tools,
            input,
            output,
            on_event,
        ))
    }

    /// A client's end. `timeout` is in seconds.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn client(
        name: String,
        version: String,
        title: Option<String>,
        timeout: Option<f64>,
        probe: bool,
        trace: bool,
        input: i32,
        output: i32,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let mut config = Config::new(Implementation { name, version, title });
        config.timeout = seconds(timeout)?.unwrap_or(config.timeout);
        config.probe = probe;
        config.trace = trace;
        Ok(Self::new(Session::client(config), Vec::new(), input, output, on_event))
    }

    /// Answers what needs no Python, from a plain read loop without the interpreter's lock.
    /// True when something came that needs a host, false when the peer has left.
    fn serve_without_host(&self, py: Python<'_>) -> PyResult<bool> {
        loop {
            let outcome = py.detach(|| self.core.serve_once());
            match outcome {
                Ok(Turn::Goes) => {}
                Ok(Turn::NeedsHost) => return Ok(true),
                Ok(Turn::Over) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => py.check_signals()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Hands the connection to the running loop of this thread, with all that waits for it.
    fn attach(slf: &Bound<'_, Self>, event_loop: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let host = Arc::new(Host::new(event_loop, slf.as_any())?);
        *slf.get().core.host() = Some(Arc::clone(&host));
        let waiting = std::mem::take(&mut slf.get().core.state().waiting);
        slf.get().core.take_turn(py, waiting.into())
    }

    /// Lets go of the loop, tasks and futures.
    fn detach(&self, py: Python<'_>) {
        let host = self.core.host().take();
        let (tasks, futures, armed) = {
            let mut state = self.core.state();
            (
                std::mem::take(&mut state.tasks),
                std::mem::take(&mut state.futures),
                state.armed.take(),
            )
        };
        if let Some((_, timer)) = armed {
            let _ = timer.bind(py).call_method0("cancel");
        }
        let on_event = self.core.on_event.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Dropped here, without a lock: their ends may run code of the program.
        drop((host, tasks, futures, on_event));
    }

    /// The input has bytes: one read, and what follows from it.
    fn on_readable(&self, py: Python<'_>) -> PyResult<()> {
        let (outputs, ended) = self.core.read_once();
        self.core.take_turn(py, outputs)?;
        if ended {
            self.core.tell(py, "input_ended", None, py.None(), py.None())?;
        }
        Ok(())
    }

    /// Bytes read elsewhere (by a thread, where a loop cannot watch the descriptor).
    fn feed(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let outputs = {
            let now = self.core.now();
            let mut state = self.core.state();
            if bytes.is_empty() {
                state.session.end_input(now);
            } else {
                state.session.receive(bytes, now);
            }
            state.drain()
        };
        self.core.take_turn(py, outputs)
    }

    /// The output takes bytes again.
    fn on_writable(&self, py: Python<'_>) -> PyResult<()> {
        self.core.flush(py)
    }

    /// Writes what is queued.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.core.flush(py)
    }

    /// Time has come to a deadline.
    fn on_timer(&self, py: Python<'_>) -> PyResult<()> {
        let outputs = {
            let now = self.core.now();
            let mut state = self.core.state();
            state.armed = None;
            state.session.handle_timeout(now);
            state.drain()
        };
        self.core.take_turn(py, outputs)
    }

    /// Client: starts the handshake.
    #[pyo3(signature = (timeout=None))]
    fn connect(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let now = self.core.now();
        let begun = self.core.state().session.connect(seconds(timeout)?, now);
        begun.map_err(|error| raise(py, &error))?;
        self.core.turn_after_call(py, true)
    }

    /// Begins a call; gives its id and the future of its result, as JSON bytes.
    #[pyo3(signature = (method, params, timeout, max_total_timeout, reset_timeout_on_progress, progress))]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn begin<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        params: Option<&str>,
        timeout: Option<f64>,
        max_total_timeout: Option<f64>,
        reset_timeout_on_progress: bool,
        progress: bool,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = call_options(timeout, max_total_timeout, reset_timeout_on_progress, progress)?;
        self.core
            .begin(py, |session, now| session.begin(method, params, options, now))
    }

    /// The same for a sign of life.
    #[pyo3(signature = (timeout))]
    fn ping<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = call_options(timeout, None, false, false)?;
        self.core.begin(py, |session, now| session.ping(options, now))
    }

    /// The same for a tool; `arguments` is the text of an object.
    #[pyo3(signature = (name, arguments, timeout, max_total_timeout, reset_timeout_on_progress, progress))]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn call_tool<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: Option<&[u8]>,
        timeout: Option<f64>,
        max_total_timeout: Option<f64>,
        reset_timeout_on_progress: bool,
        progress: bool,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = call_options(timeout, max_total_timeout, reset_timeout_on_progress, progress)?;
        let arguments = arguments.map(utf8).transpose()?;
        self.core
            .begin(py, |session, now| session.call_tool(name, arguments, options, now))
    }

    /// Cancels a call. Its future is let go, not completed: whoever cancels has stopped waiting.
    #[pyo3(signature = (id, reason=None))]
    fn cancel(&self, py: Python<'_>, id: u64, reason: Option<&str>) -> PyResult<bool> {
        let (cancelled, future) = {
            let mut state = self.core.state();
            let future = state.futures.remove(&OutboundId(id));
            (state.session.cancel(OutboundId(id), reason), future)
        };
        drop(future);
        self.core.turn_after_call(py, false)?;
        Ok(cancelled)
    }

    /// Sends a notification.
    #[pyo3(signature = (method, params=None))]
    fn notify(&self, py: Python<'_>, method: &str, params: Option<&str>) -> PyResult<()> {
        let sent = self.core.state().session.notify(method, params);
        sent.map_err(|error| raise(py, &error))?;
        self.core.turn_after_call(py, false)
    }

    /// Sets what `tools/list` says of a tool.
    fn describe_tool(&self, index: usize, descriptor: &str) -> PyResult<()> {
        crate::session::describe(&self.core.state().session, index, descriptor)
    }

    /// Goes on with a call that waited for the tools to be described.
    fn resume(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        let outputs = {
            let mut state = self.core.state();
            state.session.resume(InboundId(id));
            state.drain()
        };
        self.core.take_turn(py, outputs)
    }

    /// Ends the session: calls fail, handlers are cancelled, the event `closed` comes.
    fn close(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        let outputs = {
            let mut state = self.core.state();
            state.session.close(why);
            state.drain()
        };
        self.core.take_turn(py, outputs)
    }

    /// Writes what is left, waiting for the peer to read, for `timeout` seconds at most.
    fn finish(&self, py: Python<'_>, timeout: f64) {
        let until = self.core.now() + Duration::from_secs_f64(timeout);
        py.detach(|| self.core.write_until(until));
    }

    /// Calls in, calls out, bytes of an unfinished line, handlers that run, futures that wait.
    fn stats(&self) -> (usize, usize, usize, usize, usize) {
        let state = self.core.state();
        let stats = state.session.stats();
        (
            stats.inbound,
            stats.outbound,
            stats.buffered,
            state.tasks.len(),
            state.futures.len(),
        )
    }
}

impl Connection {
    fn new(session: Session, tools: Vec<Py<Tool>>, input: i32, output: i32, on_event: Py<PyAny>) -> Self {
        let state = State {
            session,
            input,
            sink: Sink::new(output),
            unsent: Vec::new(),
            chunk: vec![0; CHUNK],
            waiting: VecDeque::new(),
            flush_is_due: false,
            awaits_writable: false,
            paused: false,
            last_turn: Instant::default(),
            armed: None,
            tasks: HashMap::new(),
            futures: HashMap::new(),
        };
        let core = Arc::new_cyclic(|this| Core {
            this: Weak::clone(this),
            state: Mutex::new(state),
            tools: Mutex::new(tools),
            host: Mutex::new(None),
            on_event: Mutex::new(Some(on_event)),
            clock: std::time::Instant::now(),
        });
        Self { core }
    }
}

/// How a turn without a host ended.
enum Turn {
    Goes,
    NeedsHost,
    Over,
}

impl State {
    /// Takes all outputs; bytes join those that wait to be written.
    fn drain(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Wire(bytes) if self.unsent.is_empty() => {
                    let empty = std::mem::replace(&mut self.unsent, bytes);
                    self.session.recycle(empty);
                }
                Output::Wire(bytes) => {
                    self.unsent.extend_from_slice(&bytes);
                    self.session.recycle(bytes);
                }
                output => outputs.push(output),
            }
        }
        outputs
    }

    /// Writes until all is gone or the descriptor is full. An error other than that means that the
    /// peer does not read any more; what it sent may still be served, so only the bytes are dropped.
    fn write(&mut self) {
        let mut written = 0;
        while written < self.unsent.len() {
            match self.sink.write(&self.unsent[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => written = self.unsent.len(),
            }
        }
        if written == self.unsent.len() {
            self.unsent.clear();
        } else {
            self.unsent.drain(..written);
        }
    }

    /// Takes in what a read gave. A client's side tells the end of its input to Python first, which
    /// may find out why the server left: true for that.
    fn receive(&mut self, bytes: io::Result<usize>, now: Instant) -> bool {
        match bytes {
            Ok(0) if self.session.role() == Role::Client => return true,
            Ok(0) => self.session.end_input(now),
            Ok(count) => {
                let chunk = std::mem::take(&mut self.chunk);
                self.session.receive(&chunk[..count], now);
                self.chunk = chunk;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return self.receive(Ok(0), now),
        }
        false
    }
}

impl Core {
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host(&self) -> MutexGuard<'_, Option<Arc<Host>>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current_host(&self) -> Option<Arc<Host>> {
        self.host().as_ref().map(Arc::clone)
    }

    /// One blocking read, and all that can be answered without Python.
    fn serve_once(&self) -> io::Result<Turn> {
        let mut chunk = std::mem::take(&mut self.state().chunk);
        let input = self.state().input;
        let bytes = descriptors::read(input, &mut chunk);
        let now = self.now();
        let mut state = self.state();
        state.chunk = chunk;
        if let Err(error) = &bytes
            && error.kind() == io::ErrorKind::Interrupted
        {
            return Err(io::ErrorKind::Interrupted.into());
        }
        state.receive(bytes, now);
        let outputs = state.drain();
        state
            .waiting
            .extend(outputs.into_iter().filter(|output| !matches!(output, Output::Ready(_))));
        let closed = matches!(state.waiting.back(), Some(Output::Closed));
        let needs_host = state.waiting.iter().any(|output| !matches!(output, Output::Closed));
        if needs_host {
            return Ok(Turn::NeedsHost);
        }
        drop(state);
        self.write_until(Instant::from_micros(u64::MAX));
        Ok(if closed { Turn::Over } else { Turn::Goes })
    }

    /// Writes what is queued, waiting for the peer to read until a deadline.
    fn write_until(&self, deadline: Instant) {
        loop {
            let mut state = self.state();
            state.write();
            let (full, fd) = (!state.unsent.is_empty(), state.sink.fd());
            drop(state);
            let left = self.now().until(deadline);
            if !full || left.is_zero() {
                return;
            }
            descriptors::wait_writable(fd, left);
        }
    }

    fn read_once(&self) -> (Vec<Output>, bool) {
        let now = self.now();
        let mut state = self.state();
        let mut chunk = std::mem::take(&mut state.chunk);
        let bytes = descriptors::read(state.input, &mut chunk);
        state.chunk = chunk;
        let ended = state.receive(bytes, now);
        (state.drain(), ended)
    }

    /// Acts on outputs, then writes. Handlers that start during it need not ask for a write.
    fn take_turn(&self, py: Python<'_>, outputs: Vec<Output>) -> PyResult<()> {
        let Some(host) = self.current_host() else {
            self.state().waiting.extend(outputs);
            return Ok(());
        };
        let before = {
            let mut state = self.state();
            state.last_turn = self.now();
            std::mem::replace(&mut state.flush_is_due, true)
        };
        let mut started = false;
        for output in outputs {
            started |= self.act(py, &host, output)?;
        }
        if before {
            return Ok(());
        }
        if started && !host.eager {
            // The tasks run later in this turn of the loop; the write comes after them.
            host.flush_soon(py)
        } else {
            self.flush(py)
        }
    }

    /// Does what one output asks for. True when it started a handler.
    fn act(&self, py: Python<'_>, host: &Host, output: Output) -> PyResult<bool> {
        match output {
            Output::ToolCall {
                id,
                tool,
                arguments,
                wants_progress,
            } => {
                let tool = self.tools.lock().unwrap_or_else(PoisonError::into_inner)[tool].clone_ref(py);
                let handler = Handler::new(self, id, tool, arguments, wants_progress);
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
                let Some(future) = future else { return Ok(false) };
                let future = future.bind(py);
                // The waiting task may have been cancelled in the same turn.
                if !future.call_method0(intern!(py, "done"))?.is_truthy()? {
                    match outcome {
                        Ok(result) => {
                            let bytes = PyBytes::new(py, result.get().as_bytes());
                            future.call_method1(intern!(py, "set_result"), (bytes,))?;
                        }
                        Err(error) => {
                            future.call_method1(intern!(py, "set_exception"), (exception(py, &error)?,))?;
                        }
                    }
                }
            }
            output => self.report(py, output)?,
        }
        Ok(false)
    }

    /// Hands a rare output to Python.
    fn report(&self, py: Python<'_>, output: Output) -> PyResult<()> {
        match output {
            Output::Ready(peer) => {
                let about = (peer.revision.name(), peer.info.get(), peer.capabilities.get());
                self.tell(py, "ready", None, about, peer.instructions)?;
            }
            Output::ConnectFailed(error) => self.tell(py, "connect_failed", None, exception(py, &error)?, py.None())?,
            Output::Describe { id } => self.tell(py, "describe", Some(id.0), py.None(), py.None())?,
            Output::Progress { id, params } => {
                self.tell(
                    py,
                    "progress",
                    Some(id.0),
                    PyBytes::new(py, params.get().as_bytes()),
                    py.None(),
                )?;
            }
            Output::Notification { method, params } => {
                let params = params.map(|params| PyBytes::new(py, params.get().as_bytes()));
                self.tell(py, "notification", None, method, params)?;
            }
            Output::Trace { direction, line } => self.tell(py, "trace", None, direction.name(), line)?,
            Output::Problem(problem) => self.tell(py, "problem", None, problem.kind.name(), problem.message)?,
            Output::Closed => {
                self.state().write();
                self.tell(py, "closed", None, py.None(), py.None())?;
            }
            Output::ToolCall { .. } | Output::Cancelled { .. } | Output::Done { .. } | Output::Wire(_) => {}
        }
        Ok(())
    }

    /// Calls the hook for rare events, unless the connection was let go of.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        id: Option<u64>,
        first: impl IntoPyObject<'py>,
        second: impl IntoPyObject<'py>,
    ) -> PyResult<()> {
        let hook = self.on_event.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(hook) = hook.as_ref().map(|hook| hook.clone_ref(py)) else {
            return Ok(());
        };
        hook.bind(py).call1((kind, id, first, second)).map(drop)
    }

    fn start(&self, py: Python<'_>, host: &Host, id: InboundId, handler: Handler) -> PyResult<()> {
        let handler = Bound::new(py, handler)?;
        let task = host.start(py, handler.clone().into_any())?;
        if !handler.get().is_over() {
            self.state().tasks.insert(id, task.unbind());
        }
        Ok(())
    }

    /// Answers a call, and sees to it that the answer is written in this turn of the loop.
    pub(crate) fn respond(&self, py: Python<'_>, id: InboundId, answer: oxmcp_proto::Answer<'_>) -> PyResult<()> {
        let task = {
            let mut state = self.state();
            state.session.respond(id, answer);
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

    fn flush_later(&self, py: Python<'_>) -> PyResult<()> {
        if std::mem::replace(&mut self.state().flush_is_due, true) {
            return Ok(());
        }
        match self.current_host() {
            Some(host) if is_on_loop(py, &host)? => host.flush_soon(py),
            Some(host) => host.flush_from_thread(py),
            None => Ok(()),
        }
    }

    /// Writes what is queued; arms what is needed for the rest.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let (outputs, change) = {
            let mut state = self.state();
            state.flush_is_due = false;
            state.last_turn = self.now();
            let mut outputs: Vec<_> = std::mem::take(&mut state.waiting).into();
            outputs.extend(state.drain());
            state.write();
            let full = !state.unsent.is_empty();
            let paused = state.unsent.len() > state.session.config().limits.backlog;
            let change = Interest {
                writable: (full != state.awaits_writable).then_some(full),
                readable: (paused != state.paused).then_some(!paused),
                input: state.input,
                output: state.sink.fd(),
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
    fn arm_timer(&self, py: Python<'_>, host: &Host) -> PyResult<()> {
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

    fn begin<'py>(
        &self,
        py: Python<'py>,
        begin: impl FnOnce(&mut Session, Instant) -> Result<OutboundId, oxmcp_proto::Error>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let Some(host) = self.current_host() else {
            let closed = oxmcp_proto::Error::new(oxmcp_proto::ErrorKind::Closed, "the connection is closed");
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
        self.turn_after_call(py, first)?;
        Ok((id.0, future))
    }

    /// Writes at once when nothing else is under way, else together with the rest of this turn.
    fn turn_after_call(&self, py: Python<'_>, at_once: bool) -> PyResult<()> {
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
    output: i32,
}

impl Interest {
    fn tell(&self, py: Python<'_>, host: &Host, core: &Core) -> PyResult<()> {
        match self.writable {
            Some(true) => host.watch_output(py, self.output)?,
            Some(false) => host.unwatch_output(py, self.output)?,
            None => {}
        }
        match self.readable {
            Some(true) => core.tell(py, "resume_reading", None, self.input, py.None()),
            Some(false) => core.tell(py, "pause_reading", None, self.input, py.None()),
            None => Ok(()),
        }
    }
}

/// Whether this thread runs the host's loop.
fn is_on_loop(py: Python<'_>, host: &Host) -> PyResult<bool> {
    static RUNNING: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
    let running = RUNNING.import(py, "asyncio", "_get_running_loop")?.call0()?;
    Ok(running.is(host.event_loop(py)))
}

fn call_options(timeout: Option<f64>, total: Option<f64>, reset: bool, progress: bool) -> PyResult<CallOptions> {
    Ok(CallOptions {
        timeout: seconds(timeout)?,
        max_total_timeout: seconds(total)?,
        reset_timeout_on_progress: reset,
        progress,
    })
}

/// JSON bytes as text.
pub(crate) fn utf8(bytes: &[u8]) -> PyResult<&str> {
    std::str::from_utf8(bytes).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// Seconds as Python gives them. Infinity is a timeout that never comes.
pub(crate) fn seconds(value: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(value) = value else { return Ok(None) };
    if value.is_nan() || value < 0.0 {
        let message = format!("a timeout is a number of seconds from 0 up, not {value}");
        return Err(pyo3::exceptions::PyValueError::new_err(message));
    }
    Ok(Some(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX)))
}
