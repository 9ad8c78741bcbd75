//! What arrives: from bytes to lines, messages and what each one asks for.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::inbound::Work;
use super::probe::check_result_type;
use super::{Direction, InboundId, OutboundId, Output, Problem, ProblemKind, Role, Session, State, own_call, trace};
use crate::Instant;
use crate::frame::Line;
use crate::jsonrpc::{
    ErrorCode, ErrorObject, Malformed, Meant, Message, RequestId, decode_str_lossy, is_array, members, parse_batch,
    peek, write,
};
use crate::revision::Era;
use crate::session::error::{Error, ErrorKind};

/// The params of `tools/call`.
#[derive(Deserialize)]
struct CallToolParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

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
    #[serde(rename = "progress")]
    _progress: f64,
}

impl Session {
    /// Takes in the next bytes from the peer, cut anywhere.
    pub fn receive(&mut self, bytes: &[u8], now: Instant) {
        self.with_framer(|session, framer| framer.push(bytes, |line| session.receive_line(&line, now)));
    }

    pub(super) fn finish_line(&mut self, now: Instant) {
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
            Line::Whole(line) => self.receive_message(line, now),
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
                let id = id.filter(|_| self.role == Role::Server || meant == Meant::Request);
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
                    self.receive_message(message.get().as_bytes(), now);
                }
            }
            None => self.receive_message(line, now),
        }
    }

    fn receive_message(&mut self, line: &[u8], now: Instant) {
        match Message::parse(line, self.config.limits.depth) {
            Ok(Message::Request { id, method, params }) => self.receive_request(id, &method, params),
            Ok(Message::Notification { method, params }) => self.receive_notification(&method, params, now),
            Ok(Message::Result { id, result }) => self.receive_response(&id, Ok(result), now),
            Ok(Message::Error { id: Some(id), error }) => self.receive_response(&id, Err(Error::response(error)), now),
            Ok(Message::Error { id: None, error }) => {
                self.problem(
                    ProblemKind::PeerError,
                    format!("the peer could not read a message of ours: {error}"),
                );
            }
            Err(malformed) => self.receive_malformed(malformed, line, now),
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
            Malformed::NotAMessage { id, meant, why } => {
                let why = format!("a line is no JSON-RPC message, {why}: {}", excerpt(line));
                let id = id.filter(|_| self.role == Role::Server || meant == Meant::Request);
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

    fn receive_request(&mut self, id: RequestId, method: &str, params: Option<&RawValue>) {
        if self.draining.is_some() {
            return;
        }
        if self.role == Role::Client && self.era().stateless {
            // A client of these revisions writes no responses (2026-07-28 stdio, Sending Messages).
            let message = format!("the server made the request {method}, which revision 2026-07-28 does not allow");
            return self.problem(ProblemKind::UnexpectedRequest, message);
        }
        if self.inbound.holds(&id) {
            let message = format!("Invalid request: the id {id} is in use by a call that is not answered yet");
            return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_REQUEST, message));
        }
        match self.stated_era(params) {
            Ok(Some(era)) => return self.dispatch(id, era, method, params),
            Ok(None) => {}
            Err(error) => return self.reply_error(&id, error),
        }
        match method {
            "ping" => write::result(&mut self.wire, &id, "{}"),
            "initialize" if self.role == Role::Server => self.receive_initialize(&id, params),
            _ if !matches!(self.state, State::Ready { .. }) => {
                let message = format!("Invalid request: {method} came before the handshake");
                let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, message);
                self.reply_error(&id, error.with_data(&"initialize first"));
            }
            _ => self.dispatch(id, self.era(), method, params),
        }
    }

    /// Serves a request, once its revision is known.
    fn dispatch(&mut self, id: RequestId, era: &'static Era, method: &str, params: Option<&RawValue>) {
        let has_tools = self.role == Role::Server && self.registry.has_tools();
        match method {
            "server/discover" if era.stateless => self.discover(&id, era),
            "tools/list" | "tools/call" if has_tools && !self.registry.is_described() => {
                let work = Work::Parked {
                    method: method.into(),
                    params: params.map(RawValue::to_owned),
                };
                if let Some(id) = self.admit(id, era, work, None) {
                    self.outputs.push_back(Output::Describe { id });
                }
            }
            "tools/list" if has_tools => self.list_tools(&id, era, params),
            "tools/call" if has_tools => self.receive_tool_call(id, era, params),
            _ => {
                let message = format!("Method not found: {method}");
                self.reply_error(&id, ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, message));
            }
        }
    }

    /// Serves a call that waited for the registry ([`Output::Describe`]). False when it was
    /// cancelled meanwhile.
    pub fn resume(&mut self, id: InboundId) -> bool {
        let Some((request, era, method, params)) = self.inbound.take_parked(id) else {
            return false;
        };
        match &*method {
            "tools/list" => self.list_tools(&request, era, params.as_deref()),
            _ => self.receive_tool_call(request, era, params.as_deref()),
        }
        self.end_drain_if_idle();
        true
    }

    fn list_tools(&mut self, id: &RequestId, era: &'static Era, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Paginated {
            #[serde(default)]
            cursor: Option<serde::de::IgnoredAny>,
        }
        // All tools stand on one page, so no cursor was ever given out.
        match params.map_or(Ok(None), |params| {
            serde_json::from_str(params.get()).map(|p: Paginated| p.cursor)
        }) {
            Ok(None) => {
                let registry = Arc::clone(&self.registry);
                registry.with_tool_list(|list| self.reply_cacheable(id, era, list));
            }
            Ok(Some(_)) => self.reply_error(id, ErrorObject::new(ErrorCode::INVALID_PARAMS, "Invalid cursor")),
            Err(error) => self.reply_error(id, invalid_params("tools/list", &error)),
        }
    }

    fn receive_tool_call(&mut self, id: RequestId, era: &'static Era, params: Option<&RawValue>) {
        let params = params.map_or("{}", RawValue::get);
        let call: CallToolParams<'_> = match serde_json::from_str(params) {
            Ok(call) => call,
            Err(error) => return self.reply_error(&id, invalid_params("tools/call", &error)),
        };
        let Some(tool) = self.registry.tool(&call.name) else {
            let message = format!("Unknown tool: {}", call.name);
            return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        };
        let arguments = call.arguments.filter(|arguments| arguments.get() != "null");
        if arguments.is_some_and(|arguments| !arguments.get().starts_with('{')) {
            let message = "Invalid params for tools/call: \"arguments\" must be an object";
            return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        }
        let token = match call.meta.map_or(Ok(None), read_progress_token) {
            Ok(token) => token,
            Err(what) => {
                let message = format!("Invalid params for tools/call: {what}");
                return self.reply_error(&id, ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
            }
        };
        let wants_progress = token.is_some();
        if let Some(id) = self.admit(id, era, Work::Tool(tool), token) {
            let arguments = arguments.map(RawValue::to_owned);
            self.outputs.push_back(Output::ToolCall {
                id,
                tool,
                arguments,
                wants_progress,
            });
        }
    }

    /// Opens an entry for a call, unless too many wait already.
    fn admit(
        &mut self,
        request: RequestId,
        era: &'static Era,
        work: Work,
        token: Option<Box<str>>,
    ) -> Option<InboundId> {
        let limit = self.config.limits.in_flight;
        if self.inbound.len() >= limit {
            let message = format!("{limit} calls wait for an answer already; try again when some are done");
            self.reply_error(&request, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
            return None;
        }
        Some(self.inbound.insert(request, era, work, token))
    }

    fn receive_notification(&mut self, method: &str, params: Option<&RawValue>, now: Instant) {
        match method {
            "notifications/cancelled" => self.receive_cancelled(params),
            "notifications/progress" => self.receive_progress(params, now),
            "notifications/initialized" if self.role == Role::Server => {}
            _ => {
                let (method, params) = (method.to_owned(), params.map(RawValue::to_owned));
                self.outputs.push_back(Output::Notification { method, params });
            }
        }
    }

    /// A cancel of a call that is over, or was never made, is ignored (cancellation clause).
    fn receive_cancelled(&mut self, params: Option<&RawValue>) {
        let parsed: Option<CancelledParams<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some((request, reason)) = parsed.and_then(|it| Some((RequestId::read(it.request_id)?, it.reason))) else {
            let message = "notifications/cancelled was ignored: it needs a requestId that is a string or an integer";
            return self.problem(ProblemKind::BadNotification, message);
        };
        let reason = reason.and_then(decode_str_lossy).map(Cow::into_owned);
        if let Some(id) = self.inbound.take_request(&request) {
            self.outputs.push_back(Output::Cancelled { id, reason });
            self.end_drain_if_idle();
        }
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
            Some((id, _)) if self.outbound.progress(id, now).is_some() => {
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
        let Some((call, exact)) = own.filter(|(call, _)| self.outbound.contains(*call)) else {
            if !own.is_some_and(|(call, _)| self.outbound.forgive(call)) {
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
                call.0
            );
            self.problem(ProblemKind::LooseId, message);
        }
        self.outbound.take(call);
        self.finish_call(call, outcome, now);
    }

    fn finish_call(&mut self, call: OutboundId, outcome: Result<&RawValue, Error>, now: Instant) {
        if self.is_handshake(call) {
            return self.receive_initialize_answer(outcome, now);
        }
        if self.is_probe(call) {
            return self.receive_probe_answer(outcome, now);
        }
        let stateless = self.era().stateless;
        let outcome = outcome.and_then(|result| {
            if !result.get().starts_with('{') {
                let message = "the peer answered with a result that is not an object";
                return Err(Error::new(ErrorKind::Protocol, message));
            }
            if stateless {
                check_result_type(result)?;
            }
            Ok(result.to_owned())
        });
        self.complete(call, outcome);
    }

    pub(super) fn reply_error(&mut self, id: &RequestId, error: ErrorObject) {
        write::error(&mut self.wire, Some(id), &error);
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, message: impl Into<String>) {
        let message = message.into();
        self.outputs.push_back(Output::Problem(Problem { kind, message }));
    }
}

/// The progress token in a `_meta`, as JSON text to be echoed.
fn read_progress_token(meta: &RawValue) -> Result<Option<Box<str>>, &'static str> {
    if meta.get() == "null" {
        return Ok(None);
    }
    let members = members(meta).ok_or("\"_meta\" must be an object")?;
    match members.iter().find(|(key, _)| key == "progressToken") {
        Some((_, token)) if token.get() != "null" => match RequestId::read(token) {
            Some(_) => Ok(Some(token.get().into())),
            None => Err("\"progressToken\" must be a string or an integer"),
        },
        _ => Ok(None),
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

/// The start of a line, safe to print.
fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let more = if line.len() > SHOWN { "…" } else { "" };
    format!("{:?}{more}", text.trim_end_matches('\u{fffd}'))
}
