//! A tool as the binding calls it: its function, and how its arguments are decoded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

/// A tool of a server. It is prepared on the Python side when a peer first needs it: what that
/// takes (type hints, a decoder) is too slow for the start of a process.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Tool {
    #[pyo3(get)]
    name: Py<PyString>,
    plan: Mutex<Option<Arc<Plan>>>,
}

/// How a tool is called.
pub(crate) struct Plan {
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

#[pymethods]
impl Tool {
    #[new]
    fn new(name: Py<PyString>) -> Self {
        Self {
            name,
            plan: Mutex::new(None),
        }
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
        let plan = Plan {
            function,
            decode,
            arguments,
            keywords,
            context,
        };
        let before = self.lock().replace(Arc::new(plan));
        // Dropped outside the lock: the old function's end may run code of its own.
        drop(before);
    }
}

impl Tool {
    pub(crate) fn name(&self, py: Python<'_>) -> String {
        self.name.bind(py).to_string_lossy().into_owned()
    }

    /// How to call it, without a lock being held meanwhile.
    pub(crate) fn plan(&self, py: Python<'_>) -> PyResult<Arc<Plan>> {
        if let Some(plan) = &*self.lock() {
            return Ok(Arc::clone(plan));
        }
        let name = self.name(py);
        Err(PyRuntimeError::new_err(format!(
            "the signature of tool '{name}' could not be read; see the server's log"
        )))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Plan>>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// Decodes the JSON text of the arguments.
    pub(crate) fn decode<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(decode) = &self.decode else { return Ok(None) };
        decode.bind(py).call1((PyBytes::new(py, text.as_bytes()),)).map(Some)
    }

    /// Calls the function with the attributes of `decoded`, and `context` where it wants one.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        decoded: Option<&Bound<'py, PyAny>>,
        context: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = self.function.bind(py);
        let mut values = Vec::with_capacity(self.arguments.len() + 1);
        if let Some(decoded) = decoded {
            for name in &self.arguments {
                values.push(decoded.getattr(name.bind(py))?);
            }
        }
        if let Some(at) = self.context {
            values.insert(at.min(values.len()), context()?);
        }
        let Some(names) = &self.keywords else {
            return function.call1(PyTuple::new(py, values)?);
        };
        let names = names.bind(py);
        let keywords = PyDict::new(py);
        for (name, value) in names.iter().zip(values.split_off(values.len() - names.len())) {
            keywords.set_item(name, value)?;
        }
        function.call(PyTuple::new(py, values)?, Some(&keywords))
    }
}
