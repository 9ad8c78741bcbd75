//! The one runtime of a process.

use std::mem::ManuallyDrop;
use std::sync::{Mutex, PoisonError};

use oxmcp_proto::{Error, ErrorKind};
use tokio::runtime::{Builder, Handle, Runtime};

/// More threads would wait for the host's interpreter most of the time.
const THREADS: usize = 4;

/// A runtime, and the process whose threads run it.
static RUNTIME: Mutex<Option<(u32, ManuallyDrop<Runtime>)>> = Mutex::new(None);

/// The runtime of this process, which is started when it is first needed. A process that was forked off has
/// none of its parent's threads, so it gets a runtime of its own; what lived on the parent's is the parent's.
///
/// # Errors
/// When the system gives no threads.
pub fn runtime() -> Result<Handle, Error> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((_, runtime)) = runtime.as_ref().filter(|(owner, _)| *owner == process) {
        return Ok(runtime.handle().clone());
    }
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(THREADS));
    let started = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("oxmcp")
        .enable_all()
        .build();
    let started = started.map_err(|error| {
        Error::new(
            ErrorKind::Closed,
            format!("cannot start the runtime's threads: {error}"),
        )
    })?;
    let handle = started.handle().clone();
    // The parent's is not dropped: that would wait for threads that are not in this process.
    *runtime = Some((process, ManuallyDrop::new(started)));
    Ok(handle)
}
