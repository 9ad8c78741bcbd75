//! Errors of the core as Python's exceptions, which are built on the Python side.

use oxmcp_proto::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception for a failure of the core: `oxmcp._errors.from_native`.
pub(crate) fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    static FROM_NATIVE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let build = FROM_NATIVE.import(py, "oxmcp._errors", "from_native")?;
    build.call1((
        error.kind().name(),
        error.code().map(|code| code.0),
        error.message(),
        error.data(),
        error.fault().name(),
        error.is_retryable(),
    ))
}

/// The same, to be raised.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    match exception(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}
