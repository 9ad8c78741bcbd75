//! One call of the peer's, as its handler and the driver share it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;

use oxmcp_proto::InboundId;
use tokio::sync::Notify;

use crate::driver::Link;

/// A call that has a handler.
pub(crate) struct Call {
    pub id: InboundId,
    pub link: Arc<Link>,
    pub wants_progress: bool,
    cancelled: AtomicBool,
    reason: OnceLock<String>,
    /// Told when the call is cancelled: whoever waits in the handler,
    listeners: Notify,
    /// and the task that runs the handler.
    task: Mutex<Option<Waker>>,
}

impl Call {
    pub(crate) fn new(id: InboundId, link: Arc<Link>, wants_progress: bool) -> Arc<Self> {
        Arc::new(Self {
            id,
            link,
            wants_progress,
            cancelled: AtomicBool::new(false),
            reason: OnceLock::new(),
            listeners: Notify::new(),
            task: Mutex::new(None),
        })
    }

    /// Tells the handler to stop. Nothing it answers from now on is written.
    pub(crate) fn cancel(&self, reason: Option<String>) {
        if let Some(reason) = reason {
            let _ = self.reason.set(reason);
        }
        self.cancelled.store(true, Ordering::Release);
        self.listeners.notify_waiters();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.wake();
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// Resolves once the call is cancelled.
    pub(crate) async fn cancelled(&self) {
        let told = self.listeners.notified();
        if !self.is_cancelled() {
            told.await;
        }
    }

    /// Sets whom a cancel wakes. To be called before the check whether one has come.
    pub(crate) fn set_task(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|task| task.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("id", &self.id).finish_non_exhaustive()
    }
}
