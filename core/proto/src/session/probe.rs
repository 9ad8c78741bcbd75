//! How a client of both eras finds out which one a server is of, and what it then sends.
//!
//! | the answer to `server/discover` | the server |
//! | --- | --- |
//! | a `DiscoverResult` | speaks 2026-07-28 or later: the newest revision we share |
//! | `-32022` with `supported` | the same: asked again in a revision we share |
//! | `-32020`, `-32021` | the same, and connecting fails: it will not serve us |
//! | any other error or result, or none in time (5 s; over HTTP half of what there is for connecting) | is of the handshake |
//! | none, and its process ends | the same: it is started once more, and sent `initialize` |
//!
//! (2026-07-28 stdio, Backward Compatibility. The fallback must not hang on one error code.)

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::handshake::Unsupported;
use super::{CallOptions, Error, ErrorKind, LogLevel, Peer, Session, State, wire_id};
use crate::frame::LineFramer;
use crate::jsonrpc::{ErrorCode, Json, Needle, ObjectWriter, json, members, write};
use crate::{Instant, Revision};

/// How long a server on a stream may think about the probe before it counts as one that ignores it.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct DiscoverResult<'a> {
    #[serde(rename = "supportedVersions")]
    supported_versions: Vec<String>,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl Session {
    /// Asks the server what it is.
    pub(super) fn probe(&mut self, tried: Revision, timeout: Option<Duration>, now: Instant) {
        self.probe_in(tried, false, timeout, now);
    }

    fn probe_in(&mut self, tried: Revision, again: bool, timeout: Option<Duration>, now: Instant) {
        let all = timeout.unwrap_or(self.config.timeout);
        // Over HTTP no server ignores a request: one that is silent starts, or is busy.
        let patience = match self.config.routed {
            true => all / 2,
            false => all.min(PATIENCE),
        };
        let options = CallOptions {
            timeout: Some(patience),
            ..CallOptions::default()
        };
        let call = self.outbound.insert("server/discover", options, patience, now);
        let params = with_stated(None, self.statement(tried, None), None);
        write::request(&mut self.wire, wire_id(call), "server/discover", Some(&params));
        self.state = State::Probing {
            call,
            tried,
            again,
            timeout,
        };
    }

    /// Client: whether the server was asked for its era, and has not answered.
    pub fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing { .. })
    }

    /// Client: the server has left without a word about its era, and another one is there in its place. A server of the handshake may
    /// take any other first message for an error, so this one is sent `initialize`, and nothing that the first one was or is to
    /// be sent counts. False when the session is not at that point, or speaks no revision with a handshake: then nothing happens.
    ///
    /// ```
    /// use oxmcp_proto::{Config, Implementation, Instant, Output, Session};
    ///
    /// let config = Config { probe: true, ..Config::new(Implementation::new("client", "1")) };
    /// let mut session = Session::client(config);
    /// session.connect(None, Instant::default())?;
    /// assert!(session.start_over(Instant::default()));
    /// let Some(Output::Wire(wire)) = session.poll_output() else { unreachable!() };
    /// assert!(wire.windows(10).any(|at| at == b"initialize"));
    /// assert!(!session.start_over(Instant::default()));
    /// # Ok::<_, oxmcp_proto::Error>(())
    /// ```
    pub fn start_over(&mut self, now: Instant) -> bool {
        let State::Probing { call, timeout, .. } = self.state else {
            return false;
        };
        if self.config.newest_with_handshake().is_none() {
            return false;
        }
        self.see(now);
        self.outbound.abandon(call);
        self.framer = Some(LineFramer::new(self.config.limits.message));
        self.wire.clear();
        self.routes.clear();
        self.traced = 0;
        self.shake_hands(timeout, now);
        true
    }

    /// No answer came in time. A late one is of no use, and there is nothing to cancel.
    pub(super) fn give_up_probe(&mut self, now: Instant) {
        if let State::Probing { call, timeout, .. } = self.state {
            self.outbound.abandon(call);
            self.shake_hands(timeout, now);
        }
    }

    pub(super) fn receive_probe_answer(&mut self, outcome: Result<&RawValue, Error>, now: Instant) {
        let State::Probing {
            tried, again, timeout, ..
        } = self.state
        else {
            return;
        };
        match outcome {
            Ok(result) => match self.read_discover_result(result) {
                Some((Some(revision), peer)) if !revision.has_handshake() => {
                    self.become_ready(Peer { revision, ..peer });
                }
                Some((Some(revision), _)) => self.offer(revision, timeout, now),
                Some((None, _)) | None => self.shake_hands(timeout, now),
            },
            Err(error) => match error.code() {
                Some(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION) => self.probe_again((tried, again), timeout, error, now),
                Some(ErrorCode::HEADER_MISMATCH | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY) => {
                    self.fail_handshake(error);
                }
                _ => self.shake_hands(timeout, now),
            },
        }
    }

    /// A server that lacks the revision names those it has: the same once more if it is among them, an
    /// older one without a handshake if we share one, else one with.
    fn probe_again(&mut self, (tried, again): (Revision, bool), timeout: Option<Duration>, error: Error, now: Instant) {
        let named = error
            .data()
            .and_then(|data| serde_json::from_str::<Unsupported>(data).ok());
        let supported = named.map(|named| named.supported).unwrap_or_default();
        let shared = |revision: &Revision| supported.iter().any(|name| name == revision.name());
        let shared: Vec<_> = self.config.revisions.iter().copied().filter(shared).collect();
        let left = |it: &&Revision| !it.has_handshake() && (**it < tried || (**it == tried && !again));
        let stateless = shared.iter().filter(left).max();
        match (stateless, shared.iter().filter(|it| it.has_handshake()).max()) {
            (Some(revision), _) => self.probe_in(*revision, *revision == tried, timeout, now),
            (None, Some(revision)) => self.offer(*revision, timeout, now),
            (None, None) => self.fail_handshake(error),
        }
    }

    /// The newest revision we share, one without a handshake before one with, and the server as it presents itself; `None`
    /// when it is no `DiscoverResult`.
    fn read_discover_result(&self, raw: &RawValue) -> Option<(Option<Revision>, Peer)> {
        // Serde would fill a struct from an array's elements.
        if !raw.get().starts_with('{') {
            return None;
        }
        let result: DiscoverResult<'_> = serde_json::from_str(raw.get()).ok()?;
        members(result.capabilities)?;
        let shared = |revision: &Revision| result.supported_versions.iter().any(|name| name == revision.name());
        let revision = self.config.revisions.iter().copied().filter(shared).max();
        let info = result.meta.and_then(members).and_then(|meta| {
            let (_, info) = meta.into_iter().find(|(key, _)| key == super::stateless::SERVER_INFO)?;
            Some(info.to_owned())
        });
        let peer = Peer {
            revision: revision.unwrap_or(Revision::V2026_07_28),
            info: info.unwrap_or_else(nobody),
            capabilities: result.capabilities.to_owned(),
            instructions: result.instructions,
        };
        Some((revision, peer))
    }

    /// What every request says of itself in the revision we speak, if it is one without a handshake.
    pub(super) fn stated(&self, log_level: Option<LogLevel>) -> Option<Statement> {
        match self.state {
            State::Ready { revision, .. } if revision.era().stateless => Some(self.statement(revision, log_level)),
            _ => None,
        }
    }

    fn statement(&self, revision: Revision, log_level: Option<LogLevel>) -> Statement {
        let level = log_level.map(|level| (super::stateless::LOG_LEVEL, format!("\"{}\"", level.name())));
        [
            (super::stateless::VERSION, format!("\"{}\"", revision.name())),
            (
                super::stateless::CAPABILITIES,
                self.config.capabilities.get().to_owned(),
            ),
            (super::stateless::CLIENT_INFO, self.config.info.to_json()),
        ]
        .into_iter()
        .chain(level)
        .collect()
    }
}

