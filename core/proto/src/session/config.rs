//! What a session is told before it starts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Revision;

/// Which side of the connection a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Starts the connection and calls tools.
    Client,
    /// Offers tools.
    Server,
}

/// Who a side says it is: `clientInfo` or `serverInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// For programs.
    pub name: String,
    /// For people; absent when equal to the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version of the implementation, in its own scheme.
    pub version: String,
}

impl Implementation {
    /// An implementation without a title.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
        }
    }
}

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Config {
    /// Who we are.
    pub info: Implementation,
    /// Server: how to use it, for a model.
    pub instructions: Option<String>,
    /// The revisions we speak. A server serves all of them, those without a handshake beside the
    /// one that a handshake settled on; a client offers the newest with a handshake, or looks for
    /// one without first ([`probe`](Self::probe)).
    pub revisions: Vec<Revision>,
    /// Client: ask the server by `server/discover` whether it speaks a revision without a handshake,
    /// and shake hands only if not. Costs servers of older revisions one more round trip.
    pub probe: bool,
    /// Server: answer an `initialize` with a revision we lack by `-32602` instead of our newest.
    pub strict_revision: bool,
    /// How long a call may go without an answer, unless the call says otherwise.
    pub timeout: Duration,
    /// Server: what is said of lists.
    pub cache: CacheHints,
    /// Bounds on what a peer can make us hold.
    pub limits: Limits,
    /// Hand out each message, as it is sent and received, as [`Output::Trace`](super::Output::Trace).
    pub trace: bool,
}

impl Config {
    /// The defaults: every revision, 60 s per call.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            probe: false,
            strict_revision: false,
            timeout: Duration::from_secs(60),
            cache: CacheHints::default(),
            limits: Limits::default(),
            trace: false,
        }
    }

    /// The newest revision with a handshake, if any is spoken.
    pub(crate) fn newest_with_handshake(&self) -> Option<Revision> {
        self.with_handshake().max()
    }

    pub(crate) fn with_handshake(&self) -> impl Iterator<Item = Revision> {
        self.revisions
            .iter()
            .copied()
            .filter(|revision| revision.has_handshake())
    }
}

/// How long a client may keep a list (2026-07-28 caching): hints, which older revisions lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHints {
    /// How long it counts as fresh. Zero: it should be asked for anew.
    pub ttl: Duration,
    /// Whether it is the same for every user, so that shared caches may keep it too.
    pub public: bool,
}

impl Default for CacheHints {
    /// Fresh for no time, and for its own user only.
    fn default() -> Self {
        Self {
            ttl: Duration::ZERO,
            public: false,
        }
    }
}

/// Bounds on what a peer can make us hold. Over a bound the one message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per message.
    pub message: usize,
    /// How deep the JSON of a message may nest.
    pub depth: usize,
    /// Calls of the peer that wait for an answer at the same time.
    pub in_flight: usize,
    /// Bytes waiting to be written, over which a driver stops reading.
    pub backlog: usize,
    /// How long accepted calls may go on after the peer closed its side.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 16 * 1024 * 1024,
            depth: 128,
            in_flight: 65_536,
            backlog: 16 * 1024 * 1024,
            drain: Duration::from_secs(5),
        }
    }
}

/// The options of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// How long the call may go without an answer; the session's default when absent.
    pub timeout: Option<Duration>,
    /// A bound on the whole call that nothing moves.
    pub max_total_timeout: Option<Duration>,
    /// Each progress message for the call restarts `timeout`. Asks for progress by itself.
    pub reset_timeout_on_progress: bool,
    /// Ask for progress.
    pub progress: bool,
}
