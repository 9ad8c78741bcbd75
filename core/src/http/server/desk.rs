//! Which message of a connection goes on which response.
//!
//! | message | goes on |
//! | --- | --- |
//! | the answer to a request | the response to its POST, the last on it |
//! | progress, a log message, a question of a handler | the response to the POST of its request, which is an event stream from then on |
//! | any other | the stream that a GET opened |
//!
//! A response begins with what is said first: an answer makes it JSON, anything else an event stream; as it is one when nothing is
//! said for a second. Streams of a session are kept, so that a client that lost its connection gets what it missed; but not the
//! one event of an answer that comes at once, before which a client has nothing to come back for. Where several processes share the
//! session, what would go on the stream of a GET is posted for the process that has it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use oxmcp_proto::frame::sse::write_event;
use oxmcp_proto::http::{EventId, EventReply, Refusal, ReplyStream, primes};
use oxmcp_proto::jsonrpc::{Message, RequestId};
use oxmcp_proto::{Few, Kind, Revision};
use tokio::time::Instant;

use super::connection::Connection;
use super::pipe::{Answers, Pipe};
use super::receipt::Receipt;
use super::state::{Place, SharedState};

/// Messages for the stream of a GET that wait for one. Older ones give way.
const WAITING: usize = 64;
/// Cancels that came before their requests, and how long they wait for them. Most come after the answer instead.
const EARLY: usize = 64;
const EARLY_FOR: Duration = Duration::from_secs(5);

/// How a request may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By JSON only: what else belongs to it goes elsewhere.
    Json,
    /// By an event stream only.
    Events,
    /// By JSON, if the answer comes first.
    Either,
}

/// The responses of one connection.
#[derive(Debug, Default)]
pub(super) struct Desk {
    requests: Few<RequestId, StreamKey>,
    /// Few at a time, so that to look through them costs less than a table.
    streams: Vec<Stream>,
    last: u64,
    /// The stream of a GET.
    standing: Option<Stream>,
    /// What waits for one.
    waiting: VecDeque<Vec<u8>>,
    /// Cancels that overtook their requests: each is on a connection of its own.
    early: VecDeque<Early>,
    /// All goes on the stream of this GET (HTTP+SSE).
    pub one_stream: Option<Arc<Parts>>,
    /// How streams are kept, where they are.
    keeping: Option<Keeping>,
    /// Streams that are written elsewhere, or by many, and read here.
    followed: Vec<Followed>,
    /// What the handshake settled on.
    pub revision: Option<Revision>,
    closed: bool,
    /// The connection itself, while it lingers.
    lingers: Option<Arc<Connection>>,
}

/// Names the response to a POST among those of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StreamKey(u64);

/// Where the events of a session are kept.
#[derive(Clone, Debug)]
pub(super) struct Keeping {
    pub session: Arc<str>,
    pub state: Arc<dyn SharedState>,
    /// Names this part of the session among those of all processes. Random, where that can be had.
    pub part: Option<[u8; 7]>,
    /// How long clients wait before they come back for more.
    pub retry: Duration,
    /// What is known of the session where processes share it.
    pub place: Option<Place>,
}

/// The cancel of a request that has not come.
#[derive(Debug)]
struct Early {
    request: RequestId,
    text: Vec<u8>,
    came: Instant,
}

#[derive(Debug)]
struct Followed {
    pipe: Arc<Pipe>,
    /// It is the stream of a GET.
    stands: bool,
}

#[derive(Debug)]
struct Stream {
    key: StreamKey,
    pipe: Arc<Pipe>,
    mode: Mode,
    /// It is an event stream, and its reader may know.
    begun: bool,
    /// Names its events, where they are kept.
    reply: Option<ReplyStream>,
    /// Answers that are still to come.
    pending: usize,
    batch: bool,
    /// Those of a batch that are here.
    answers: Vec<Vec<u8>>,
    /// The head of the POST.
    carrier: Option<Arc<Parts>>,
}

