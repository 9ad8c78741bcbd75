//! One request and its response.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use memchr::memmem::Finder;
use oxmcp_proto::Revision;
use oxmcp_proto::frame::sse::write_event;
use oxmcp_proto::http::{
    ACCEPTED, Accepts, Admitted, Content, EventId, Exchange, Head, JSON, Post, Refusal, SESSION_FIELD, STREAM_FIELDS,
    SessionRef, status_of_answer,
};
use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Malformed, Message, Params, RequestId};

use super::body::{self, HttpBody, Leaving, Reader};
use super::connection::Connection;
use super::desk::{Mode, StreamKey};
use super::fleet::{Errands, member};
use super::headers::Headers;
use super::mostly::Mostly;
use super::pipe::{Answers, Beginning};
use super::refuse;
use super::shared::{Hold, Shared};

/// A message that was taken in.
enum Taken {
    /// There is nothing to answer.
    Accepted,
    /// The same, once other processes know.
    Passed(Box<Errands>),
    /// The answer is on its way.
    Waiting(Waiting),
}

struct Waiting {
    reader: Reader,
    key: StreamKey,
    mode: Mode,
    revision: Revision,
    /// The session that begins with the answer.
    begins: Option<Arc<str>>,
    /// What other processes must know before the answer.
    errands: Option<Box<Errands>>,
}

/// What was told without a body.
enum Early {
    Response(Response<HttpBody>),
    /// A stream of a session that processes share.
    Follows {
        session: Arc<str>,
        connection: Arc<Connection>,
        hold: Hold,
        after: Option<EventId>,
    },
    /// The client ended its session.
    Ended(Arc<str>),
}

/// Serves one request.
pub(super) async fn serve<B>(shared: Arc<Shared>, request: Request<B>) -> Response<HttpBody>
where
    B: Body,
    B::Error: std::fmt::Display,
{
    let (parts, body) = request.into_parts();
    let parts = Arc::new(parts);
    let fields = Headers::of(&parts.headers);
    let head = Head {
        method: parts.method.as_str(),
        authority: parts.uri.authority().map(http::uri::Authority::as_str),
        fields: &fields,
    };
    let served = serve_parts(&shared, &parts, &head, body).await;
    let mut response = served.unwrap_or_else(|refusal| refused(&refusal));
    if fields.has_origin() {
        add_fields(&mut response, shared.endpoint.cors_fields(&head));
    }
    response
}

async fn serve_parts<B>(
    shared: &Arc<Shared>,
    parts: &Arc<Parts>,
    head: &Head<'_>,
    body: B,
) -> Result<Response<HttpBody>, Refusal>
where
    B: Body,
    B::Error: std::fmt::Display,
{
    if let Some(id) = message_of(shared, parts) {
        shared.endpoint.admit_http_sse_message(head)?;
        let (connection, _hold) = shared.session(id).ok_or_else(Refusal::no_such_session)?;
        let text = body::read(body, shared.endpoint.body_limit, shared.settings.body_timeout).await?;
        connection.receive(&text);
        return Ok(status(ACCEPTED));
    }
    let admitted = shared.endpoint.admit(head)?;
    if parts.method != http::Method::POST && shared.state.is_shared() {
        // In a box of its own, like all that only processes with a shared state do, so that others need no room for it.
        Box::pin(shared.learn(parts)).await?;
    }
    let post = match admitted {
        Admitted::Post(post) => post,
        other => {
            return match without_body(shared, parts, other)? {
                Early::Response(response) => Ok(response),
                early => Box::pin(respond_early(shared, early)).await,
            };
        }
    };
    let text = body::read(body, shared.endpoint.body_limit, shared.settings.body_timeout).await?;
    if shared.state.is_shared() {
        Box::pin(shared.learn(parts)).await?;
    }
    let taken = take(shared, parts, &post, &text)?;
    // It is a part of what the connection reads into.
    drop(text);
    match taken {
        Taken::Accepted => Ok(status(ACCEPTED)),
        Taken::Passed(errands) => {
            Box::pin(errands.run(shared)).await?;
            Ok(status(ACCEPTED))
        }
        Taken::Waiting(waiting) => answer(shared, waiting).await,
    }
}

