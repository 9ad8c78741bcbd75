//! What a handler can say while it runs.

use std::sync::Arc;

use oxmcp_proto::InboundId;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::core::Core;

/// The request a handler serves. Ask for it by annotating a parameter with `Context`.
#[pyclass(module = "oxmcp", frozen)]
pub(crate) struct Context {
    core: Arc<Core>,
    id: InboundId,
    /// Whether the caller asked for progress. Without it reports are not sent.
    #[pyo3(get)]
    wants_progress: bool,
}

#[pymethods]
impl Context {
    /// Reports progress to the caller.
    ///
    /// The value grows from report to report (a report that does not is left out); `total` is what
    /// it grows to, where that is known; `message` is for a person. Await it in an async tool: that
    /// lets other work run when the tool has kept the loop busy. In a plain tool just call it.
    ///
    /// Progress clause of the specification (all revisions).
    #[pyo3(signature = (progress, total=None, message=None))]
    fn report_progress(
        &self,
        py: Python<'_>,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> PyResult<Pause> {
        if !progress.is_finite() {
            return Err(PyTypeError::new_err(format!(
                "progress is a finite number, not {progress}"
            )));
        }
        let due = self.core.progress(py, self.id, progress, total, message)?;
        Ok(Pause { due: due.into() })
    }

    /// Whether the caller has cancelled, for plain tools; async ones get `CancelledError`.
    #[getter]
    fn cancelled(&self) -> bool {
        !self.core.is_open(self.id)
    }
}

impl Context {
    pub(crate) fn new(core: Arc<Core>, id: InboundId, wants_progress: bool) -> Self {
        Self {
            core,
            id,
            wants_progress,
        }
    }
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
