//! A connection: a session, and what moves its bytes: the event loop over two descriptors, or the runtime.
//!
//! Over descriptors, one turn: one read, parse, start the handlers, one write, all on the loop's thread (`core.rs`).
//! Before a handler is needed a server has no loop at all: [`Connection::serve_without_host`] answers
//! what the core can answer by itself.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use oxmcp::border;
use oxmcp::transport::Http;
use oxmcp_proto::{CallOptions, Config, Error, ErrorKind, Keyring, LogLevel, OutboundId, SealKey, Session};
use pyo3::prelude::*;

use crate::core::{Core, Turn, VERDICTS};
use crate::error::raise;
use crate::host::Host;
use crate::hub::Hub;
use crate::mailbox::{Mailbox, Owner};
use crate::port::Port;
use crate::registry::Registry;
use crate::session::{invalid, log_level};
use crate::state::State;

/// A server's or a client's connection.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Connection {
    port: Port,
    /// Client: the mildest log messages that calls ask for.
    log_level: Mutex<Option<LogLevel>>,
}

#[pymethods]
impl Connection {
    /// A server's end. `settings` is the text of an object, as the core's `Config::from_json` takes it;
    /// without one the server sends log messages, and all else is the core's default. `secret` seals
    /// what clients keep for the server, unless the settings have keys.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn server(
        py: Python<'_>,
        name: String,
        version: String,
        title: Option<String>,
        instructions: Option<String>,
        trace: bool,
        settings: Option<&str>,
        secret: &[u8],
        registry: Py<Registry>,
        input: i32,
        output: i32,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let config = server_config(py, name, version, title, instructions, trace, settings, secret)?;
        let session = Session::server(config, registry.get().core());
        Ok(Self::new(session, registry, None, input, output, on_event))
    }

    /// A client's end. `server` is what the server's era is remembered by: a client that may find it out
    /// gives one. `timeout` is in seconds.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn client(
        py: Python<'_>,
        name: String,
        version: String,
        title: Option<String>,
        timeout: Option<f64>,
        settings: &str,
        server: Option<String>,
        registry: Py<Registry>,
        input: i32,
        output: i32,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let mut config = configure(py, name, version, title, settings)?;
        config.timeout = seconds(timeout)?.unwrap_or(config.timeout);
        config.probe = server.as_deref().is_some_and(|server| VERDICTS.should_probe(server));
        let session = Session::client_with(config, registry.get().core());
        Ok(Self::new(session, registry, server, input, output, on_event))
    }

    /// A client's end over HTTP, which connects at once; the event `ready` or `connect_failed` comes. `http` is
    /// the text of the settings of HTTP, as the core's `Http::from_json` takes them. `probe`: the server may be
    /// asked for its era. `renews`: the event `unauthorized` is wanted, which `give_headers` answers.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one crossing, flat
    fn http_client(
        py: Python<'_>,
        hub: Py<Hub>,
        name: String,
        version: String,
        title: Option<String>,
        timeout: Option<f64>,
        settings: &str,
        probe: bool,
        registry: Py<Registry>,
        url: &str,
        http: &str,
        renews: bool,
        connect_timeout: Option<f64>,
        on_event: Py<PyAny>,
    ) -> PyResult<Self> {
        let mut config = configure(py, name, version, title, settings)?;
        config.timeout = seconds(timeout)?.unwrap_or(config.timeout);
        let probe = if probe { None } else { Some(false) };
        let connect_timeout = seconds(connect_timeout)?;
        let http = Http::from_json(url, http).map_err(|error| raise(py, &error))?;
        let core = registry.get().core();
        let mailbox = Mailbox::new(py, &hub, Owner::Client, registry, on_event);
        match border::connect_http(config, core, http, renews, probe, connect_timeout, &mailbox.inbox) {
            Ok(remote) => Ok(Self::of(Port::Remote(mailbox, remote))),
            Err(error) => {
                mailbox.close();
                Err(raise(py, &error))
            }
        }
    }

    /// Answers the event `unauthorized`: header fields to be sent from now on, or why there are none. False when
    /// nobody waits any more.
    fn give_headers(&self, fields: Vec<(String, String)>, why_not: Option<String>) -> bool {
        let Port::Remote(_, remote) = &self.port else {
            return false;
        };
        remote.give_headers(match why_not {
            Some(why) => Err(Error::new(ErrorKind::Usage, why)),
            None => Ok(fields),
        })
    }

    /// Answers what needs no Python, from a plain read loop without the interpreter's lock.
    /// True when something came that needs a host, false when the peer has left.
    fn serve_without_host(&self, py: Python<'_>) -> PyResult<bool> {
        let core = self.core()?;
        loop {
            let outcome = py.detach(|| core.serve_once());
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
        let core = slf.get().core()?;
        *core.host() = Some(host);
        let waiting = std::mem::take(&mut core.state().waiting);
        core.take_turn(py, waiting.into())
    }

    /// Lets go of the loop, tasks and futures.
    fn detach(&self, py: Python<'_>) -> PyResult<()> {
        let core = match &self.port {
            Port::Loop(core) => core,
            Port::Remote(mailbox, _) => {
                mailbox.close();
                return Ok(());
            }
        };
        #[cfg(unix)]
        core.unguard();
        let host = core.host().take();
        let armed = {
            let mut state = core.state();
            state.detached = true;
            state.armed.take()
        };
        if let Some((_, timer)) = armed {
            timer.bind(py).call_method0("cancel")?;
        }
        // Dropped here, without a lock: their ends may run code of the program.
        drop((host, core.calls.take_all(), core.hook.take()));
        Ok(())
    }

    /// The input has bytes: one read, and what follows from it.
    fn on_readable(&self, py: Python<'_>) -> PyResult<()> {
        let (core, since) = (self.core()?, Instant::now());
        loop {
            let (outputs, ended) = core.read_once();
            core.take_turn(py, outputs)?;
            if ended {
                return core.hook.tell(py, "input_ended", None, py.None(), py.None());
            }
            if !core.stays(py, since)? {
                return Ok(());
            }
        }
    }

    /// Has the connection looked after while its loop is away, as a handler that computes for long has it; gives the
    /// descriptor that the loop is to watch, to call `come_back` when it can be read. `None` where that cannot be had.
    #[allow(clippy::unnecessary_wraps)] // elsewhere
    fn guard(&self) -> PyResult<Option<i32>> {
        #[cfg(unix)]
        return Ok(self.core()?.guard()?);
        #[cfg(not(unix))]
        Ok(None)
    }

    /// The loop is back. What came meanwhile is acted on.
    fn come_back(&self, py: Python<'_>) -> PyResult<()> {
        #[cfg(unix)]
        {
            let core = self.core()?;
            let (outputs, ended) = core.come_back();
            core.take_turn(py, outputs)?;
            if ended {
                return core.hook.tell(py, "input_ended", None, py.None(), py.None());
            }
        }
        let _ = py;
        Ok(())
    }

    /// Ends what `guard` began: from here on nobody but the loop touches the descriptors.
    fn unguard(&self) -> PyResult<()> {
        #[cfg(unix)]
        self.core()?.unguard();
        Ok(())
    }

    /// Client: no more will be read. A last line without its end counts.
    fn finish_line(&self, py: Python<'_>) -> PyResult<()> {
        let core = self.core()?;
        let outputs = {
            let now = core.now();
            let mut state = core.state();
            state.session.finish_line(now);
            state.take_outputs()
        };
        core.take_turn(py, outputs)
    }

    /// Client: whether the server was asked for its era, and has not answered.
    fn is_probing(&self) -> PyResult<bool> {
        Ok(self.core()?.state().session.is_probing())
    }

    /// Client: a server that left at the first question was started once more, and has these descriptors. The loop watches neither
    /// the old ones nor these.
    fn start_over(&self, py: Python<'_>, input: i32, output: i32) -> PyResult<()> {
        let core = self.core()?;
        let outputs = {
            let now = core.now();
            let mut state = core.state();
            state.start_over(input, output, now);
            state.take_outputs()
        };
        core.take_turn(py, outputs)
    }

    /// Bytes read elsewhere (by a thread, where a loop cannot watch the descriptor).
    fn feed(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let core = self.core()?;
        let (outputs, ended) = {
            let now = core.now();
            let mut state = core.state();
            let ended = bytes.is_empty() && state.receive(Ok(0), now);
            if !bytes.is_empty() {
                state.session.receive(bytes, now);
            }
            (state.take_outputs(), ended)
        };
        core.take_turn(py, outputs)?;
        if ended {
            return core.hook.tell(py, "input_ended", None, py.None(), py.None());
        }
        Ok(())
    }

    /// The output takes bytes again.
    fn on_writable(&self, py: Python<'_>) -> PyResult<()> {
        self.core()?.flush(py)
    }

    /// Writes what is queued.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.core()?.flush(py)
    }

    /// Time has come to a deadline.
    fn on_timer(&self, py: Python<'_>) -> PyResult<()> {
        let core = self.core()?;
        let outputs = {
            let now = core.now();
            let mut state = core.state();
            let armed = state.armed.take();
            state.session.handle_timeout(now);
            let outputs = state.take_outputs();
            drop(state);
            drop(armed);
            outputs
        };
        core.take_turn(py, outputs)
    }

    /// Lets time pass at once, for tests: what is due by then happens now.
    fn advance(&self, py: Python<'_>, time: f64) -> PyResult<()> {
        self.core()?.advance(seconds(Some(time))?.unwrap_or_default());
        self.on_timer(py)
    }

    /// Client: starts the handshake.
    #[pyo3(signature = (timeout=None))]
    fn connect(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let core = self.core()?;
        let timeout = seconds(timeout)?;
        let begun = core.with(|session, now| session.connect(timeout, now));
        begun.map_err(|error| raise(py, &error))?;
        core.turn_after_call(py, true)
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
        let options = self.options(timeout, max_total_timeout, reset_timeout_on_progress, progress)?;
        self.port
            .begin(py, |session, now| session.begin(method, params, options, now))
    }

    /// The same for a sign of life.
    #[pyo3(signature = (timeout))]
    fn ping<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = self.options(timeout, None, false, false)?;
        self.port.begin(py, |session, now| session.ping(options, now))
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
        let options = self.options(timeout, max_total_timeout, reset_timeout_on_progress, progress)?;
        let arguments = arguments.map(utf8).transpose()?;
        self.port
            .begin(py, |session, now| session.call_tool(name, arguments, options, now))
    }

    /// The same for a whole list, over all pages.
    #[pyo3(signature = (method, timeout))]
    fn list<'py>(&self, py: Python<'py>, method: &str, timeout: Option<f64>) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = self.options(timeout, None, false, false)?;
        self.port.begin(py, |session, now| session.list(method, options, now))
    }

    /// Cancels a call. Its future is let go, not completed: whoever cancels has stopped waiting.
    #[pyo3(signature = (id, reason=None))]
    fn cancel(&self, py: Python<'_>, id: u64, reason: Option<&str>) -> PyResult<bool> {
        self.port.cancel(py, OutboundId(id), reason)
    }

    /// Sets the mildest log messages that calls ask for, in revisions where each call says it.
    fn set_log_level(&self, level: &str) -> PyResult<()> {
        let known = log_level(level)?;
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(())
    }

    /// Runs a command that makes no call, given as JSON: see `command.rs` of the core.
    fn command(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        let given = self.port.with(|session, now| session.command(text, now));
        let given = given.map_err(|error| raise(py, &error))?;
        self.port.settle(py)?;
        Ok(given)
    }

    /// Has the end of the turn come: what changed in the registry is told then. From any thread.
    fn wake(&self, py: Python<'_>) -> PyResult<()> {
        self.port.settle(py)
    }

    /// Sends a notification.
    #[pyo3(signature = (method, params=None))]
    fn notify(&self, py: Python<'_>, method: &str, params: Option<&str>) -> PyResult<()> {
        self.port.notify(py, method, params)
    }

    /// Server: sends a log message that belongs to no call, if the client wants such. False when it does not.
    #[pyo3(signature = (level, logger, data))]
    fn log(&self, py: Python<'_>, level: &str, logger: Option<&str>, data: &str) -> PyResult<bool> {
        let level = log_level(level)?;
        let sent = self.port.with(|session, _| session.log(None, level, logger, data));
        let sent = sent.map_err(|error| raise(py, &error))?;
        self.port.settle(py)?;
        Ok(sent)
    }

    /// The id of the session over HTTP, or `None`.
    #[getter]
    fn session_id(&self) -> Option<String> {
        self.port.session_id().map(|id| (*id).to_owned())
    }

    /// Ends the session: calls fail, handlers are cancelled, the event `closed` comes.
    fn close(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        let core = match &self.port {
            Port::Loop(core) => core,
            Port::Remote(_, remote) => {
                remote.close(why);
                return Ok(());
            }
        };
        let outputs = {
            let mut state = core.state();
            state.session.close(why);
            state.take_outputs()
        };
        core.take_turn(py, outputs)
    }

    /// Writes what is left, waiting for the peer to read, for `timeout` seconds at most.
    fn finish(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let core = self.core()?;
        let until = core.now() + Duration::from_secs_f64(timeout);
        // A signal ends the wait: it is the end of the program that is waited for.
        let _ = py.detach(|| core.write_all(Some(until)));
        Ok(())
    }

    /// Calls in, calls out, bytes of an unfinished line, handlers that run, futures that wait.
    fn stats(&self) -> (usize, usize, usize, usize, usize) {
        let stats = self.port.with(|session, _| session.stats());
        let (tasks, futures) = self.port.calls().counts();
        (stats.inbound, stats.outbound, stats.buffered, tasks, futures)
    }
}

