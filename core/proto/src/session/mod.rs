//! The session: one end of one connection, as a state machine.
//!
//! | state | a request of the peer | a call of ours |
//! | --- | --- | --- |
//! | fresh | `initialize` and `ping` only, else `-32600` "initialize first" | `connect` only |
//! | connecting | `ping` only | `ping` only |
//! | ready | served | sent, if its capability was negotiated |
//! | draining (the peer closed its side) | none comes | refused |
//! | closed | ignored | refused |
//!
//! A request that names a revision without a handshake in its `_meta` is served by that revision's
//! rules in any state but the last two (see `stateless.rs`).

mod answer;
mod ask;
mod calls;
mod command;
mod config;
mod declared;
mod dispatch;
mod elicitation;
mod encode;
mod error;
mod hand_over;
mod handshake;
mod inbound;
mod input;
mod listen;
mod notices;
mod outbound;
mod output;
mod probe;
mod questions;
mod receive;
mod replay;
mod route;
mod settings;
mod stateless;
mod terms;
mod transmit;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub use config::{CacheHints, CallOptions, Config, Implementation, Limits, Role};
pub use encode::{encode_output, encode_text_result};
pub use error::{Error, ErrorKind, Fault};
pub use output::{
    Answer, Caller, Direction, InboundId, LogLevel, OutboundId, Output, Peer, Problem, ProblemKind, Target,
};
pub use settings::duration_from_millis;
pub use terms::{Terms, TermsSet};

use crate::client::{Cache, ResultSchemas};
use crate::frame::LineFramer;
use crate::jsonrpc::{Json, ObjectWriter, RequestId, write};
use crate::revision::Era;
use crate::{Instant, Registry, Revision};
use declared::Declared;
use inbound::Inbound;
use notices::Notices;
use outbound::Outbound;

/// One end of a connection.
///
/// See the [crate's documentation](crate) for the contract with its driver.
#[derive(Debug)]
pub struct Session {
    role: Role,
    config: Arc<Config>,
    /// See [`Config::unix_epoch`].
    unix_epoch: u64,
    registry: Arc<Registry>,
    /// Absent while it works, as lines are routed with the session in hand, and once closed.
    framer: Option<LineFramer>,
    state: State,
    /// The peer closed its side: accepted calls may go on until then.
    draining: Option<Instant>,
    /// The time of the latest input that said it.
    now: Instant,
    inbound: Inbound,
    outbound: Outbound,
    notices: Notices,
    /// Server: whether the client said that it is initialized, or went on as if it had.
    initialized: bool,
    /// Calls whose handlers asked for what the client has to be asked for.
    rounds_due: Vec<InboundId>,
    /// What we declare; a server's, once a handshake settled it.
    own: Declared,
    /// Server: the level that `logging/setLevel` set.
    log_level: LogLevel,
    cache: Cache,
    result_schemas: ResultSchemas,
    outputs: VecDeque<Output>,
    wire: Vec<u8>,
    /// Whose messages are in `wire`, if it is asked for.
    routes: Vec<route::Route>,
    /// How much of `wire` was traced.
    traced: usize,
}

#[derive(Debug)]
enum State {
    Fresh,
    /// A client waits for the answer to `server/discover`.
    Probing {
        call: OutboundId,
        tried: Revision,
        /// Whether the server was asked in this revision once more, as it named it itself.
        again: bool,
        timeout: Option<Duration>,
    },
    Connecting {
        call: OutboundId,
        offered: Revision,
        timeout: Option<Duration>,
    },
    Ready {
        revision: Revision,
        /// What the peer declared.
        declared: Declared,
        peer: Box<Peer>,
    },
    Closed,
}

/// How many calls a session holds, for tests and metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls of the peer that wait for an answer.
    pub inbound: usize,
    /// Calls of ours that wait for an answer.
    pub outbound: usize,
    /// Bytes of a line that is not complete yet.
    pub buffered: usize,
}

impl Session {
    /// A server's end. `registry` is what it offers. Many sessions may share their settings, by an [`Arc`].
    pub fn server(config: impl Into<Arc<Config>>, registry: Arc<Registry>) -> Self {
        Self::new(Role::Server, config.into(), registry)
    }

    /// A client's end. Call [`connect`](Self::connect) first.
    pub fn client(config: impl Into<Arc<Config>>) -> Self {
        Self::new(Role::Client, config.into(), Arc::default())
    }

