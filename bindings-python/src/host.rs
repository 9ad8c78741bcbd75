//! The event loop a connection lives on, with the methods it is called by.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;

use crate::event_loop::EventLoop;

/// An asyncio loop, as one connection sees it.
pub(crate) struct Host {
    event_loop: Arc<EventLoop>,
    /// `Connection.flush`, bound.
    flush: Py<PyAny>,
    connection: Py<PyAny>,
}

impl Host {
    /// `event_loop` must be the running loop of this thread.
    pub(crate) fn new(event_loop: &Bound<'_, PyAny>, connection: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            event_loop: Arc::new(EventLoop::new(event_loop)?),
            flush: connection.getattr("flush")?.unbind(),
            connection: connection.clone().unbind(),
        })
    }

    pub(crate) fn event_loop(&self) -> &Arc<EventLoop> {
        &self.event_loop
    }

    /// Has what is queued written at the end of this turn of the loop.
    pub(crate) fn flush_soon(&self, py: Python<'_>) -> PyResult<()> {
        self.event_loop.call_soon(py, &self.flush)
    }

    /// The same from another thread.
    pub(crate) fn flush_from_thread(&self, py: Python<'_>) -> PyResult<()> {
        self.event_loop.call_from_thread(py, &self.flush)
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
}
