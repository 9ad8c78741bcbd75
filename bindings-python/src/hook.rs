//! The one function of the Python side that is called for what is rare.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Called with `(kind, id, first, second)`; what these are depends on the kind, see `outputs.rs`.
pub(crate) struct Hook(Mutex<Option<Py<PyAny>>>);

impl Hook {
    pub(crate) fn new(function: Py<PyAny>) -> Self {
        Self(Mutex::new(Some(function)))
    }

    /// Calls it, unless it was let go of.
    pub(crate) fn tell<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        id: Option<u64>,
        first: impl IntoPyObject<'py>,
        second: impl IntoPyObject<'py>,
    ) -> PyResult<()> {
        let hook = self.lock().as_ref().map(|hook| hook.clone_ref(py));
        match hook {
            // The lock is free again: the hook may come back to this connection.
            Some(hook) => hook.bind(py).call1((kind, id, first, second)).map(drop),
            None => Ok(()),
        }
    }

    pub(crate) fn take(&self) -> Option<Py<PyAny>> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
