//! When to do what to a child process at its end: the core's steps, for Python.

use oxmcp_proto::{ChildShutdown as Steps, ChildStep, Instant};
use pyo3::prelude::*;

/// The steps of one shutdown. Times are seconds of any monotonic clock.
#[pyclass(module = "oxmcp._native")]
pub(crate) struct ChildShutdown {
    steps: Steps,
}

#[pymethods]
impl ChildShutdown {
    #[new]
    fn new() -> Self {
        Self {
            steps: Steps::default(),
        }
    }

    /// The step due now: `"close_input"`, `"terminate"`, `"kill"` or `None`.
    fn poll(&mut self, now: f64) -> Option<&'static str> {
        self.steps.poll(at(now)).map(|step| match step {
            ChildStep::CloseInput => "close_input",
            ChildStep::Terminate => "terminate",
            ChildStep::Kill => "kill",
        })
    }

    /// When the next step is due.
    fn poll_timeout(&self) -> Option<f64> {
        self.steps.poll_timeout().map(|at| at.as_millis() / 1000.0)
    }
}

fn at(seconds: f64) -> Instant {
    Instant::from_millis(seconds * 1000.0)
}