impl Connection {
    fn new(
        session: Session,
        registry: Py<Registry>,
        server: Option<String>,
        input: i32,
        output: i32,
        on_event: Py<PyAny>,
    ) -> Self {
        let core = Core::new(State::new(session, input, output), registry, server, on_event);
        Self::of(Port::Loop(core))
    }

    pub(crate) fn of(port: Port) -> Self {
        Self {
            port,
            log_level: Mutex::default(),
        }
    }

    /// What moves the bytes over descriptors.
    fn core(&self) -> PyResult<&Arc<Core>> {
        match &self.port {
            Port::Loop(core) => Ok(core),
            Port::Remote(..) => Err(invalid("this connection has no descriptors: the runtime drives it")),
        }
    }

    fn options(&self, timeout: Option<f64>, total: Option<f64>, reset: bool, progress: bool) -> PyResult<CallOptions> {
        Ok(CallOptions {
            timeout: seconds(timeout)?,
            max_total_timeout: seconds(total)?,
            reset_timeout_on_progress: reset,
            progress,
            log_level: *self.log_level.lock().unwrap_or_else(PoisonError::into_inner),
            ..CallOptions::default()
        })
    }
}

/// What a server says of itself, and how it behaves.
#[allow(clippy::too_many_arguments)] // as they cross
pub(crate) fn server_config(
    py: Python<'_>,
    name: String,
    version: String,
    title: Option<String>,
    instructions: Option<String>,
    trace: bool,
    settings: Option<&str>,
    secret: &[u8],
) -> PyResult<Config> {
    let mut config = configure(py, name, version, title, settings.unwrap_or("{\"logging\":true}"))?;
    config.instructions = instructions;
    config.trace = trace;
    if config.state_keys.is_none() {
        config.state_keys = Some(Keyring::new(SealKey::from_bytes(secret).map_err(invalid)?));
    }
    Ok(config)
}

fn configure(py: Python<'_>, name: String, version: String, title: Option<String>, settings: &str) -> PyResult<Config> {
    let mut info = serde_json::json!({ "name": name, "version": version, "title": title });
    // What more it says of itself comes with the settings, as the member "info".
    let mut settings: serde_json::Map<String, serde_json::Value> = serde_json::from_str(settings).map_err(invalid)?;
    if let (Some(serde_json::Value::Object(more)), Some(info)) = (settings.remove("info"), info.as_object_mut()) {
        info.extend(more);
    }
    let settings = serde_json::Value::Object(settings).to_string();
    let mut config = Config::from_json(&info.to_string(), &settings).map_err(|error| raise(py, &error))?;
    let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    config.unix_epoch = u64::try_from(epoch.as_millis()).unwrap_or(u64::MAX);
    Ok(config)
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
