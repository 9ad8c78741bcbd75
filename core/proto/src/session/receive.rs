//! What arrives: from bytes to lines, messages and what each one asks for.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::OPEN_ENDED;
use super::inbound::Work;
use super::listen::SUBSCRIPTION;
use super::outbound::Call;
use super::{Direction, OutboundId, Output, Problem, ProblemKind, Role, Session, own_call, trace};
use crate::Instant;
use crate::frame::Line;
use crate::jsonrpc::{
    ErrorCode, ErrorObject, Malformed, Meant, Message, Params, RequestId, decode_str_lossy, is_array, members,
    parse_batch, peek, write,
};
use crate::session::error::{Error, ErrorKind};

#[derive(Deserialize)]
struct CancelledParams<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
    /// For people, so it may be anything.
    #[serde(borrow, default)]
    reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ProgressParams<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: &'a RawValue,
    progress: f64,
}

impl Session {
    /// Takes in the next bytes from the peer, cut anywhere.
    pub fn receive(&mut self, bytes: &[u8], now: Instant) {
        self.see(now);
        self.with_framer(|session, framer| framer.push(bytes, |line| session.receive_line(&line, now)));
    }

    /// Takes in one message, for a transport that had to read it to know where it belongs. `text` is what it was read
    /// from; line breaks between its tokens do no harm.
    pub fn receive_message(&mut self, message: Message<'_>, text: &[u8], now: Instant) {
        if self.begin_message(text, now) {
            self.take_in(message, now);
        }
    }

    /// Takes in one request in the same way, whose params were read as well.
    pub fn receive_read(&mut self, id: RequestId, method: &str, params: &Params<'_>, text: &[u8], now: Instant) {
        if self.begin_message(text, now) {
            self.receive_request(id, method, params);
        }
    }

    /// False when nothing is taken in any more.
    fn begin_message(&mut self, text: &[u8], now: Instant) -> bool {
        self.see(now);
        if self.is_closed() {
            return false;
        }
        if self.config.trace {
            let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
            let line: Vec<u8> = text
                .iter()
                .map(|byte| if is_break(byte) { b' ' } else { *byte })
                .collect();
            self.outputs.push_back(trace(Direction::Received, &line));
        }
        true
    }

    /// The peer's output has ended: a last line counts without its line end. For a driver that finds out why before it
    /// ends the session; [`end_input`](Self::end_input) does this too.
    pub fn finish_line(&mut self, now: Instant) {
        self.with_framer(|session, framer| framer.finish(|line| session.receive_line(&line, now)));
    }

    fn with_framer(&mut self, work: impl FnOnce(&mut Self, &mut crate::frame::LineFramer)) {
        let Some(mut framer) = self.framer.take() else { return };
        work(self, &mut framer);
        // What is left of a line when the connection closes is of no use to anyone.
        if !self.is_closed() {
            self.framer = Some(framer);
        }
    }

    fn receive_line(&mut self, line: &Line<'_>, now: Instant) {
        if self.is_closed() {
            return;
        }
        if self.config.trace
            && let Line::Whole(line) = line
        {
            self.outputs.push_back(trace(Direction::Received, line));
        }
        match line {
            Line::Whole(line) if self.era().batches && is_array(line) => self.receive_batch(line, now),
            Line::Whole(line) => self.receive_text(line, now),
            Line::TooLong { length, start } => self.receive_too_long(*length, start, now),
        }
    }

    /// A message over the limit: refused if it is a request, its call fails if it is an answer.
    fn receive_too_long(&mut self, length: usize, start: &[u8], now: Instant) {
        let limit = self.config.limits.message;
        let why = format!("a message of {length} bytes was dropped; the limit is {limit}");
        match peek(start) {
            (Some(id), Meant::Response) => {
                self.problem(ProblemKind::TooLarge, why.clone());
                self.receive_response(&id, Err(Error::new(ErrorKind::Protocol, why)), now);
            }
            (id, meant) => {
                let id = id.filter(|_| self.role == Role::Server || asks(meant));
                self.refuse(ProblemKind::TooLarge, ErrorCode::INVALID_REQUEST, id, why);
            }
        }
    }

    /// A batch (2025-03-26): its messages count as if each had come on its own line.
    fn receive_batch(&mut self, line: &[u8], now: Instant) {
        let limit = self.config.limits.in_flight;
        match parse_batch(line) {
            // Each element may cost an answer many times its size, and all are due at once.
            Some(messages) if messages.len() > limit => {
                let why = format!(
                    "a batch of {} messages was dropped; the limit is {limit}",
                    messages.len()
                );
                self.refuse(ProblemKind::TooLarge, ErrorCode::INVALID_REQUEST, None, why);
            }
            Some(messages) => {
                for message in messages {
                    self.receive_text(message.get().as_bytes(), now);
                }
            }
            None => self.receive_text(line, now),
        }
    }

    fn receive_text(&mut self, line: &[u8], now: Instant) {
        match Message::parse(line, self.config.limits.depth) {
            Ok(message) => self.take_in(message, now),
            Err(malformed) => self.receive_malformed(malformed, line, now),
        }
    }

