//! What a connection says, as typed envelopes around payloads that stay JSON text.

use oxmcp_proto::{Output, Target};

use crate::failure::Failure;

/// One thing that happened on a connection.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct Event {
    /// The connection's number, unique in the process.
    pub connection: u64,
    /// What happened.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum Happening {
    /// The peer calls: a handler is to run, and `respond` to say what it gave.
    Call {
        /// The call.
        id: u64,
        /// `tool`, `resource`, `template`, `prompt`, `promptCompletion`, `templateCompletion` or `method`.
        kind: String,
        /// The entry of the registry, unless it is a method.
        entry: Option<u64>,
        /// The method, where it is one.
        method: Option<String>,
        /// What the handler gets, as JSON text.
        params: Option<String>,
        /// Whether the caller asked for progress.
        wants_progress: bool,
    },
    /// The peer needs the descriptors of all entries of a kind; `respond` with `Resume` goes on.
    Describe {
        /// The call that waits.
        id: u64,
        /// The kind.
        kind: String,
    },
    /// A call of the peer is off; its handler is to stop.
    Cancelled {
        /// The call.
        id: u64,
        /// Why, if the peer said so.
        reason: Option<String>,
    },
    /// The handshake is done.
    Ready {
        /// The revision both sides speak.
        protocol_version: String,
        /// Who the other side is, as JSON text.
        info: String,
        /// What it can do, as JSON text.
        capabilities: String,
        /// A server's instructions.
        instructions: Option<String>,
    },
    /// The handshake failed; `Closed` follows.
    ConnectFailed {
        /// Why.
        failure: Failure,
    },
    /// The server refused a request over HTTP for want of authorization: `give_headers` is waited for.
    Unauthorized {
        /// 401, or 403 with a challenge.
        status: u16,
        /// The value of `WWW-Authenticate`, if there is one.
        challenge: Option<String>,
    },
    /// Progress on a call of ours.
    Progress {
        /// The call.
        id: u64,
        /// The params of the notification, as JSON text.
        params: String,
    },
    /// A call of ours has its result.
    Result {
        /// The call.
        id: u64,
        /// The result, as JSON text.
        result: String,
    },
    /// A call of ours failed.
    Failed {
        /// The call.
        id: u64,
        /// Why.
        failure: Failure,
    },
    /// A notification.
    Notification {
        /// Which.
        method: String,
        /// Its params, as JSON text.
        params: Option<String>,
        /// The call of `subscriptions/listen` whose stream it is on.
        subscription: Option<u64>,
    },
    /// A message on the wire.
    Trace {
        /// `sent` or `received`.
        direction: String,
        /// The line.
        line: String,
    },
    /// Something is wrong with what the peer sent.
    Problem {
        /// What kind.
        kind: String,
        /// What it was and what was done about it.
        message: String,
    },
    /// A line of a child's standard error; it belongs to no connection.
    Stderr {
        /// The line, without its end.
        line: String,
    },
    /// The connection has ended. The last of its events.
    Closed,
}

impl Happening {
    /// `None` for what goes to the peer.
    pub(crate) fn of(output: Output) -> Option<Self> {
        let text = |json: Option<oxmcp_proto::jsonrpc::Json>| json.map(|json| json.get().to_owned());
        Some(match output {
            Output::Call {
                id,
                target,
                params,
                wants_progress,
            } => Self::Call {
                id: id.0,
                kind: target.kind().to_owned(),
                entry: entry(&target),
                method: match target {
                    Target::Method(name) => Some(name.into()),
                    _ => None,
                },
                params: text(params),
                wants_progress,
            },
            Output::Describe { id, kind } => Self::Describe {
                id: id.0,
                kind: kind.name().to_owned(),
            },
            Output::Cancelled { id, reason } => Self::Cancelled { id: id.0, reason },
            Output::Ready(peer) => Self::Ready {
                protocol_version: peer.revision.name().to_owned(),
                info: peer.info.get().to_owned(),
                capabilities: peer.capabilities.get().to_owned(),
                instructions: peer.instructions,
            },
            Output::ConnectFailed(error) => Self::ConnectFailed {
                failure: Failure::from(&error),
            },
            Output::Progress { id, params } => Self::Progress {
                id: id.0,
                params: params.get().to_owned(),
            },
            Output::Done {
                id,
                outcome: Ok(result),
            } => Self::Result {
                id: id.0,
                result: result.get().to_owned(),
            },
            Output::Done {
                id,
                outcome: Err(error),
            } => Self::Failed {
                id: id.0,
                failure: Failure::from(&error),
            },
            Output::Notification {
                method,
                params,
                subscription,
            } => Self::Notification {
                method,
                params: text(params),
                subscription: subscription.map(|id| id.0),
            },
            Output::Trace { direction, line } => Self::Trace {
                direction: direction.name().to_owned(),
                line,
            },
            Output::Problem(problem) => Self::Problem {
                kind: problem.kind.name().to_owned(),
                message: problem.message,
            },
            Output::Closed => Self::Closed,
            Output::Wire(_) | Output::Message { .. } => return None,
        })
    }
}

fn entry(target: &Target) -> Option<u64> {
    match target {
        Target::Tool(entry)
        | Target::Resource(entry)
        | Target::Template(entry)
        | Target::Prompt(entry)
        | Target::PromptCompletion(entry)
        | Target::TemplateCompletion(entry) => Some(*entry as u64),
        Target::Method(_) => None,
    }
}
