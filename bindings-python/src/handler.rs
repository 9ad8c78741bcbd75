//! A call of the peer as a coroutine of Rust's, driven by a real `asyncio.Task`.
//!
//! The task owns cancellation, context variables and the "current task"; this object decodes the
//! arguments, runs the handler's own coroutine inside, and answers the call with what that gives.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json, json};
use oxmcp_proto::{Answer, InboundId};
use pyo3::exceptions::{PyGeneratorExit, PyKeyboardInterrupt, PyStopIteration, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::connection::utf8;
use crate::context::Context;
use crate::entry::{Entry, is_decode_error};
use crate::port::Port;

/// One call of a handler.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Handler {
    port: Port,
    id: InboundId,
    entry: Py<Entry>,
    wants_progress: bool,
    stage: Mutex<Stage>,
    over: AtomicBool,
}

enum Stage {
    Fresh(Option<Json>),
    Running(Py<PyAny>),
    /// The handler's coroutine runs right now, or is over.
    Away,
}

/// What one step of the handler's coroutine gave.
enum Step<'py> {
    Waits(Bound<'py, PyAny>),
    Returned(Bound<'py, PyAny>),
}

#[pymethods]
impl Handler {
    fn __await__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.step(py)
    }

    fn send<'py>(&self, py: Python<'py>, _value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // asyncio only ever sends None.
        self.step(py)?.ok_or_else(|| PyStopIteration::new_err(()))
    }

    /// Raises an exception where the handler waits: how asyncio delivers a cancel.
    #[pyo3(signature = (kind, value=None, traceback=None))]
    pub(crate) fn throw<'py>(
        &self,
        py: Python<'py>,
        kind: Bound<'py, PyAny>,
        value: Option<Bound<'py, PyAny>>,
        traceback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = traceback;
        let stage = self.swap(Stage::Away);
        let Stage::Running(coroutine) = stage else {
            let error = PyErr::from_value(as_exception(kind, value)?);
            return self.fail(py, error)?.ok_or_else(|| PyStopIteration::new_err(()));
        };
        let coroutine = coroutine.into_bound(py);
        let exception = as_exception(kind, value)?;
        let step = match coroutine.call_method1(intern!(py, "throw"), (exception,)) {
            Ok(waits) => Ok(Step::Waits(waits)),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                error.value(py).getattr(intern!(py, "value")).map(Step::Returned)
            }
            Err(error) => Err(error),
        };
        self.advance(py, coroutine, step)?
            .ok_or_else(|| PyStopIteration::new_err(()))
    }

    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let stage = self.swap(Stage::Away);
        self.over.store(true, Ordering::Relaxed);
        let task = self.port.calls().take_task(self.port.number(), self.id);
        drop(task);
        match stage {
            Stage::Running(coroutine) => coroutine.bind(py).call_method0(intern!(py, "close")).map(drop),
            Stage::Fresh(_) | Stage::Away => Ok(()),
        }
    }

    /// For asyncio's debug output.
    #[getter]
    pub(crate) fn __name__(&self, py: Python<'_>) -> String {
        self.entry.get().name(py)
    }

    #[getter]
    pub(crate) fn __qualname__(&self, py: Python<'_>) -> String {
        let entry = self.entry.get();
        format!("{} '{}'", entry.kind(py), entry.name(py))
    }
}

impl Handler {
    pub(crate) fn new(
        port: Port,
        id: InboundId,
        entry: Py<Entry>,
        arguments: Option<Json>,
        wants_progress: bool,
    ) -> Self {
        let stage = Mutex::new(Stage::Fresh(arguments));
        Self {
            port,
            id,
            entry,
            wants_progress,
            stage,
            over: AtomicBool::new(false),
        }
    }

    pub(crate) fn entry(&self) -> &Entry {
        self.entry.get()
    }

