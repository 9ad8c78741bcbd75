//! A connection: a session, two descriptors and the event loop that serves them.
//!
//! One turn: one read, parse, start the handlers, one write, all on the loop's thread (`core.rs`).
//! Before a handler is needed a server has no loop at all: [`Connection::serve_without_host`] answers
//! what the core can answer by itself.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::{CallOptions, Config, Implementation, InboundId, OutboundId, Registry, Session};
use pyo3::prelude::*;

use crate::core::{Core, Turn};
use crate::error::raise;
use crate::host::Host;
use crate::session::invalid;
use crate::state::State;
use crate::tool::Tool;

/// A server's or a client's connection over two descriptors.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Connection {
    pub(crate) core: Arc<Core>,
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
            registry.add_tool(&tool.get().name(py)).map_err(invalid)?;
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
        let on_event = self.core.take_hook();
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
        // A signal ends the wait: it is the end of the program that is waited for.
        let _ = py.detach(|| self.core.write_all(Some(until)));
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
        let core = Core::new(State::new(session, input, output), tools, on_event);
        Self { core }
    }
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
