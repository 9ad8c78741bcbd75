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

mod config;
mod encode;
mod error;
mod handshake;
mod inbound;
mod outbound;
mod output;
mod probe;
mod receive;
mod settings;
mod stateless;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub use config::{CacheHints, CallOptions, Config, Implementation, Limits, Role};
pub use encode::{encode_output, encode_text_result};
pub use error::{Error, ErrorKind, Fault};
pub use output::{Answer, Direction, InboundId, OutboundId, Output, Peer, Problem, ProblemKind};
pub use settings::duration_from_millis;

use crate::frame::LineFramer;
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, RequestId, write};
use crate::revision::{Era, requirement};
use crate::{Instant, Registry, Revision};
use inbound::{Inbound, Work};
use outbound::Outbound;
use probe::with_meta;

/// Methods that the revisions without a handshake no longer have (2026-07-28 changelog).
const REMOVED: [&str; 4] = [
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// One end of a connection.
///
/// See the [crate's documentation](crate) for the contract with its driver.
#[derive(Debug)]
pub struct Session {
    role: Role,
    config: Config,
    registry: Arc<Registry>,
    /// Absent while it works, as lines are routed with the session in hand, and once closed.
    framer: Option<LineFramer>,
    state: State,
    /// The peer closed its side: accepted calls may go on until then.
    draining: Option<Instant>,
    inbound: Inbound,
    outbound: Outbound,
    outputs: VecDeque<Output>,
    wire: Vec<u8>,
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
        timeout: Option<Duration>,
    },
    Connecting {
        call: OutboundId,
        offered: Revision,
        timeout: Option<Duration>,
    },
    Ready {
        revision: Revision,
        declared: Vec<Box<str>>,
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
    /// A server's end. `registry` is what it offers.
    pub fn server(config: Config, registry: Arc<Registry>) -> Self {
        Self::new(Role::Server, config, registry)
    }

    /// A client's end. Call [`connect`](Self::connect) first.
    pub fn client(config: Config) -> Self {
        Self::new(Role::Client, config, Arc::default())
    }

    fn new(role: Role, config: Config, registry: Arc<Registry>) -> Self {
        Self {
            role,
            framer: Some(LineFramer::new(config.limits.message)),
            config,
            registry,
            state: State::Fresh,
            draining: None,
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            outputs: VecDeque::new(),
            wire: Vec::new(),
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
        if self.config.trace {
            self.trace_wire();
        }
        let next = self.outputs.front();
        if !self.wire.is_empty() && matches!(next, None | Some(Output::Closed)) {
            self.traced = 0;
            return Some(Output::Wire(std::mem::take(&mut self.wire)));
        }
        self.outputs.pop_front()
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
            self.give_up(expired.id, "Request timed out");
            self.complete(expired.id, Err(error));
        }
    }

    /// Makes a call.
    ///
    /// `params` is the text of a JSON object, which the caller vouches to be valid. Progress, if
    /// `options` ask for it, needs no token from the caller.
    ///
    /// # Errors
    /// The call was not sent: the handshake is not done, the peer did not declare the capability
    /// the method rests on, the params are no object, or the connection is closed.
    pub fn begin(
        &mut self,
        method: &str,
        params: Option<&str>,
        options: CallOptions,
        now: Instant,
    ) -> Result<OutboundId, Error> {
        self.check_may_send(method)?;
        if params.is_some_and(|params| !params.trim_start().starts_with('{')) {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("the params of {method} must be a JSON object"),
            ));
        }
        Ok(self.send_request(method, params, options, now))
    }

    /// Asks for a sign of life: `ping`, or `server/discover` in revisions that have no `ping`.
    ///
    /// # Errors
    /// As for `begin`.
    pub fn ping(&mut self, options: CallOptions, now: Instant) -> Result<OutboundId, Error> {
        let method = if self.era().stateless {
            "server/discover"
        } else {
            "ping"
        };
        self.begin(method, None, options, now)
    }

    /// Calls a tool: [`begin`](Self::begin) with the params of `tools/call`.
    ///
    /// # Errors
    /// As for `begin`.
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&str>,
        options: CallOptions,
        now: Instant,
    ) -> Result<OutboundId, Error> {
        if arguments.is_some_and(|arguments| !arguments.trim_start().starts_with('{')) {
            return Err(Error::new(
                ErrorKind::Usage,
                "the arguments of a tool must be a JSON object",
            ));
        }
        let params = ObjectWriter::new().string("name", name);
        let params = match arguments {
            Some(arguments) => params.json("arguments", arguments),
            None => params,
        };
        self.begin("tools/call", Some(&params.finish()), options, now)
    }

    /// Cancels a call of ours: it ends at once as [`ErrorKind::Cancelled`], the peer is told, and
    /// a late answer is dropped in silence. False when the call had ended.
    pub fn cancel(&mut self, id: OutboundId, reason: Option<&str>) -> bool {
        if !self.outbound.contains(id) || self.is_handshake(id) || self.is_probe(id) {
            return false;
        }
        self.give_up(id, reason.unwrap_or("Cancelled by the caller"));
        self.outbound.take(id);
        let message = reason.map_or_else(|| "the call was cancelled".to_owned(), str::to_owned);
        self.complete(id, Err(Error::new(ErrorKind::Cancelled, message)));
        true
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When the handshake is not done or the connection is closed, or the params are no object.
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), Error> {
        match self.state {
            State::Closed => return Err(closed(format!("{method} was not sent: the connection is closed"))),
            State::Fresh | State::Probing { .. } | State::Connecting { .. } => return Err(not_ready(method)),
            State::Ready { .. } => {}
        }
        if params.is_some_and(|params| !params.trim_start().starts_with('{')) {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("the params of {method} must be a JSON object"),
            ));
        }
        write::notification(&mut self.wire, method, params);
        Ok(())
    }

    /// Whether a call of the peer still waits for its answer.
    pub fn is_open(&self, id: InboundId) -> bool {
        self.inbound.contains(id)
    }

    /// Answers a call of the peer. False when it was cancelled or answered before: then nothing
    /// is written.
    pub fn respond(&mut self, id: InboundId, answer: Answer<'_>) -> bool {
        let Some(call) = self.inbound.take(id) else {
            return false;
        };
        let (id, era) = (&call.request, call.era);
        match answer {
            Answer::Result(text) => self.reply_result(id, era, text),
            Answer::Error(error) => write::error(&mut self.wire, Some(id), &error),
            Answer::Text(text) => self.reply_result(id, era, &text_result(text).finish()),
            Answer::ToolError(message) => self.reply_result(id, era, &tool_error(message)),
            Answer::InvalidArguments(what) => self.refuse_arguments(&call, what),
        }
        self.end_drain_if_idle();
        true
    }

    /// Reports progress on a call of the peer. False when nothing was sent: the caller did not ask
    /// for progress, the call is over, or `progress` did not grow (progress clause, all revisions:
    /// the value must increase with each notification).
    pub fn progress(&mut self, id: InboundId, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let Some(call) = self.inbound.get_mut(id) else {
            return false;
        };
        let Some(token) = &call.progress_token else {
            return false;
        };
        if !progress.is_finite() || progress <= call.last_progress {
            return false;
        }
        call.last_progress = progress;
        let mut params = ObjectWriter::new()
            .json("progressToken", token)
            .number("progress", progress);
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params = params.number("total", total);
        }
        if let Some(message) = message {
            params = params.string("message", message);
        }
        write::notification(&mut self.wire, "notifications/progress", Some(&params.finish()));
        true
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
        self.draining = Some(now + self.config.limits.drain);
        self.end_drain_if_idle();
    }

    /// Ends the session: our calls fail with [`ErrorKind::Closed`] and `why`, the peer's are
    /// cancelled.
    pub fn close(&mut self, why: &str) {
        if self.is_closed() {
            return;
        }
        self.fail_outbound(why);
        self.state = State::Closed;
        self.draining = None;
        self.framer = None;
        for id in self.inbound.drain() {
            self.outputs.push_back(Output::Cancelled {
                id,
                reason: Some(why.to_owned()),
            });
        }
        self.outputs.push_back(Output::Closed);
    }

    fn end_drain_if_idle(&mut self) {
        if self.draining.is_some() && self.inbound.len() == 0 {
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

    /// Tells the peer that we no longer wait for an answer.
    fn give_up(&mut self, id: OutboundId, reason: &str) {
        self.outbound.abandon(id);
        let params = ObjectWriter::new()
            .integer("requestId", wire_id(id))
            .string("reason", reason)
            .finish();
        write::notification(&mut self.wire, "notifications/cancelled", Some(&params));
    }

    fn complete(&mut self, id: OutboundId, outcome: Result<Json, Error>) {
        self.outputs.push_back(Output::Done { id, outcome });
    }

    fn check_may_send(&self, method: &str) -> Result<(), Error> {
        let declared = match &self.state {
            State::Closed => return Err(closed(format!("{method} was not sent: the connection is closed"))),
            _ if self.draining.is_some() => return Err(closed(format!("{method} was not sent: the peer has left"))),
            _ if method == "initialize" => return Err(Error::new(ErrorKind::Usage, "initialize is sent by connect")),
            State::Ready { declared, .. } => declared,
            State::Connecting { .. } if method == "ping" => return Ok(()),
            State::Fresh | State::Probing { .. } | State::Connecting { .. } => return Err(not_ready(method)),
        };
        if self.era().stateless && REMOVED.contains(&method) {
            let message = format!("{method} was not sent: revision 2026-07-28 has no such method");
            return Err(Error::new(ErrorKind::NotNegotiated, message));
        }
        match requirement(method) {
            Some(needed) if needed.declared_by == self.role => Err(Error::new(
                ErrorKind::Usage,
                format!("{method} is a request to this side, it cannot be sent from it"),
            )),
            Some(needed) if !declared.iter().any(|name| **name == *needed.name) => Err(Error::new(
                ErrorKind::NotNegotiated,
                format!(
                    "{method} was not sent: the peer does not declare the capability \"{}\"",
                    needed.name
                ),
            )),
            _ => Ok(()),
        }
    }

    fn send_request(&mut self, method: &str, params: Option<&str>, options: CallOptions, now: Instant) -> OutboundId {
        let id = self.outbound.insert(method, options, self.config.timeout, now);
        let token = (options.progress || options.reset_timeout_on_progress).then(|| wire_id(id));
        let params = match (&self.state, token) {
            (State::Ready { revision, .. }, token) if revision.era().stateless => {
                Some(Cow::Owned(self.with_stated_revision(*revision, params, token)))
            }
            (_, Some(token)) => {
                let token = ("progressToken", token.to_string());
                Some(Cow::Owned(with_meta(params, std::iter::once(token))))
            }
            (_, None) => params.map(Cow::Borrowed),
        };
        write::request(&mut self.wire, wire_id(id), method, params.as_deref());
        id
    }

    fn refuse_arguments(&mut self, call: &inbound::Call, what: &str) {
        let name = match call.work {
            Work::Tool(tool) => self.registry.tool_name(tool),
            Work::Parked { .. } => Box::default(),
        };
        if call.era.input_errors_are_results {
            let code = ErrorCode::INVALID_PARAMS.0;
            let text = tool_error(&format!("Invalid arguments for tool {name} ({code}): {what}"));
            self.reply_result(&call.request, call.era, &text);
        } else {
            let message = format!("Invalid arguments for tool {name}: {what}");
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, message);
            write::error(&mut self.wire, Some(&call.request), &error);
        }
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

fn tool_error(message: &str) -> String {
    text_result(message).json("isError", "true").finish()
}

/// A `CallToolResult` with one text block.
fn text_result(text: &str) -> ObjectWriter {
    let block = ObjectWriter::new().string("type", "text").string("text", text).finish();
    ObjectWriter::new().json("content", &format!("[{block}]"))
}
