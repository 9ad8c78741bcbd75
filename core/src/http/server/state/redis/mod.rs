//! A state that processes share by a Redis server.

mod follow;
mod node;
mod note;
mod outbox;
mod scripts;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oxmcp_proto::http::{EventId, EventReply};
use oxmcp_proto::jsonrpc::RequestId;
use oxmcp_proto::{Error, ErrorKind, LogLevel, Terms, TermsSet};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, Script, Value};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

use self::outbox::{Outbox, Write};
use super::{
    Addressee, Announcement, Feed, Following, Later, Place, Process, SharedState, StateError, StateLimits, TermsChange,
    Visit,
};

/// What several processes of one server share, in Redis 6.2 or newer: for
/// [`HttpBuilder::shared`](crate::http::HttpBuilder::shared).
///
/// Each process connects to the same server, with the same prefix. All keys have an end, so that nothing stays of a
/// process that was killed.
///
/// ```no_run
/// use oxmcp::http::RedisState;
/// use oxmcp::{Keyring, SealKey, Server};
///
/// # async fn run(secret: [u8; 32]) -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new("demo", "1.0").state_keys(Keyring::new(SealKey::from_bytes(&secret)?));
/// let shared = RedisState::connect("redis://127.0.0.1/").await?;
/// server.http().shared(shared).bind(8000).await?.await?;
/// # Ok(())
/// # }
/// ```
pub struct RedisState {
    inner: Arc<Inner>,
    tasks: Vec<AbortHandle>,
}

/// How to connect to a Redis server, from [`RedisState::at`].
#[derive(Clone, Debug)]
pub struct RedisOptions {
    url: String,
    prefix: String,
    lease: Duration,
    patience: Duration,
}

/// What the tasks of a process share.
struct Inner {
    client: Client,
    manager: ConnectionManager,
    options: RedisOptions,
    /// The name of this process.
    node: String,
    joined: OnceLock<(Weak<dyn Process>, StateLimits)>,
    outbox: Outbox,
    /// Streams that are written here, with their sessions.
    writes: Mutex<HashMap<Arc<str>, Arc<str>>>,
    /// Those who wait for more of a stream.
    followers: Mutex<HashMap<Arc<str>, Vec<Arc<Notify>>>>,
    /// Since when the lease has been renewed without a gap; before that, others may have had no chance to renew
    /// theirs either.
    steady: Mutex<Option<tokio::time::Instant>>,
    /// The number of the last announcement that was heard.
    heard: AtomicU64,
    /// Whether this process hears what it is told.
    hears: watch::Sender<bool>,
    tokens: AtomicU64,
    /// It is there no longer.
    left: AtomicBool,
}

impl RedisState {
    /// Connects with the defaults to the Redis server at `url`, such as `redis://:password@127.0.0.1:6379/0`.
    ///
    /// # Errors
    /// As for [`RedisOptions::connect`].
    pub async fn connect(url: impl Into<String>) -> Result<Self, Error> {
        Self::at(url).connect().await
    }

    /// How to connect.
    pub fn at(url: impl Into<String>) -> RedisOptions {
        RedisOptions {
            url: url.into(),
            prefix: "oxmcp:".into(),
            lease: Duration::from_secs(10),
            patience: Duration::from_secs(2),
        }
    }
}

