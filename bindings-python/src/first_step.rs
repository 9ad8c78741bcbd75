//! The first step of a handler, inside a task that was there before.
//!
//! Making a task, and the turn of the loop that starts it, cost more than most handlers do, and many handlers never
//! wait for anything. So a handler runs to where it first waits inside a task that is kept for that. If it
//! returns before it waits, the task is kept for the next handler; if it waits, the task is its own from then on.
//!
//! The handler sees no difference: it has a current task and a context of its own, as with the eager tasks of Python
//! 3.12. A task that it left a trace on (somebody refers to it, it was cancelled or named, a context variable was set)
//! serves no other handler.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyGeneratorExit;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::handler::{Handler, is_cancel};

/// What became of a first step.
pub(crate) enum Begun<'py> {
    /// The handler is done.
    Done,
    /// It waits; this is its task.
    Waits(Bound<'py, PyAny>),
}

/// The task that is kept on one event loop, and what deals with it.
pub(crate) struct FirstSteps {
    spare: Mutex<Option<Spare>>,
    /// `asyncio.Task`, and what it is called with beside a coroutine and a context.
    make_task: Py<PyAny>,
    options: Py<PyDict>,
    // Functions of asyncio, for those who write loops and tasks of their own.
    enter: Py<PyAny>,
    leave: Py<PyAny>,
    register: Py<PyAny>,
    count_weak: Py<PyAny>,
    copy_context: Py<PyAny>,
}

/// A task that waits for its handler.
struct Spare {
    task: Py<PyAny>,
    shell: Py<Shell>,
    /// The future that it waits for meanwhile.
    gate: Py<PyAny>,
    context: Py<PyAny>,
    /// What the context was like at first.
    before: Py<PyAny>,
    untouched: Option<Untouched>,
}

/// What a task looks like that no handler has left a trace on.
struct Untouched {
    references: isize,
    name: Py<PyAny>,
}

impl FirstSteps {
    /// `make_task` makes plain tasks, at once if `options` say so.
    pub(crate) fn new(py: Python<'_>, make_task: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let tasks = py.import("asyncio.tasks")?;
        let function = |name: &str| tasks.getattr(name).map(Bound::unbind);
        Ok(Self {
            spare: Mutex::default(),
            make_task: make_task.clone().unbind(),
            options: options.copy()?.unbind(),
            enter: function("_enter_task")?,
            leave: function("_leave_task")?,
            register: function("_register_task")?,
            count_weak: py.import("_weakref")?.getattr("getweakrefcount")?.unbind(),
            copy_context: py.import("contextvars")?.getattr("copy_context")?.unbind(),
        })
    }

