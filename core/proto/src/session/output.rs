//! What a session hands to its driver.

use crate::jsonrpc::{ErrorObject, Json, RequestId};
use crate::{EntryId, Error, Kind, Revision};

/// A call the peer made, until it is answered or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InboundId(pub u64);

/// A call we made, until its [`Output::Done`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboundId(pub u64);

/// One thing for the driver to do, from [`Session::poll_output`](crate::Session::poll_output).
#[derive(Debug)]
pub enum Output {
    /// Run a handler and answer with [`Session::respond`](crate::Session::respond).
    Call {
        /// For `respond`, `progress`, `log`, `ask` and [`Output::Cancelled`].
        id: InboundId,
        /// Which handler.
        target: Target,
        /// What it gets; see [`Target`].
        params: Option<Json>,
        /// Whether the caller asked for progress.
        wants_progress: bool,
    },
    /// A peer needs the descriptors of all entries of a kind: complete the registry, then call
    /// [`Session::resume`](crate::Session::resume).
    Describe {
        /// The call that waits for it.
        id: InboundId,
        /// The kind.
        kind: Kind,
    },
    /// The peer cancelled a call, or the time to finish it after the peer left is over, or what its
    /// handler asked for takes a round of its own (2026-07-28, [`Session::ask`](crate::Session::ask)).
    /// Stop its handler in the host's own way; nothing it answers will be written.
    Cancelled {
        /// The call.
        id: InboundId,
        /// Why, if the peer said so.
        reason: Option<String>,
    },
    /// The handshake is complete.
    Ready(Peer),
    /// The handshake failed; [`Output::Closed`] follows.
    ConnectFailed(Error),
    /// Progress on a call of ours.
    Progress {
        /// The call.
        id: OutboundId,
        /// The `params` of the notification.
        params: Json,
    },
    /// A call of ours ended. Comes exactly once for each call.
    Done {
        /// The call.
        id: OutboundId,
        /// What it gave.
        outcome: Result<Json, Error>,
    },
    /// A notification that the core does not act on itself.
    Notification {
        /// Which event.
        method: String,
        /// Its `params`.
        params: Option<Json>,
        /// The call of `subscriptions/listen` whose stream it is on (2026-07-28).
        subscription: Option<OutboundId>,
    },
    /// A message on the wire, for people who look into a connection ([`Config::trace`](crate::Config::trace)).
    Trace {
        /// Which way it goes.
        direction: Direction,
        /// The line, without its end.
        line: String,
    },
    /// Something is wrong with what the peer sent. The connection goes on.
    Problem(Problem),
    /// Bytes for the peer. Comes after all else, so that one drain makes one write.
    Wire(Vec<u8>),
    /// One message for the peer, in place of `Wire` ([`Config::routed`](crate::Config::routed)).
    Message {
        /// The request of the peer that it belongs to: on its stream it goes.
        request: Option<RequestId>,
        /// Whether it answers that request, and so is the last on its stream.
        answers: bool,
        /// The line, without its end.
        line: Vec<u8>,
    },
    /// Nothing more will happen. The driver closes the connection after the last write.
    Closed,
}

/// What a call of the peer is for, and what its `params` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A tool; the `arguments` object, absent when the caller sent none.
    Tool(EntryId),
    /// A resource; `{"uri"}`.
    Resource(EntryId),
    /// A resource of a template; `{"uri","variables"}`, with a string, an array of strings or an object
    /// of strings for each variable of the template that the URI has.
    Template(EntryId),
    /// A prompt; the `arguments` object, absent when the caller sent none.
    Prompt(EntryId),
    /// The arguments of a prompt, to be completed; the params of `completion/complete`.
    PromptCompletion(EntryId),
    /// The variables of a template, to be completed; the params of `completion/complete`.
    TemplateCompletion(EntryId),
    /// Any other method: what a server asks of a client, and methods of users; its params as they came.
    Method(Box<str>),
}

impl Target {
    /// The name bindings know its kind by.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Resource(_) => "resource",
            Self::Template(_) => "template",
            Self::Prompt(_) => "prompt",
            Self::PromptCompletion(_) => "promptCompletion",
            Self::TemplateCompletion(_) => "templateCompletion",
            Self::Method(_) => "method",
        }
    }
}