async fn respond_early(shared: &Arc<Shared>, early: Early) -> Result<Response<HttpBody>, Refusal> {
    match early {
        Early::Response(response) => Ok(response),
        Early::Follows {
            session,
            connection,
            hold,
            after,
        } => {
            let reader = shared.follow(session, connection, hold, after).await?;
            Ok(events(shared, reader))
        }
        Early::Ended(session) => {
            shared.state.end_session(&session).await.map_err(refuse::state)?;
            Ok(status(204))
        }
    }
}

/// The session of a message of the HTTP+SSE transport, which is in the query.
fn message_of<'a>(shared: &Shared, parts: &'a Parts) -> Option<&'a str> {
    let query = parts.uri.query().filter(|_| shared.endpoint.http_sse)?;
    query.split('&').find_map(|pair| pair.strip_prefix("session="))
}

/// What can be told of a request that is no POST.
fn without_body(shared: &Arc<Shared>, parts: &Arc<Parts>, admitted: Admitted<'_>) -> Result<Early, Refusal> {
    Ok(match admitted {
        Admitted::Post(_) => unreachable!("it has a body"),
        Admitted::Listen { session, last_event_id } => listen(shared, &session, last_event_id)?,
        Admitted::End(session) => {
            shared.end_session(&session)?;
            Early::Ended(session.id.into())
        }
        Admitted::Preflight(fields) => {
            let mut response = status(204);
            add_fields(&mut response, fields);
            Early::Response(response)
        }
        Admitted::HttpSse => Early::Response(http_sse(shared, parts)?),
    })
}

/// Opens the stream of a session, or goes on with one that broke.
fn listen(shared: &Arc<Shared>, session: &SessionRef<'_>, last_event_id: Option<&str>) -> Result<Early, Refusal> {
    let (connection, hold) = shared.session(session.id).ok_or_else(Refusal::no_such_session)?;
    session.agree(connection.revision().ok_or_else(Refusal::no_such_session)?)?;
    shared.check_open()?;
    let after = match last_event_id {
        Some(id) => Some(EventId::parse(id).ok_or_else(Refusal::cannot_resume)?),
        None => None,
    };
    if shared.state.is_shared() {
        return Ok(Early::Follows {
            session: session.id.into(),
            connection,
            hold,
            after,
        });
    }
    let pipe = match after {
        Some(after) => connection.desk().resume(after)?,
        None => connection.desk().open_standing(None),
    };
    let reader = Reader {
        connection,
        pipe,
        leaving: Leaving::Pauses,
        _hold: Some(hold),
    };
    Ok(Early::Response(events(shared, reader)))
}

/// Opens a connection of the HTTP+SSE transport (2024-11-05), which lasts as long as its stream.
fn http_sse(shared: &Arc<Shared>, parts: &Arc<Parts>) -> Result<Response<HttpBody>, Refusal> {
    let id = shared.new_session_id()?;
    let connection = shared.connect(true, None);
    let hold = shared.add_session(&id, &connection)?;
    let mut desk = connection.desk();
    desk.one_stream = Some(Arc::clone(parts));
    let mut first = Vec::new();
    let endpoint = format!("{}?session={id}", parts.uri.path());
    let written = write_event(&mut first, None, Some("endpoint"), &endpoint);
    debug_assert!(written.is_ok(), "the kind has no line breaks");
    let pipe = desk.open_standing(Some(&first));
    drop(desk);
    let reader = Reader {
        connection,
        pipe,
        leaving: Leaving::Cancels,
        _hold: Some(hold.ending()),
    };
    Ok(events(shared, reader))
}

