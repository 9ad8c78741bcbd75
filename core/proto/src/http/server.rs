//! What a server does with a request to its endpoint.
//!
//! | request | revisions with a handshake | without |
//! | --- | --- | --- |
//! | POST, `initialize` | begins a session | is refused with the revisions that are spoken |
//! | POST, any other message | is of the session in `Mcp-Session-Id`: 400 without, 404 if unknown | stands for itself |
//! | GET | opens a stream of that session, or resumes one after `Last-Event-ID` | 405 |
//! | DELETE | ends that session | 405 |
//!
//! A POST is of a revision without a handshake when its `_meta` states a version or its
//! `MCP-Protocol-Version` names one, save for an `initialize` without such a `_meta`. (2025-11-25
//! transports; 2026-07-28 streamable-http and versioning, Backward Compatibility.)
//!
//! A shell calls, in this order: [`Endpoint::admit`] with the head, before it reads a body; then
//! [`Post::read`] with the body; then, for a message of a session, [`SessionPost::agree`] with what its
//! table of sessions says. Each step gives a [`Refusal`] to be written as it is.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::agreement::{self, VERSION_FIELD};
use super::cors;
use super::fields::{BadField, Fields, says, single};
use super::guard::Guard;
use super::media::{Accepts, JSON, is_media_type};
use super::param_headers::ParamHeaders;
use super::refusal::Refusal;
use super::session_id::is_session_id;
use crate::Revision;
use crate::jsonrpc::{ErrorCode, Malformed, Meant, Message, Params, RequestId, is_array, parse_batch};

/// The field that names a session, in requests and in the answer to `initialize`.
pub const SESSION_FIELD: &str = "Mcp-Session-Id";

/// The field in which a client names the last event it saw.
pub const LAST_EVENT_FIELD: &str = "Last-Event-ID";

/// The fields of a response that is an event stream. The last one keeps proxies from holding it back
/// (2026-07-28 streamable-http, Receiving Messages).
pub const STREAM_FIELDS: [(&str, &str); 3] = [
    ("Content-Type", super::EVENT_STREAM),
    ("Cache-Control", "no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),
];

/// What a request without the version header is taken for, where nothing else tells (2025-11-25
/// transports, Protocol Version Header).
const UNSAID: Revision = Revision::V2025_03_26;

/// How an endpoint is set up.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Who may talk to it.
    pub guard: Guard,
    /// The revisions it speaks, newest first.
    pub revisions: Vec<Revision>,
    /// Whether revisions with a handshake get sessions. Without, each POST stands for itself, and GET
    /// and DELETE are not allowed.
    pub sessions: bool,
    /// Whether a GET without a session opens a stream of the HTTP+SSE transport of 2024-11-05.
    pub http_sse: bool,
    /// The largest body, in bytes.
    pub body_limit: usize,
    /// How deep JSON may nest.
    pub json_depth: usize,
}

/// The head of a request, whatever its path.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// `POST`, `GET`, `DELETE`, in capitals.
    pub method: &'a str,
    /// The authority of the target, where it has one: `:authority` in HTTP/2.
    pub authority: Option<&'a str>,
    /// The header fields.
    pub fields: &'a dyn Fields,
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("method", &self.method)
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}