impl RedisOptions {
    /// What all keys and channels begin with; `oxmcp:` unless set. Servers that share a Redis server and are not the
    /// same need different ones.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// After how long a process that says nothing counts as dead; ten seconds unless set. Clients that resume the
    /// stream of a call that ran in it are then told that the call is lost.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long a request waits for Redis before it is refused; two seconds unless set.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Connects. From then on a lost connection is made anew by itself.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the URL is none, or a time is zero; [`ErrorKind::Closed`] when nobody answers there.
    pub async fn connect(self) -> Result<RedisState, Error> {
        let usage = |what: String| Error::new(ErrorKind::Usage, what);
        if self.lease < Duration::from_millis(10) || self.patience.is_zero() {
            return Err(usage("the lease and the patience of a RedisState must be times".into()));
        }
        let client = Client::open(&*self.url)
            .map_err(|error| usage(format!("the address of the Redis server is wrong: {error}")))?;
        let closed = |why: String| {
            let message = format!("the Redis server does not answer: {why}; does it run, and may this process use it?");
            Error::new(ErrorKind::Closed, message)
        };
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(self.patience))
            .set_response_timeout(Some(self.patience))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(500));
        let manager = tokio::time::timeout(self.patience * 2, client.get_connection_manager_with_config(config)).await;
        let manager = manager
            .map_err(|_| closed("the time was over".into()))?
            .map_err(|error| closed(error.to_string()))?;
        let node = random_name().ok_or_else(|| closed("the system gives no random bytes".into()))?;
        let (outbox, writes) = Outbox::new();
        let inner = Arc::new(Inner {
            client,
            manager,
            options: self,
            node,
            joined: OnceLock::new(),
            outbox,
            writes: Mutex::default(),
            followers: Mutex::default(),
            steady: Mutex::default(),
            heard: AtomicU64::new(0),
            hears: watch::Sender::new(false),
            tokens: AtomicU64::new(0),
            left: AtomicBool::new(false),
        });
        inner.begin().await.map_err(|error| closed(error.to_string()))?;
        let tasks = vec![
            tokio::spawn(node::listen(Arc::downgrade(&inner))).abort_handle(),
            tokio::spawn(node::beat(Arc::downgrade(&inner))).abort_handle(),
            tokio::spawn(node::keep(Arc::downgrade(&inner))).abort_handle(),
            tokio::spawn(outbox::write(Arc::downgrade(&inner), writes)).abort_handle(),
        ];
        inner.is_heard().await.map_err(|error| closed(error.to_string()))?;
        Ok(RedisState { inner, tasks })
    }
}

