//! What a program offers: the core's registry, and the handler of each of its entries.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use oxmcp_proto::jsonrpc::json;
use oxmcp_proto::{Checks, EntryId, Kind, TakeOver, Target};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::entry::Entry;
use crate::session::invalid;

/// A registry with its handlers. May serve several connections, and change while it does.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Registry {
    core: Arc<oxmcp_proto::Registry>,
    handlers: Mutex<Handlers>,
}

#[derive(Default)]
struct Handlers {
    /// By the core's numbers, a table for each kind.
    entries: [HashMap<EntryId, Py<Entry>>; 4],
    completions: [HashMap<EntryId, Py<Entry>>; 4],
    methods: HashMap<Box<str>, Py<Entry>>,
}

#[pymethods]
impl Registry {
    #[new]
    fn new() -> Self {
        Self {
            core: Arc::new(oxmcp_proto::Registry::new()),
            handlers: Mutex::default(),
        }
    }

    /// Adds an entry that is described later; gives its number.
    fn add(&self, kind: &str, key: &str, entry: Py<Entry>) -> PyResult<EntryId> {
        let kind = named(kind)?;
        // A call of it may come at once, on another thread: whoever looks for its handler waits until it is there.
        let mut handlers = self.lock();
        let id = self.core.add(kind, key).map_err(invalid)?;
        handlers.entries[kind as usize].insert(id, entry);
        Ok(id)
    }

    /// What serves an entry; `None` when it was removed.
    fn entry(&self, py: Python<'_>, kind: &str, id: EntryId) -> PyResult<Option<Py<Entry>>> {
        let kind = named(kind)?;
        let handlers = self.lock();
        Ok(handlers.entries[kind as usize]
            .get(&id)
            .map(|entry| entry.clone_ref(py)))
    }

    /// Sets what lists say of an entry.
    fn describe(&self, kind: &str, id: EntryId, descriptor: &str) -> PyResult<()> {
        let descriptor = json(descriptor).map_err(invalid)?;
        self.core.describe(named(kind)?, id, &descriptor).map_err(invalid)
    }

    /// Has the arguments of a tool checked against its input schema, or its results against its output schema.
    fn check(&self, id: EntryId, input: bool, output: bool) -> PyResult<()> {
        let checks = Checks { input, output };
        self.core.set_checks(id, checks).map_err(invalid)
    }

    /// Sets what completes the arguments of a prompt, or the variables of a template.
    fn complete(&self, kind: &str, id: EntryId, entry: Py<Entry>) -> PyResult<()> {
        let kind = named(kind)?;
        let before = {
            let mut handlers = self.lock();
            self.core.set_completes(kind, id).map_err(invalid)?;
            handlers.completions[kind as usize].insert(id, entry)
        };
        drop(before);
        Ok(())
    }

    /// Removes an entry. False when there was none.
    fn remove(&self, kind: &str, id: EntryId) -> PyResult<bool> {
        let kind = named(kind)?;
        let gone = {
            let mut handlers = self.lock();
            let entry = handlers.entries[kind as usize].remove(&id);
            (entry, handlers.completions[kind as usize].remove(&id))
        };
        drop(gone);
        Ok(self.core.remove(kind, id))
    }

    /// Shows or hides an entry. False when that changed nothing.
    fn set_enabled(&self, kind: &str, id: EntryId, enabled: bool) -> PyResult<bool> {
        Ok(self.core.set_enabled(named(kind)?, id, enabled))
    }

    /// Adds a method of the program's own.
    #[pyo3(signature = (name, extension, entry))]
    fn add_method(&self, name: &str, extension: Option<&str>, entry: Py<Entry>) -> PyResult<()> {
        let before = {
            let mut handlers = self.lock();
            self.core.add_method(name, extension).map_err(invalid)?;
            handlers.methods.insert(name.into(), entry)
        };
        drop(before);
        Ok(())
    }

    /// Sets what serves a method that the protocol knows.
    fn serve(&self, name: &str, entry: Py<Entry>) {
        let before = self.lock().methods.insert(name.into(), entry);
        drop(before);
    }

    /// Has `entry` answer a request that the registry answers otherwise; `None` gives it back.
    #[pyo3(signature = (method, entry))]
    fn take_over(&self, method: &str, entry: Option<Py<Entry>>) -> PyResult<()> {
        let how = entry.as_ref().map(|_| TakeOver::Replace);
        // Who may be asked must be there first.
        if let Some(entry) = entry {
            self.serve(method, entry);
        }
        self.core.take_over(method, how).map_err(invalid)
    }

    /// Has servers tell when a client says that it is initialized.
    fn tell_initialized(&self) -> PyResult<()> {
        let how = Some(TakeOver::Replace);
        self.core.take_over("notifications/initialized", how).map_err(invalid)
    }

    /// The registry's own answer to the request for a list; `None` for a cursor that was never given out.
    #[pyo3(signature = (kind, cursor=None))]
    fn list(&self, kind: &str, cursor: Option<&str>) -> PyResult<Option<String>> {
        Ok(self.core.list(named(kind)?, cursor).map(|page| page.to_string()))
    }

    /// How many entries a page of a list has at the most.
    #[pyo3(signature = (size))]
    fn set_page_size(&self, size: Option<usize>) -> PyResult<()> {
        let checked = size.map(|size| NonZeroUsize::new(size).ok_or_else(|| invalid("a page has one entry or more")));
        self.core.set_page_size(checked.transpose()?);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(handlers) = self.handlers.try_lock() else {
            return Ok(());
        };
        let tables = handlers.entries.iter().chain(&handlers.completions);
        for entry in tables.flat_map(HashMap::values).chain(handlers.methods.values()) {
            visit.call(entry)?;
        }
        Ok(())
    }

    fn __clear__(&self) {
        let cleared = std::mem::take(&mut *self.lock());
        drop(cleared);
    }
}

impl Registry {
    pub(crate) fn core(&self) -> Arc<oxmcp_proto::Registry> {
        Arc::clone(&self.core)
    }

    /// What serves a call; `None` when it was removed a moment ago.
    pub(crate) fn handler(&self, py: Python<'_>, target: &Target) -> Option<Py<Entry>> {
        let handlers = self.lock();
        let entry = match target {
            Target::Tool(id) => handlers.entries[Kind::Tool as usize].get(id),
            Target::Resource(id) => handlers.entries[Kind::Resource as usize].get(id),
            Target::Template(id) => handlers.entries[Kind::Template as usize].get(id),
            Target::Prompt(id) => handlers.entries[Kind::Prompt as usize].get(id),
            Target::PromptCompletion(id) => handlers.completions[Kind::Prompt as usize].get(id),
            Target::TemplateCompletion(id) => handlers.completions[Kind::Template as usize].get(id),
            Target::Method(name) => handlers.methods.get(name),
        };
        entry.map(|entry| entry.clone_ref(py))
    }

    fn lock(&self) -> MutexGuard<'_, Handlers> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(kind: &str) -> PyResult<Kind> {
    Kind::named(kind).ok_or_else(|| PyValueError::new_err(format!("there is no kind {kind:?}")))
}