impl Stream {
    fn new(key: StreamKey, mode: Mode, pending: usize, batch: bool) -> Self {
        Self {
            key,
            pipe: Arc::default(),
            mode,
            begun: false,
            reply: None,
            pending,
            batch,
            answers: Vec::new(),
            carrier: None,
        }
    }

    /// Makes an event stream of it.
    fn begin(
        &mut self,
        keeping: Option<&Keeping>,
        revision: Option<Revision>,
        requests: impl FnOnce() -> Vec<RequestId>,
    ) {
        self.begun = true;
        let Some(keeping) = keeping else {
            return self.pipe.begin_events();
        };
        // Without random bytes, a stream that has no name cannot be resumed; all else works.
        let Some(part) = keeping.part else {
            return self.pipe.begin_events();
        };
        let mut name = [0; 12];
        name[..7].copy_from_slice(&part);
        name[7..].copy_from_slice(&self.key.0.to_be_bytes()[3..]);
        let mut reply = ReplyStream::new(name);
        let requests = if keeping.state.is_shared() {
            requests()
        } else {
            Vec::new()
        };
        keeping.state.begin_stream(&keeping.session, reply.name(), requests);
        if revision.is_some_and(primes) {
            let id = reply.next_id();
            self.pipe.push(&primer(&id, keeping.retry));
            keeping.append(id, "", None);
        }
        self.reply = Some(reply);
        self.pipe.begin_events();
    }

    /// Sends a message. False when nobody gets it now.
    fn send(&mut self, line: &[u8], keeping: Option<&Keeping>, answers: Option<&RequestId>) -> bool {
        let (id, line) = (self.reply.as_mut().map(ReplyStream::next_id), text_of(line));
        let heard = self.pipe.push(&event(id.as_ref(), &line));
        if let (Some(id), Some(keeping)) = (id, keeping) {
            keeping.append(id, &line, answers);
        }
        heard
    }

    fn finish(&self, keeping: Option<&Keeping>) {
        let (Some(reply), Some(keeping)) = (&self.reply, keeping) else {
            return self.pipe.end();
        };
        keeping.state.finish(&keeping.session, reply.name());
        self.pipe.end_kept(Receipt {
            state: Arc::clone(&keeping.state),
            session: Arc::clone(&keeping.session),
            stream: Arc::clone(reply.name()),
        });
    }

    fn is_named(&self, name: &str) -> bool {
        self.reply.as_ref().is_some_and(|reply| **reply.name() == *name)
    }
}

impl Keeping {
    fn append(&self, id: EventId, line: &str, answers: Option<&RequestId>) {
        self.state.append(&self.session, id, line.into(), answers);
    }
}

impl Desk {
    /// One whose event streams are kept.
    pub(super) fn new(keeping: Option<Keeping>) -> Self {
        Self {
            keeping,
            ..Self::default()
        }
    }