    /// A client's end that serves methods of the user's own ([`Registry::add_method`]). What it serves of
    /// the protocol's is in its [`Config::capabilities`].
    pub fn client_with(config: impl Into<Arc<Config>>, methods: Arc<Registry>) -> Self {
        Self::new(Role::Client, config.into(), methods)
    }

    /// The same with its own [`Config::unix_epoch`]: sessions that share their settings begin at different times.
    #[must_use]
    pub fn with_unix_epoch(mut self, millis: u64) -> Self {
        self.unix_epoch = millis;
        self
    }

    fn new(role: Role, config: Arc<Config>, registry: Arc<Registry>) -> Self {
        Self {
            role,
            framer: Some(LineFramer::new(config.limits.message)),
            own: config.declared().clone(),
            unix_epoch: config.unix_epoch,
            config,
            notices: Notices::after(&registry),
            registry,
            state: State::Fresh,
            draining: None,
            now: Instant::default(),
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            initialized: role == Role::Client,
            rounds_due: Vec::new(),
            log_level: LogLevel::Debug,
            cache: Cache::default(),
            result_schemas: ResultSchemas::default(),
            outputs: VecDeque::new(),
            wire: Vec::new(),
            routes: Vec::new(),
            traced: 0,
        }
    }

    /// Which end this is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The settings the session was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What a server offers; empty for a client.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// What the session holds at the moment.
    pub fn stats(&self) -> Stats {
        Stats {
            inbound: self.inbound.len(),
            outbound: self.outbound.len(),
            buffered: self.framer.as_ref().map_or(0, LineFramer::buffered),
        }
    }

    /// Bytes that wait for the next [`poll_output`](Self::poll_output), for a driver that bounds its backlog.
    pub fn unwritten(&self) -> usize {
        self.wire.len()
    }

    /// Whether nothing more can happen.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The next thing to do; `None` when all is done until the next input.
    ///
    /// [`Output::Wire`] comes after all else and [`Output::Closed`] at the very end.
    pub fn poll_output(&mut self) -> Option<Output> {
        if self.outputs.is_empty() && (self.has_notices() || !self.rounds_due.is_empty()) {
            self.end_turn();
        }
        if self.config.trace {
            self.trace_wire();
        }
        if self.config.routed && !self.wire.is_empty() && matches!(self.outputs.front(), None | Some(Output::Closed)) {
            self.route_wire();
        }
        let next = self.outputs.front();
        if !self.wire.is_empty() && matches!(next, None | Some(Output::Closed)) {
            self.traced = 0;
            return Some(Output::Wire(std::mem::take(&mut self.wire)));
        }
        self.outputs.pop_front()
    }

    /// Does what waited for the rest of the turn.
    fn end_turn(&mut self) {
        if self.is_closed() {
            return;
        }
        self.settle_rounds();
        self.flush_notices();
    }

    /// Takes note of the time.
    fn see(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Hands out what was written since the last time, message by message.
    fn trace_wire(&mut self) {
        // `Closed` stays last.
        let closed = match self.outputs.back() {
            Some(Output::Closed) => self.outputs.pop_back(),
            _ => None,
        };
        for line in self.wire[self.traced..].split_inclusive(|byte| *byte == b'\n') {
            self.outputs.push_back(trace(Direction::Sent, &line[..line.len() - 1]));
        }
        self.outputs.extend(closed);
        self.traced = self.wire.len();
    }

    /// Gives a written buffer back, so that the next output needs no new memory.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        const KEPT: usize = 256 * 1024;
        if self.wire.capacity() == 0 && buffer.capacity() <= KEPT {
            buffer.clear();
            self.wire = buffer;
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.draining.or_else(|| self.outbound.next_deadline())
    }

    /// Lets time pass: fails the calls whose time is over. Early calls do no harm.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.see(now);
        if self.draining.is_some_and(|until| until <= now) {
            return self.close("the peer closed its side, and the time to finish was over");
        }
        while let Some(expired) = self.outbound.expire(now) {
            let error = Error::timeout(&expired.call.method, expired.limit, expired.total);
            // `initialize` is never cancelled (cancellation clause): without it there is no connection.
            if self.is_handshake(expired.id) {
                return self.fail_handshake(error);
            }
            if self.is_probe(expired.id) {
                self.give_up_probe(now);
                continue;
            }
            self.give_up(expired.id, expired.call.wire, "Request timed out");
            self.complete(expired.id, Err(error));
        }
    }

