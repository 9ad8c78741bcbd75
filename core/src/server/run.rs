//! Running handlers: at once where that is enough, as a task or on a thread where it is not.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, Waker};

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::{Direction, Error, Peer, Problem, ProblemKind};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::tool::{Started, Work};
use super::{Call, Context, Reply, Tool};
use crate::driver::{Host, Link, ToolCall};

/// The server's side of one connection.
pub(crate) struct ServerHost {
    tools: Arc<Vec<Tool>>,
    hooks: Hooks,
    peer: Arc<OnceLock<Peer>>,
    /// Whether a handler may be polled by the driver first. Not on a runtime of several threads,
    /// where one that computes would hold up the connection although a thread is free.
    polls_first: Option<bool>,
}

impl ServerHost {
    pub(crate) fn new(tools: Arc<Vec<Tool>>, hooks: Hooks, peer: Arc<OnceLock<Peer>>) -> Self {
        Self {
            tools,
            hooks,
            peer,
            polls_first: None,
        }
    }

    fn polls_first(&mut self) -> bool {
        *self
            .polls_first
            .get_or_insert_with(|| Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread)
    }
}

impl Host for ServerHost {
    fn tool_call(&mut self, link: &Arc<Link>, call: ToolCall, _: &mut task::Context<'_>) {
        let polls_first = self.polls_first();
        let tool = &self.tools[call.tool];
        let shared = Call::new(call.id, Arc::clone(link), Arc::clone(&self.peer), call.wants_progress);
        let context = Context {
            call: Arc::clone(&shared),
        };
        // Decoding the arguments may run code of the user as well.
        let started = catch_unwind(AssertUnwindSafe(|| (tool.run)(context, call.arguments)));
        let running = Running {
            call: shared,
            tools: Arc::clone(&self.tools),
            tool: call.tool,
            hooks: self.hooks.clone(),
        };
        match started {
            Err(panic) => running.panicked(panic),
            Ok(Started::Done(reply)) => running.done(Ok(reply)),
            Ok(Started::Waiting(work)) => running.work(work, polls_first),
            Ok(Started::Blocking(work)) => {
                link.add_handler(&running.call);
                tokio::task::spawn_blocking(move || running.finish(catch_unwind(AssertUnwindSafe(work))));
            }
        }
    }

    fn ready(&mut self, peer: Peer) {
        let _ = self.peer.set(peer);
    }

    fn connect_failed(&mut self, _: Error) {}

    fn notification(&mut self, _: &str, _: Option<Json>) {}

    fn problem(&mut self, problem: &Problem) {
        self.hooks.report(problem);
    }

    fn trace(&mut self, direction: Direction, line: &str) {
        if let Some(hook) = &self.hooks.on_trace {
            let _ = catch_unwind(AssertUnwindSafe(|| hook(direction, line)));
        }
    }
}

/// What the program wants to be told.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) on_problem: Option<OnProblem>,
    pub(super) on_trace: Option<OnTrace>,
}

type OnProblem = Arc<dyn Fn(&Problem) + Send + Sync>;
type OnTrace = Arc<dyn Fn(Direction, &str) + Send + Sync>;

impl Hooks {
    fn report(&self, problem: &Problem) {
        if let Some(hook) = &self.on_problem {
            // There is nobody left to tell of a hook that panics.
            let _ = catch_unwind(AssertUnwindSafe(|| hook(problem)));
        }
    }
}

/// What is needed to bring a call to its end, wherever it runs.
struct Running {
    call: Arc<Call>,
    tools: Arc<Vec<Tool>>,
    tool: usize,
    hooks: Hooks,
}

type Panic = Box<dyn Any + Send>;

impl Running {
    fn work(self, mut work: Work, polls_first: bool) {
        if polls_first {
            // If it waits, the task polls it again before anything else, with a waker that counts.
            let mut nobody = task::Context::from_waker(Waker::noop());
            match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut nobody))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(reply)) => return self.done(reply),
                Err(panic) => return self.panicked(panic),
            }
        }
        self.call.link.add_handler(&self.call);
        tokio::spawn(Task { work, running: self });
    }

    fn finish(&self, outcome: Result<Result<Reply, Problem>, Panic>) {
        match outcome {
            Ok(reply) => self.done(reply),
            Err(panic) => self.panicked(panic),
        }
    }

    /// A reply that cannot be made is a fault of the server: the client learns that much, and the
    /// program the rest.
    fn done(&self, reply: Result<Reply, Problem>) {
        match reply {
            Ok(reply) => self.call.link.respond(self.call.id, &reply),
            Err(problem) => {
                self.fail(&problem);
            }
        }
    }

    fn panicked(&self, panic: Panic) {
        let what = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        self.fail(&Problem {
            kind: ProblemKind::HandlerFailed,
            message: format!("the handler of the tool {} panicked: {what}", self.name()),
        });
    }

    /// The program is told first, so that it knows when its client does.
    fn fail(&self, problem: &Problem) {
        self.hooks.report(problem);
        let message = format!("Internal error: the tool {} failed", self.name());
        let reply = Reply::Error(Box::new(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)));
        self.call.link.respond(self.call.id, &reply);
    }

    fn name(&self) -> &str {
        &self.tools[self.tool].name
    }
}

/// A handler that waits. Once it is cancelled it is polled one more time, so that it can see the
/// cancel, and dropped if it waits again.
struct Task {
    work: Work,
    running: Running,
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
                self.running.panicked(panic);
                Poll::Ready(())
            }
        }
    }
}
