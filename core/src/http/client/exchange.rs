//! A request of the session: one POST, and all that may have to follow until it is answered.
//!
//! | the response | what follows |
//! | --- | --- |
//! | JSON or an event stream with the answer | nothing |
//! | a stream that breaks before it, in a revision that resumes | a GET after the last event with an id |
//! | 404, in a session | a new session, and the request once more |
//! | the parameters in header fields are not those of the tool | the list of tools, and the request once more |
//! | to `server/discover`: what a server with a handshake says | the session goes on with `initialize` |
//! | to `initialize`: what a server of HTTP+SSE says | the stream of HTTP+SSE, and the request on it |
//! | anything else | the call fails |

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use memchr::memchr2;
use oxmcp_proto::http::SESSION_FIELD;
use oxmcp_proto::http::client::{
    Break, Outcome, RequestFields, Resume, Retry, Sent, Ticket, ToolHeaders, Verdict, answers, assumed_discovery,
    error_in, error_line, failure, get_fields, is_answer, judge_probe, may_be_http_sse, post_fields, read_body,
    says_it_has_a_handshake, stated_revision, string_param,
};
use oxmcp_proto::jsonrpc::{ErrorCode, Malformed, Message, Params, RequestId};
use oxmcp_proto::{Error, ErrorKind, ProblemKind, Revision};
use reqwest::Response;

use super::body::{self, End, Said, Took};
use super::builder::{HttpSse, usage};
use super::shared::{Kept, Shared, Weight};
use super::wire::{Headers, Request};
use super::{http_sse, own, renew};

/// How long a stream is read on after its answer, so that its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);
/// A call that is a stream of its own and may stay as long as it likes.
const LISTEN: &str = "subscriptions/listen";

pub(super) struct Exchange {
    shared: Arc<Shared>,
    id: RequestId,
    method: Box<str>,
    line: Bytes,
    /// The revision it names itself.
    stated: Option<Revision>,
    sent: Arc<AtomicBool>,
    weight: Arc<Weight>,
}

/// What comes after a response.
enum Next {
    Done,
    /// The answer came on this stream.
    Linger(Response, Resume),
    /// The server does not know the session.
    Renew(Ticket),
    /// The tool may have other parameters in header fields than we know; the server said so by this.
    ListTools(Vec<u8>),
    /// The server may be of HTTP+SSE; if not, this is the failure.
    HttpSse(Error),
}

/// What answers a request; `None` where it cannot be read as one message.
type Answer<'a> = Option<Message<'a>>;

/// What was tried before, and is tried once.
#[derive(Default)]
struct Tried {
    renew: bool,
    list_tools: bool,
    http_sse: bool,
}

/// The head of a response, and what was sent for it.
struct Told {
    status: u16,
    headers: HeaderMap,
    ticket: Ticket,
    had_session: bool,
}

impl Exchange {
    /// Sends a request that the session made.
    pub(super) fn start(shared: &Arc<Shared>, id: &RequestId, message: &Message<'_>, line: Bytes) {
        let Message::Request { method, params, .. } = message else {
            return;
        };
        let sent = Arc::new(AtomicBool::new(false));
        let exchange = Self {
            shared: Arc::clone(shared),
            id: id.clone(),
            method: (**method).into(),
            stated: stated_revision(params),
            sent: Arc::clone(&sent),
            weight: Arc::new(shared.weigh(line.len())),
            line,
        };
        shared.exchange(id, &sent, exchange.run());
    }

    async fn run(self) {
        let permit = match &*self.method {
            LISTEN => None,
            // It is never closed.
            _ => Arc::clone(&self.shared.permits).acquire_owned().await.ok(),
        };
        let mut tried = Tried::default();
        loop {
            match self.go_on(&mut tried).await {
                Ok(None) => return,
                Ok(Some(Next::Linger(mut response, mut stream))) => {
                    drop(permit);
                    let rest = body::events(&self.shared, &mut response, &mut stream, |event, data| {
                        self.take_in(event, data);
                        Took::More
                    });
                    let _ = tokio::time::timeout(LINGER, rest).await;
                    return;
                }
                Ok(Some(_)) => {}
                Err(error) => {
                    self.shared.fail(&self.id, error);
                    return;
                }
            }
        }
    }