    /// The peer closed its side (end of file).
    ///
    /// A server takes no new work but lets accepted calls finish for [`Limits::drain`]; a client
    /// has lost its server, so all ends at once.
    pub fn end_input(&mut self, now: Instant) {
        if self.is_closed() || self.draining.is_some() {
            return;
        }
        self.finish_line(now);
        if self.is_closed() {
            return;
        }
        if self.role == Role::Client {
            return self.close("the server closed the connection");
        }
        self.fail_outbound("the client closed the connection");
        self.end_streams("the client closed its side");
        self.draining = Some(now + self.config.limits.drain);
        self.end_drain_if_idle();
    }

    /// Ends the session as the peer is gone, for whoever knows why. A last line counts without its line end.
    pub fn lose_peer(&mut self, why: &str, now: Instant) {
        if !self.is_closed() {
            self.finish_line(now);
            self.close(why);
        }
    }

    /// Ends the session: our calls fail with [`ErrorKind::Closed`] and `why`, the peer's are
    /// cancelled.
    pub fn close(&mut self, why: &str) {
        if self.is_closed() {
            return;
        }
        self.end_streams(why);
        self.notices.forget_subscribers();
        self.fail_outbound(why);
        self.state = State::Closed;
        self.draining = None;
        self.framer = None;
        self.rounds_due.clear();
        for (id, call) in self.inbound.drain() {
            self.stop_handler(id, why);
            self.end_asked(call);
        }
        self.outputs.push_back(Output::Closed);
    }

    fn end_drain_if_idle(&mut self) {
        if self.draining.is_some() && self.inbound.working() == 0 {
            self.close("the peer closed the connection");
        }
    }

    fn fail_outbound(&mut self, why: &str) {
        let handshake = match self.state {
            State::Connecting { call, .. } | State::Probing { call, .. } => Some(call),
            _ => None,
        };
        for (id, call) in self.outbound.drain() {
            let error = closed(format!("{} was not answered: {why}", call.method));
            if Some(id) == handshake {
                self.outputs.push_back(Output::ConnectFailed(error));
            } else {
                self.complete(id, Err(error));
            }
        }
    }

    fn is_handshake(&self, id: OutboundId) -> bool {
        matches!(self.state, State::Connecting { call, .. } if call == id)
    }

    fn is_probe(&self, id: OutboundId) -> bool {
        matches!(self.state, State::Probing { call, .. } if call == id)
    }

    /// Tells the peer, if it works on a request for a call, that we no longer wait for an answer. Stops
    /// our handlers otherwise.
    fn give_up(&mut self, id: OutboundId, wire: Option<OutboundId>, reason: &str) {
        let Some(wire) = wire else {
            return self.cancel_inputs(id, reason);
        };
        self.outbound.abandon(wire);
        let params = ObjectWriter::new()
            .integer("requestId", wire_id(wire))
            .string("reason", reason)
            .finish();
        write::notification(&mut self.wire, "notifications/cancelled", Some(&params));
    }

    fn complete(&mut self, id: OutboundId, outcome: Result<Json, Error>) {
        self.outputs.push_back(Output::Done { id, outcome });
    }

    /// The rules that the handshake settled on; before it, those of the newest revision with one.
    fn era(&self) -> &'static Era {
        match self.state {
            State::Ready { revision, .. } => revision.era(),
            _ => Revision::V2025_11_25.era(),
        }
    }
}

/// Our ids count up from zero, far from the end of `i64`.
fn wire_id(id: OutboundId) -> i64 {
    id.0 as i64
}

/// Which call of ours an id names: an exact match, or a canonical decimal string for its number.
fn own_call(id: &RequestId) -> Option<(OutboundId, bool)> {
    let (number, exact) = match id {
        RequestId::Integer(number) => (*number, true),
        other => (other.canonical_decimal()?, false),
    };
    Some((OutboundId(u64::try_from(number).ok()?), exact))
}

fn trace(direction: Direction, line: &[u8]) -> Output {
    let line = String::from_utf8_lossy(line).into_owned();
    Output::Trace { direction, line }
}

fn closed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Closed, message)
}

fn not_ready(method: &str) -> Error {
    let message = format!("{method} was not sent: the handshake is not complete; wait until the connection is ready");
    Error::new(ErrorKind::Usage, message)
}
