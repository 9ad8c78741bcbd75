//! What a session is told before it starts.

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::declared::Declared;
use super::stateless::SERVER_INFO;
use crate::jsonrpc::{Json, ObjectWriter, json};
use crate::{Keyring, Revision};

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
    /// What else is said of it: `description`, `websiteUrl`, `icons` (2025-11-25), and any more.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl Implementation {
    /// An implementation without a title.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            more: serde_json::Map::new(),
        }
    }

    /// The same with one more member.
    ///
    /// ```
    /// use oxmcp_proto::Implementation;
    ///
    /// let info = Implementation::new("demo", "1.0").with("websiteUrl", "https://example.com");
    /// assert_eq!(info.more["websiteUrl"], "https://example.com");
    /// ```
    #[must_use]
    pub fn with(mut self, member: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.more.insert(member.into(), value.into());
        self
    }

    /// Its JSON text, which is part of each result of a revision without a handshake.
    pub(crate) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new().string("name", &self.name);
        if let Some(title) = &self.title {
            object = object.string("title", title);
        }
        object = object.string("version", &self.version);
        for (member, value) in &self.more {
            object = object.json(member, &value.to_string());
        }
        object.finish()
    }
}

/// The notifications that are debounced where the settings do not say otherwise.
const DEBOUNCED: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
    "notifications/roots/list_changed",
];

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Config {
    /// Who we are.
    pub info: Implementation,
    /// Server: how to use it, for a model.
    pub instructions: Option<String>,
    /// The text of an object: what we declare that we can do. A client declares just this. A server
    /// declares what its registry and the settings below make it able to do, and of the capabilities
    /// named here, what is said here: `{"tools":{"listChanged":false}}` sends no such notifications,
    /// `{"extensions":{"com.example/x":{}}}` offers an extension.
    pub capabilities: Json,
    /// Server: send log messages to clients.
    pub logging: bool,
    /// Server: take subscriptions to resources, and tell subscribers of updates.
    pub subscriptions: bool,
    /// The revisions we speak. A server serves all of them, those without a handshake beside the
    /// one that a handshake settled on; a client looks for one without first
    /// ([`probe`](Self::probe)), else it offers the newest with a handshake.
    pub revisions: Vec<Revision>,
    /// Client: ask the server by `server/discover` whether it speaks a revision without a handshake,
    /// and shake hands only if not (2026-07-28 versioning). Costs servers of older revisions one more
    /// round trip, which [`Verdicts`](crate::Verdicts) saves from the second connection on.
    pub probe: bool,
    /// Server: answer an `initialize` with a revision we lack by `-32602` instead of our newest.
    pub strict_revision: bool,
    /// How long a call may go without an answer, unless the call says otherwise.
    pub timeout: Duration,
    /// Server: what is said of lists.
    pub cache: CacheHints,
    /// Client: keep results for as long as the server says they stay fresh (2026-07-28 caching).
    pub response_cache: bool,
    /// Client: check the structured content of tools against the output schemas it has seen in lists.
    pub validate_results: bool,
    /// Server: the keys that `requestState` is sealed with (2026-07-28). Without any, handlers cannot ask
    /// a client of that revision for input. Servers that act as one need the same keys.
    pub state_keys: Option<Keyring>,
    /// Server: how long a `requestState` is good for.
    pub state_ttl: Duration,
    /// Server: who the client is, where something before us found out. Sealed into `requestState`.
    pub principal: String,
    /// The Unix time, in milliseconds, at [`Instant::default`](crate::Instant): tells when a sealed
    /// `requestState` expires. Sessions that share their settings have their own, see
    /// [`Session::with_unix_epoch`](crate::Session::with_unix_epoch).
    pub unix_epoch: u64,
    /// Notifications without params that are sent once per turn, however often they are asked for; by
    /// default those that say that a list changed.
    pub debounced: Vec<Box<str>>,
    /// Bounds on what a peer can make us hold.
    pub limits: Limits,
    /// Hand out what is to be written message by message, as
    /// [`Output::Message`](super::Output::Message) in place of [`Output::Wire`](super::Output::Wire), for
    /// transports that have a stream for each request.
    pub routed: bool,
    /// Hand out each message, as it is sent and received, as [`Output::Trace`](super::Output::Trace).
    pub trace: bool,
    /// What sessions made of all this. A new one to begin with.
    #[doc(hidden)]
    pub made: Made,
}

/// What sessions make of the settings they share, made once. Copies make their own: settings change before they are used.
#[derive(Debug, Default)]
pub struct Made {
    declared: OnceLock<Declared>,
    complete: OnceLock<Box<str>>,
}

impl Clone for Made {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Config {
    /// The defaults: every revision, 60 s per call, no capabilities but those of the registry.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            capabilities: json("{}").unwrap_or_else(|error| unreachable!("an empty object is JSON: {error}")),
            logging: false,
            subscriptions: false,
            revisions: Revision::ALL.to_vec(),
            probe: true,
            strict_revision: false,
            timeout: Duration::from_secs(60),
            cache: CacheHints::default(),
            response_cache: true,
            validate_results: true,
            state_keys: None,
            state_ttl: Duration::from_secs(60 * 60),
            principal: String::new(),
            unix_epoch: 0,
            debounced: DEBOUNCED.map(Into::into).to_vec(),
            limits: Limits::default(),
            routed: false,
            trace: false,
            made: Made::default(),
        }
    }

    /// The capabilities that are named in the settings.
    pub(super) fn declared(&self) -> &Declared {
        self.made.declared.get_or_init(|| Declared::read(&self.capabilities))
    }

    /// The members that a result of a revision without a handshake has where it says nothing of itself.
    pub(crate) fn complete_members(&self) -> &str {
        self.made.complete.get_or_init(|| {
            let meta = ObjectWriter::new().json(SERVER_INFO, &self.info.to_json()).finish();
            let whole = ObjectWriter::new()
                .string("resultType", "complete")
                .json("_meta", &meta);
            whole.finish().into()
        })
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
    /// Server: streams of notifications a client may hold open, and resources it may subscribe to.
    pub subscriptions: usize,
    /// Client: how often a server may ask for input before it serves a call (2026-07-28).
    pub rounds: usize,
    /// Client: pages of a list that is asked for as a whole.
    pub pages: usize,
    /// Client: bytes of a list that is asked for as a whole, and of all results kept as fresh.
    pub list: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 16 * 1024 * 1024,
            depth: 128,
            in_flight: 65_536,
            backlog: 16 * 1024 * 1024,
            drain: Duration::from_secs(5),
            subscriptions: 1024,
            rounds: 16,
            pages: 1000,
            list: 64 * 1024 * 1024,
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
    /// Ask the server even if a result is at hand that it called fresh.
    pub fresh: bool,
    /// The mildest log messages that the server is to send for this call (2026-07-28). In revisions
    /// with a handshake `logging/setLevel` sets the level of the connection.
    pub log_level: Option<super::LogLevel>,
}