    /// Expects the answers to these requests, and `more` that are here already. `None` when one of the
    /// requests is in work already, or the connection is closed.
    pub(super) fn expect<'r>(
        &mut self,
        carrier: &Arc<Parts>,
        requests: impl Iterator<Item = &'r RequestId> + Clone,
        more: Vec<Vec<u8>>,
        batch: bool,
        mode: Mode,
    ) -> Option<(StreamKey, Arc<Pipe>)> {
        if self.closed || requests.clone().any(|id| self.requests.contains_key(id)) {
            return None;
        }
        self.last += 1;
        let key = StreamKey(self.last);
        let mut stream = Stream::new(key, mode, requests.clone().count(), batch);
        stream.carrier = Some(Arc::clone(carrier));
        let pipe = Arc::clone(&stream.pipe);
        for id in requests {
            self.requests.insert(id.clone(), key);
        }
        self.streams.push(stream);
        for line in more {
            self.answer(key, None, line);
        }
        Some((key, pipe))
    }

    fn place_of(&self, key: StreamKey) -> Option<usize> {
        self.streams.iter().position(|stream| stream.key == key)
    }

    fn stream(&self, key: StreamKey) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.key == key)
    }

    fn stream_mut(&mut self, key: StreamKey) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.key == key)
    }

    /// The head of the HTTP request that brought a request which is in work.
    pub(super) fn carrier(&self, request: &RequestId) -> Option<Arc<Parts>> {
        if self.one_stream.is_some() {
            return self.one_stream.clone();
        }
        self.stream(*self.requests.get(request)?)?.carrier.clone()
    }

    /// Takes a message of the connection to where it belongs.
    pub(super) fn deliver(&mut self, request: Option<&RequestId>, answers: bool, line: Vec<u8>) {
        if self.one_stream.is_some() {
            return self.stand(line);
        }
        let key = match (request, answers) {
            (Some(request), true) => self.requests.remove(request),
            (Some(request), false) => self.requests.get(request).copied(),
            (None, _) => None,
        };
        match key {
            Some(key) if answers => {
                if let Some(stream) = self.stream_mut(key) {
                    stream.pending = stream.pending.saturating_sub(1);
                }
                self.answer(key, request, line);
            }
            Some(key) => self.say(key, line),
            // An answer that nobody waits for any more.
            None if answers => {}
            None => self.stand(line),
        }
    }

    fn answer(&mut self, key: StreamKey, request: Option<&RequestId>, line: Vec<u8>) {
        let Some(at) = self.place_of(key) else { return };
        let stream = &mut self.streams[at];
        let mut only = None;
        if stream.begun {
            stream.send(&line, self.keeping.as_ref(), request);
        } else if stream.batch {
            stream.answers.push(line);
        } else {
            only = Some(line);
        }
        if stream.pending > 0 {
            return;
        }
        let mut stream = self.streams.swap_remove(at);
        if self.streams.is_empty() {
            self.lingers = None;
        }
        if stream.begun {
            return stream.finish(self.keeping.as_ref());
        }
        let answers = std::mem::take(&mut stream.answers);
        stream.pipe.answer(match stream.mode {
            Mode::Events => Answers::Events(
                only.iter()
                    .chain(&answers)
                    .flat_map(|line| event(None, &text_of(line)))
                    .collect(),
            ),
            Mode::Json | Mode::Either => only.map_or(Answers::Batch(answers), Answers::One),
        });
    }

    fn say(&mut self, key: StreamKey, line: Vec<u8>) {
        match self.stream(key).map(|stream| stream.mode) {
            Some(Mode::Json) => self.stand(line),
            Some(_) => {
                self.begin(key);
                let stream = self.streams.iter_mut().find(|stream| stream.key == key);
                if let Some(stream) = stream {
                    stream.send(&line, self.keeping.as_ref(), None);
                }
            }
            None => {}
        }
    }

    /// Makes an event stream of a response that has not begun, if it may be one.
    pub(super) fn begin(&mut self, key: StreamKey) {
        let mut streams = self.streams.iter_mut();
        let Some(stream) = streams.find(|it| it.key == key && it.mode != Mode::Json && !it.begun) else {
            return;
        };
        let requests = &self.requests;
        let mine = || requests.iter().filter(|(_, its)| **its == key);
        stream.begin(self.keeping.as_ref(), self.revision, || {
            mine().map(|(id, _)| id.clone()).collect()
        });
        for line in std::mem::take(&mut stream.answers) {
            stream.send(&line, self.keeping.as_ref(), None);
        }
    }

    /// A handler lets go of the response to its request: the client comes back for the rest.
    pub(super) fn let_go(&mut self, request: &RequestId) {
        if self.keeping.is_none() || !self.revision.is_some_and(primes) {
            return;
        }
        let Some(key) = self.requests.get(request).copied() else {
            return;
        };
        self.begin(key);
        if let Some(stream) = self.stream(key).filter(|it| it.begun) {
            stream.pipe.end();
        }
    }

    /// The client wants no answer any more. False when no such request is in work.
    pub(super) fn abandon(&mut self, request: &RequestId) -> bool {
        let Some(key) = self.requests.remove(request) else {
            return false;
        };
        if let Some(at) = self.place_of(key) {
            self.streams[at].pending -= 1;
            if self.streams[at].pending == 0 {
                self.streams.swap_remove(at).finish(self.keeping.as_ref());
            }
        }
        true
    }

    /// Keeps the cancel of a request that has not come, in case it is on its way.
    pub(super) fn keep_cancel(&mut self, request: RequestId, text: &[u8]) {
        if self.early.len() == EARLY {
            self.early.pop_front();
        }
        self.early.push_back(Early {
            request,
            text: text.into(),
            came: Instant::now(),
        });
    }

    /// The cancels of requests that came before them.
    pub(super) fn take_cancels<'r>(
        &mut self,
        requests: impl Iterator<Item = &'r RequestId> + Clone,
    ) -> Vec<(RequestId, Vec<u8>)> {
        if self.early.is_empty() {
            return Vec::new();
        }
        self.early.retain(|early| early.came.elapsed() < EARLY_FOR);
        let (found, early) = std::mem::take(&mut self.early)
            .into_iter()
            .partition::<VecDeque<_>, _>(|early| requests.clone().any(|request| *request == early.request));
        self.early = early;
        found.into_iter().map(|early| (early.request, early.text)).collect()
    }

    /// Sends what belongs to no request.
    fn stand(&mut self, line: Vec<u8>) {
        let keeping = self.keeping.as_ref();
        if let Some(keeping) = keeping.filter(|it| it.state.is_shared()) {
            // News come to each process that has the session, and to the stream when it is opened.
            if !is_news(&line) || self.followed.iter().any(|it| it.stands) {
                keeping.state.post(&keeping.session, text_of(&line).into());
            }
            return;
        }
        let stands = |stream: &mut Stream| stream.send(&line, keeping, None);
        if self.standing.as_mut().is_some_and(stands) {
            return;
        }
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(line);
    }

    /// Opens the stream of a GET, in place of an older one. `first` is its first event.
    pub(super) fn open_standing(&mut self, first: Option<&[u8]>) -> Arc<Pipe> {
        if let Some(before) = self.standing.take() {
            before.finish(self.keeping.as_ref());
        }
        self.last += 1;
        let mut stream = Stream::new(StreamKey(self.last), Mode::Events, 0, false);
        stream.begin(self.keeping.as_ref(), self.revision, Vec::new);
        if let Some(first) = first {
            stream.pipe.push(first);
        }
        for line in std::mem::take(&mut self.waiting) {
            stream.send(&line, self.keeping.as_ref(), None);
        }
        let pipe = Arc::clone(&stream.pipe);
        if self.closed {
            pipe.end();
        }
        self.standing = Some(stream);
        pipe
    }

    /// Ends the stream of a GET.
    pub(super) fn end_standing(&mut self) {
        if let Some(stream) = self.standing.take() {
            stream.finish(self.keeping.as_ref());
        }
        for followed in self.followed.drain(..) {
            followed.pipe.end();
        }
    }

    /// Goes on with a stream after an event.
    pub(super) fn resume(&mut self, after: EventId) -> Result<Arc<Pipe>, Refusal> {
        let Some(keeping) = &self.keeping else {
            return Err(Refusal::cannot_resume());
        };
        let name = Arc::clone(&after.stream);
        let replayed = keeping.state.replay(&keeping.session, &after);
        let Some(EventReply::Replayed { events, finished }) = replayed else {
            return Err(Refusal::cannot_resume());
        };
        let pipe = Arc::new(Pipe::default());
        for (number, data) in events {
            let stream = Arc::clone(&name);
            pipe.push(&event(Some(&EventId { stream, number }), &data));
        }
        pipe.begin_events();
        let standing = self.standing.as_mut().filter(|stream| stream.is_named(&name));
        let stands = standing.is_some();
        let stream = standing.or_else(|| self.streams.iter_mut().find(|stream| stream.is_named(&name)));
        match stream {
            Some(stream) if !finished && !self.closed => {
                stream.pipe.end();
                stream.pipe = Arc::clone(&pipe);
            }
            _ => pipe.end(),
        }
        if stands {
            // It was kept as well.
            self.waiting.clear();
        }
        Ok(pipe)
    }

    /// Bytes that wait to be read.
    pub(super) fn backlog(&self) -> usize {
        let streams = self.streams.iter().chain(&self.standing);
        streams.map(|stream| stream.pipe.waiting()).sum()
    }

    /// Keeps the connection until all is answered.
    pub(super) fn linger(&mut self, connection: &Arc<Connection>) {
        if !self.streams.is_empty() {
            self.lingers = Some(Arc::clone(connection));
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The connection is closed: ends all responses.
    pub(super) fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.requests.clear();
        self.early.clear();
        self.waiting.clear();
        self.lingers = None;
        let named = self.streams.iter().filter_map(|stream| stream.reply.as_ref());
        let unfinished = named.map(|reply| Arc::clone(reply.name())).collect();
        for stream in self.streams.drain(..) {
            stream.pipe.end();
        }
        if let Some(stream) = self.standing.take() {
            stream.pipe.end();
        }
        for followed in self.followed.drain(..) {
            followed.pipe.end();
        }
        if let Some(keeping) = &self.keeping {
            keeping.state.give_up(&keeping.session, unfinished);
        }
    }

    // Where processes share the session.

    pub(super) fn place(&self) -> Option<Place> {
        self.keeping.as_ref()?.place
    }

    pub(super) fn set_place(&mut self, place: Place) {
        if let Some(keeping) = &mut self.keeping {
            keeping.place = Some(place);
        }
    }

    /// Whether a request is in work here.
    pub(super) fn has(&self, request: &RequestId) -> bool {
        self.requests.contains_key(request)
    }

    /// Whether anything is in work here.
    pub(super) fn works(&self) -> bool {
        !self.streams.is_empty()
    }

    /// A stream is read here that is written elsewhere, or by many. `stands` tells whether it may be that of a GET.
    pub(super) fn follow(&mut self, pipe: &Arc<Pipe>, stands: bool) {
        let pipe = Arc::clone(pipe);
        if self.closed {
            pipe.end();
        }
        self.followed.push(Followed { pipe, stands });
    }

    /// It is not that of a GET.
    pub(super) fn stands_not(&mut self, pipe: &Arc<Pipe>) {
        for followed in &mut self.followed {
            followed.stands &= !Arc::ptr_eq(&followed.pipe, pipe);
        }
    }

    /// It is read no longer.
    pub(super) fn unfollow(&mut self, pipe: &Arc<Pipe>) {
        self.followed.retain(|followed| !Arc::ptr_eq(&followed.pipe, pipe));
    }

    /// The client reads this stream elsewhere.
    pub(super) fn resumed_elsewhere(&self, name: &str) {
        if let Some(stream) = self.streams.iter().find(|stream| stream.is_named(name)) {
            stream.pipe.end();
        }
    }
}

/// Whether a message tells of what all clients may want to know.
fn is_news(line: &[u8]) -> bool {
    match Message::parse(line, usize::MAX) {
        Ok(Message::Notification { method, .. }) => {
            method == "notifications/resources/updated" || Kind::ALL.iter().any(|kind| kind.changed() == method)
        }
        _ => false,
    }
}

/// The event that a stream begins with, so that it can be resumed before anything is said.
pub(super) fn primer(id: &EventId, retry: Duration) -> Vec<u8> {
    // In one event, so that nobody sees the one without the other.
    let mut first = Vec::with_capacity(64);
    first.extend_from_slice(b"retry: ");
    first.extend_from_slice(retry.as_millis().to_string().as_bytes());
    first.push(b'\n');
    add_event(&mut first, Some(id), "");
    first
}

/// The text of an event.
pub(super) fn event(id: Option<&EventId>, line: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len() + 48);
    add_event(&mut text, id, line);
    text
}

fn add_event(text: &mut Vec<u8>, id: Option<&EventId>, line: &str) {
    let id = id.map(EventId::to_text);
    let written = write_event(text, id.as_deref(), None, line);
    debug_assert!(written.is_ok(), "our ids have no line breaks");
}

/// What we write is UTF-8.
fn text_of(line: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}
