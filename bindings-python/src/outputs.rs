//! What the outputs of a session mean for Python, wherever the session lives.
//!
//! | output | what follows |
//! | --- | --- |
//! | a call | its handler starts as a task |
//! | a call is cancelled | so is its task |
//! | a call of ours is done | its future is |
//! | descriptions are asked for | the hook gives them, then the session goes on |
//! | all else | the hook is told |

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::{Answer, Error, ErrorKind, Output, Peer};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::exception;
use crate::event_loop::{EventLoop, Started};
use crate::handler::Handler;
use crate::port::Port;

/// Does what one output asks for. True when it started a handler that begins later in this turn of the loop.
pub(crate) fn act(py: Python<'_>, port: &Port, event_loop: &EventLoop, output: Output) -> PyResult<bool> {
    match output {
        Output::Call {
            id,
            target,
            params,
            wants_progress,
        } => {
            let Some(entry) = port.registry().get().handler(py, &target) else {
                let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "it was removed a moment ago");
                port.respond(py, id, Answer::Error(error))?;
                return Ok(false);
            };
            let handler = Bound::new(py, Handler::new(port.clone(), id, entry, params, wants_progress))?;
            let (task, is_later) = match event_loop.start(&handler)? {
                Started::Done => return Ok(false),
                Started::Waits(task) => (task, false),
                Started::Later(task) => (task, true),
            };
            port.calls().keep_task(port.number(), id, task.unbind());
            return Ok(is_later);
        }
        Output::Cancelled { id, .. } => {
            if let Some(task) = port.calls().task(py, port.number(), id) {
                task.bind(py).call_method0(intern!(py, "cancel"))?;
            }
        }
        Output::Done { id, outcome } => {
            if let Some(future) = port.calls().take_future(port.number(), id) {
                complete(future.bind(py), &outcome)?;
            }
        }
        Output::Describe { id, kind } => {
            let described = port.tell(py, "describe", None, kind.name(), py.None());
            port.with(|session, _| session.resume(id));
            port.settle(py)?;
            described?;
        }
        output => report(py, port, output)?,
    }
    Ok(false)
}

/// Hands a rare output to Python.
pub(crate) fn report(py: Python<'_>, port: &Port, output: Output) -> PyResult<()> {
    match output {
        Output::Ready(peer) => {
            port.learn(Some(peer.revision));
            let about = about(&peer);
            port.tell(py, "ready", None, about, peer.instructions.as_deref())?;
        }
        Output::ConnectFailed(error) => {
            port.learn(None);
            port.tell(py, "connect_failed", None, exception(py, &error)?, py.None())?;
        }
        Output::Progress { id, params } => {
            let params = PyBytes::new(py, params.get().as_bytes());
            port.tell(py, "progress", Some(id.0), params, py.None())?;
        }
        Output::Notification {
            method,
            params,
            subscription,
        } => {
            let params = params.map(|params| PyBytes::new(py, params.get().as_bytes()));
            port.tell(py, "notification", subscription.map(|id| id.0), method, params)?;
        }
        Output::Trace { direction, line } => port.tell(py, "trace", None, direction.name(), line)?,
        Output::Problem(problem) => port.tell(py, "problem", None, problem.kind.name(), problem.message)?,
        Output::Call { .. }
        | Output::Cancelled { .. }
        | Output::Done { .. }
        | Output::Describe { .. }
        | Output::Closed
        | Output::Message { .. }
        | Output::Wire(_) => {}
    }
    Ok(())
}

/// What Python is told of a peer: its revision, whether that has a handshake, who it is and what it can do.
pub(crate) fn about(peer: &Peer) -> (&'static str, bool, &str, &str) {
    let revision = peer.revision;
    let (info, capabilities) = (peer.info.get(), peer.capabilities.get());
    (revision.name(), revision.has_handshake(), info, capabilities)
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