    /// Runs the first step of a handler. `None` when there is no task for it yet, or this is another task's step.
    pub(crate) fn run<'py>(
        &self,
        event_loop: &Bound<'py, PyAny>,
        handler: &Bound<'py, Handler>,
    ) -> PyResult<Option<Begun<'py>>> {
        let py = event_loop.py();
        let Some(mut spare) = self.take(event_loop)? else {
            return Ok(None);
        };
        let here = (event_loop, spare.task.bind(py));
        if self.enter.bind(py).call1(here).is_err() {
            self.keep(spare);
            return Ok(None);
        }
        let step = step_within(spare.context.bind(py), handler);
        self.leave.bind(py).call1((event_loop, spare.task.bind(py)))?;
        match step {
            Ok(Some(waits)) => {
                let task = self.hand_over(py, &spare, Some((handler, waits)))?;
                Ok(Some(Begun::Waits(task)))
            }
            ended => {
                if spare.is_untouched(py, self.count_weak.bind(py)) {
                    self.keep(spare);
                } else {
                    spare.untouched = None;
                    self.hand_over(py, &spare, None)?;
                }
                match ended {
                    Err(error) if !is_cancel(py, &error)? && !error.is_instance_of::<PyGeneratorExit>(py) => Err(error),
                    _ => Ok(Some(Begun::Done)),
                }
            }
        }
    }

    /// The task, if it is ready. Otherwise it is made, and ready for one of the next calls.
    fn take(&self, event_loop: &Bound<'_, PyAny>) -> PyResult<Option<Spare>> {
        let py = event_loop.py();
        let spare = self.lock().take();
        let mut spare = match spare {
            Some(spare) => spare,
            None => self.make(event_loop)?,
        };
        if spare.untouched.is_none() {
            if !spare.shell.get().is_parked() {
                self.keep(spare);
                return Ok(None);
            }
            let task = spare.task.bind(py);
            let name = task.call_method0(intern!(py, "get_name"))?.unbind();
            let references = references(task);
            spare.untouched = Some(Untouched { references, name });
        }
        Ok(Some(spare))
    }

    fn make(&self, event_loop: &Bound<'_, PyAny>) -> PyResult<Spare> {
        let py = event_loop.py();
        let gate = event_loop.call_method0(intern!(py, "create_future"))?;
        let shell = Bound::new(py, Shell::new(gate.clone().unbind()))?;
        let context = self.copy_context.bind(py).call0()?;
        let before = context.call_method0(intern!(py, "copy"))?;
        let options = self.options.bind(py).copy()?;
        options.set_item(intern!(py, "context"), &context)?;
        let task = self.make_task.bind(py).call((&shell,), Some(&options))?;
        if shell.get().is_parked() {
            hide(&task)?;
        }
        Ok(Spare {
            task: task.unbind(),
            shell: shell.unbind(),
            gate: gate.unbind(),
            context: context.unbind(),
            before: before.unbind(),
            untouched: None,
        })
    }

    /// Has the task go on in the next turn of the loop: with what its handler waits for, or to its end.
    fn hand_over<'py>(
        &self,
        py: Python<'py>,
        spare: &Spare,
        handler: Option<(&Bound<'py, Handler>, Bound<'py, PyAny>)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let task = spare.task.bind(py);
        let next = handler.map_or(Stage::Over, |(handler, waits)| Stage::Waits {
            handler: handler.clone().unbind(),
            waits: waits.unbind(),
        });
        spare.shell.get().swap(next);
        self.register.bind(py).call1((task,))?;
        task.setattr(intern!(py, "_log_destroy_pending"), true)?;
        let gate = spare.gate.bind(py);
        // A task that cancelled itself is on its way already.
        if !gate.call_method0(intern!(py, "done"))?.is_truthy()? {
            gate.call_method1(intern!(py, "set_result"), (py.None(),))?;
        }
        Ok(task.clone())
    }

    fn keep(&self, spare: Spare) {
        // A handler that took turns of the loop itself may have had another one made.
        let before = self.lock().replace(spare);
        drop(before);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Spare>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spare {
    /// Whether a handler has left no trace on it.
    fn is_untouched(&self, py: Python<'_>, count_weak: &Bound<'_, PyAny>) -> bool {
        let task = self.task.bind(py);
        let look = || -> PyResult<bool> {
            let Some(untouched) = &self.untouched else {
                return Ok(false);
            };
            Ok(references(task) == untouched.references
                && self.context.bind(py).eq(self.before.bind(py))?
                && task.getattr(intern!(py, "_callbacks"))?.is_none()
                && !self.gate.bind(py).call_method0(intern!(py, "done"))?.is_truthy()?
                && task.call_method0(intern!(py, "get_name"))?.is(&untouched.name)
                && count_weak.call1((task,))?.eq(0)?)
        };
        // What cannot be compared is another than before.
        look().unwrap_or(false)
    }
}

/// A task without a handler is none that anybody should see, or wait for.
fn hide(task: &Bound<'_, PyAny>) -> PyResult<()> {
    static UNREGISTER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = task.py();
    UNREGISTER
        .import(py, "asyncio.tasks", "_unregister_task")?
        .call1((task,))?;
    task.setattr(intern!(py, "_log_destroy_pending"), false)
}

/// How many refer to an object.
fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the object lives.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) }
}