/// A request that passed by its head.
#[derive(Debug)]
pub enum Admitted<'a> {
    /// Its body is to be read.
    Post(Post<'a>),
    /// A stream of a session is to be opened.
    Listen {
        /// Whose.
        session: SessionRef<'a>,
        /// The event to go on after, if the client resumes a stream.
        last_event_id: Option<&'a str>,
    },
    /// A session is to be ended, with status 204.
    End(SessionRef<'a>),
    /// A browser asks whether it may: status 204 with these fields.
    Preflight(Vec<(&'static str, String)>),
    /// A stream of the HTTP+SSE transport is to be opened; its first event is `endpoint`.
    HttpSse,
}

/// The session that a request names.
#[derive(Clone, Copy, Debug)]
pub struct SessionRef<'a> {
    /// Its id, still to be looked up.
    pub id: &'a str,
    stated: Option<Revision>,
}

/// A POST whose body is still to be read.
#[derive(Clone)]
pub struct Post<'a> {
    endpoint: &'a Endpoint,
    fields: &'a dyn Fields,
    accepts: Accepts,
    version: Result<Option<&'a str>, BadField>,
}

impl fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post")
            .field("accepts", &self.accepts)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// What a POST is for.
#[derive(Debug)]
pub enum Exchange<'a> {
    /// A request or notification that says for itself which revision it is in; both halves agree.
    Modern {
        /// That revision.
        revision: Revision,
        /// A request, or a notification, to be answered with 202.
        message: Message<'a>,
    },
    /// An `initialize`. Where the endpoint has sessions it begins one.
    Initialize(Message<'a>),
    /// It belongs to a session.
    Session(SessionPost<'a>),
    /// It is of a revision with a handshake, at an endpoint without sessions.
    Stateless {
        /// The revision of the version header, or 2025-03-26.
        revision: Revision,
        /// What was sent.
        content: Content<'a>,
    },
}

/// What a body holds.
#[derive(Debug)]
pub enum Content<'a> {
    /// One message.
    Message(Message<'a>),
    /// Several of them, not looked at (2025-03-26).
    Batch(Vec<&'a RawValue>),
}

/// A POST that belongs to a session.
#[derive(Debug)]
pub struct SessionPost<'a> {
    /// Its session.
    pub session: SessionRef<'a>,
    content: Content<'a>,
    depth: usize,
}

impl Endpoint {
    /// An endpoint with sessions that speaks all revisions, and takes bodies of up to 16 MiB.
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            revisions: Revision::ALL.to_vec(),
            sessions: true,
            http_sse: false,
            body_limit: 16 * 1024 * 1024,
            json_depth: 128,
        }
    }

    /// Judges a request by its head, before its body is read.
    ///
    /// # Errors
    /// What it is refused with: hosts and origins first, then the method, then fields.
    pub fn admit<'a>(&'a self, head: &Head<'a>) -> Result<Admitted<'a>, Refusal> {
        let listed = self.guard.check(head.authority, head.fields)?;
        match (head.method, listed) {
            ("POST", _) => self.admit_post(head).map(Admitted::Post),
            ("GET", _) => self.admit_get(head),
            ("DELETE", _) => Ok(Admitted::End(self.session_of(head)?)),
            ("OPTIONS", Some(origin)) => Ok(Admitted::Preflight(cors::preflight(origin, head.fields))),
            _ => Err(self.not_allowed(head.method)),
        }
    }

    /// Judges a POST to the message endpoint of the HTTP+SSE transport by its head.
    ///
    /// # Errors
    /// What it is refused with.
    pub fn admit_http_sse_message(&self, head: &Head<'_>) -> Result<(), Refusal> {
        self.guard.check(head.authority, head.fields)?;
        if head.method != "POST" {
            let refusal = Refusal::new(
                405,
                ErrorCode::INVALID_REQUEST,
                format!("{} is not allowed here", head.method),
            );
            return Err(refusal.with_field("Allow", "POST"));
        }
        self.check_body(head.fields)
    }

    /// The fields to add to any response to this request: none, unless its origin is a listed one.
    pub fn cors_fields(&self, head: &Head<'_>) -> Vec<(&'static str, String)> {
        match self.guard.check(head.authority, head.fields) {
            Ok(Some(origin)) => cors::response(origin),
            _ => Vec::new(),
        }
    }

    fn admit_post<'a>(&'a self, head: &Head<'a>) -> Result<Post<'a>, Refusal> {
        self.check_body(head.fields)?;
        let accepts = Accepts::of(head.fields);
        if !accepts.takes_json() && !accepts.takes_event_stream() {
            let why = "nothing to answer with: Accept must list application/json and text/event-stream";
            return Err(Refusal::new(406, ErrorCode::INVALID_REQUEST, why));
        }
        Ok(Post {
            endpoint: self,
            fields: head.fields,
            accepts,
            version: single(head.fields, VERSION_FIELD),
        })
    }

    fn check_body(&self, fields: &dyn Fields) -> Result<(), Refusal> {
        let kind = || single(fields, "Content-Type");
        // Nearly all say just this.
        let is_json = says(fields, "Content-Type", JSON);
        if !is_json && !matches!(kind(), Ok(Some(kind)) if is_media_type(kind, JSON)) {
            let why = match kind() {
                Ok(Some(kind)) => format!("the body must be application/json, not \"{kind}\""),
                _ => "the Content-Type header must say application/json, once".to_owned(),
            };
            return Err(Refusal::new(415, ErrorCode::INVALID_REQUEST, why).with_field("Accept", JSON));
        }
        let coding = single(fields, "Content-Encoding");
        if !matches!(coding, Ok(None)) && !matches!(coding, Ok(Some(coding)) if coding.eq_ignore_ascii_case("identity"))
        {
            // RFC 9110 §12.5.3: the field of the answer says what would be taken.
            let why = "the body must be sent as it is, without a Content-Encoding";
            let refusal = Refusal::new(415, ErrorCode::INVALID_REQUEST, why);
            return Err(refusal.with_field("Accept-Encoding", "identity"));
        }
        let length = single(fields, "Content-Length").ok().flatten();
        match length.and_then(|length| length.parse::<u64>().ok()) {
            Some(length) if length > self.body_limit as u64 => Err(Refusal::body_too_large(self.body_limit)),
            _ => Ok(()),
        }
    }

    fn admit_get<'a>(&'a self, head: &Head<'a>) -> Result<Admitted<'a>, Refusal> {
        let has_session = !matches!(single(head.fields, SESSION_FIELD), Ok(None));
        let is_http_sse = self.http_sse && !has_session;
        if !is_http_sse {
            self.check_sessions(head)?;
        }
        if !Accepts::of(head.fields).takes_event_stream() {
            let why = "Accept must list text/event-stream";
            return Err(Refusal::new(406, ErrorCode::INVALID_REQUEST, why));
        }
        if is_http_sse {
            return Ok(Admitted::HttpSse);
        }
        Ok(Admitted::Listen {
            session: self.session_of(head)?,
            // An empty one is how a reader of events says that it has none (WHATWG HTML, server-sent events).
            last_event_id: single(head.fields, LAST_EVENT_FIELD)
                .map_err(bad_request)?
                .filter(|id| !id.is_empty()),
        })
    }

    /// Whether GET and DELETE are allowed: only what has a session has any use for them.
    fn check_sessions(&self, head: &Head<'_>) -> Result<(), Refusal> {
        let version = single(head.fields, VERSION_FIELD).ok().flatten();
        let is_modern = version.and_then(Revision::named).is_some_and(|it| !it.has_handshake());
        if self.has_sessions() && !is_modern {
            return Ok(());
        }
        Err(self.not_allowed(head.method))
    }

    fn session_of<'a>(&self, head: &Head<'a>) -> Result<SessionRef<'a>, Refusal> {
        self.check_sessions(head)?;
        let stated = match single(head.fields, VERSION_FIELD).map_err(bad_request)? {
            Some(version) => Some(self.legacy_version(version)?),
            None => None,
        };
        let id = session_id(head.fields)?;
        Ok(SessionRef { id, stated })
    }

    fn legacy_version(&self, version: &str) -> Result<Revision, Refusal> {
        let known = Revision::named(version).filter(|it| it.has_handshake() && self.revisions.contains(it));
        known.ok_or_else(|| {
            let legacy = self.revisions.iter().filter(|it| it.has_handshake());
            let spoken: Vec<_> = legacy.map(|it| it.name()).collect();
            let why = format!(
                "the {VERSION_FIELD} header says \"{version}\", which is not spoken here; it may say {}",
                spoken.join(", ")
            );
            Refusal::new(400, ErrorCode::INVALID_REQUEST, why)
        })
    }

    fn has_sessions(&self) -> bool {
        self.sessions && self.speaks_legacy()
    }

    fn speaks_legacy(&self) -> bool {
        self.revisions.iter().any(|it| it.has_handshake())
    }

    fn speaks_modern(&self) -> bool {
        self.revisions.iter().any(|it| !it.has_handshake())
    }

    fn not_allowed(&self, method: &str) -> Refusal {
        let allow = match (self.has_sessions(), self.http_sse) {
            (true, _) => "POST, GET, DELETE",
            (false, true) => "POST, GET",
            (false, false) => "POST",
        };
        let why = format!("{method} is not allowed here");
        Refusal::new(405, ErrorCode::INVALID_REQUEST, why).with_field("Allow", allow)
    }
}