    /// Makes one attempt, and what has to follow it. `None` when the request is answered.
    ///
    /// What rarely follows is in boxes of its own, so that the task of a request, which is moved, is small.
    async fn go_on(&self, tried: &mut Tried) -> Result<Option<Next>, Error> {
        self.until_it_may_be_sent().await?;
        if !self.shared.is_under_way(&self.id) {
            // It was cancelled, and is only kept until the server knows that.
            return Ok(None);
        }
        let next = self.attempt(tried).await?;
        match next {
            Next::Done => return Ok(None),
            Next::Linger(..) => {}
            Next::Renew(_) if std::mem::replace(&mut tried.renew, true) => {
                return Err(failure(&self.method, &Outcome::SessionLost).unwrap_or_else(|| usage("")));
            }
            Next::Renew(ticket) => {
                // The server took in nothing, so there is nothing to be cancelled.
                self.sent.store(false, Ordering::Release);
                Box::pin(renew::renew(&self.shared, ticket)).await?;
            }
            Next::ListTools(ref answer) => {
                tried.list_tools = true;
                if Box::pin(own::list_tools(&self.shared, &self.line)).await.is_err() {
                    self.shared.deliver(answer);
                    return Ok(None);
                }
            }
            Next::HttpSse(ref error) => {
                tried.http_sse = true;
                if let Err(other) = Box::pin(http_sse::open(&self.shared)).await {
                    let message = format!("{}; as a server of HTTP+SSE: {}", error.message(), other.message());
                    return Err(error.clone().with_message(message));
                }
            }
        }
        Ok(Some(next))
    }

    async fn until_it_may_be_sent(&self) -> Result<(), Error> {
        let only_http_sse = self.shared.wire.settings().http_sse == HttpSse::Only;
        if !self.opens() {
            self.shared.opened().await;
        } else if only_http_sse && self.shared.state().endpoint.is_none() {
            Box::pin(http_sse::open(&self.shared)).await?;
        }
        Ok(())
    }

    async fn attempt(&self, tried: &Tried) -> Result<Next, Error> {
        let (fields, ticket, had_session) = self.fields()?;
        let endpoint = self.shared.state().endpoint.clone();
        let url = endpoint.as_ref().unwrap_or(self.shared.wire.url());
        let request = Request {
            method: Method::POST,
            what: &self.method,
            fields: &fields,
            body: Some(self.line.clone()),
            had_session,
            sent: Some(&self.sent),
        };
        let (sent, weight) = (Arc::clone(&self.sent), Arc::clone(&self.weight));
        let taken = move || {
            sent.store(true, Ordering::Release);
            weight.lift();
        };
        let response = self.shared.wire.send(url, &request, &taken).await?;
        let sent = if endpoint.is_some() {
            Sent::Notification
        } else {
            Sent::Request
        };
        let reply = body::read(&self.shared, &self.method, (sent, had_session), response).await?;
        let told = Told {
            status: reply.status,
            headers: reply.headers,
            ticket,
            had_session,
        };
        match reply.said {
            Said::Stream(response) => self.read_stream(&told, response, tried).await,
            // The answer comes on the stream of HTTP+SSE.
            Said::Outcome(outcome, _) if endpoint.is_some() => {
                failure(&self.method, &outcome).map_or(Ok(Next::Done), Err)
            }
            Said::Outcome(outcome, body) => self.read(&told, outcome, &body, tried),
        }
    }

    /// Whether it belongs to the opening of the connection.
    fn opens(&self) -> bool {
        &*self.method == "initialize" || self.probes()
    }

    /// Whether it asks for the server's era.
    fn probes(&self) -> bool {
        &*self.method == "server/discover" && !self.shared.is_open()
    }

    /// The revision whose rules it is sent by.
    fn revision(&self) -> Option<Revision> {
        self.stated.or(self.shared.state().revision)
    }

    fn is_stateless(&self) -> bool {
        self.revision().is_some_and(|revision| !revision.has_handshake())
    }

