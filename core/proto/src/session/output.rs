//! What a session hands to its driver.

use crate::ToolIndex;
use crate::jsonrpc::{ErrorObject, Json};
use crate::{Error, Revision};

/// A call the peer made, until it is answered or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InboundId(pub u64);

/// A call we made, until its [`Output::Done`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboundId(pub u64);

/// One thing for the driver to do, from [`Session::poll_output`](crate::Session::poll_output).
#[derive(Debug)]
pub enum Output {
    /// Run a tool and answer with [`Session::respond`](crate::Session::respond).
    ToolCall {
        /// For `respond`, `progress` and [`Output::Cancelled`].
        id: InboundId,
        /// Which tool.
        tool: ToolIndex,
        /// The `arguments` object, absent when the caller sent none.
        arguments: Option<Json>,
        /// Whether the caller asked for progress.
        wants_progress: bool,
    },
    /// A peer needs the descriptors of all tools: complete the registry, then call
    /// [`Session::resume`](crate::Session::resume).
    Describe {
        /// The call that waits for it.
        id: InboundId,
    },
    /// The peer cancelled a call, or the time to finish it after the peer left is over. Stop its
    /// handler in the host's own way; nothing it answers will be written.
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
    /// Nothing more will happen. The driver closes the connection after the last write.
    Closed,
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
            Self::HandlerFailed => "handler_failed",
        }
    }
}
