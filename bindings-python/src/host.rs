//! The event loop a connection lives on, with the methods it is called by.

use std::sync::Arc;
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;

#[cfg(target_os = "linux")]
use crate::descriptors::{self, Input};
use crate::event_loop::EventLoop;

/// An asyncio loop, as one connection sees it.
pub(crate) struct Host {
    event_loop: Arc<EventLoop>,
    /// `Connection.flush`, bound.
    flush: Py<PyAny>,
    connection: Py<PyAny>,
    #[cfg(target_os = "linux")]
    idle: Option<Idle>,
}

/// What tells that a loop has nothing to do.
#[cfg(target_os = "linux")]
struct Idle {
    /// What it calls next.
    ready: Py<PyAny>,
    /// Can be read when it has to look at a descriptor.
    selector: i32,
}

impl Host {
    /// `event_loop` must be the running loop of this thread.
    pub(crate) fn new(event_loop: &Bound<'_, PyAny>, connection: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            event_loop: Arc::new(EventLoop::new(event_loop)?),
            flush: connection.getattr("flush")?.unbind(),
            connection: connection.clone().unbind(),
            #[cfg(target_os = "linux")]
            idle: Idle::of(event_loop).unwrap_or(None),
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

    /// Whether the loop has nothing to do, as far as that can be told, and no timer is due within `soon`.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_idle(&self, py: Python<'_>, soon: Duration) -> PyResult<bool> {
        let Some(idle) = &self.idle else { return Ok(false) };
        if idle.ready.bind(py).len()? > 0 {
            return Ok(false);
        }
        let event_loop = self.event_loop.bind(py);
        let timers = event_loop.getattr(intern!(py, "_scheduled"))?;
        if timers.len()? == 0 {
            return Ok(true);
        }
        let when: f64 = timers.get_item(0)?.call_method0(intern!(py, "when"))?.extract()?;
        let now: f64 = event_loop.call_method0(intern!(py, "time"))?.extract()?;
        Ok(when - now > soon.as_secs_f64())
    }

    /// Waits until there is input, or the loop has something to do, `limit` at most. Whether there is input.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait_for_input(&self, py: Python<'_>, input: i32, limit: Duration) -> bool {
        let selector = self.idle.as_ref().map(|idle| idle.selector);
        let found = py.detach(|| descriptors::wait_any(&[Some(input), selector], Some(limit)));
        found[0] == Input::Readable
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn is_idle(&self, _py: Python<'_>, _soon: Duration) -> PyResult<bool> {
        Ok(false)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn wait_for_input(&self, _py: Python<'_>, _input: i32, _limit: Duration) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
impl Idle {
    /// Of a loop that is asyncio's own; others keep what they have to do to themselves.
    fn of(event_loop: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let plain = event_loop.py().import("asyncio")?.getattr("SelectorEventLoop")?;
        // In debug mode the loop measures what it calls.
        if !event_loop.get_type().is(&plain) || event_loop.call_method0("get_debug")?.is_truthy()? {
            return Ok(None);
        }
        Ok(Some(Self {
            ready: event_loop.getattr("_ready")?.unbind(),
            selector: event_loop.getattr("_selector")?.call_method0("fileno")?.extract()?,
        }))
    }
}
