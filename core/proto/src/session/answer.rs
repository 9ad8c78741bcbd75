//! What a handler says of the call it serves: its answer, progress, log messages.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::inbound::{Call, Origin, Work};
use super::output::{LogLevel, Target};
use super::stateless::{CAPABILITIES, CLIENT_INFO};
use super::{Answer, Caller, Error, ErrorKind, InboundId, Role, Session, State};
use crate::Instant;
use crate::jsonrpc::{ErrorCode, ErrorObject, Needle, ObjectWriter, RequestId, decode_str, json, members, write};
use crate::revision::Era;

/// Values that one completion may have (completion, Completion Results).
const VALUES: usize = 100;

impl Session {
    /// Whether a call of the peer still waits for its answer.
    pub fn is_open(&self, id: InboundId) -> bool {
        self.inbound.contains(id)
    }

    /// Who makes a call of the peer, and what it says of itself; `None` when the call is over.
    pub fn caller(&self, id: InboundId) -> Option<Caller<'_>> {
        let call = self.inbound.get(id)?;
        let stated = |wanted: &str| {
            let call = Some(call).filter(|call| call.revision.era().stateless)?;
            call.stated(wanted).map(serde_json::value::RawValue::get)
        };
        let peer = match &self.state {
            State::Ready { peer, .. } if self.role == Role::Client || call.revision.has_handshake() => Some(peer),
            _ => None,
        };
        Some(Caller {
            revision: call.revision,
            info: stated(CLIENT_INFO).or_else(|| peer.map(|peer| peer.info.get())),
            capabilities: stated(CAPABILITIES)
                .or_else(|| peer.map(|peer| peer.capabilities.get()))
                .unwrap_or("{}"),
            meta: call.meta.as_deref(),
            state: call.replay.as_ref().and_then(|replay| replay.state.as_deref()),
            input_responses: call.replay.as_ref().and_then(|replay| replay.own_responses()),
        })
    }

    /// The request of the peer that a call is; `None` when the call is over, or was no request.
    pub fn request_of(&self, id: InboundId) -> Option<&RequestId> {
        match &self.inbound.get(id)?.origin {
            Origin::Request(request) => Some(request),
            Origin::Input { .. } => None,
        }
    }

    /// Answers a call of the peer. False when it was cancelled or answered before: then nothing
    /// is written.
    pub fn respond(&mut self, id: InboundId, answer: Answer<'_>, now: Instant) -> bool {
        self.see(now);
        let Some(call) = self.inbound.take(id) else {
            return false;
        };
        // What a change made stale is said before the answer that may rest on the change.
        self.flush_notices();
        match &call.origin {
            Origin::Request(request) => {
                self.route_to(Some(request));
                self.answer_request(request, &call, answer);
                self.route_to(None);
            }
            Origin::Input { call: ours, key } => self.give_input(*ours, key, answer, now),
        }
        if !call.asked.is_empty() || call.replay.is_some() {
            self.end_asked(call);
        }
        self.end_drain_if_idle();
        true
    }

    fn answer_request(&mut self, request: &RequestId, call: &Call, answer: Answer<'_>) {
        let era = call.revision.era();
        match answer {
            Answer::Result(text) => self.answer_result(request, call, text),
            Answer::Error(error) => self.answer_error(request, call, error),
            Answer::Text(text) => self.answer_text(request, call, text),
            Answer::ToolError(message) => self.reply_result(request, era, &tool_error(message)),
            Answer::InvalidArguments(what) => self.refuse_arguments(request, call, what),
            Answer::InputRequired { requests, state } if era.stateless => {
                match self.check_own_requests(call, requests) {
                    Ok(()) => self.send_round(call, Some((requests, state))),
                    Err(error) => write::error(&mut self.wire, Some(request), &error),
                }
            }
            Answer::InputRequired { .. } => {
                let message = "the handler asks for input in rounds, which this revision does not have";
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                write::error(&mut self.wire, Some(request), &error);
            }
        }
    }

    fn answer_result(&mut self, request: &RequestId, call: &Call, text: &str) {
        let era = call.revision.era();
        match &call.work {
            Work::Run(Target::Tool(tool)) => match self.check_output(*tool, text) {
                Ok(()) if era.stateless => self.reply_result(request, era, text),
                Ok(()) => {
                    let fitting = of_object(text);
                    self.reply_result(request, era, fitting.as_deref().unwrap_or(text));
                }
                Err(what) => {
                    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, what);
                    write::error(&mut self.wire, Some(request), &error);
                }
            },
            Work::Run(Target::Method(method)) => self.answer_method(request, call, method, text),
            Work::Run(Target::Resource(_) | Target::Template(_)) => self.reply_cacheable(request, era, text),
            Work::Run(Target::PromptCompletion(_) | Target::TemplateCompletion(_)) => {
                let bounded = bound_completion(text);
                self.reply_result(request, era, bounded.as_deref().unwrap_or(text));
            }
            _ => self.reply_result(request, era, text),
        }
    }

    fn answer_text(&mut self, request: &RequestId, call: &Call, text: &str) {
        match call.work {
            // There is nothing to check in it, and nothing that it says of itself: so it is written at once.
            Work::Run(Target::Tool(tool)) if self.registry.output_check(tool).is_none() => {
                let stateless = call.revision.era().stateless;
                let members = if stateless {
                    self.config.complete_members()
                } else {
                    "{}"
                };
                write::text_result(&mut self.wire, request, members, text);
            }
            _ => self.answer_result(request, call, &text_result(text).finish()),
        }
    }

    /// Codes of older revisions must not reach clients of 2026-07-28 (basic, Error Codes): a resource that
    /// is not found has another one, and a URL that must be visited first is asked for in a round.
    fn answer_error(&mut self, request: &RequestId, call: &Call, mut error: ErrorObject) {
        let era = call.revision.era();
        if error.code == ErrorCode::RESOURCE_NOT_FOUND {
            error.code = era.resource_not_found;
        }
        if era.stateless && error.code == ErrorCode::URL_ELICITATION_REQUIRED {
            let requests = url_requests(&error).ok_or_else(|| {
                let message = "the handler says that a URL must be visited first, but not which";
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
            });
            match requests.and_then(|requests| self.check_own_requests(call, &requests).map(|()| requests)) {
                Ok(requests) => return self.send_round(call, Some((&requests, None))),
                Err(refused) => error = refused,
            }
        }
        write::error(&mut self.wire, Some(request), &error);
    }

    /// Checks a result against the output schema of its tool, where the core is told to.
    fn check_output(&self, tool: crate::EntryId, text: &str) -> Result<(), String> {
        let Some(schema) = self.registry.output_check(tool) else {
            return Ok(());
        };
        let broken =
            |what: &str| format!("the server's tool gave a result that does not fit its output schema: {what}");
        let result = json(text).map_err(|error| broken(&error.to_string()))?;
        let all = members(&result).ok_or_else(|| broken("it is no object"))?;
        let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        if member("isError").is_some_and(|failed| failed.get() == "true") {
            return Ok(());
        }
        let structured = member("structuredContent").ok_or_else(|| broken("it has no structuredContent"))?;
        let schema = schema.get().map_err(|why| broken(&why.to_string()))?;
        schema.validate(structured).map_err(|why| broken(&why.to_string()))
    }

    pub(super) fn refuse_arguments(&mut self, request: &RequestId, call: &Call, what: &str) {
        let name = match &call.work {
            Work::Run(Target::Tool(tool)) => self.registry.key(crate::Kind::Tool, *tool).unwrap_or_default(),
            _ => Box::default(),
        };
        let era = call.revision.era();
        if era.input_errors_are_results {
            let code = ErrorCode::INVALID_PARAMS.0;
            let text = tool_error(&format!("Invalid arguments for tool {name} ({code}): {what}"));
            self.reply_result(request, era, &text);
        } else {
            let message = format!("Invalid arguments for tool {name}: {what}");
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, message);
            write::error(&mut self.wire, Some(request), &error);
        }
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
        let params = params.finish();
        self.route_to_call(id);
        write::notification(&mut self.wire, "notifications/progress", Some(&params));
        self.route_to(None);
        true
    }

    /// Sends a log message, for a call of the peer or on its own. `data` is the text of any JSON value.
    ///
    /// False when the client does not want it: in revisions with a handshake it set a higher level by
    /// `logging/setLevel`; in those without, it gets messages for calls that say from which level on
    /// only (2026-07-28 logging, Per-request log level).
    ///
    /// # Errors
    /// When the server does not declare the capability `logging`.
    pub fn log(
        &mut self,
        call: Option<InboundId>,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> Result<bool, Error> {
        let revision = call.and_then(|id| Some(self.inbound.get(id)?.revision));
        if !self.capabilities_in(revision.unwrap_or(self.revision())).has("logging") {
            let message = "the log message was not sent: this server does not declare the capability \"logging\"";
            return Err(Error::new(ErrorKind::NotNegotiated, message));
        }
        let wanted = match call.map(|id| self.inbound.get(id)) {
            Some(None) => return Ok(false),
            Some(Some(call)) if call.revision.era().stateless => stated_level(call),
            _ => self.connection_level(),
        };
        if wanted.is_none_or(|wanted| level < wanted) {
            return Ok(false);
        }
        let params = ObjectWriter::new().string("level", level.name());
        let params = match logger {
            Some(logger) => params.string("logger", logger),
            None => params,
        };
        let params = params.json("data", data).finish();
        if let Some(call) = call {
            self.route_to_call(call);
        }
        write::notification(&mut self.wire, "notifications/message", Some(&params));
        self.route_to(None);
        Ok(true)
    }

    /// Whether the client wants a log message that was made by hand, as params.
    pub(super) fn wants_message(&self, params: Option<&str>) -> bool {
        let level = params.and_then(|params| serde_json::from_str::<&RawValue>(params).ok());
        let level = level.and_then(members).and_then(|params| {
            let (_, level) = params.into_iter().find(|(key, _)| key == "level")?;
            LogLevel::named(&decode_str(level)?)
        });
        self.connection_level()
            .is_some_and(|wanted| level.is_none_or(|level| level >= wanted))
    }

    /// The level that the client set for the connection; all messages before it did.
    fn connection_level(&self) -> Option<LogLevel> {
        match self.state {
            State::Ready { .. } if !self.era().stateless => Some(self.log_level),
            _ => None,
        }
    }

    /// Answers with a result as the revision wants it.
    pub(super) fn reply_result(&mut self, id: &RequestId, era: &'static Era, result: &str) {
        if era.stateless {
            self.reply_complete(id, result, None);
        } else {
            write::result(&mut self.wire, id, result);
        }
    }
}