/// Takes in the body of a POST.
fn take(shared: &Arc<Shared>, parts: &Arc<Parts>, post: &Post<'_>, text: &[u8]) -> Result<Taken, Refusal> {
    let accepts = post.accepts();
    match post.read(text, |tool| shared.params_of(tool))? {
        Exchange::Modern {
            revision,
            message: Message::Request { id, method, params },
        } => take_modern((shared, parts), revision, (id, &method, &params), text, accepts),
        Exchange::Modern { .. } => Ok(Taken::Accepted),
        Exchange::Initialize(message) => take_initialize((shared, parts), &message, text, accepts),
        Exchange::Session(post) => {
            let Some((connection, hold)) = shared.session(post.session.id) else {
                return Err(post.no_such_session());
            };
            let Some(revision) = connection.revision() else {
                return Err(post.no_such_session());
            };
            let session = post.session.id;
            let content = post.agree(revision)?;
            let mut parcel = Parcel::of(content, text, shared.endpoint.json_depth);
            if shared.state.is_shared() {
                parcel.sort(session, &connection);
            }
            parcel.send((shared, parts), &connection, revision, accepts, Some(hold))
        }
        Exchange::Stateless { revision, content } => {
            let parcel = Parcel::of(content, text, shared.endpoint.json_depth);
            if parcel.is_silent() {
                return Ok(Taken::Accepted);
            }
            let connection = shared.connect(false, None);
            connection.receive(handshake(revision).as_bytes());
            parcel.send((shared, parts), &connection, revision, accepts, None)
        }
    }
}