impl<'a> Post<'a> {
    /// What the client takes as an answer.
    pub fn accepts(&self) -> Accepts {
        self.accepts
    }

    /// Reads the body. `tools` gives the annotated parameters of a tool, where it has any.
    ///
    /// # Errors
    /// What the request is refused with; the id is in it, where one could be read.
    pub fn read(
        &self,
        body: &'a [u8],
        tools: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
    ) -> Result<Exchange<'a>, Refusal> {
        if body.len() > self.endpoint.body_limit {
            return Err(Refusal::body_too_large(self.endpoint.body_limit));
        }
        if is_array(body)
            && let Some(batch) = parse_batch(body)
        {
            return self.read_batch(batch);
        }
        let message = Message::parse(body, self.endpoint.json_depth).map_err(refuse_malformed)?;
        let id = request_id(&message).cloned();
        self.read_message(message, tools)
            .map_err(|refusal| refusal.with_id(id.as_ref()))
    }

    fn read_message(
        &self,
        message: Message<'a>,
        tools: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
    ) -> Result<Exchange<'a>, Refusal> {
        let spoken = &self.endpoint.revisions;
        match &message {
            Message::Request { method, params, .. } => {
                let states_version = agreement::states_version(params);
                let is_initialize = method == "initialize" && !states_version;
                if is_initialize && self.endpoint.speaks_legacy() {
                    self.check_initialize(params)?;
                    return Ok(Exchange::Initialize(message));
                }
                if is_initialize {
                    let requested = agreement::string(params, "protocolVersion").unwrap_or_default();
                    return Err(agreement::unsupported(&requested, spoken));
                }
                if self.is_modern(states_version) {
                    let revision = agreement::check(params, method, self.fields, spoken, tools)?;
                    return Ok(Exchange::Modern { revision, message });
                }
            }
            Message::Notification { method, .. } if self.is_modern(false) => {
                agreement::check_notification(method, self.fields)?;
                let known = self.version().and_then(Revision::named);
                let mut modern = spoken.iter().copied().filter(|it| !it.has_handshake());
                let revision = modern.clone().find(|it| known == Some(*it)).or_else(|| modern.next());
                let revision = revision.unwrap_or(Revision::V2026_07_28);
                return Ok(Exchange::Modern { revision, message });
            }
            Message::Result { .. } | Message::Error { .. } if self.is_modern(false) => {
                let why = "in this revision a client sends no responses";
                return Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why));
            }
            Message::Notification { .. } | Message::Result { .. } | Message::Error { .. } => {}
        }
        self.legacy(Content::Message(message))
    }

    fn read_batch(&self, batch: Vec<&'a RawValue>) -> Result<Exchange<'a>, Refusal> {
        if self.is_modern(false) {
            return Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, NO_BATCH));
        }
        self.legacy(Content::Batch(batch))
    }

    /// Whether a message is of a revision without a handshake; `stated` is what its body says.
    fn is_modern(&self, stated: bool) -> bool {
        let named = self
            .version()
            .and_then(Revision::named)
            .is_some_and(|it| !it.has_handshake());
        self.endpoint.speaks_modern() && (stated || named || !self.endpoint.speaks_legacy())
    }

    fn legacy(&self, content: Content<'a>) -> Result<Exchange<'a>, Refusal> {
        let stated = match self.version.map_err(bad_request)? {
            Some(version) => Some(self.legacy_version(version)?),
            None => None,
        };
        if self.endpoint.sessions {
            let id = session_id(self.fields)?;
            return Ok(Exchange::Session(SessionPost {
                session: SessionRef { id, stated },
                content,
                depth: self.endpoint.json_depth,
            }));
        }
        let unsaid = Some(UNSAID).filter(|it| self.endpoint.revisions.contains(it));
        let Some(revision) = stated.or(unsaid) else {
            let why = format!("the {VERSION_FIELD} header is missing");
            return Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why));
        };
        let content = content.checked(revision, self.endpoint.json_depth)?;
        Ok(Exchange::Stateless { revision, content })
    }

    /// An unknown version, where a client may as well be of a newer revision, is refused with a code
    /// that one understands.
    fn legacy_version(&self, version: &str) -> Result<Revision, Refusal> {
        let has_session = !matches!(single(self.fields, SESSION_FIELD), Ok(None));
        match self.endpoint.legacy_version(version) {
            Err(_) if self.endpoint.speaks_modern() && !has_session => {
                Err(agreement::unsupported(version, &self.endpoint.revisions))
            }
            result => result,
        }
    }

    /// The header of an `initialize`, where it is there, names the revision the body asks for; whether
    /// that is spoken here is for the handshake to tell.
    fn check_initialize(&self, params: &Params<'_>) -> Result<(), Refusal> {
        let Some(header) = self.version.map_err(bad_request)? else {
            return Ok(());
        };
        let asked = agreement::string(params, "protocolVersion").unwrap_or_default();
        if header == asked {
            return Ok(());
        }
        let why = format!("the {VERSION_FIELD} header says \"{header}\", and the body asks for \"{asked}\"");
        Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why))
    }

    fn version(&self) -> Option<&'a str> {
        self.version.ok().flatten()
    }
}