/// A tool's result without its structured content, where that is no object: revisions with a handshake know no other
/// (2025-11-25 schema, `CallToolResult`). `None` when it is fine as it is.
fn of_object(text: &str) -> Option<String> {
    static STRUCTURED: Needle = Needle::new("\"structuredContent\"");
    // Inside a string its quotes would be escaped, so most results need not be read for it.
    let starts_object = |rest: &str| {
        let value = rest.trim_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_start().starts_with('{'))
    };
    let mut rest = STRUCTURED.after(text)?;
    while starts_object(rest) {
        rest = STRUCTURED.after(rest)?;
    }
    let all = members(serde_json::from_str(text).ok()?)?;
    let is_odd =
        |(key, value): &&(Cow<'_, str>, &RawValue)| key == "structuredContent" && !value.get().starts_with('{');
    all.iter().find(is_odd)?;
    let kept = all.iter().filter(|(key, _)| key != "structuredContent");
    let fitting = kept.fold(ObjectWriter::new(), |all, (key, value)| all.json(key, value.get()));
    Some(fitting.finish())
}

fn stated_level(call: &Call) -> Option<LogLevel> {
    LogLevel::named(&decode_str(call.stated(super::stateless::LOG_LEVEL)?)?)
}

/// The URLs that `UrlElicitationRequired` names, as requests of a round.
fn url_requests(error: &ErrorObject) -> Option<String> {
    let data = members(error.data.as_ref()?)?;
    let (_, elicitations) = data.into_iter().find(|(key, _)| key == "elicitations")?;
    let elicitations: Vec<&RawValue> = serde_json::from_str(elicitations.get()).ok()?;
    let mut requests = ObjectWriter::new();
    for (number, elicitation) in elicitations.iter().enumerate() {
        let mut params = ObjectWriter::new();
        // This revision has no id for an elicitation any more.
        for (key, value) in members(elicitation)?.iter().filter(|(key, _)| key != "elicitationId") {
            params = params.json(key, value.get());
        }
        let request = ObjectWriter::new().string("method", "elicitation/create");
        requests = requests.json(
            &format!("url-{}", number + 1),
            &request.json("params", &params.finish()).finish(),
        );
    }
    (!elicitations.is_empty()).then(|| requests.finish())
}

/// A completion with no more values than one may have; `None` when it is so already.
pub(super) fn bound_completion(text: &str) -> Option<String> {
    let result = json(text).ok()?;
    let all = members(&result)?;
    let (_, completion) = all.iter().find(|(key, _)| key == "completion")?;
    let inner = members(completion)?;
    let (_, values) = inner.iter().find(|(key, _)| key == "values")?;
    let values: Vec<&RawValue> = serde_json::from_str(values.get()).ok()?;
    if values.len() <= VALUES {
        return None;
    }
    let kept: Vec<&str> = values[..VALUES].iter().map(|value| value.get()).collect();
    let mut bounded = ObjectWriter::new().json("values", &format!("[{}]", kept.join(",")));
    if !inner.iter().any(|(key, _)| key == "total") {
        bounded = bounded.integer("total", values.len() as i64);
    }
    bounded = bounded.json("hasMore", "true");
    for (key, value) in inner.iter().filter(|(key, _)| key != "values" && key != "hasMore") {
        bounded = bounded.json(key, value.get());
    }
    let mut whole = ObjectWriter::new().json("completion", &bounded.finish());
    for (key, value) in all.iter().filter(|(key, _)| key != "completion") {
        whole = whole.json(key, value.get());
    }
    Some(whole.finish())
}

fn tool_error(message: &str) -> String {
    text_result(message).json("isError", "true").finish()
}

/// A `CallToolResult` with one text block.
fn text_result(text: &str) -> ObjectWriter {
    let mut content = ObjectWriter::starting("{\"content\":[{\"type\":\"text\"");
    content = content.string("text", text);
    content.closing("}]")
}