fn take_modern(
    (shared, parts): (&Arc<Shared>, &Arc<Parts>),
    revision: Revision,
    (id, method, params): (RequestId, &str, &Params<'_>),
    text: &[u8],
    accepts: Accepts,
) -> Result<Taken, Refusal> {
    let listens = method == "subscriptions/listen";
    let mode = if listens { Mode::Either } else { mode(shared, accepts) };
    if listens {
        shared.check_open().map_err(|refusal| refusal.with_id(Some(&id)))?;
        if !accepts.takes_event_stream() {
            return Err(refuse::needs_stream().with_id(Some(&id)));
        }
    }
    let connection = shared.connect(listens, None);
    let expected = connection
        .desk()
        .expect(parts, std::iter::once(&id), Vec::new(), false, mode);
    let (key, pipe) = expected.ok_or_else(refuse::in_use)?;
    connection.receive_read(id, method, params, text);
    let reader = Reader {
        connection,
        pipe,
        leaving: Leaving::Cancels,
        _hold: None,
    };
    Ok(Taken::Waiting(Waiting {
        reader,
        key,
        mode,
        revision,
        begins: None,
        errands: None,
    }))
}

/// Begins a session. Its answer comes at once, as no handler has a part in it.
fn take_initialize(
    (shared, parts): (&Arc<Shared>, &Arc<Parts>),
    message: &Message<'_>,
    text: &[u8],
    accepts: Accepts,
) -> Result<Taken, Refusal> {
    let Message::Request { id, .. } = message else {
        return Ok(Taken::Accepted);
    };
    let with_id = |refusal: Refusal| refusal.with_id(Some(id));
    let session = match shared.endpoint.sessions {
        true => Some(shared.new_session_id().map_err(with_id)?),
        false => None,
    };
    let connection = shared.connect(session.is_some(), session.as_ref());
    let mode = if accepts.takes_json() { Mode::Json } else { Mode::Events };
    let expected = connection
        .desk()
        .expect(parts, std::iter::once(id), Vec::new(), false, mode);
    let (key, pipe) = expected.ok_or_else(refuse::in_use)?;
    connection.receive(text);
    // A handshake that failed begins nothing.
    let begins = session.filter(|_| connection.revision().is_some());
    let hold = match &begins {
        Some(session) => Some(shared.add_session(session, &connection).map_err(with_id)?),
        None => None,
    };
    let revision = connection.revision().unwrap_or(Revision::V2025_11_25);
    let reader = Reader {
        connection,
        pipe,
        leaving: Leaving::Pauses,
        _hold: hold,
    };
    Ok(Taken::Waiting(Waiting {
        reader,
        key,
        mode,
        revision,
        begins,
        errands: None,
    }))
}

/// What one POST of a revision with a handshake brings.
struct Parcel<'a> {
    messages: Mostly<(Message<'a>, &'a [u8])>,
    requests: Mostly<RequestId>,
    /// Answers to what in a batch is no message.
    errors: Vec<Vec<u8>>,
    /// The request that is cancelled, and by which message.
    cancels: Option<(RequestId, &'a [u8])>,
    batch: bool,
    errands: Option<Box<Errands>>,
}

impl<'a> Parcel<'a> {
    fn of(content: Content<'a>, text: &'a [u8], depth: usize) -> Self {
        let mut parcel = Self {
            messages: Mostly::default(),
            requests: Mostly::default(),
            errors: Vec::new(),
            cancels: None,
            batch: false,
            errands: None,
        };
        match content {
            Content::Message(message) => parcel.add(message, text),
            Content::Batch(elements) => {
                parcel.batch = true;
                for element in elements {
                    let text = element.get().as_bytes();
                    match Message::parse(text, depth) {
                        Ok(message) => parcel.add(message, text),
                        Err(malformed) => parcel.errors.push(invalid(malformed).into_bytes()),
                    }
                }
            }
        }
        parcel
    }

    fn add(&mut self, message: Message<'a>, text: &'a [u8]) {
        match &message {
            Message::Request { id, .. } => self.requests.push(id.clone()),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let request = params.and_then(|params| member(params, "requestId"));
                self.cancels = request.map(|request| (request, text));
            }
            _ => {}
        }
        self.messages.push((message, text));
    }

    /// Keeps what is for this process; the rest goes to others.
    fn sort(&mut self, session: &str, connection: &Connection) {
        let mut errands = Errands::new(session);
        self.messages
            .retain(|(message, text)| errands.take(connection, text, message));
        self.errands = errands.has_any().then(|| Box::new(errands));
    }

    /// Whether there is nothing to answer.
    fn is_silent(&self) -> bool {
        self.requests.is_empty() && self.errors.is_empty()
    }

    fn send(
        mut self,
        (shared, parts): (&Shared, &Arc<Parts>),
        connection: &Arc<Connection>,
        revision: Revision,
        accepts: Accepts,
        hold: Option<Hold>,
    ) -> Result<Taken, Refusal> {
        let silent = self.is_silent();
        let mode = mode(shared, accepts);
        let (requests, batch) = (self.requests.iter(), self.batch);
        let mut desk = connection.desk();
        let overtaken = desk.take_cancels(requests.clone());
        let expected = match silent {
            true => None,
            false => {
                let expected = desk.expect(parts, requests.clone(), self.errors, batch, mode);
                let only = || requests.clone().next().filter(|_| !batch);
                Some(expected.ok_or_else(|| refuse::in_use().with_id(only()))?)
            }
        };
        drop(desk);
        for (message, text) in self.messages {
            connection.receive_message(message, text);
        }
        if let Some(errands) = &mut self.errands {
            errands.note(connection);
        }
        for (request, cancel) in overtaken {
            connection.receive(&cancel);
            connection.desk().abandon(&request);
        }
        if let Some((request, text)) = self.cancels {
            let mut desk = connection.desk();
            if !desk.abandon(&request) && hold.is_some() {
                desk.keep_cancel(request, text);
            }
        }
        let Some((key, pipe)) = expected else {
            return Ok(match self.errands {
                Some(errands) => Taken::Passed(errands),
                None => Taken::Accepted,
            });
        };
        let reader = Reader {
            connection: Arc::clone(connection),
            pipe,
            leaving: if hold.is_some() {
                Leaving::Pauses
            } else {
                Leaving::Lingers
            },
            _hold: hold,
        };
        Ok(Taken::Waiting(Waiting {
            reader,
            key,
            mode,
            revision,
            begins: None,
            errands: self.errands,
        }))
    }
}

/// The handshake that a session needs before it serves, at an endpoint that keeps none.
fn handshake(revision: Revision) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"oxmcp: handshake","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"unknown","version":"0"}}}}}}"#
    )
}

fn invalid(malformed: Malformed) -> String {
    let (id, why) = match malformed {
        Malformed::NotJson { why } => (None, why),
        Malformed::NotAMessage { id, why, .. } => (id, why.into()),
    };
    let refusal = Refusal {
        status: 200,
        fields: Vec::new(),
        id,
        error: ErrorObject::new(ErrorCode::INVALID_REQUEST, format!("no JSON-RPC message, {why}")),
    };
    refusal.body()
}

fn mode(shared: &Shared, accepts: Accepts) -> Mode {
    match (accepts.takes_json(), accepts.takes_event_stream()) {
        (true, true) if !shared.settings.json_only => Mode::Either,
        (true, _) => Mode::Json,
        (false, _) => Mode::Events,
    }
}