    fn fields(&self) -> Result<(RequestFields, Ticket, bool), Error> {
        let state = self.shared.state();
        let (session, ticket) = state.session.carry();
        let revision = self.stated.or(state.revision).filter(|_| state.endpoint.is_none());
        let message = match revision {
            Some(revision) if !revision.has_handshake() => {
                let message = Message::parse(&self.line, self.shared.limits.depth.max(128));
                message.map_err(|_| usage(format!("{} was not sent: it nests too deep", self.method)))?
            }
            // Nothing of the params goes into the fields.
            _ => Message::Request {
                id: self.id.clone(),
                method: Cow::Borrowed(&self.method),
                params: Params::default(),
            },
        };
        let annotated = match &message {
            Message::Request { method, params, .. } if &**method == "tools/call" => {
                string_param(params, "name").and_then(|name| state.tools.of(&name).cloned())
            }
            _ => None,
        };
        let fields = post_fields(revision, session, &message, annotated.as_deref());
        let fields = fields.map_err(|why| usage(format!("{} was not sent: {why}", self.method)))?;
        Ok((fields, ticket, session.is_some()))
    }

    fn read(&self, told: &Told, outcome: Outcome, body: &[u8], tried: &Tried) -> Result<Next, Error> {
        if self.probes() {
            return self.judge(told, &outcome, body);
        }
        match outcome {
            Outcome::SessionLost => Ok(Next::Renew(told.ticket)),
            Outcome::Answer => self.read_answer(told, body, tried),
            outcome => self.give_up(told, &outcome, body, tried),
        }
    }

    fn give_up(&self, told: &Told, outcome: &Outcome, body: &[u8], tried: &Tried) -> Result<Next, Error> {
        let error = failure(&self.method, outcome).unwrap_or_else(|| self.no_answer(told, body));
        let may_be_http_sse = &*self.method == "initialize"
            && self.shared.wire.settings().http_sse == HttpSse::Auto
            && !tried.http_sse
            && may_be_http_sse(told.status, body);
        if may_be_http_sse {
            Ok(Next::HttpSse(error))
        } else {
            Err(error)
        }
    }

    /// Reads a body that is to hold the answer.
    fn read_answer(&self, told: &Told, body: &[u8], tried: &Tried) -> Result<Next, Error> {
        if let Some(answer) = self.answer_in(body) {
            return Ok(match self.take(told, answer, body, tried)? {
                Some(answer) => Next::ListTools(answer),
                None => Next::Done,
            });
        }
        if !(200..=299).contains(&told.status) {
            // An error that names no request, or another one, is the failure of this one.
            let fields = Headers(&told.headers);
            let outcome = read_body(Sent::Notification, told.had_session, told.status, &fields, body);
            return self.give_up(told, &outcome, body, tried);
        }
        if !matches!(Message::parse(body, 128), Err(Malformed::NotJson { .. })) {
            self.shared.deliver(body);
        }
        Err(self.no_answer(told, body))
    }

    /// The failure of a request that was answered with this.
    fn no_answer(&self, told: &Told, body: &[u8]) -> Error {
        let status = told.status;
        let start = String::from_utf8_lossy(&body[..body.len().min(200)]);
        let what = match (coding(&told.headers), Message::parse(body, 128)) {
            (Some(coding), _) => format!("its body is coded as {coding}, which was not asked for"),
            (None, Err(Malformed::NotJson { why })) => format!("its body is no JSON ({why})"),
            (None, Err(Malformed::NotAMessage { why, .. })) => format!("its body does not answer the request, {why}"),
            (None, Ok(_)) => "its body does not answer the request".to_owned(),
        };
        let message = format!(
            "{} failed: the server answered with status {status}, but {what}: {start:?}",
            self.method
        );
        Error::new(ErrorKind::Protocol, message).with_http_status(status)
    }