    /// Whether the call was answered or given up.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Runs until the handler waits, which gives what it waits for, or is done.
    pub(crate) fn step<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let stage = self.swap(Stage::Away);
        let coroutine = match stage {
            Stage::Running(coroutine) => coroutine.into_bound(py),
            Stage::Fresh(arguments) => match self.start(py, arguments.as_deref()) {
                Ok(Some(coroutine)) => coroutine,
                Ok(None) => return Ok(None),
                Err(error) => return self.fail(py, error),
            },
            Stage::Away => return Ok(None),
        };
        let step = step(&coroutine);
        self.advance(py, coroutine, step)
    }

    fn swap(&self, next: Stage) -> Stage {
        std::mem::replace(&mut *self.stage.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    /// Decodes the arguments and calls the handler. `None` when they do not fit and were refused.
    fn start<'py>(
        &self,
        py: Python<'py>,
        arguments: Option<&serde_json::value::RawValue>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let plan = Entry::plan(self.entry.bind(py))?;
        let text = arguments.map_or("{}", serde_json::value::RawValue::get);
        let decoded = match plan.decode(py, text) {
            Ok(decoded) => decoded,
            Err(error) if is_decode_error(py, &error)? => {
                self.refuse(py, &error.value(py).to_string())?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let context = || {
            let context = Context::new(
                py,
                self.port.clone(),
                self.id,
                self.entry.clone_ref(py),
                self.wants_progress,
            );
            Ok(Bound::new(py, context)?.into_any())
        };
        plan.call(py, decoded.as_ref(), context).map(Some)
    }

    fn advance<'py>(
        &self,
        py: Python<'py>,
        coroutine: Bound<'py, PyAny>,
        step: PyResult<Step<'py>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match step {
            Ok(Step::Waits(what)) => {
                self.swap(Stage::Running(coroutine.unbind()));
                Ok(Some(what))
            }
            Ok(Step::Returned(value)) => match self.answer(py, &value) {
                Ok(()) => Ok(None),
                Err(error) => self.fail(py, error),
            },
            Err(error) => self.fail(py, error),
        }
    }

    /// Answers a call whose arguments do not fit.
    fn refuse(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        let entry = self.entry.get();
        if entry.is_tool() {
            return self.finish(py, Answer::InvalidArguments(what));
        }
        let message = format!("Invalid params for {} {}: {what}", entry.kind(py), entry.name(py));
        self.finish(py, Answer::Error(ErrorObject::new(ErrorCode::INVALID_PARAMS, message)))
    }

    fn answer(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.entry.get().is_tool() {
            return self.finish(py, Answer::Result(utf8(value.cast::<PyBytes>()?.as_bytes())?));
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            return self.finish(py, Answer::Text(&text_of(text)?));
        }
        if value.is_none() {
            return self.finish(py, Answer::Result("{\"content\":[]}"));
        }
        static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let result = ENCODE.import(py, "oxmcp._results", "encode")?.call1((value,))?;
        let result = result.cast::<PyBytes>()?;
        self.finish(py, Answer::Result(utf8(result.as_bytes())?))
    }

    /// Answers for a handler that raised. Cancels, and what is meant to end the program, go on up.
    fn fail<'py>(&self, py: Python<'py>, error: PyErr) -> PyResult<Option<Bound<'py, PyAny>>> {
        static EXPLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        self.over.store(true, Ordering::Relaxed);
        let is_exit = error.is_instance_of::<PyGeneratorExit>(py);
        if is_exit || is_cancel(py, &error)? {
            if self.port.forget(self.id) {
                // Not the peer's doing: it still waits for an answer.
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the call was cancelled by the server");
                self.finish(py, Answer::Error(error))?;
            }
            // A task that ended by the former would be said to have failed, and nobody asks it.
            return if is_exit { Ok(None) } else { Err(error) };
        }
        if let Some(what) = refused(py, &error)? {
            self.refuse(py, &what)?;
            return Ok(None);
        }
        let (kind, name) = (self.entry.get().kind(py), self.entry.get().name(py));
        let explained = EXPLAIN
            .import(py, "oxmcp._errors", "explain")
            .and_then(|explain| explain.call1((error.value(py), &name, &kind)))
            .and_then(|explained| explained.extract::<(Option<i64>, Bound<'py, PyString>, Option<String>)>());
        match explained {
            Ok((None, message, _)) => self.finish(py, Answer::ToolError(&text_of(&message)?))?,
            Ok((Some(code), message, data)) => {
                let mut object = ErrorObject::new(ErrorCode(code), text_of(&message)?.into_owned());
                object.data = data.and_then(|data| json(data).ok());
                self.finish(py, Answer::Error(object))?;
            }
            // The exception cannot even be described; the caller gets its answer all the same.
            Err(failure) => {
                failure.write_unraisable(py, None);
                let message = format!("The {kind} {name} failed");
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                self.finish(py, Answer::Error(error))?;
            }
        }
        if ends_the_program(py, &error) {
            Err(error)
        } else {
            Ok(None)
        }
    }

    fn finish(&self, py: Python<'_>, answer: Answer<'_>) -> PyResult<()> {
        self.over.store(true, Ordering::Relaxed);
        self.port.respond(py, self.id, answer)
    }
}

