//! The event loop a connection lives on, with the methods it is called by.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// An asyncio loop, as one connection sees it.
pub(crate) struct Host {
    event_loop: Py<PyAny>,
    call_soon: Py<PyAny>,
    /// `Connection.flush`, bound.
    flush: Py<PyAny>,
    connection: Py<PyAny>,
    /// `asyncio.Task`, or the loop's `create_task` if it has a task factory.
    make_task: Py<PyAny>,
    task_options: Py<PyDict>,
    /// A new task runs at once until it first waits (Python 3.12).
    pub(crate) eager: bool,
}

impl Host {
    /// `event_loop` must be the running loop of this thread.
    pub(crate) fn new(event_loop: &Bound<'_, PyAny>, connection: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let options = PyDict::new(py);
        let factory = event_loop.call_method0(intern!(py, "get_task_factory"))?;
        let eager = factory.is_none() && py.version_info() >= (3, 12);
        let make_task = if factory.is_none() {
            options.set_item("loop", event_loop)?;
            if eager {
                options.set_item("eager_start", true)?;
            }
            py.import("asyncio")?.getattr("Task")?
        } else {
            event_loop.getattr("create_task")?
        };
        Ok(Self {
            event_loop: event_loop.clone().unbind(),
            call_soon: event_loop.getattr("call_soon")?.unbind(),
            flush: connection.getattr("flush")?.unbind(),
            connection: connection.clone().unbind(),
            make_task: make_task.unbind(),
            task_options: options.unbind(),
            eager,
        })
    }

    /// Starts a coroutine as a task.
    pub(crate) fn start<'py>(&self, py: Python<'py>, coroutine: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let arguments = PyTuple::new(py, [coroutine])?;
        self.make_task
            .bind(py)
            .call(arguments, Some(self.task_options.bind(py)))
    }

    /// Has what is queued written at the end of this turn of the loop.
    pub(crate) fn flush_soon(&self, py: Python<'_>) -> PyResult<()> {
        self.call_soon.bind(py).call1((self.flush.bind(py),)).map(drop)
    }

    /// The same from another thread.
    pub(crate) fn flush_from_thread(&self, py: Python<'_>) -> PyResult<()> {
        let wake = self.event_loop.bind(py).getattr(intern!(py, "call_soon_threadsafe"))?;
        wake.call1((self.flush.bind(py),)).map(drop)
    }

    /// Has `Connection.on_timer` called after `delay` seconds; gives the handle that cancels it.
    pub(crate) fn call_later<'py>(&self, py: Python<'py>, delay: f64) -> PyResult<Bound<'py, PyAny>> {
        let on_timer = self.connection.bind(py).getattr(intern!(py, "on_timer"))?;
        self.event_loop
            .bind(py)
            .call_method1(intern!(py, "call_later"), (delay, on_timer))
    }

    /// Has `Connection.on_writable` called when the descriptor takes bytes.
    pub(crate) fn watch_output(&self, py: Python<'_>, fd: i32) -> PyResult<()> {
        let on_writable = self.connection.bind(py).getattr(intern!(py, "on_writable"))?;
        self.event_loop
            .bind(py)
            .call_method1(intern!(py, "add_writer"), (fd, on_writable))
            .map(drop)
    }

    pub(crate) fn unwatch_output(&self, py: Python<'_>, fd: i32) -> PyResult<()> {
        self.event_loop
            .bind(py)
            .call_method1(intern!(py, "remove_writer"), (fd,))
            .map(drop)
    }

    pub(crate) fn event_loop<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    pub(crate) fn new_future<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.event_loop.bind(py).call_method0(intern!(py, "create_future"))
    }
}
