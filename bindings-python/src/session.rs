//! The session itself, with time as an argument: what the shared transcripts drive.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, InboundId, Instant, OutboundId, Registry, RegistryError, duration_from_millis,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;

use crate::error::raise;

type Options = (Option<f64>, Option<f64>, bool, bool);

/// A session without a transport. Times are milliseconds since an epoch of the caller's.
#[pyclass(module = "oxmcp._native")]
pub(crate) struct Session {
    session: oxmcp_proto::Session,
}

#[pymethods]
impl Session {
    #[staticmethod]
    fn server(py: Python<'_>, info: &str, tools: Vec<String>, options: &str) -> PyResult<Self> {
        let config = Config::from_json(info, options).map_err(|error| raise(py, &error))?;
        let registry = Registry::new();
        for descriptor in tools {
            add_tool(&registry, &descriptor)?;
        }
        Ok(Self {
            session: oxmcp_proto::Session::server(config, Arc::new(registry)),
        })
    }

    #[staticmethod]
    fn client(py: Python<'_>, info: &str, options: &str) -> PyResult<Self> {
        let config = Config::from_json(info, options).map_err(|error| raise(py, &error))?;
        Ok(Self {
            session: oxmcp_proto::Session::client(config),
        })
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

    fn respond_result(&mut self, id: u64, text: &str) -> bool {
        self.session.respond(InboundId(id), Answer::Result(text))
    }

    fn respond_tool_error(&mut self, id: u64, message: &str) -> bool {
        self.session.respond(InboundId(id), Answer::ToolError(message))
    }

    fn respond_invalid_arguments(&mut self, id: u64, what: &str) -> bool {
        self.session.respond(InboundId(id), Answer::InvalidArguments(what))
    }

    #[pyo3(signature = (id, code, message, data=None))]
    fn respond_error(&mut self, id: u64, code: i64, message: String, data: Option<String>) -> PyResult<bool> {
        let mut error = ErrorObject::new(ErrorCode(code), message);
        error.data = data.map(json).transpose().map_err(invalid)?;
        Ok(self.session.respond(InboundId(id), Answer::Error(error)))
    }

    #[pyo3(signature = (id, progress, total=None, message=None))]
    fn progress(&mut self, id: u64, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        self.session.progress(InboundId(id), progress, total, message)
    }

    fn resume(&mut self, id: u64) -> bool {
        self.session.resume(InboundId(id))
    }

    fn describe_tool(&self, index: usize, descriptor: &str) -> PyResult<()> {
        describe(&self.session, index, descriptor)
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

pub(crate) fn describe(session: &oxmcp_proto::Session, index: usize, descriptor: &str) -> PyResult<()> {
    let descriptor = json(descriptor).map_err(invalid)?;
    session.registry().describe_tool(index, &descriptor).map_err(invalid)
}

/// A whole descriptor, or a name as a JSON string.
fn add_tool(registry: &Registry, text: &str) -> PyResult<()> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    if let Ok(name) = serde_json::from_str::<String>(text) {
        return registry.add_tool(&name).map(drop).map_err(invalid);
    }
    let named: Named = serde_json::from_str(text).map_err(invalid)?;
    let index = registry.add_tool(&named.name).map_err(invalid)?;
    let described: Result<(), RegistryError> = registry.describe_tool(index, &json(text).map_err(invalid)?);
    described.map_err(invalid)
}

fn call_options(py: Python<'_>, (timeout, total, reset, progress): Options) -> PyResult<CallOptions> {
    CallOptions::from_millis(timeout, total, reset, progress).map_err(|error| raise(py, &error))
}

fn at(now: f64) -> Instant {
    Instant::from_millis(now)
}

pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