    /// Concludes from the answer to the probe what the server is, and tells the session in its own words.
    fn judge(&self, told: &Told, outcome: &Outcome, body: &[u8]) -> Result<Next, Error> {
        let verdict = match judge_probe(told.status, body) {
            // It answered somebody else.
            Verdict::Answered if !answers(body, &self.id) => Verdict::Legacy,
            verdict => verdict,
        };
        let tried = self.stated.unwrap_or(Revision::V2026_07_28);
        let line = match (verdict, error_in(body)) {
            (Verdict::Answered, _) => body.to_vec(),
            (Verdict::Modern, Some(error)) if error.code != ErrorCode::METHOD_NOT_FOUND => error_line(&self.id, &error),
            (Verdict::Modern, _) => assumed_discovery(&self.id, tried),
            (Verdict::Legacy, _) => says_it_has_a_handshake(&self.id),
            (Verdict::Unknown, _) => {
                return Err(failure(&self.method, outcome).unwrap_or_else(|| self.no_answer(told, body)));
            }
        };
        self.shared.deliver(&line);
        Ok(Next::Done)
    }

    /// What in a text is meant to answer the request.
    fn answer_in<'a>(&self, text: &'a [u8]) -> Option<Answer<'a>> {
        match Message::parse(text, self.shared.limits.depth) {
            Ok(message) => is_answer(&message, &self.id).then_some(Some(message)),
            // A batch, or broken.
            Err(_) => answers(text, &self.id).then_some(None),
        }
    }

    /// Takes in the answer. Gives it back when the request should be made once more with what the tools' list says.
    fn take(&self, told: &Told, answer: Answer<'_>, text: &[u8], tried: &Tried) -> Result<Option<Vec<u8>>, Error> {
        let is_result = matches!(answer, Some(Message::Result { .. }));
        match &*self.method {
            "initialize" if is_result => self.begin_session(&told.headers)?,
            "tools/list" if self.is_stateless() => return Ok(self.take_tools(text)),
            "tools/call" if self.is_stateless() && !tried.list_tools => {
                if let Some(Message::Error { error, .. }) = &answer
                    && ToolHeaders::may_be_stale(&self.method, error.code)
                {
                    return Ok(Some(text.to_vec()));
                }
            }
            "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel"
                if is_result && !self.is_stateless() =>
            {
                self.keep();
            }
            _ => {}
        }
        match answer {
            Some(message) if memchr2(b'\n', b'\r', text).is_none() => self.shared.deliver_message(message, text),
            _ => self.shared.deliver(text),
        }
        if self.shared.awaits(&self.id) {
            // It only looked like an answer.
            return Err(self.no_answer(told, text));
        }
        self.shared.answered.notify_waiters();
        Ok(None)
    }

    /// The handshake succeeded.
    fn begin_session(&self, headers: &HeaderMap) -> Result<(), Error> {
        let id = headers
            .get(SESSION_FIELD)
            .map(|id| String::from_utf8_lossy(id.as_bytes()));
        let mut state = self.shared.state();
        let begun = state.session.begun(id.as_deref());
        begun.map_err(|why| Error::new(ErrorKind::Protocol, format!("initialize failed: {why}")))?;
        state.initialize = Some(self.line.to_vec());
        Ok(())
    }

    fn take_tools(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (kept, rejected) = self.shared.state().tools.learn_answer(text);
        for tool in rejected {
            let message = format!("the tool {:?} was left out of the list: {}", tool.name, tool.why);
            self.shared.problem(ProblemKind::BadTool, message);
        }
        self.shared.deliver(kept.as_deref().unwrap_or(text));
        None
    }

    /// Remembers what a new session needs to be told again.
    fn keep(&self) {
        let Ok(Message::Request { method, params, .. }) = Message::parse(&self.line, 128) else {
            return;
        };
        let what = match string_param(&params, "uri") {
            Some(uri) if &*method != "logging/setLevel" => Kept::Subscription(uri.into_owned()),
            _ => Kept::LogLevel,
        };
        let mut state = self.shared.state();
        state.kept.retain(|(kept, _)| *kept != what);
        if &*method != "resources/unsubscribe" && state.kept.len() < self.shared.limits.subscriptions {
            state.kept.push((what, self.line.to_vec()));
        }
    }

    /// Takes in what else comes on the stream of the request.
    fn take_in(&self, event: &str, data: &str) {
        if event == "message" {
            self.shared.deliver(data.as_bytes());
        }
    }

    async fn read_stream(&self, told: &Told, mut response: Response, tried: &Tried) -> Result<Next, Error> {
        self.shared.streams(&self.id, told.ticket);
        let resumes = self.revision().is_some_and(Revision::has_handshake) && &*self.method != "initialize";
        let mut stream = Resume::of_request(resumes, self.shared.wire.settings().backoff);
        loop {
            let mut taken = Ok(None);
            let end = body::events(&self.shared, &mut response, &mut stream, |event, data| {
                let text = data.as_bytes();
                match self.answer_in(text).filter(|_| event == "message") {
                    Some(answer) => taken = self.take(told, answer, text, tried),
                    None => {
                        self.take_in(event, data);
                        return Took::More;
                    }
                }
                Took::Last
            })
            .await;
            match (taken?, end) {
                (Some(answer), _) => return Ok(Next::ListTools(answer)),
                (None, End::Last) => return Ok(Next::Linger(response, stream)),
                // As good as a success without a response.
                (None, End::Broke(Break::Ended)) if self.probes() => {
                    self.shared.deliver(&says_it_has_a_handshake(&self.id));
                    return Ok(Next::Done);
                }
                (None, End::Broke(how)) => response = Box::pin(self.resume(told, &mut stream, how)).await?,
            }
        }
    }

    /// Opens a stream again that ended without the answer.
    async fn resume(&self, told: &Told, stream: &mut Resume, mut how: Break) -> Result<Response, Error> {
        let closed = |why: &str| Error::new(ErrorKind::Closed, format!("{} was not answered: {why}", self.method));
        loop {
            match stream.broke(how, self.shared.link.now(), jitter()) {
                Retry::GiveUp(why) => return Err(closed(why)),
                Retry::At(at) => tokio::time::sleep_until(self.shared.link.on_clock(at)).await,
            }
            if !self.shared.is_under_way(&self.id) {
                return Err(closed("it was cancelled"));
            }
            let (fields, ticket, had_session) = {
                let state = self.shared.state();
                let (session, ticket) = state.session.carry();
                (
                    get_fields(state.revision, session, stream.last_event_id()),
                    ticket,
                    session.is_some(),
                )
            };
            if ticket != told.ticket {
                return Err(closed("the server lost the session it was made in"));
            }
            let request = Request {
                method: Method::GET,
                what: &self.method,
                fields: &fields,
                body: None,
                had_session,
                sent: None,
            };
            let sent = self.shared.wire.send(self.shared.wire.url(), &request, &|| ()).await;
            let Ok(response) = sent else {
                how = Break::NotOpened;
                continue;
            };
            let reply = body::read(&self.shared, &self.method, (Sent::Listen, had_session), response).await;
            let outcome = match reply.map(|reply| reply.said) {
                Ok(Said::Stream(response)) => return Ok(response),
                Ok(Said::Outcome(outcome, _)) => outcome,
                Err(_) => {
                    how = Break::NotOpened;
                    continue;
                }
            };
            match outcome {
                Outcome::Failed(failure) if failure.transient => how = Break::NotOpened,
                Outcome::NoStream => return Err(closed("its stream broke, and the server resumes none")),
                outcome => {
                    let error = failure(&self.method, &outcome);
                    return Err(error.unwrap_or_else(|| closed("its stream broke, and could not be resumed")));
                }
            }
        }
    }
}

/// How a body is coded that ought to be plain.
fn coding(headers: &HeaderMap) -> Option<&str> {
    let coding = headers.get(http::header::CONTENT_ENCODING)?.to_str().ok()?;
    (!coding.eq_ignore_ascii_case("identity")).then_some(coding)
}

/// From 0 to 1, evenly.
pub(super) fn jitter() -> f64 {
    let mut random = [0; 4];
    // Without random bytes, clients are not spread; nothing else depends on it.
    let _ = getrandom::fill(&mut random);
    f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX)
}

/// A task that is ended early, or panics, leaves no call that waits for it.
impl Drop for Exchange {
    fn drop(&mut self) {
        if self.shared.state().endpoint.is_none() {
            let message = format!("{} was not answered: its request was given up", self.method);
            self.shared.fail(&self.id, Error::new(ErrorKind::Closed, message));
        }
        self.shared.exchanged(&self.id);
    }
}