impl SessionRef<'_> {
    /// Checks the version header against what the session was begun with. Without one, that counts.
    ///
    /// # Errors
    /// 400, when they differ.
    pub fn agree(&self, negotiated: Revision) -> Result<(), Refusal> {
        match self.stated {
            Some(stated) if stated != negotiated => {
                let why = format!(
                    "the {VERSION_FIELD} header says \"{stated}\", and this session was begun with \"{negotiated}\""
                );
                Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> SessionPost<'a> {
    /// What was sent, once it agrees with the revision its session was begun with.
    ///
    /// # Errors
    /// 400, when the version header says another one, or for a batch where there are none.
    pub fn agree(self, negotiated: Revision) -> Result<Content<'a>, Refusal> {
        if let Err(refusal) = self.session.agree(negotiated) {
            return Err(refusal.with_id(self.content.request_id()));
        }
        self.content.checked(negotiated, self.depth)
    }

    /// The refusal when there is no such session.
    pub fn no_such_session(&self) -> Refusal {
        Refusal::no_such_session().with_id(self.content.request_id())
    }
}

impl<'a> Content<'a> {
    /// Whether there is a request in it. Anything else is answered with 202 and no body.
    pub fn wants_answer(&self) -> bool {
        let is_call = |element: &&RawValue| {
            let message = Message::parse(element.get().as_bytes(), usize::MAX);
            !matches!(
                message,
                Ok(Message::Notification { .. } | Message::Result { .. } | Message::Error { .. })
            )
        };
        match self {
            Self::Message(message) => matches!(message, Message::Request { .. }),
            Self::Batch(elements) => elements.iter().any(is_call),
        }
    }

    fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Message(message) => request_id(message),
            Self::Batch(_) => None,
        }
    }

    fn checked(self, revision: Revision, depth: usize) -> Result<Self, Refusal> {
        let Self::Batch(elements) = &self else { return Ok(self) };
        let refuse = |why: &'static str| Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why));
        if !revision.era().batches {
            return refuse(NO_BATCH);
        }
        let is_initialize = |element: &&RawValue| {
            let message = Message::parse(element.get().as_bytes(), depth);
            matches!(message, Ok(Message::Request { method, .. }) if method == "initialize")
        };
        if elements.iter().any(is_initialize) {
            return refuse("\"initialize\" may not be part of a batch");
        }
        Ok(self)
    }
}