/// Runs the first step of a handler in a context. `None` when the handler is done.
#[cfg(not(Py_LIMITED_API))]
fn step_within<'py>(context: &Bound<'py, PyAny>, handler: &Bound<'py, Handler>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = context.py();
    // SAFETY: the context is a live object, which is left below, before it can be let go of.
    if unsafe { pyo3::ffi::PyContext_Enter(context.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let step = handler.get().step(py);
    // SAFETY: it was entered above, on this thread, and what was entered meanwhile was left.
    if unsafe { pyo3::ffi::PyContext_Exit(context.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    step
}

/// The stable interface has no contexts, so Python's own method does it.
#[cfg(Py_LIMITED_API)]
fn step_within<'py>(context: &Bound<'py, PyAny>, handler: &Bound<'py, Handler>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = context.py();
    let step = handler.getattr(intern!(py, "__next__"))?;
    match context.call_method1(intern!(py, "run"), (step,)) {
        Ok(waits) => Ok(Some(waits)),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyStopIteration>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The coroutine of a task before it has a handler, and around its handler then.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Shell {
    stage: Mutex<Stage>,
}

enum Stage {
    /// It will wait for this future.
    Fresh(Py<PyAny>),
    Parked,
    /// The handler waits for something that the task does not know of yet.
    Waits {
        handler: Py<Handler>,
        waits: Py<PyAny>,
    },
    Runs(Py<Handler>),
    Over,
}

#[pymethods]
impl Shell {
    fn __await__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.swap(Stage::Over) {
            Stage::Fresh(gate) => {
                self.swap(Stage::Parked);
                hide(&py.import("asyncio")?.call_method0("current_task")?)?;
                let gate = gate.into_bound(py);
                gate.setattr(intern!(py, "_asyncio_future_blocking"), true)?;
                Ok(Some(gate))
            }
            Stage::Waits { handler, waits } => {
                self.swap(Stage::Runs(handler));
                Ok(Some(waits.into_bound(py)))
            }
            Stage::Runs(handler) => self.go_on(handler, |handler| handler.step(py)),
            Stage::Parked | Stage::Over => Ok(None),
        }
    }

    fn send<'py>(&self, py: Python<'py>, _value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__next__(py)?
            .ok_or_else(|| pyo3::exceptions::PyStopIteration::new_err(()))
    }

    #[pyo3(signature = (kind, value=None, traceback=None))]
    fn throw<'py>(
        &self,
        py: Python<'py>,
        kind: Bound<'py, PyAny>,
        value: Option<Bound<'py, PyAny>>,
        traceback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.swap(Stage::Over) {
            Stage::Waits { handler, waits } => {
                let waits = waits.into_bound(py);
                // The task would have cancelled what it waits for, had it known of it.
                let is_cancelled = !waits.is_none() && waits.call_method0(intern!(py, "cancel"))?.is_truthy()?;
                if is_cancelled {
                    self.swap(Stage::Runs(handler));
                    return Ok(waits);
                }
                self.go_on(handler, |handler| handler.throw(py, kind, value, traceback).map(Some))
            }
            Stage::Runs(handler) => self.go_on(handler, |handler| handler.throw(py, kind, value, traceback).map(Some)),
            Stage::Fresh(_) | Stage::Parked | Stage::Over => {
                Err(PyErr::from_value(crate::handler::as_exception(kind, value)?))
            }
        }?
        .ok_or_else(|| pyo3::exceptions::PyStopIteration::new_err(()))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.swap(Stage::Over) {
            Stage::Waits { handler, .. } | Stage::Runs(handler) => handler.get().close(py),
            Stage::Fresh(_) | Stage::Parked | Stage::Over => Ok(()),
        }
    }

    #[getter]
    fn __name__(&self, py: Python<'_>) -> String {
        self.handler(py)
            .map_or_else(String::new, |handler| handler.get().__name__(py))
    }

    #[getter]
    fn __qualname__(&self, py: Python<'_>) -> String {
        self.handler(py).map_or_else(
            || "a task without a handler".to_owned(),
            |handler| handler.get().__qualname__(py),
        )
    }
}

impl Shell {
    fn new(gate: Py<PyAny>) -> Self {
        Self {
            stage: Mutex::new(Stage::Fresh(gate)),
        }
    }

    fn is_parked(&self) -> bool {
        matches!(*self.lock(), Stage::Parked)
    }

    fn handler(&self, py: Python<'_>) -> Option<Py<Handler>> {
        match &*self.lock() {
            Stage::Waits { handler, .. } | Stage::Runs(handler) => Some(handler.clone_ref(py)),
            Stage::Fresh(_) | Stage::Parked | Stage::Over => None,
        }
    }

    /// Runs the handler on; it is kept as long as it waits.
    fn go_on<'py>(
        &self,
        handler: Py<Handler>,
        step: impl FnOnce(&Handler) -> PyResult<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let waits = step(handler.get())?;
        if waits.is_some() {
            self.swap(Stage::Runs(handler));
        }
        Ok(waits)
    }

    fn swap(&self, next: Stage) -> Stage {
        std::mem::replace(&mut *self.lock(), next)
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
