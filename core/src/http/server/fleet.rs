//! A service that is one of several processes: sessions that began elsewhere, messages for what runs elsewhere, and
//! streams that are written elsewhere.

use std::sync::Arc;

use http::request::Parts;
use oxmcp_proto::http::{EventId, Refusal, SESSION_FIELD, is_session_id, primes};
use oxmcp_proto::jsonrpc::{Message, RequestId};
use oxmcp_proto::{Terms, TermsSet};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::body::{Leaving, Reader};
use super::connection::Connection;
use super::desk::{event, primer};
use super::pipe::Pipe;
use super::refuse;
use super::shared::{Hold, Shared};
use super::state::{Addressee, Feed, Note, Place, Process, TermsChange, Visit};

impl Shared {
    /// Learns of the session that a request names: it may have begun elsewhere, or changed, or ended.
    pub(super) async fn learn(self: &Arc<Self>, parts: &Parts) -> Result<(), Refusal> {
        if !self.endpoint.sessions {
            return Ok(());
        }
        let named = parts
            .headers
            .get(SESSION_FIELD)
            .and_then(|session| session.to_str().ok());
        match named.filter(|session| is_session_id(session)) {
            Some(session) => self.learn_of(&session.into()).await,
            None => Ok(()),
        }
    }

    async fn learn_of(self: &Arc<Self>, session: &Arc<str>) -> Result<(), Refusal> {
        let here = self.local(session);
        let place = here.as_ref().and_then(|connection| connection.desk().place());
        let visit = self.state.visit(session, place).await.map_err(refuse::state)?;
        match (visit, here) {
            (None, _) => self.end_local(session, "the session has ended"),
            (Some(visit), Some(connection)) => connection.catch_up(visit),
            (Some(visit), None) => self.restore(session, visit)?,
        }
        Ok(())
    }

    /// Goes on with a session that began elsewhere.
    fn restore(self: &Arc<Self>, session: &Arc<str>, visit: Visit) -> Result<(), Refusal> {
        let Visit { place, terms } = visit;
        let terms = terms.ok_or_else(Refusal::no_such_session)?;
        let connection = self.connect(true, Some(session));
        // One that cannot go on here is one of a server that offers something else.
        connection
            .restore(terms, place)
            .map_err(|_| Refusal::no_such_session())?;
        if !self.add_local(session, connection)? {
            self.state.forget_session(session, place);
        }
        Ok(())
    }

    /// A session has begun here: lets other processes know before its client does.
    pub(super) async fn begin_shared(
        self: &Arc<Self>,
        session: &Arc<str>,
        connection: &Arc<Connection>,
    ) -> Result<(), Refusal> {
        let Some(terms) = connection.terms() else {
            return Ok(());
        };
        if let Err(error) = self.state.begin_session(session, terms).await {
            self.end_local(session, "the session could not be shared");
            return Err(refuse::state(error));
        }
        connection.desk().set_place(Place { number: 0, version: 0 });
        Ok(())
    }

    /// Goes on with a stream of a session after an event, or with the one for what belongs to no request.
    pub(super) async fn follow(
        &self,
        session: Arc<str>,
        connection: Arc<Connection>,
        hold: Hold,
        after: Option<EventId>,
    ) -> Result<Reader, Refusal> {
        let begins = after.is_none();
        let follower = Follower::new(&connection, self.config.limits.backlog);
        let pipe = Arc::clone(&follower.pipe);
        let feed = Arc::clone(&follower.feed);
        let following = self.state.follow(&session, after, feed).await.map_err(refuse::state)?;
        if following.stands {
            if begins && connection.revision().is_some_and(primes) {
                pipe.push(&primer(&following.after, self.settings.retry));
            }
            // They come by the stream.
            for announcement in &following.missed {
                connection.announce(announcement);
            }
        } else {
            connection.desk().stands_not(&pipe);
        }
        pipe.begin_events();
        let task = tokio::spawn(async move {
            let _follower = follower;
            following.task.await;
        });
        Ok(Reader {
            connection,
            pipe,
            leaving: Leaving::Pauses,
            _hold: Some(hold.with_task(task.abort_handle())),
        })
    }
}

/// Who follows a stream, until it is dropped.
struct Follower {
    connection: Arc<Connection>,
    pipe: Arc<Pipe>,
    feed: Arc<dyn Feed>,
}

impl Follower {
    fn new(connection: &Arc<Connection>, backlog: usize) -> Self {
        let pipe = Arc::new(Pipe::default());
        // Before anything is read, so that no news comes in between.
        connection.desk().follow(&pipe, true);
        Self {
            connection: Arc::clone(connection),
            feed: Arc::new(PipeFeed {
                pipe: Arc::clone(&pipe),
                backlog,
            }),
            pipe,
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.connection.desk().unfollow(&self.pipe);
    }
}

struct PipeFeed {
    pipe: Arc<Pipe>,
    backlog: usize,
}

impl Feed for PipeFeed {
    fn event(&self, id: &EventId, data: &str) -> bool {
        // Who reads too slowly comes back for the rest.
        if self.pipe.waiting() > self.backlog {
            self.pipe.end();
        }
        self.pipe.push(&event(Some(id), data))
    }

