//! The session itself, with time as an argument: what the shared transcripts drive.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, InboundId, Instant, LogLevel, OutboundId, Registry, duration_from_millis,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::raise;

type Options = (Option<f64>, Option<f64>, bool, bool);

/// A session without a transport. Times are milliseconds since an epoch of the caller's.
#[pyclass(module = "oxmcp._native")]
pub(crate) struct Session {
    session: oxmcp_proto::Session,
}

#[pymethods]
impl Session {
    /// A session of a role, `"server"` or `"client"`. What it offers is added by `command`.
    #[new]
    fn new(py: Python<'_>, role: &str, info: &str, settings: &str) -> PyResult<Self> {
        let config = Config::from_json(info, settings).map_err(|error| raise(py, &error))?;
        let registry = Arc::new(Registry::new());
        let session = match role {
            "server" => oxmcp_proto::Session::server(config, registry),
            "client" => oxmcp_proto::Session::client_with(config, registry),
            other => return Err(invalid(format!("there is no role {other:?}"))),
        };
        Ok(Self { session })
    }

    fn connect(&mut self, py: Python<'_>, timeout: Option<f64>, now: f64) -> PyResult<()> {
        let timeout = timeout
            .map(|timeout| duration_from_millis("timeout", timeout))
            .transpose();
        let timeout = timeout.map_err(|error| raise(py, &error))?;
        self.session
            .connect(timeout, at(now))
            .map_err(|error| raise(py, &error))
    }

    fn receive(&mut self, bytes: &[u8], now: f64) {
        self.session.receive(bytes, at(now));
    }

    fn end_input(&mut self, now: f64) {
        self.session.end_input(at(now));
    }

    /// Runs a command, given as JSON: see `command.rs` of the core.
    fn command(&mut self, py: Python<'_>, text: &str, now: f64) -> PyResult<String> {
        self.session.command(text, at(now)).map_err(|error| raise(py, &error))
    }

    fn close(&mut self, why: &str) {
        self.session.close(why);
    }

    fn begin(
        &mut self,
        py: Python<'_>,
        method: &str,
        params: Option<&str>,
        options: Options,
        now: f64,
    ) -> PyResult<u64> {
        let begun = self.session.begin(method, params, call_options(py, options)?, at(now));
        begun.map(|id| id.0).map_err(|error| raise(py, &error))
    }

    fn call_tool(
        &mut self,
        py: Python<'_>,
        name: &str,
        arguments: Option<&str>,
        options: Options,
        now: f64,
    ) -> PyResult<u64> {
        let begun = self
            .session
            .call_tool(name, arguments, call_options(py, options)?, at(now));
        begun.map(|id| id.0).map_err(|error| raise(py, &error))
    }

    #[pyo3(signature = (id, reason=None))]
    fn cancel(&mut self, id: u64, reason: Option<&str>) -> bool {
        self.session.cancel(OutboundId(id), reason)
    }

    #[pyo3(signature = (method, params=None))]
    fn notify(&mut self, py: Python<'_>, method: &str, params: Option<&str>) -> PyResult<()> {
        self.session.notify(method, params).map_err(|error| raise(py, &error))
    }

    fn respond_result(&mut self, id: u64, text: &str, now: f64) -> bool {
        self.session.respond(InboundId(id), Answer::Result(text), at(now))
    }

    fn respond_tool_error(&mut self, id: u64, message: &str, now: f64) -> bool {
        self.session.respond(InboundId(id), Answer::ToolError(message), at(now))
    }

    fn respond_invalid_arguments(&mut self, id: u64, what: &str, now: f64) -> bool {
        self.session
            .respond(InboundId(id), Answer::InvalidArguments(what), at(now))
    }

    fn respond_error(&mut self, id: u64, code: i64, message: String, data: Option<String>, now: f64) -> PyResult<bool> {
        let mut error = ErrorObject::new(ErrorCode(code), message);
        error.data = data.map(json).transpose().map_err(invalid)?;
        Ok(self.session.respond(InboundId(id), Answer::Error(error), at(now)))
    }

    #[pyo3(signature = (id, progress, total=None, message=None))]
    fn progress(&mut self, id: u64, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        self.session.progress(InboundId(id), progress, total, message)
    }

    fn resume(&mut self, id: u64) -> bool {
        self.session.resume(InboundId(id))
    }

    fn handle_timeout(&mut self, now: f64) {
        self.session.handle_timeout(at(now));
    }

    fn poll_timeout(&self) -> Option<f64> {
        self.session.poll_timeout().map(Instant::as_millis)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, counts) = (self.session.stats(), PyDict::new(py));
        counts.set_item("inbound", stats.inbound)?;
        counts.set_item("outbound", stats.outbound)?;
        counts.set_item("buffered", stats.buffered)?;
        Ok(counts)
    }

    /// The outputs as the text of one flat JSON array, and the bytes for the peer.
    fn poll<'py>(&mut self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let (mut events, mut wire) = (Vec::new(), Vec::new());
        self.session.encode_outputs(&mut events, &mut wire);
        Ok((String::from_utf8(events)?, PyBytes::new(py, &wire)))
    }
}

fn call_options(py: Python<'_>, (timeout, total, reset, progress): Options) -> PyResult<CallOptions> {
    CallOptions::from_millis(timeout, total, reset, progress).map_err(|error| raise(py, &error))
}

fn at(now: f64) -> Instant {
    Instant::from_millis(now)
}

/// The level of log messages of this name.
pub(crate) fn log_level(name: &str) -> PyResult<LogLevel> {
    LogLevel::named(name).ok_or_else(|| {
        let names = LogLevel::ALL.map(LogLevel::name).join(", ");
        invalid(format!("{name:?} is no level; the levels are {names}"))
    })
}

pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