/// Who makes a call, and what it says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The revision of the request.
    pub revision: Revision,
    /// `clientInfo` or `serverInfo`, where the caller gave one.
    pub info: Option<&'a str>,
    /// The caller's capabilities.
    pub capabilities: &'a str,
    /// The `_meta` of the request.
    pub meta: Option<&'a str>,
    /// What the handler kept for itself with [`Answer::InputRequired`] in the round before.
    pub state: Option<&'a str>,
    /// The answers to what [`Answer::InputRequired`] asked for in the round before: an object by key.
    pub input_responses: Option<&'a str>,
}

/// How severe a log message is (RFC 5424), mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For debugging.
    Debug,
    /// Information.
    Info,
    /// Normal, but significant.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something failed.
    Error,
    /// A component failed.
    Critical,
    /// Someone must act at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LogLevel {
    /// All levels, mildest first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// All names, for messages.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From us to the peer.
    Sent,
    /// From the peer to us.
    Received,
}

impl Direction {
    /// The name bindings know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// The other side, as it presented itself at the handshake.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The revision both sides now speak.
    pub revision: Revision,
    /// `clientInfo` or `serverInfo`.
    pub info: Json,
    /// Its capabilities.
    pub capabilities: Json,
    /// A server's instructions.
    pub instructions: Option<String>,
}

/// How a call of the peer is answered.
#[derive(Debug)]
pub enum Answer<'a> {
    /// The text of a result object, which the caller vouches to be valid JSON.
    Result(&'a str),
    /// A tool gave text: a result with one text block.
    Text(&'a str),
    /// A tool failed: its message becomes a result with `isError`.
    ToolError(&'a str),
    /// The arguments do not fit the tool's input schema; the text says what does not and why.
    InvalidArguments(&'a str),
    /// More input is needed before the request can be served (2026-07-28): for handlers that make the
    /// rounds themselves. Those that call [`Session::ask`](crate::Session::ask) need it never.
    InputRequired {
        /// The text of an object: requests by key, each `{"method","params"}`. May be empty.
        requests: &'a str,
        /// Kept by the client for the next round, sealed; see [`Caller::state`].
        state: Option<&'a str>,
    },
    /// A protocol error.
    Error(ErrorObject),
}

/// Something wrong with what the peer sent, for the host's error hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// What was wrong and what was done about it.
    pub message: String,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A line that is not JSON.
    NotJson,
    /// JSON that is no message.
    NotAMessage,
    /// A message over a limit.
    TooLarge,
    /// An answer to a call we never made, or one already answered.
    UnknownResponse,
    /// An answer whose id had another type than ours; it was accepted.
    LooseId,
    /// Progress for a token we never gave.
    UnknownProgress,
    /// A notification whose params do not fit it.
    BadNotification,
    /// A request in a revision where the peer makes none; it was not answered.
    UnexpectedRequest,
    /// An error without an id: the peer could not read something we sent.
    PeerError,
    /// The transport lost something that no call waits for: a notification, an answer of ours, a stream of
    /// notifications. Drivers report it; a session never does.
    NotDelivered,
    /// A tool was left out of a list, as what it says of header fields is invalid (2026-07-28
    /// streamable-http). Drivers report it; a session never does.
    BadTool,
    /// A handler of ours failed in a way that is no answer, and its call got `-32603`. Drivers
    /// report it; a session never does.
    HandlerFailed,
}

impl ProblemKind {
    /// The name bindings know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::NotAMessage => "not_a_message",
            Self::TooLarge => "too_large",
            Self::UnknownResponse => "unknown_response",
            Self::LooseId => "loose_id",
            Self::UnknownProgress => "unknown_progress",
            Self::BadNotification => "bad_notification",
            Self::UnexpectedRequest => "unexpected_request",
            Self::PeerError => "peer_error",
            Self::NotDelivered => "not_delivered",
            Self::BadTool => "bad_tool",
            Self::HandlerFailed => "handler_failed",
        }
    }
}