/// Members of `_meta` (2026-07-28 basic, Per-request protocol fields).
pub(super) type Statement = Vec<(&'static str, String)>;

/// `params` with what a request says of itself, and its progress token.
pub(super) fn with_stated(params: Option<&str>, stated: Statement, token: Option<(&'static str, String)>) -> String {
    with_meta(params, stated.into_iter().chain(token))
}

/// `params` with members of `_meta` set. Other members and their order stay.
pub(super) fn with_meta(params: Option<&str>, own: impl Iterator<Item = (&'static str, String)>) -> String {
    let own: Vec<_> = own.collect();
    let mut meta = ObjectWriter::new();
    for (key, value) in &own {
        meta = meta.json(key, value);
    }
    // Most params have no `_meta`: then nothing needs to be read.
    let text = params.map_or("{}", str::trim);
    static META: Needle = Needle::new("\"_meta\"");
    if !META.is_in(text) {
        let rest = text[1..].trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        return format!("{{\"_meta\":{}{comma}{rest}", meta.finish());
    }
    let all = serde_json::from_str(text).ok().and_then(members).unwrap_or_default();
    let theirs = all
        .iter()
        .find(|(key, _)| key == "_meta")
        .and_then(|(_, meta)| members(meta));
    for (key, value) in theirs
        .iter()
        .flatten()
        .filter(|(key, _)| own.iter().all(|(ours, _)| key != ours))
    {
        meta = meta.json(key, value.get());
    }
    let mut whole = ObjectWriter::new().json("_meta", &meta.finish());
    for (key, value) in all.iter().filter(|(key, _)| key != "_meta") {
        whole = whole.json(key, value.get());
    }
    whole.finish()
}

/// What a result says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultType {
    Complete,
    InputRequired,
}

/// Reads the `resultType` of a result (2026-07-28 basic: a value unknown to the client must be
/// considered invalid; absent means complete).
pub(super) fn result_type(result: &RawValue) -> Result<ResultType, Error> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, default, rename = "resultType")]
        result_type: Option<Cow<'a, str>>,
    }
    static TYPE: Needle = Needle::new("\"resultType\"");
    if !TYPE.is_in(result.get()) {
        return Ok(ResultType::Complete);
    }
    let typed = serde_json::from_str::<Typed<'_>>(result.get());
    match typed.ok().map(|typed| typed.result_type) {
        Some(None) => Ok(ResultType::Complete),
        Some(Some(kind)) if kind == "complete" => Ok(ResultType::Complete),
        Some(Some(kind)) if kind == "input_required" => Ok(ResultType::InputRequired),
        kind => {
            let kind = kind.flatten().unwrap_or_default();
            let message = format!("the server answered with a result of the unknown type \"{kind}\"");
            Err(Error::new(ErrorKind::Protocol, message))
        }
    }
}

fn nobody() -> Json {
    json("{}").unwrap_or_else(|error| unreachable!("an empty object is JSON: {error}"))
}
