//! What a call of the peer is served by: a function, and how its arguments are decoded.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

/// A handler that has waited is taken to wait so many times more.
const WAITS: u32 = 64;

/// The handler of a tool, resource, prompt, completion or method. It is prepared on the Python side when a
/// peer first needs it: what that takes (type hints, a decoder) is too slow for the start of a process.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Entry {
    /// What it is, for messages: `"tool"`, `"resource"` and so on.
    kind: Py<PyString>,
    #[pyo3(get)]
    name: Py<PyString>,
    is_tool: bool,
    /// The server it belongs to, which contexts give their handlers.
    owner: Mutex<Option<Py<PyAny>>>,
    /// Called with this object when it is needed and not prepared.
    prepare: Mutex<Option<Py<PyAny>>>,
    plan: Mutex<Option<Arc<Plan>>>,
    /// So many calls are taken to wait for something.
    waits: AtomicU32,
}

/// How a handler is called.
pub(crate) struct Plan {
    /// Called with the arguments in order; gives a coroutine.
    function: Py<PyAny>,
    /// From JSON bytes to an object that has each argument as an attribute.
    decode: Option<Py<PyAny>>,
    /// The attributes to take, in the order of the call: the positional ones, then the keywords.
    arguments: Vec<Py<PyString>>,
    /// The names of the keyword arguments, which come last.
    keywords: Option<Py<PyTuple>>,
    /// Where in that order the context goes.
    context: Option<usize>,
}

#[pymethods]
impl Entry {
    #[new]
    #[pyo3(signature = (kind, name, prepare, owner=None))]
    fn new(
        py: Python<'_>,
        kind: Py<PyString>,
        name: Py<PyString>,
        prepare: Py<PyAny>,
        owner: Option<Py<PyAny>>,
    ) -> Self {
        let is_tool = kind.bind(py).to_string_lossy() == "tool";
        Self {
            kind,
            name,
            is_tool,
            owner: Mutex::new(owner),
            prepare: Mutex::new(Some(prepare)),
            plan: Mutex::new(None),
            waits: AtomicU32::new(0),
        }
    }

    /// Sets how it is called. What a tool's function returns is made a result; others return the JSON
    /// bytes of theirs.
    #[pyo3(signature = (function, decode, arguments, keywords, context))]
    fn prepare(
        &self,
        function: Py<PyAny>,
        decode: Option<Py<PyAny>>,
        arguments: Vec<Py<PyString>>,
        keywords: Option<Py<PyTuple>>,
        context: Option<usize>,
    ) {
        let plan = Plan {
            function,
            decode,
            arguments,
            keywords,
            context,
        };
        let before = lock(&self.plan).replace(Arc::new(plan));
        // Dropped outside the lock: the old function's end may run code of its own.
        drop(before);
    }

    /// A program's functions mostly refer to the server that they are registered with.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(prepare) = self.prepare.try_lock()
            && let Some(prepare) = &*prepare
        {
            visit.call(prepare)?;
        }
        if let Ok(owner) = self.owner.try_lock()
            && let Some(owner) = &*owner
        {
            visit.call(owner)?;
        }
        if let Ok(plan) = self.plan.try_lock()
            && let Some(plan) = &*plan
            // A call that runs has the plan as well, and is no one's garbage.
            && Arc::strong_count(plan) == 1
        {
            visit.call(&plan.function)?;
            visit.call(&plan.decode)?;
        }
        Ok(())
    }

    fn __clear__(&self) {
        let cleared = (
            lock(&self.prepare).take(),
            lock(&self.owner).take(),
            lock(&self.plan).take(),
        );
        drop(cleared);
    }
}

impl Entry {
    pub(crate) fn is_tool(&self) -> bool {
        self.is_tool
    }

    pub(crate) fn kind(&self, py: Python<'_>) -> String {
        self.kind.bind(py).to_string_lossy().into_owned()
    }

    pub(crate) fn owner(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        lock(&self.owner).as_ref().map(|owner| owner.clone_ref(py))
    }

    pub(crate) fn name(&self, py: Python<'_>) -> String {
        self.name.bind(py).to_string_lossy().into_owned()
    }

    /// Whether the next call may return before it waits for anything, as the last ones did.
    pub(crate) fn may_return_at_once(&self) -> bool {
        let left = self.waits.load(Ordering::Relaxed);
        self.waits.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// A call had to wait for something.
    pub(crate) fn has_waited(&self) {
        self.waits.store(WAITS, Ordering::Relaxed);
    }

    /// How to call it, without a lock being held meanwhile.
    pub(crate) fn plan(slf: &Bound<'_, Self>) -> PyResult<Arc<Plan>> {
        let (py, this) = (slf.py(), slf.get());
        if let Some(plan) = &*lock(&this.plan) {
            return Ok(Arc::clone(plan));
        }
        let prepare = lock(&this.prepare).as_ref().map(|prepare| prepare.clone_ref(py));
        if let Some(prepare) = prepare {
            prepare.bind(py).call1((slf,))?;
        }
        lock(&this.plan).as_ref().map(Arc::clone).ok_or_else(|| {
            PyRuntimeError::new_err(format!(
                "the signature of {} '{}' could not be read; see the server's log",
                this.kind(py),
                this.name(py)
            ))
        })
    }
}

/// Whether a decoder says that the arguments are at fault.
pub(crate) fn is_decode_error(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    static DECODE_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(error.matches(py, DECODE_ERROR.import(py, "msgspec", "DecodeError")?)?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plan {
    /// Decodes the JSON text of the arguments. Decoders are stricter than JSON, so what one refuses is looked at again.
    pub(crate) fn decode<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        static LENIENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let Some(decode) = &self.decode else { return Ok(None) };
        let (decode, text) = (decode.bind(py), PyBytes::new(py, text.as_bytes()));
        let refused = match decode.call1((&text,)) {
            Err(error) if is_decode_error(py, &error)? => error,
            decoded => return decoded.map(Some),
        };
        let lenient = LENIENT.import(py, "oxmcp._json", "lenient")?.call1((&text,))?;
        match lenient.eq(&text)? {
            true => Err(refused),
            false => decode.call1((lenient,)).map(Some),
        }
    }

    /// Calls the function with the attributes of `decoded`, and `context` where it wants one.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        decoded: Option<&Bound<'py, PyAny>>,
        context: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = self.function.bind(py);
        let mut values = Vec::with_capacity(self.arguments.len() + 1);
        if let Some(decoded) = decoded {
            for name in &self.arguments {
                values.push(decoded.getattr(name.bind(py))?);
            }
        }
        if let Some(at) = self.context {
            values.insert(at.min(values.len()), context()?);
        }
        let Some(names) = &self.keywords else {
            // Few are passed without a tuple, where the interpreter can do that.
            return match values.as_slice() {
                [one] => function.call1((one,)),
                [one, two] => function.call1((one, two)),
                [one, two, three] => function.call1((one, two, three)),
                _ => function.call1(PyTuple::new(py, values)?),
            };
        };
        let names = names.bind(py);
        let keywords = PyDict::new(py);
        for (name, value) in names.iter().zip(values.split_off(values.len() - names.len())) {
            keywords.set_item(name, value)?;
        }
        function.call(PyTuple::new(py, values)?, Some(&keywords))
    }
}