/// Waits for the first thing that is said, which tells what kind of response it is.
async fn answer(shared: &Arc<Shared>, waiting: Waiting) -> Result<Response<HttpBody>, Refusal> {
    let Waiting {
        reader,
        key,
        mode,
        revision,
        begins,
        errands,
    } = waiting;
    if let Some(errands) = errands {
        Box::pin(errands.run(shared)).await?;
    }
    if let Some(session) = begins.as_ref().filter(|_| shared.state.is_shared()) {
        Box::pin(shared.begin_shared(session, &reader.connection)).await?;
    }
    let soon = match mode {
        Mode::Json => Some(reader.beginning().await),
        Mode::Events | Mode::Either => shared.ticks.within(std::pin::pin!(reader.beginning())).await,
    };
    let beginning = match soon {
        Some(beginning) => beginning,
        // So that nothing on the way takes a long silence for a dead connection, and that the client can come back for the answer.
        None => {
            reader.connection.desk().begin(key);
            reader.beginning().await
        }
    };
    let mut response = match beginning {
        Beginning::Answers(answers) => whole(revision, answers),
        Beginning::Events => {
            if revision.has_handshake() && shared.state.is_shared() {
                shared.state.stored().await;
            }
            events(shared, reader)
        }
        // The session ended, or the server closes, or the client cancelled the request.
        Beginning::Nothing if !reader.connection.is_closed() => status(204),
        Beginning::Nothing if revision.has_handshake() => return Err(Refusal::no_such_session()),
        Beginning::Nothing => return Err(refuse::closing()),
    };
    if let Some(session) = begins {
        add_fields(&mut response, [(SESSION_FIELD, session.to_string())]);
    }
    Ok(response)
}

fn whole(revision: Revision, answers: Answers) -> Response<HttpBody> {
    let (text, error) = match answers {
        Answers::One(line) => {
            let error = (!revision.has_handshake() && may_be_error(&line)).then(|| error_of(&line));
            (line, error.flatten())
        }
        Answers::Batch(lines) => {
            let mut text = vec![b'['];
            text.extend(lines.join(&b','));
            text.push(b']');
            (text, None)
        }
        Answers::Events(text) => return event_stream(HttpBody::whole(Bytes::from(text))),
    };
    let mut response = Response::new(HttpBody::whole(Bytes::from(text)));
    *response.status_mut() = code(status_of_answer(revision, error));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Whether it is worth reading.
fn may_be_error(line: &[u8]) -> bool {
    static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
    ERROR.find(line).is_some()
}

fn error_of(line: &[u8]) -> Option<ErrorCode> {
    match Message::parse(line, usize::MAX) {
        Ok(Message::Error { error, .. }) => Some(error.code),
        _ => None,
    }
}

fn events(shared: &Shared, reader: Reader) -> Response<HttpBody> {
    event_stream(HttpBody::events(reader, shared.settings.keep_alive))
}

fn event_stream(body: HttpBody) -> Response<HttpBody> {
    static FIELDS: LazyLock<Vec<(HeaderName, HeaderValue)>> = LazyLock::new(|| {
        let read = |(name, value)| Some((HeaderName::try_from(name).ok()?, HeaderValue::from_static(value)));
        STREAM_FIELDS.into_iter().filter_map(read).collect()
    });
    let mut response = Response::new(body);
    for (name, value) in &*FIELDS {
        response.headers_mut().insert(name, value.clone());
    }
    response
}

/// The response that turns a request down.
pub(super) fn refused(refusal: &Refusal) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::whole(refusal.body()));
    *response.status_mut() = code(refusal.status);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    add_fields(
        &mut response,
        refusal.fields.iter().map(|(name, value)| (*name, value.to_string())),
    );
    response
}

pub(super) fn status(number: u16) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = code(number);
    response
}

fn code(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) fn add_fields<B>(response: &mut Response<B>, fields: impl IntoIterator<Item = (&'static str, String)>) {
    for (name, value) in fields {
        // Values that came from the request were read from a field, and ours are plain text.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
}