impl Inner {
    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}{kind}:{name}", self.options.prefix)
    }

    fn limits(&self) -> StateLimits {
        // Nothing is asked of it before a service has it.
        self.joined.get().map_or(
            StateLimits {
                sessions: 0,
                idle: Duration::from_secs(1),
                events: oxmcp_proto::http::EventLimits::default(),
            },
            |(_, limits)| *limits,
        )
    }

    fn process(&self) -> Option<Arc<dyn Process>> {
        self.joined.get()?.0.upgrade()
    }

    fn idle(&self) -> u64 {
        millis(self.limits().idle)
    }

    /// How long a finished stream is kept.
    fn keep(&self) -> u64 {
        millis(self.limits().events.keep_finished)
    }

    /// How long a stream that is written may go without a sign of its process.
    fn running(&self) -> u64 {
        self.keep().max(millis(self.options.lease * 3))
    }

    /// Runs a script, in bounded time.
    async fn run<T: FromRedisValue>(&self, script: &Script, args: &[&[u8]]) -> Result<T, StateError> {
        let mut manager = self.manager.clone();
        let mut call = script.prepare_invoke();
        call.key(&*self.options.prefix);
        for arg in args {
            call.arg(*arg);
        }
        let called = tokio::time::timeout(self.options.patience, call.invoke_async(&mut manager)).await;
        called
            .map_err(|_| StateError::Unavailable("it does not answer in time".into()))?
            .map_err(|error| unavailable(&error))
    }

    async fn visit(&self, session: &str, here: Option<Place>) -> Result<Option<Visit>, StateError> {
        let known = here.map_or("-1".to_owned(), |place| place.version.to_string());
        let number = here.map_or("-1".to_owned(), |place| place.number.to_string());
        let answer: Vec<Value> = self
            .run(
                &scripts::VISIT,
                &[
                    session.as_bytes(),
                    scripts::LAYOUT.to_string().as_bytes(),
                    self.node.as_bytes(),
                    self.idle().to_string().as_bytes(),
                    known.as_bytes(),
                    number.as_bytes(),
                ],
            )
            .await?;
        read_visit(answer).map_err(|error| unavailable(&error))
    }

    fn writes(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<str>>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followers(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Arc<Notify>>>> {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn stored(&self) {
        // It is stored later, then, or the process ends without.
        let _ = tokio::time::timeout(self.options.patience, self.outbox.flush()).await;
    }

    /// Whether a lease that is over can be told from one that could not be renewed.
    fn is_steady(&self) -> bool {
        let steady = self.steady.lock().unwrap_or_else(PoisonError::into_inner);
        steady.is_some_and(|since| since.elapsed() >= self.options.lease)
    }
}

impl SharedState for RedisState {
    fn is_shared(&self) -> bool {
        true
    }

    fn join(&self, process: Weak<dyn Process>, limits: StateLimits) -> Result<(), Error> {
        self.inner.joined.set((process, limits)).map_err(|_| {
            let message = "a RedisState serves one service; connect another one for the other service";
            Error::new(ErrorKind::Usage, message)
        })
    }

    fn leave(&self) -> Later<()> {
        let inner = Arc::clone(&self.inner);
        Later::then(async move {
            inner.stored().await;
            inner.left.store(true, Ordering::Release);
            // Others find out by themselves if they cannot be told.
            let _ = inner.retire().await;
        })
    }

    fn begin_stream(&self, session: &Arc<str>, stream: &Arc<str>, requests: Vec<RequestId>) {
        self.inner.writes().insert(Arc::clone(stream), Arc::clone(session));
        self.inner.outbox.add(Write::Begin {
            session: Arc::clone(session),
            stream: Arc::clone(stream),
            requests,
        });
    }

    fn append(&self, session: &Arc<str>, id: EventId, data: Arc<str>, answers: Option<&RequestId>) {
        self.inner.outbox.add(Write::Append {
            session: Arc::clone(session),
            id,
            data,
            answers: answers.map(ToString::to_string),
        });
    }

    fn stored(&self) -> Later<()> {
        let inner = Arc::clone(&self.inner);
        Later::then(async move { inner.stored().await })
    }

    fn finish(&self, session: &Arc<str>, stream: &Arc<str>) {
        self.inner.writes().remove(stream);
        self.inner.outbox.add(Write::Finish {
            session: Arc::clone(session),
            stream: Arc::clone(stream),
        });
    }

    /// It goes when its time is over; to say so earlier would cost a command for each response.
    fn taken(&self, _: &Arc<str>, _: &Arc<str>) {}

    fn give_up(&self, session: &Arc<str>, streams: Vec<Arc<str>>) {
        let mut writes = self.inner.writes();
        for stream in &streams {
            writes.remove(stream);
        }
        drop(writes);
        if !streams.is_empty() {
            let session = Arc::clone(session);
            self.inner.outbox.add(Write::GiveUp { session, streams });
        }
    }

    fn replay(&self, _: &Arc<str>, _: &EventId) -> Option<EventReply> {
        None
    }

    fn begin_session(&self, session: &Arc<str>, terms: Terms) -> Later<Result<(), StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(async move {
            let begun: u32 = inner
                .run(
                    &scripts::BEGIN_SESSION,
                    &[
                        session.as_bytes(),
                        scripts::LAYOUT.to_string().as_bytes(),
                        terms.to_json().as_bytes(),
                        terms.set.log_level.name().as_bytes(),
                        inner.node.as_bytes(),
                        inner.idle().to_string().as_bytes(),
                        inner.limits().sessions.to_string().as_bytes(),
                    ],
                )
                .await?;
            if begun == 1 { Ok(()) } else { Err(StateError::Full) }
        })
    }

    fn visit(&self, session: &Arc<str>, here: Option<Place>) -> Later<Result<Option<Visit>, StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(async move { inner.visit(&session, here).await })
    }

    fn set(&self, session: &Arc<str>, change: TermsChange) -> Later<Result<(), StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(async move {
            let (what, value) = match &change {
                TermsChange::LogLevel(level) => ("level", level.name()),
                TermsChange::Subscribed(uri) => ("add", &**uri),
                TermsChange::Unsubscribed(uri) => ("remove", &**uri),
            };
            let set: u32 = inner
                .run(
                    &scripts::SET,
                    &[
                        session.as_bytes(),
                        inner.node.as_bytes(),
                        inner.idle().to_string().as_bytes(),
                        note::set(&session).as_bytes(),
                        what.as_bytes(),
                        value.as_bytes(),
                    ],
                )
                .await?;
            if set == 1 { Ok(()) } else { Err(StateError::Gone) }
        })
    }

    fn end_session(&self, session: &Arc<str>) -> Later<Result<(), StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(async move {
            let note = note::ended(&session);
            let args = [session.as_bytes(), inner.node.as_bytes(), note.as_bytes()];
            inner.run(&scripts::END_SESSION, &args).await
        })
    }

    fn forget_session(&self, session: &Arc<str>, place: Place) {
        self.inner.outbox.add(Write::Forget {
            session: Arc::clone(session),
            number: place.number,
        });
    }

    fn forward(&self, session: &Arc<str>, to: Addressee, message: String) -> Later<Result<(), StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(async move {
            let to = match to {
                Addressee::Number(number) => number.to_string(),
                Addressee::Others => "-1".to_owned(),
            };
            let note = note::message(&session, &message);
            let args = [
                session.as_bytes(),
                inner.node.as_bytes(),
                to.as_bytes(),
                note.as_bytes(),
            ];
            inner.run(&scripts::FORWARD, &args).await
        })
    }

    fn post(&self, session: &Arc<str>, data: Arc<str>) {
        let session = Arc::clone(session);
        self.inner.outbox.add(Write::Post { session, data });
    }

    fn follow(
        &self,
        session: &Arc<str>,
        after: Option<EventId>,
        feed: Arc<dyn Feed>,
    ) -> Later<Result<Following, StateError>> {
        let (inner, session) = (Arc::clone(&self.inner), Arc::clone(session));
        Later::then(follow::begin(inner, session, after, feed))
    }

    fn announce(&self, announcement: Announcement) {
        self.inner.outbox.add(Write::Announce(announcement));
    }
}

