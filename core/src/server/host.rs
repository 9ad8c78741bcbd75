//! The server's side of one connection.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::{Direction, Problem, Target, Watch};
use serde::Deserialize;

use super::offers::Shared;
use crate::driver::{Host, Incoming, Link};
#[cfg(feature = "http")]
use crate::handler::Task;
use crate::handler::{Call, Hooks, Reply, Runner};

pub(super) struct ServerHost {
    shared: Arc<Shared>,
    runner: Runner,
    /// Wakes the driver when what is offered changes.
    _watch: Option<Watch>,
}

impl ServerHost {
    pub(super) fn new(shared: Arc<Shared>, hooks: Hooks, link: &Arc<Link>) -> Self {
        let link = Arc::downgrade(link);
        let watch = shared.registry.watch(move || {
            if let Some(link) = link.upgrade() {
                link.offers_changed();
            }
        });
        Self {
            shared,
            runner: Runner::new(hooks),
            _watch: Some(watch),
        }
    }

    /// One whose driver looks after changes of what is offered, and runs handlers, itself.
    #[cfg(feature = "http")]
    pub(super) fn unwatched(shared: Arc<Shared>, hooks: Hooks) -> Self {
        Self {
            shared,
            runner: Runner::holding(hooks),
            _watch: None,
        }
    }
}

impl Host for ServerHost {
    fn call(&mut self, link: &Arc<Link>, call: Incoming) {
        let argument = || argument_name(call.params.as_ref()?);
        if let Some(entry) = self.shared.handler(&call.target, argument) {
            let shared = Call::new(call.id, Arc::clone(link), call.wants_progress);
            return self.runner.start(shared, entry, call.params);
        }
        link.respond(call.id, &without_handler(&call.target));
    }

    #[cfg(feature = "http")]
    fn take_started(&mut self) -> Option<Task> {
        self.runner.take_started()
    }

    fn complete_offers(&mut self) {
        self.shared.wait_for_changes();
    }

    fn problem(&mut self, problem: &Problem) {
        self.runner.hooks.problem(problem);
    }

    fn trace(&mut self, direction: Direction, line: &str) {
        self.runner.hooks.trace(direction, line);
    }
}

/// The answer where nobody can give one: nothing completes this argument, or it was removed a moment ago.
fn without_handler(target: &Target) -> Reply {
    match target {
        Target::PromptCompletion(_) | Target::TemplateCompletion(_) => {
            Reply::Result("{\"completion\":{\"values\":[]}}".to_owned())
        }
        _ => {
            let message = "what was called is no longer offered";
            Reply::Error(Box::new(ErrorObject::new(ErrorCode::INVALID_PARAMS, message)))
        }
    }
}

/// The argument that the params of `completion/complete` are about.
fn argument_name(params: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        argument: Argument,
    }
    #[derive(Deserialize)]
    struct Argument {
        name: String,
    }
    let params: Params = serde_json::from_str(params.get()).ok()?;
    Some(params.argument.name)
}
