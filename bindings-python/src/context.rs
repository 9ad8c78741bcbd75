//! What a handler can say while it runs, ask its caller for, and know of it.
//!
//! What needs types or JSON is written in Python, in `oxmcp._asking`, which is imported when a handler
//! first needs it.

use oxmcp_proto::{CallOptions, Error, ErrorKind, InboundId, LogLevel, OutboundId};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::connection::seconds;
use crate::entry::Entry;
use crate::error::raise;
use crate::handler::text_of;
use crate::port::Port;
use crate::session::log_level;

/// The request a handler serves. Ask for it by annotating a parameter with `Context`.
#[pyclass(module = "oxmcp", frozen)]
pub(crate) struct Context {
    port: Port,
    id: InboundId,
    entry: Py<Entry>,
    /// Whether the caller asked for progress. Without it reports are not sent.
    #[pyo3(get)]
    wants_progress: bool,
    /// What an HTTP library of the program's knows of the request: taken at once, as it may be gone before the call is.
    scope: Option<Py<PyAny>>,
    http_request: PyOnceLock<Option<Py<PyAny>>>,
}

#[pymethods]
impl Context {
    /// Reports progress to the caller.
    ///
    /// The value grows from report to report (a report that does not is left out); `total` is what
    /// it grows to, where that is known; `message` is for a person. Await it in an async handler: that
    /// lets other work run when the handler has kept the loop busy. In a plain one just call it.
    ///
    /// Progress clause of the specification (all revisions).
    #[pyo3(signature = (progress, total=None, message=None))]
    fn report_progress(
        &self,
        py: Python<'_>,
        progress: f64,
        total: Option<f64>,
        message: Option<Bound<'_, PyString>>,
    ) -> PyResult<Pause> {
        if !progress.is_finite() {
            return Err(PyTypeError::new_err(format!(
                "progress is a finite number, not {progress}"
            )));
        }
        let message = message.as_ref().map(text_of).transpose()?;
        let due = self.port.progress(py, self.id, progress, total, message.as_deref())?;
        Ok(Pause { due: due.into() })
    }

    /// Whether the caller has cancelled, for plain handlers; async ones get `CancelledError`.
    #[getter]
    fn cancelled(&self) -> bool {
        !self.port.is_open(self.id)
    }

    /// Sends a log message to the client, unless it does not want messages as mild as this one.
    #[pyo3(signature = (level, data, logger=None))]
    fn log(
        slf: &Bound<'_, Self>,
        level: &str,
        data: Bound<'_, PyAny>,
        logger: Option<Bound<'_, PyString>>,
    ) -> PyResult<Pause> {
        let level = log_level(level)?;
        Self::write_log(slf, level, data, logger.as_ref())
    }

    /// `log` of the level "debug".
    #[pyo3(signature = (data, logger=None))]
    fn debug(slf: &Bound<'_, Self>, data: Bound<'_, PyAny>, logger: Option<Bound<'_, PyString>>) -> PyResult<Pause> {
        Self::write_log(slf, LogLevel::Debug, data, logger.as_ref())
    }

    /// `log` of the level "info".
    #[pyo3(signature = (data, logger=None))]
    fn info(slf: &Bound<'_, Self>, data: Bound<'_, PyAny>, logger: Option<Bound<'_, PyString>>) -> PyResult<Pause> {
        Self::write_log(slf, LogLevel::Info, data, logger.as_ref())
    }

    /// `log` of the level "warning".
    #[pyo3(signature = (data, logger=None))]
    fn warning(slf: &Bound<'_, Self>, data: Bound<'_, PyAny>, logger: Option<Bound<'_, PyString>>) -> PyResult<Pause> {
        Self::write_log(slf, LogLevel::Warning, data, logger.as_ref())
    }

    /// `log` of the level "error".
    #[pyo3(signature = (data, logger=None))]
    fn error(slf: &Bound<'_, Self>, data: Bound<'_, PyAny>, logger: Option<Bound<'_, PyString>>) -> PyResult<Pause> {
        Self::write_log(slf, LogLevel::Error, data, logger.as_ref())
    }