    fn end(&self) {
        self.pipe.end();
    }
}

/// What is left to do for other processes once a POST was taken in.
#[derive(Debug)]
pub(super) struct Errands {
    session: Arc<str>,
    messages: Vec<(Addressee, String)>,
    /// What the client may have changed: its log level, or the subscription to a resource.
    sets: Vec<Option<Box<str>>>,
    changes: Vec<TermsChange>,
}

impl Errands {
    /// For a session that processes share.
    pub(super) fn new(session: &str) -> Self {
        Self {
            session: session.into(),
            messages: Vec::new(),
            sets: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Whether there is anything to do.
    pub(super) fn has_any(&self) -> bool {
        !self.messages.is_empty() || !self.sets.is_empty()
    }

    /// Looks at a message of the client. False when it is not for this process.
    pub(super) fn take(&mut self, connection: &Connection, text: &[u8], message: &Message<'_>) -> bool {
        if let Some(addressee) = addressee(connection, message) {
            self.messages
                .push((addressee, String::from_utf8_lossy(text).into_owned()));
            return false;
        }
        if let Message::Request { method, params, .. } = message
            && TermsSet::changes_by(method)
        {
            self.sets.push(params.text().and_then(uri_of));
        }
        true
    }

    /// Takes note of what is set now that the messages were taken in, before it is set anew from elsewhere.
    pub(super) fn note(&mut self, connection: &Connection) {
        let sets = std::mem::take(&mut self.sets);
        if sets.is_empty() {
            return;
        }
        let now = connection.terms_set();
        self.changes = sets
            .into_iter()
            .map(|set| match set {
                None => TermsChange::LogLevel(now.log_level),
                Some(uri) if now.subscribed.contains(&uri) => TermsChange::Subscribed(uri),
                Some(uri) => TermsChange::Unsubscribed(uri),
            })
            .collect();
    }

    /// Does what is to do. The client gets its answer after that, so that what it does next finds it done.
    pub(super) async fn run(self, shared: &Shared) -> Result<(), Refusal> {
        for (addressee, message) in self.messages {
            let forwarded = shared.state.forward(&self.session, addressee, message);
            forwarded.await.map_err(refuse::state)?;
        }
        for change in self.changes {
            let set = shared.state.set(&self.session, change);
            set.await.map_err(refuse::state)?;
        }
        Ok(())
    }
}

/// The process that a message is for, if it is another one.
fn addressee(connection: &Connection, message: &Message<'_>) -> Option<Addressee> {
    let place = connection.desk().place()?;
    let of = |id: &RequestId| {
        let number = Terms::session_of(id)?;
        (number != place.number).then_some(Addressee::Number(number))
    };
    match message {
        Message::Result { id, .. } | Message::Error { id: Some(id), .. } => of(id),
        Message::Notification { method, params } => match &**method {
            "notifications/progress" => of(&member(params.as_ref()?, "progressToken")?),
            "notifications/cancelled" => {
                let request = member(params.as_ref()?, "requestId")?;
                (!connection.desk().has(&request)).then_some(Addressee::Others)
            }
            _ => None,
        },
        Message::Request { .. } | Message::Error { id: None, .. } => None,
    }
}

/// An id in the params of a notification.
pub(super) fn member(params: &RawValue, name: &str) -> Option<RequestId> {
    let params: std::collections::HashMap<String, &RawValue> = serde_json::from_str(params.get()).ok()?;
    // An id is read as that of a request, so that both are the same.
    let request = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, params.get(name)?);
    match Message::parse(request.as_bytes(), 1) {
        Ok(Message::Request { id, .. }) => Some(id),
        _ => None,
    }
}

fn uri_of(params: &str) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Params {
        uri: Box<str>,
    }
    let params: Params = serde_json::from_str(params).ok()?;
    Some(params.uri)
}

impl Process for Shared {
    fn hear(self: Arc<Self>, note: Note) {
        match note {
            Note::Message { session, message } => self.hear_message(&session, &message),
            Note::Set(session) => {
                if let Some(runtime) = self.runtime().cloned() {
                    // What cannot be learned now is learned at the next request.
                    runtime.spawn(async move { drop(self.learn_if_here(&session).await) });
                }
            }
            Note::Ended(session) => self.end_local(&session, "the session has ended"),
            Note::Resumed { session, stream } => {
                if let Some(connection) = self.local(&session) {
                    connection.desk().resumed_elsewhere(&stream);
                }
            }
            Note::Announced(announcement) => {
                for connection in self.connections() {
                    connection.announce(&announcement);
                }
            }
        }
    }

    fn in_use(&self) -> Vec<(Arc<str>, Place)> {
        self.used()
    }
}

impl Shared {
    async fn learn_if_here(self: &Arc<Self>, session: &Arc<str>) -> Result<(), Refusal> {
        match self.local(session) {
            Some(_) => self.learn_of(session).await,
            None => Ok(()),
        }
    }

    /// Takes in a message that arrived at another process.
    fn hear_message(&self, session: &str, message: &str) {
        let Some(connection) = self.local(session) else { return };
        connection.receive(message.as_bytes());
        if let Ok(Message::Notification { method, params }) =
            Message::parse(message.as_bytes(), self.endpoint.json_depth)
            && method == "notifications/cancelled"
            && let Some(request) = params.and_then(|params| member(params, "requestId"))
        {
            connection.desk().abandon(&request);
        }
    }
}
