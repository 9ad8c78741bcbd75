//! An asyncio loop, as native code uses it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::first_step::{Begun, FirstSteps};
use crate::handler::Handler;

/// What became of a handler that was started.
pub(crate) enum Started<'py> {
    /// It is done.
    Done,
    /// It waits, in this task.
    Waits(Bound<'py, PyAny>),
    /// It begins later in this turn of the loop.
    Later(Bound<'py, PyAny>),
}

/// The loop that handlers run on and futures belong to.
pub(crate) struct EventLoop {
    event_loop: Py<PyAny>,
    call_soon: Py<PyAny>,
    /// `asyncio.Task`, or the loop's `create_task` if it has a task factory.
    make_task: Py<PyAny>,
    task_options: Py<PyDict>,
    first_steps: Option<FirstSteps>,
    /// A new task runs at once until it first waits (Python 3.12).
    is_eager: bool,
}

impl EventLoop {
    /// `event_loop` must be the running loop of this thread.
    pub(crate) fn new(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let options = PyDict::new(py);
        let factory = event_loop.call_method0(intern!(py, "get_task_factory"))?;
        let is_eager = factory.is_none() && py.version_info() >= (3, 12);
        let make_task = if factory.is_none() {
            options.set_item("loop", event_loop)?;
            if is_eager {
                options.set_item("eager_start", true)?;
            }
            py.import("asyncio")?.getattr("Task")?
        } else {
            event_loop.getattr("create_task")?
        };
        // Tasks were not told their context before, and without the lock nobody knows who refers to one.
        let may_step = factory.is_none() && py.version_info() >= (3, 11) && !cfg!(Py_GIL_DISABLED);
        let first_steps = may_step.then(|| FirstSteps::new(py, &make_task, &options));
        Ok(Self {
            first_steps: first_steps.transpose()?,
            event_loop: event_loop.clone().unbind(),
            call_soon: event_loop.getattr("call_soon")?.unbind(),
            make_task: make_task.unbind(),
            task_options: options.unbind(),
            is_eager,
        })
    }

    /// Starts a handler.
    pub(crate) fn start<'py>(&self, handler: &Bound<'py, Handler>) -> PyResult<Started<'py>> {
        let (py, entry) = (handler.py(), handler.get().entry());
        if let Some(first_steps) = &self.first_steps
            && entry.may_return_at_once()
        {
            match first_steps.run(self.event_loop.bind(py), handler)? {
                Some(Begun::Done) => return Ok(Started::Done),
                Some(Begun::Waits(task)) => {
                    entry.has_waited();
                    return Ok(Started::Waits(task));
                }
                None => {}
            }
        }
        let arguments = PyTuple::new(py, [handler])?;
        let task = self
            .make_task
            .bind(py)
            .call(arguments, Some(self.task_options.bind(py)))?;
        Ok(match handler.get().is_over() {
            true => Started::Done,
            false if self.is_eager => Started::Waits(task),
            false => Started::Later(task),
        })
    }

    /// Has `callback` called at the end of this turn of the loop.
    pub(crate) fn call_soon(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<()> {
        self.call_soon.bind(py).call1((callback.bind(py),)).map(drop)
    }

    /// The same from another thread.
    pub(crate) fn call_from_thread(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<()> {
        let wake = self.event_loop.bind(py).getattr(intern!(py, "call_soon_threadsafe"))?;
        wake.call1((callback.bind(py),)).map(drop)
    }

    pub(crate) fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    pub(crate) fn new_future<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.event_loop.bind(py).call_method0(intern!(py, "create_future"))
    }

    /// Whether this thread runs the loop.
    pub(crate) fn is_here(&self, py: Python<'_>) -> PyResult<bool> {
        static RUNNING: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
        let running = RUNNING.import(py, "asyncio", "_get_running_loop")?.call0()?;
        Ok(running.is(&self.event_loop))
    }
}
