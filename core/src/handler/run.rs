//! From a call that came to its answer.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::{Direction, Problem, ProblemKind};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::{Call, Entry, Reply, Started, Work};

/// What the program wants to be told.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub on_problem: Option<OnProblem>,
    pub on_trace: Option<OnTrace>,
}

pub(crate) type OnProblem = Arc<dyn Fn(&Problem) + Send + Sync>;
pub(crate) type OnTrace = Arc<dyn Fn(Direction, &str) + Send + Sync>;

impl Hooks {
    pub(crate) fn problem(&self, problem: &Problem) {
        if let Some(hook) = &self.on_problem {
            guarded(|| hook(problem));
        }
    }

    pub(crate) fn trace(&self, direction: Direction, line: &str) {
        if let Some(hook) = &self.on_trace {
            guarded(|| hook(direction, line));
        }
    }
}

/// Runs a hook. One that panics must not take the connection with it, and there is nobody left to tell.
pub(crate) fn guarded(hook: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(hook));
}

/// Starts the handlers of one connection.
pub(crate) struct Runner {
    pub hooks: Hooks,
    /// Whether a handler may be polled by the driver first. Not on a runtime of several threads,
    /// where one that computes would hold up the connection although a thread is free.
    polls_first: Option<bool>,
    /// Whether a handler is handed to the driver, which polls it first when it holds nothing that others wait for.
    holds: bool,
    held: Option<Task>,
}

impl Runner {
    pub(crate) fn new(hooks: Hooks) -> Self {
        Self {
            hooks,
            polls_first: None,
            holds: false,
            held: None,
        }
    }

    /// One whose driver takes what was started, see [`take_started`](Self::take_started), and runs it.
    #[cfg(feature = "http")]
    pub(crate) fn holding(hooks: Hooks) -> Self {
        Self {
            holds: true,
            ..Self::new(hooks)
        }
    }

    /// The first handler that was started since the last time and may have to wait.
    #[cfg(feature = "http")]
    pub(crate) fn take_started(&mut self) -> Option<Task> {
        self.held.take()
    }

    /// Starts a handler; in the end it answers the call.
    pub(crate) fn start(&mut self, call: Arc<Call>, entry: Arc<Entry>, params: Option<Json>) {
        let polls_first = *self
            .polls_first
            .get_or_insert_with(|| Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread);
        // Decoding the arguments may run code of the user as well.
        let started = catch_unwind(AssertUnwindSafe(|| (entry.run)(Arc::clone(&call), params)));
        let running = Running {
            call,
            entry,
            hooks: self.hooks.clone(),
        };
        match started {
            Err(panic) => running.panicked(&*panic),
            Ok(Started::Done(reply)) => running.done(Ok(reply)),
            Ok(Started::Waiting(work)) if self.holds && self.held.is_none() => self.held = Some(running.task(work)),
            Ok(Started::Waiting(work)) => running.work(work, polls_first),
            Ok(Started::Blocking(work)) => {
                running.call.link.add_handler(&running.call);
                tokio::task::spawn_blocking(move || match catch_unwind(AssertUnwindSafe(work)) {
                    Ok(reply) => running.done(reply),
                    Err(panic) => running.panicked(&*panic),
                });
            }
        }
    }
}

/// What is needed to bring a call to its end, wherever it runs.
struct Running {
    call: Arc<Call>,
    entry: Arc<Entry>,
    hooks: Hooks,
}

impl Running {
    fn work(self, mut work: Work, polls_first: bool) {
        if polls_first {
            // If it waits, the task polls it again before anything else, with a waker that counts.
            let mut nobody = task::Context::from_waker(Waker::noop());
            match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut nobody))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(reply)) => return self.done(reply),
                Err(panic) => return self.panicked(&*panic),
            }
        }
        tokio::spawn(self.task(work));
    }

    fn task(self, work: Work) -> Task {
        self.call.link.add_handler(&self.call);
        Task { work, running: self }
    }

    /// A reply that cannot be made is a fault of this side: the peer learns that much, and the
    /// program the rest.
    fn done(&self, reply: Result<Reply, String>) {
        match reply {
            Ok(reply) => self.call.link.respond(self.call.id, &reply),
            Err(what) => self.fail(format!("{} failed: {what}", self.entry.label)),
        }
    }

    fn panicked(&self, panic: &(dyn Any + Send)) {
        self.fail(format!(
            "the handler of {} panicked: {}",
            self.entry.label,
            panic_text(panic)
        ));
    }

    /// The program is told first, so that it knows when its peer does.
    fn fail(&self, message: String) {
        self.hooks.problem(&Problem {
            kind: ProblemKind::HandlerFailed,
            message,
        });
        let message = format!("Internal error: {} failed", self.entry.label);
        let reply = Reply::Error(Box::new(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)));
        self.call.link.respond(self.call.id, &reply);
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// A handler that waits. Once it is cancelled it is polled one more time, so that it can see the
/// cancel, and dropped if it waits again.
pub(crate) struct Task {
    work: Work,
    running: Running,
}

#[cfg(feature = "http")]
impl Task {
    /// Polls it, and spawns what waits.
    pub(crate) fn begin(mut self) {
        // If it waits, the task polls it again before anything else, with a waker that counts.
        let mut nobody = task::Context::from_waker(Waker::noop());
        if Pin::new(&mut self).poll(&mut nobody).is_pending() {
            tokio::spawn(self);
        }
    }
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.running.call.set_task(cx.waker());
        let seen_cancel = self.running.call.is_cancelled();
        let work = &mut self.work;
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Pending) if seen_cancel => Poll::Ready(()),
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(reply)) => {
                self.running.done(reply);
                Poll::Ready(())
            }
            Err(panic) => {
                self.running.panicked(&*panic);
                Poll::Ready(())
            }
        }
    }
}