    /// Asks the client's user to fill in a form.
    #[pyo3(signature = (message, schema=None, *, key=None, timeout=None))]
    fn elicit<'py>(
        slf: &Bound<'py, Self>,
        message: Bound<'py, PyAny>,
        schema: Option<Bound<'py, PyAny>>,
        key: Option<&str>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "elicit")?.call1((slf, message, schema, key, timeout))
    }

    /// Asks the client's user to visit a URL.
    #[pyo3(signature = (message, url, *, elicitation_id=None, key=None, timeout=None))]
    fn elicit_url<'py>(
        slf: &Bound<'py, Self>,
        message: Bound<'py, PyAny>,
        url: Bound<'py, PyAny>,
        elicitation_id: Option<&str>,
        key: Option<&str>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "elicit_url")?.call1((slf, message, url, elicitation_id, key, timeout))
    }

    /// Asks the client's model.
    #[pyo3(signature = (messages, **options))]
    fn sample<'py>(
        slf: &Bound<'py, Self>,
        messages: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "sample")?.call((slf, messages), options)
    }

    /// Asks the client for its roots.
    #[pyo3(signature = (*, key=None, timeout=None))]
    fn list_roots<'py>(slf: &Bound<'py, Self>, key: Option<&str>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "list_roots")?.call1((slf, key, timeout))
    }

    /// Waits, in a plain handler, for what an async one would await.
    fn wait<'py>(slf: &Bound<'py, Self>, awaitable: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "wait")?.call1((slf, awaitable))
    }

    /// Gives up the stream of this request over HTTP: a client of a revision with sessions comes back for the rest.
    fn end_stream(&self) {
        self.port.end_stream(self.id);
    }

    /// Sends a notification to the client.
    #[pyo3(signature = (method, params=None))]
    fn notify<'py>(
        slf: &Bound<'py, Self>,
        method: &str,
        params: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        asking(slf.py(), "notify")?.call1((slf, method, params))
    }

    /// What the caller declares that it can do.
    #[getter]
    fn client_capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decode(py, Some(&self.caller(py)?.capabilities))
    }

    /// Who the caller says it is, or `None`.
    #[getter]
    fn client_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decode(py, self.caller(py)?.info.as_deref())
    }

    /// The revision of the request.
    #[getter]
    fn protocol_version(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.caller(py)?.revision.name())
    }

    /// The `_meta` of the request, or `None`.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decode(py, self.caller(py)?.meta.as_deref())
    }

    /// The server that the handler belongs to.
    #[getter]
    fn server(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.entry.get().owner(py)
    }

    /// What the server's lifespan gave, or `None`.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.entry.get().owner(py) {
            Some(server) => server.bind(py).getattr("state"),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The id of the request as the caller wrote it, or `None` when the call is over.
    #[getter]
    fn request_id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self
            .port
            .with(|session, _| session.request_of(self.id).map(ToString::to_string));
        decode(py, text.as_deref())
    }

    /// The HTTP request that brought the call, or `None`.
    #[getter]
    fn http_request(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let request = self.http_request.get_or_try_init(py, || self.find_http_request(py))?;
        Ok(request.as_ref().map(|request| request.clone_ref(py)))
    }

    /// The id of the client's session over HTTP, or `None`.
    #[getter]
    fn session_id(&self) -> Option<String> {
        self.port.session_id().map(|id| (*id).to_owned())
    }

    /// Tells its connection from all others of this process.
    #[getter]
    fn _connection(&self) -> (u64, u64) {
        self.port.identity()
    }

    /// The event loop that serves the request.
    #[getter]
    fn _loop<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let event_loop = self.port.event_loop()?;
        Some(event_loop.bind(py).clone())
    }

    /// Makes a call of ours for this one; gives its id and its future.
    fn _ask<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        params: Option<&str>,
        key: Option<&str>,
        timeout: Option<f64>,
    ) -> PyResult<(u64, Bound<'py, PyAny>)> {
        let options = CallOptions {
            timeout: seconds(timeout)?,
            ..CallOptions::default()
        };
        self.port.ask(py, |session, now| {
            session.ask(self.id, key, method, params, options, now)
        })
    }

    /// Stops waiting for such a call.
    fn _withdraw(&self, py: Python<'_>, id: u64) -> PyResult<bool> {
        self.port.cancel(py, OutboundId(id), None)
    }

    fn _notify(&self, py: Python<'_>, method: &str, params: Option<&str>) -> PyResult<()> {
        self.port.notify(py, method, params)
    }
}

/// Who makes a call, for Python.
struct Caller {
    revision: oxmcp_proto::Revision,
    info: Option<String>,
    capabilities: String,
    meta: Option<String>,
}

impl Context {
    pub(crate) fn new(py: Python<'_>, port: Port, id: InboundId, entry: Py<Entry>, wants_progress: bool) -> Self {
        let scope = port.scope(py, id);
        Self {
            port,
            id,
            entry,
            wants_progress,
            scope,
            http_request: PyOnceLock::new(),
        }
    }

    fn find_http_request(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let find = |name| py.import("oxmcp._requests")?.getattr(name);
        if let Some(scope) = &self.scope {
            return find("of_scope")?.call1((scope,)).map(Bound::unbind).map(Some);
        }
        let Some(origin) = self.port.http_request(self.id) else {
            return Ok(None);
        };
        let head = origin.request;
        let bytes = |text: &[u8]| PyBytes::new(py, text).unbind();
        let fields = head.headers.iter().map(|(name, value)| (bytes(name), bytes(value)));
        let fields: Vec<_> = fields.collect();
        let request = find("of_head")?.call1((head.method, head.target, head.authority, fields))?;
        Ok(Some(request.unbind()))
    }

    fn write_log(
        slf: &Bound<'_, Self>,
        level: LogLevel,
        data: Bound<'_, PyAny>,
        logger: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Pause> {
        let (py, this) = (slf.py(), slf.get());
        let data: String = asking(py, "encode")?.call1((data,))?.extract()?;
        let logger = logger.map(text_of).transpose()?;
        this.port.log(py, this.id, level, logger.as_deref(), &data)?;
        Ok(Pause { due: false.into() })
    }

    fn caller(&self, py: Python<'_>) -> PyResult<Caller> {
        let caller = self.port.with(|session, _| {
            session.caller(self.id).map(|caller| Caller {
                revision: caller.revision,
                info: caller.info.map(str::to_owned),
                capabilities: caller.capabilities.to_owned(),
                meta: caller.meta.map(str::to_owned),
            })
        });
        caller.ok_or_else(|| {
            raise(
                py,
                &Error::new(ErrorKind::Usage, "the call is over, and nothing is known of its caller"),
            )
        })
    }
}

/// A function of `oxmcp._asking`.
fn asking<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("oxmcp._asking")?.getattr(name)
}

fn decode<'py>(py: Python<'py>, text: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let Some(text) = text else {
        return Ok(py.None().into_bound(py));
    };
    py.import("oxmcp._json")?.getattr("decode")?.call1((text,))
}

/// Awaited, it lets the loop run once if that is due.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Pause {
    due: std::sync::atomic::AtomicBool,
}

#[pymethods]
impl Pause {
    fn __await__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.due
            .swap(false, std::sync::atomic::Ordering::Relaxed)
            .then(|| py.None())
    }
}