impl fmt::Debug for RedisState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may hold a password.
        f.debug_struct("RedisState")
            .field("prefix", &self.inner.options.prefix)
            .field("node", &self.inner.node)
            .finish_non_exhaustive()
    }
}

impl Drop for RedisState {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn read_visit(answer: Vec<Value>) -> redis::RedisResult<Option<Visit>> {
    let mut parts = answer.into_iter();
    let (Some(version), Some(number)) = (parts.next(), parts.next()) else {
        return Ok(None);
    };
    let place = Place {
        number: redis::from_redis_value(number)?,
        version: redis::from_redis_value(version)?,
    };
    let (Some(peer), Some(level), Some(subscribed)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(Some(Visit { place, terms: None }));
    };
    let (peer, level): (String, String) = (redis::from_redis_value(peer)?, redis::from_redis_value(level)?);
    let subscribed: Vec<String> = redis::from_redis_value(subscribed)?;
    let set = TermsSet {
        log_level: LogLevel::named(&level).unwrap_or(LogLevel::Debug),
        subscribed: subscribed.into_iter().map(Into::into).collect(),
    };
    // Terms that cannot be read are those of another server.
    let terms = Terms::from_json(&peer, set);
    Ok(terms.map(|terms| Visit {
        place,
        terms: Some(terms),
    }))
}

fn unavailable(error: &redis::RedisError) -> StateError {
    StateError::Unavailable(error.to_string())
}

fn random_name() -> Option<String> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).ok()?;
    Some(URL_SAFE_NO_PAD.encode(random))
}

fn millis(time: Duration) -> u64 {
    // Beyond this Redis counts no further.
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 50)
}

/// Another number each time.
fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}
