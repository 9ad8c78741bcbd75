//! The client's side of one connection.

use std::collections::HashMap;
use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::types::LoggingMessageNotificationParams;
use oxmcp_proto::{Direction, Error, OutboundId, Peer, Problem, Target};
use tokio::sync::oneshot;

use super::Notification;
use super::listen::Listeners;
use crate::driver::{Host, Incoming, Link};
use crate::handler::{Call, Entry, Reply, Runner, guarded};

pub(super) struct ClientHost {
    pub connected: Option<oneshot::Sender<Result<Peer, Error>>>,
    pub runner: Runner,
    pub told: Told,
    pub handlers: HashMap<Box<str>, Arc<Entry>>,
    pub listeners: Arc<Listeners>,
}

/// What the program wants to be told of what comes unasked.
#[derive(Default)]
pub(super) struct Told {
    pub on_notification: Option<OnNotification>,
    pub on_log: Option<OnLog>,
}

type OnNotification = Box<dyn Fn(&str, Option<Json>) + Send>;
type OnLog = Box<dyn Fn(LoggingMessageNotificationParams) + Send>;

impl ClientHost {
    fn connected(&mut self, outcome: Result<Peer, Error>) {
        if let Some(connected) = self.connected.take() {
            // Whoever gave up waiting does not want to know.
            let _ = connected.send(outcome);
        }
    }
}

impl Host for ClientHost {
    fn call(&mut self, link: &Arc<Link>, call: Incoming) {
        let entry = match &call.target {
            Target::Method(name) => self.handlers.get(name),
            _ => None,
        };
        match entry {
            Some(entry) => {
                let shared = Call::new(call.id, Arc::clone(link), call.wants_progress);
                self.runner.start(shared, Arc::clone(entry), call.params);
            }
            // The program declared a capability and has no handler for it.
            None => {
                let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "the client has no handler for this");
                link.respond(call.id, &Reply::Error(Box::new(error)));
            }
        }
    }

    fn ready(&mut self, peer: Peer) {
        self.connected(Ok(peer));
    }

    fn connect_failed(&mut self, error: Error) {
        self.connected(Err(error));
    }

    fn notification(&mut self, method: &str, params: Option<Json>, subscription: Option<OutboundId>) {
        if let Some(hook) = self.told.on_log.as_ref().filter(|_| method == "notifications/message") {
            let message = params
                .as_ref()
                .and_then(|params| serde_json::from_str(params.get()).ok());
            if let Some(message) = message {
                guarded(|| hook(message));
            }
        }
        self.listeners
            .notify(&Notification::new(method, params.clone()), subscription);
        if let Some(hook) = &self.told.on_notification {
            guarded(|| hook(method, params));
        }
    }

    fn problem(&mut self, problem: &Problem) {
        self.runner.hooks.problem(problem);
    }

    fn trace(&mut self, direction: Direction, line: &str) {
        self.runner.hooks.trace(direction, line);
    }

    fn closed(&mut self) {
        self.listeners.close();
    }
}