    fn take_in(&mut self, message: Message<'_>, now: Instant) {
        match message {
            Message::Request { id, method, params } => self.receive_request(id, &method, &params),
            Message::Notification { method, params } => self.receive_notification(&method, params, now),
            Message::Result { id, result } => self.receive_response(&id, Ok(result), now),
            Message::Error { id: Some(id), error } => self.receive_response(&id, Err(Error::response(error)), now),
            Message::Error { id: None, error } => {
                self.problem(
                    ProblemKind::PeerError,
                    format!("the peer could not read a message of ours: {error}"),
                );
            }
        }
    }

    fn receive_malformed(&mut self, malformed: Malformed, line: &[u8], now: Instant) {
        match malformed {
            Malformed::NotJson { why } => {
                let why = format!(
                    "a line is not JSON ({why}), but each must be one message: {}",
                    excerpt(line)
                );
                self.refuse(ProblemKind::NotJson, ErrorCode::PARSE_ERROR, None, why);
            }
            // A broken response gets no answer, but its call must not wait for another.
            Malformed::NotAMessage {
                id,
                meant: Meant::Response,
                why,
            } => {
                let why = format!("the peer answered with no valid response, {why}");
                match id {
                    Some(id) => self.receive_response(&id, Err(Error::new(ErrorKind::Protocol, why)), now),
                    None => self.problem(ProblemKind::NotAMessage, format!("{why}: {}", excerpt(line))),
                }
            }
            Malformed::NotAMessage {
                meant: Meant::Notification,
                why,
                ..
            } => {
                let why = format!("a notification was ignored, {why}: {}", excerpt(line));
                self.problem(ProblemKind::BadNotification, why);
            }
            // It has an id of ours, and asks for nothing or answers as well: whatever it was to be, the call must not
            // wait for another.
            Malformed::NotAMessage {
                id: Some(id),
                meant: Meant::Unknown | Meant::Both,
                why,
            } if self.role == Role::Client && self.awaits(&id) => {
                let why = format!("the peer answered with no valid response, {why}");
                self.receive_response(&id, Err(Error::new(ErrorKind::Protocol, why)), now);
            }
            Malformed::NotAMessage { id, meant, why } => {
                let why = format!("a line is no JSON-RPC message, {why}: {}", excerpt(line));
                let id = id.filter(|_| self.role == Role::Server || asks(meant));
                self.refuse(ProblemKind::NotAMessage, ErrorCode::INVALID_REQUEST, id, why);
            }
        }
    }

    /// Reports a line that is no message and, where that cannot start a loop, answers it.
    ///
    /// A client answers only what asks for something by an id: a server that logs to stdout would log
    /// the answer too, and so on for ever.
    fn refuse(&mut self, kind: ProblemKind, code: ErrorCode, id: Option<RequestId>, why: String) {
        if self.role == Role::Server || id.is_some() {
            let error = ErrorObject::new(code, why.clone());
            write::error(&mut self.wire, id.as_ref(), &error);
        }
        self.problem(kind, why);
    }

    fn receive_notification(&mut self, method: &str, params: Option<&RawValue>, now: Instant) {
        match method {
            "notifications/cancelled" => self.receive_cancelled(params),
            "notifications/progress" => self.receive_progress(params, now),
            "notifications/initialized" if self.role == Role::Server => {
                self.initialized = true;
                if self.registry.taken_over(method).is_some() {
                    self.hand_notification(method, params);
                }
            }
            _ => {
                self.cache.receive_notification(method, params);
                self.hand_notification(method, params);
            }
        }
    }

    fn hand_notification(&mut self, method: &str, params: Option<&RawValue>) {
        self.outputs.push_back(Output::Notification {
            method: method.to_owned(),
            params: params.map(RawValue::to_owned),
            subscription: self.subscription(params),
        });
    }

    /// The stream that a notification is on (2026-07-28 subscriptions, Receiving Notifications).
    fn subscription(&self, params: Option<&RawValue>) -> Option<OutboundId> {
        let params = params.filter(|_| self.role == Role::Client && self.era().stateless)?;
        memmem::find(params.get().as_bytes(), SUBSCRIPTION.as_bytes())?;
        let params = members(params)?;
        let (_, meta) = params.into_iter().find(|(key, _)| key == "_meta")?;
        let (_, id) = members(meta)?.into_iter().find(|(key, _)| key == SUBSCRIPTION)?;
        let (wire, _) = own_call(&RequestId::read(id)?)?;
        self.outbound.on_wire(wire)
    }

    /// A cancel of a call that is over, or was never made, is ignored (cancellation clause).
    fn receive_cancelled(&mut self, params: Option<&RawValue>) {
        let parsed: Option<CancelledParams<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some((request, reason)) = parsed.and_then(|it| Some((RequestId::read(it.request_id)?, it.reason))) else {
            let message = "notifications/cancelled was ignored: it needs a requestId that is a string or an integer";
            return self.problem(ProblemKind::BadNotification, message);
        };
        let reason = reason.and_then(decode_str_lossy).map(Cow::into_owned);
        if let Some((id, call)) = self.inbound.take_request(&request) {
            // No handler runs for a stream.
            if !matches!(call.work, Work::Listen(_)) {
                self.outputs.push_back(Output::Cancelled { id, reason });
            }
            self.end_asked(call);
            self.end_drain_if_idle();
        } else {
            self.end_listening(&request, reason.as_deref());
        }
    }