/// Whether an exception is meant for more than the handler that it came from.
fn ends_the_program(py: Python<'_>, error: &PyErr) -> bool {
    // A handler that calls sys.exit(), as command line libraries do, has failed; it does not end the server. Neither
    // does one with an exception of the program's own that is no `Exception`, or that raises what an interrupt raises.
    let is_real = || py.import("oxmcp._interrupts")?.getattr("is_real")?.call0()?.is_truthy();
    error.is_instance_of::<PyKeyboardInterrupt>(py) && is_real().unwrap_or(true)
}

/// A string in UTF-8, in which half of a surrogate pair has no form and becomes U+FFFD.
pub(crate) fn text_of<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    static PRINTABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let printable = PRINTABLE.import(text.py(), "oxmcp._errors", "printable")?;
    Ok(Cow::Owned(printable.call1((text,))?.extract()?))
}

/// Runs a coroutine until it waits or returns.
fn step<'py>(coroutine: &Bound<'py, PyAny>) -> PyResult<Step<'py>> {
    let py = coroutine.py();
    let mut value = std::ptr::null_mut();
    // SAFETY: the coroutine is a live object, None lives for ever, and `value` receives a new
    // reference except on an error, in which case it is not touched.
    unsafe {
        match ffi::PyIter_Send(coroutine.as_ptr(), ffi::Py_None(), &raw mut value) {
            ffi::PySendResult::PYGEN_NEXT => Ok(Step::Waits(Bound::from_owned_ptr(py, value))),
            ffi::PySendResult::PYGEN_RETURN => Ok(Step::Returned(Bound::from_owned_ptr(py, value))),
            ffi::PySendResult::PYGEN_ERROR => Err(PyErr::fetch(py)),
        }
    }
}

/// An exception from the arguments of `throw`: an instance, or a class with an optional value.
pub(crate) fn as_exception<'py>(
    kind: Bound<'py, PyAny>,
    value: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if !kind.is_instance_of::<pyo3::types::PyType>() {
        return Ok(kind);
    }
    match value.filter(|value| !value.is_none()) {
        Some(value) if value.is_instance(&kind)? => Ok(value),
        Some(value) => kind.call1((value,)),
        None if kind.is_callable() => kind.call0(),
        None => Err(PyTypeError::new_err("throw takes an exception")),
    }
}

pub(crate) fn is_cancel(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    static CANCELLED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(error.matches(py, CANCELLED.import(py, "asyncio", "CancelledError")?)?)
}

/// What is wrong with the arguments, where only the function could tell.
fn refused(py: Python<'_>, error: &PyErr) -> PyResult<Option<String>> {
    static REFUSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if !error.matches(py, REFUSED.import(py, "oxmcp._errors", "ArgumentsRefused")?)? {
        return Ok(None);
    }
    Ok(Some(text_of(&error.value(py).str()?)?.into_owned()))
}
