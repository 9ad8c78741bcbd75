//! What Python holds of the calls under way: the tasks of handlers, and the futures of calls of ours.
//!
//! The core knows calls by numbers, which each connection counts by itself; so entries are known by the
//! connection's number and the call's. Values are handed out of the table to be dropped: their ends may run
//! code of the program, which may come back here.

use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use oxmcp_proto::{InboundId, OutboundId};
use pyo3::prelude::*;

/// The tasks and futures of one connection, or of all connections of one server.
#[derive(Default)]
pub(crate) struct Calls {
    tables: Mutex<Tables>,
}

#[derive(Default)]
pub(crate) struct Tables {
    tasks: HashMap<(u64, InboundId), Py<PyAny>>,
    futures: HashMap<(u64, OutboundId), Py<PyAny>>,
}

impl Calls {
    /// Keeps the task of a handler, as a task nobody holds may be collected.
    pub(crate) fn keep_task(&self, connection: u64, id: InboundId, task: Py<PyAny>) {
        let before = self.lock().tasks.insert((connection, id), task);
        drop(before);
    }

    /// The task of a handler that runs on: it is kept until it is done, with what it does after a cancel.
    pub(crate) fn task(&self, py: Python<'_>, connection: u64, id: InboundId) -> Option<Py<PyAny>> {
        let tables = self.lock();
        tables.tasks.get(&(connection, id)).map(|task| task.clone_ref(py))
    }

    /// The tasks of all handlers.
    pub(crate) fn tasks(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.lock().tasks.values().map(|task| task.clone_ref(py)).collect()
    }

    pub(crate) fn take_task(&self, connection: u64, id: InboundId) -> Option<Py<PyAny>> {
        self.lock().tasks.remove(&(connection, id))
    }

    /// Keeps the future of a call of ours. True when it is the only one.
    pub(crate) fn keep_future(&self, connection: u64, id: OutboundId, future: Py<PyAny>) -> bool {
        let mut tables = self.lock();
        let before = tables.futures.insert((connection, id), future);
        let only = tables.futures.len() == 1;
        drop(tables);
        drop(before);
        only
    }

    pub(crate) fn take_future(&self, connection: u64, id: OutboundId) -> Option<Py<PyAny>> {
        self.lock().futures.remove(&(connection, id))
    }

    /// Lets go of everything.
    pub(crate) fn take_all(&self) -> Tables {
        std::mem::take(&mut *self.lock())
    }

    /// Handlers that run, and futures that wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let tables = self.lock();
        (tables.tasks.len(), tables.futures.len())
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