    /// The server tore down a stream of ours (2026-07-28 cancellation): the one call it may cancel.
    fn end_listening(&mut self, request: &RequestId, reason: Option<&str>) {
        let id = own_call(request).and_then(|(wire, _)| self.outbound.on_wire(wire));
        let Some(id) = id.filter(|id| self.outbound.get(*id).is_some_and(|call| &*call.method == OPEN_ENDED)) else {
            return;
        };
        self.outbound.take(id);
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let message = format!("the server ended the stream of notifications{reason}");
        self.complete(id, Err(Error::new(ErrorKind::Closed, message)));
    }

    fn receive_progress(&mut self, params: Option<&RawValue>, now: Instant) {
        let parsed = params.and_then(|raw| Some((raw, serde_json::from_str::<ProgressParams<'_>>(raw.get()).ok()?)));
        let Some((raw, params)) = parsed else {
            let message =
                "notifications/progress was ignored: it needs a progressToken, and a progress that is a number";
            return self.problem(ProblemKind::BadNotification, message);
        };
        let token = RequestId::read(params.progress_token).and_then(|token| own_call(&token));
        match token {
            Some((id, _)) if self.outbound.progress(id, params.progress, now).is_some() => {
                self.outputs.push_back(Output::Progress {
                    id,
                    params: raw.to_owned(),
                });
            }
            // Progress may cross the answer or the cancel on its way; that is no fault.
            Some((id, _)) if self.outbound.has_ended(id) => {}
            _ => {
                let message = format!(
                    "progress came for the token {}, which we never gave",
                    params.progress_token
                );
                self.problem(ProblemKind::UnknownProgress, message);
            }
        }
    }

    fn receive_response(&mut self, id: &RequestId, outcome: Result<&RawValue, Error>, now: Instant) {
        let own = own_call(id);
        let found = own.and_then(|(wire, exact)| Some((self.outbound.on_wire(wire)?, wire, exact)));
        let Some((call, wire, exact)) = found else {
            if !own.is_some_and(|(wire, _)| self.outbound.forgive(wire)) {
                self.problem(
                    ProblemKind::UnknownResponse,
                    format!("an answer came for the id {id}, which waits for none"),
                );
            }
            return;
        };
        if !exact {
            let message = format!(
                "the peer answered the number {} with the string {id}; it was accepted",
                wire.0
            );
            self.problem(ProblemKind::LooseId, message);
        }
        if let Some(entry) = self.outbound.take(call) {
            self.finish_call(call, entry, outcome, now);
        }
    }

    /// Whether a call of ours waits for the answer to this id.
    pub fn awaits(&self, id: &RequestId) -> bool {
        own_call(id).is_some_and(|(wire, _)| self.outbound.on_wire(wire).is_some())
    }

    /// The transport could not carry a request of ours to the peer, or its answer to us: the call it was made for
    /// ends with `error`. The handshake fails, and the connection with it. False when nothing waits for that
    /// answer, as for a request that was answered or cancelled before.
    pub fn fail_request(&mut self, request: &RequestId, error: Error, now: Instant) -> bool {
        self.see(now);
        let call = own_call(request).and_then(|(wire, _)| self.outbound.on_wire(wire));
        let Some((id, call)) = call.and_then(|id| Some((id, self.outbound.take(id)?))) else {
            return false;
        };
        if self.is_handshake(id) || self.is_probe(id) {
            self.fail_handshake(error);
        } else {
            self.finish_call(id, call, Err(error), now);
        }
        true
    }

    fn finish_call(&mut self, id: OutboundId, call: Call, outcome: Result<&RawValue, Error>, now: Instant) {
        if self.is_handshake(id) {
            self.receive_initialize_answer(outcome, now);
        } else if self.is_probe(id) {
            self.receive_probe_answer(outcome, now);
        } else if self.conclude(id, call, outcome, false, now) {
            self.go_on(id, now);
        }
    }

    pub(super) fn reply_error(&mut self, id: &RequestId, error: ErrorObject) {
        write::error(&mut self.wire, Some(id), &error);
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, message: impl Into<String>) {
        let message = message.into();
        self.outputs.push_back(Output::Problem(Problem { kind, message }));
    }
}

pub(super) fn invalid_params(method: &str, error: &serde_json::Error) -> ErrorObject {
    // Line and column count inside the params, not the message: they would mislead.
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    ErrorObject::new(
        ErrorCode::INVALID_PARAMS,
        format!("Invalid params for {method}: {what}"),
    )
}

/// Whether a line that is no message asks for something, so that a refusal starts no loop.
fn asks(meant: Meant) -> bool {
    matches!(meant, Meant::Request | Meant::Both)
}

/// The start of a line, safe to print.
fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let more = if line.len() > SHOWN { "…" } else { "" };
    format!("{:?}{more}", text.trim_end_matches('\u{fffd}'))
}