const NO_BATCH: &str = "a batch is not allowed here: the body must be one message";

fn request_id<'m>(message: &'m Message<'_>) -> Option<&'m RequestId> {
    match message {
        Message::Request { id, .. } => Some(id),
        Message::Notification { .. } | Message::Result { .. } | Message::Error { .. } => None,
    }
}

fn refuse_malformed(malformed: Malformed) -> Refusal {
    match malformed {
        Malformed::NotJson { why } => Refusal::new(
            400,
            ErrorCode::PARSE_ERROR,
            format!("Parse error: the body is not JSON: {why}"),
        ),
        Malformed::NotAMessage { id, meant, why } => {
            let id = id.filter(|_| meant != Meant::Response);
            let why = format!("Invalid request: the body is no message: {why}");
            Refusal::new(400, ErrorCode::INVALID_REQUEST, why).with_id(id.as_ref())
        }
    }
}

fn bad_request(error: BadField) -> Refusal {
    Refusal::new(400, ErrorCode::INVALID_REQUEST, error.to_string())
}

fn session_id(fields: &dyn Fields) -> Result<&str, Refusal> {
    match single(fields, SESSION_FIELD).map_err(bad_request)? {
        // One that could not have been handed out needs no look into a table.
        Some(id) if !is_session_id(id) => Err(Refusal::no_such_session()),
        Some(id) => Ok(id),
        None => {
            let why = format!("the {SESSION_FIELD} header is missing; a session begins with \"initialize\"");
            Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, why))
        }
    }
}

#[cfg(test)]
mod tests;
