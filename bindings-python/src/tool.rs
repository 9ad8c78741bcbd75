//! A tool as the binding calls it: its function, and how its arguments are decoded.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// A tool of a server. It is prepared on the Python side when a peer first needs it: what that
/// takes (type hints, a decoder) is too slow for the start of a process.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Tool {
    #[pyo3(get)]
    name: Py<PyString>,
    prepared: Mutex<Option<Prepared>>,
}

struct Prepared {
    /// Called with the arguments in order; gives a coroutine.
    function: Py<PyAny>,
    /// From JSON bytes to an object that has each argument as an attribute.
    decode: Option<Py<PyAny>>,
    /// The attributes to take, in the order of the call: the positional ones, then the keywords.
    arguments: Vec<Py<PyString>>,
    /// The names of the keyword arguments, which come last.
    keywords: Option<Py<PyTuple>>,
    /// Where in that order the context goes.
    context: Option<usize>,
}

/// One call, ready to be made.
pub(crate) struct Plan<'py> {
    pub(crate) function: Bound<'py, PyAny>,
    pub(crate) decode: Option<Bound<'py, PyAny>>,
    arguments: Vec<Bound<'py, PyString>>,
    keywords: Option<Bound<'py, PyTuple>>,
    context: Option<usize>,
}

#[pymethods]
impl Tool {
    #[new]
    fn new(name: Py<PyString>) -> Self {
        Self { name, prepared: Mutex::new(None) }
    }

    /// Sets how the tool is called.
    #[pyo3(signature = (function, decode, arguments, keywords, context))]
    fn prepare(
        &self,
        function: Py<PyAny>,
        decode: Option<Py<PyAny>>,
        arguments: Vec<Py<PyString>>,
        keywords: Option<Py<PyTuple>>,
        context: Option<usize>,
    ) {
        let prepared = Prepared { function, decode, arguments, keywords, context };
        let before = self.lock().replace(prepared);
        // Dropped outside the lock: the old function's end may run code of its own.
        drop(before);
    }
}

impl Tool {
    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.name.bind(py).extract()
    }

    /// What a call needs, without the lock being held while it runs.
    pub(crate) fn plan<'py>(&self, py: Python<'py>) -> PyResult<Plan<'py>> {
        let prepared = self.lock();
        let prepared = prepared.as_ref().ok_or_else(|| {
            let name = self.name.bind(py).to_string_lossy();
            PyRuntimeError::new_err(format!("the signature of tool '{name}' could not be read; see the log"))
        })?;
        Ok(Plan {
            function: prepared.function.bind(py).clone(),
            decode: prepared.decode.as_ref().map(|decode| decode.bind(py).clone()),
            arguments: prepared.arguments.iter().map(|name| name.bind(py).clone()).collect(),
            keywords: prepared.keywords.as_ref().map(|names| names.bind(py).clone()),
            context: prepared.context,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'py> Plan<'py> {
    /// Calls the function with the attributes of `decoded`, and `context` where it wants one.
    pub(crate) fn call(
        &self,
        decoded: Option<&Bound<'py, PyAny>>,
        context: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.function.py();
        let mut values = Vec::with_capacity(self.arguments.len() + 1);
        if let Some(decoded) = decoded {
            for name in &self.arguments {
                values.push(decoded.getattr(name)?);
            }
        }
        if let Some(at) = self.context {
            values.insert(at.min(values.len()), context()?);
        }
        let Some(names) = &self.keywords else {
            return self.function.call1(PyTuple::new(py, values)?);
        };
        let keywords = pyo3::types::PyDict::new(py);
        for (name, value) in names.iter().zip(values.split_off(values.len() - names.len())) {
            keywords.set_item(name, value)?;
        }
        self.function.call(PyTuple::new(py, values)?, Some(&keywords))
    }

}
