//! Requests to a server's port for other paths than the endpoint's, which Python answers.
//!
//! | what came | the hook is told |
//! | --- | --- |
//! | a request | `"route"`, its token, `(method, target, authority, headers, (address, port), body)`, the `RouteReply` |
//! | the client took what it was given | `"route_more"`, the token |
//! | the client left | `"route_left"`, the token |
//! | no answer began in time | `"route_late"`, the token |

use std::sync::{Mutex, PoisonError};

use oxmcp::border::{self, RouteEvent, RouteRequest};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::hook::Hook;

/// Answers one request, once.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct RouteReply(Mutex<Option<border::RouteReply>>);

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

#[pymethods]
impl RouteReply {
    /// Gives the whole response. False when nobody gets it.
    fn answer(&self, py: Python<'_>, status: u16, headers: Bound<'_, PyAny>, body: Vec<u8>) -> PyResult<bool> {
        let headers = fields(&headers)?;
        self.with(|reply| reply.answer(status, headers, body))
            .map_err(|error| raise(py, &error))
    }

    /// There is nothing at this path.
    fn unknown(&self) -> bool {
        self.with(|reply| Ok(reply.unknown())).unwrap_or(false)
    }

    /// Begins a response whose body follows. False when nobody gets it.
    fn begin(&self, py: Python<'_>, status: u16, headers: Bound<'_, PyAny>) -> PyResult<bool> {
        let headers = fields(&headers)?;
        self.with(|reply| reply.begin(status, headers))
            .map_err(|error| raise(py, &error))
    }

    /// Gives the next of the body, once the one before was taken. False when nobody gets it.
    fn chunk(&self, py: Python<'_>, chunk: Vec<u8>) -> PyResult<bool> {
        self.with(|reply| reply.chunk(chunk)).map_err(|error| raise(py, &error))
    }

    /// The body is complete.
    fn end(&self) -> bool {
        self.with(|reply| Ok(reply.end())).unwrap_or(false)
    }

    /// Lets go of it. Before the end of an answer that breaks it off.
    fn close(&self) {
        let reply = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(reply);
    }
}

impl RouteReply {
    fn with(
        &self,
        work: impl FnOnce(&border::RouteReply) -> Result<bool, oxmcp_proto::Error>,
    ) -> Result<bool, oxmcp_proto::Error> {
        let reply = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reply.as_ref().map_or(Ok(false), work)
    }
}

/// Header fields as a program gives them: pairs of bytes.
pub(crate) fn fields(headers: &Bound<'_, PyAny>) -> PyResult<Fields> {
    let mut fields = Vec::with_capacity(headers.len().unwrap_or_default());
    for field in headers.try_iter()? {
        let (name, value): (Bound<'_, PyBytes>, Bound<'_, PyBytes>) = field?.extract()?;
        fields.push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    }
    Ok(fields)
}

/// Tells the hook.
pub(crate) fn act(py: Python<'_>, hook: &Hook, event: RouteEvent) -> PyResult<()> {
    match event {
        RouteEvent::Request(RouteRequest {
            token,
            head,
            peer,
            body,
            reply,
        }) => {
            let headers = head.headers.iter();
            let headers: Vec<_> = headers
                .map(|(name, value)| (PyBytes::new(py, name), PyBytes::new(py, value)))
                .collect();
            let peer = (peer.ip().to_string(), peer.port());
            let body = PyBytes::new(py, &body);
            let request = (head.method, head.target, head.authority, headers, peer, body);
            let reply = Bound::new(py, RouteReply(Mutex::new(Some(reply))))?;
            hook.tell(py, "route", Some(token), request, reply)
        }
        RouteEvent::More(token) => hook.tell(py, "route_more", Some(token), py.None(), py.None()),
        RouteEvent::Left(token) => hook.tell(py, "route_left", Some(token), py.None(), py.None()),
        RouteEvent::Late(token) => hook.tell(py, "route_late", Some(token), py.None(), py.None()),
    }
}
