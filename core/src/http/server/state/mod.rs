//! What the processes of one server share: sessions, the events of their streams, and the news they have for each
//! other.
//!
//! | | in memory | shared |
//! | --- | --- | --- |
//! | a session | is where it was begun | is known to all; each process that serves it has a [`Session`](oxmcp_proto::Session) of its own, restored from its [`Terms`] |
//! | a request | runs where it arrived | the same |
//! | its stream | is written by the one connection | and stored, so that any process can go on with it |
//! | the stream of a GET | likewise | is one log that every process writes to, and the one that has the client follows |
//! | an answer or a cancel of the client | goes to the session | is forwarded to the process whose call it is about |
//! | news for all clients | | are announced to all processes |

mod later;
mod memory;
#[cfg(feature = "redis")]
mod redis;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use oxmcp_proto::http::{EventId, EventLimits, EventReply};
use oxmcp_proto::jsonrpc::RequestId;
use oxmcp_proto::{Error, Kind, LogLevel, Terms};

pub use later::Later;
pub(super) use memory::MemoryState;
#[cfg(feature = "redis")]
pub use redis::{RedisOptions, RedisState};

/// What the processes of one server share. Set by [`HttpBuilder::shared`](super::HttpBuilder::shared); in memory
/// unless set, so that the process is on its own.
///
/// One value serves one service. Methods that return nothing must not wait: what they are given is written in the
/// order in which it came, and dropped when more waits than may.
pub trait SharedState: fmt::Debug + Send + Sync {
    /// Whether other processes may share it. If not, only what the table in each method's section says is used.
    fn is_shared(&self) -> bool;

    /// The service is there. Called once, before all else.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) when another service has it already.
    fn join(&self, process: Weak<dyn Process>, limits: StateLimits) -> Result<(), Error>;

    /// The service ends: what was given is written, and others may know that it left.
    fn leave(&self) -> Later<()>;

    // Streams of responses. All of these are used in memory as well.

    /// A stream begins, on which these requests are answered.
    fn begin_stream(&self, session: &Arc<str>, stream: &Arc<str>, requests: Vec<RequestId>);

    /// Keeps an event of a stream that was begun. `answers` is the request that it answers.
    fn append(&self, session: &Arc<str>, id: EventId, data: Arc<str>, answers: Option<&RequestId>);

    /// Waits, in bounded time, until what was given so far is kept, so that others know a stream before its client
    /// does.
    fn stored(&self) -> Later<()>;

    /// Nothing follows on a stream: its requests are answered.
    fn finish(&self, session: &Arc<str>, stream: &Arc<str>);

    /// A client has the whole of a stream that is finished: nobody will go on with it.
    fn taken(&self, session: &Arc<str>, stream: &Arc<str>);

    /// A connection has ended with these streams unfinished.
    fn give_up(&self, session: &Arc<str>, streams: Vec<Arc<str>>);

    /// What followed on a stream after an event, when all of it comes from this process; `None` when it has to be
    /// [followed](Self::follow).
    fn replay(&self, session: &Arc<str>, after: &EventId) -> Option<EventReply>;

    // Sessions.

    /// A session begins here, as the one with the number 0.
    fn begin_session(&self, session: &Arc<str>, terms: Terms) -> Later<Result<(), StateError>>;

    /// A session is used here. `here` is what is known of it; without, it gets a number of its own. `None` when
    /// there is no such session.
    fn visit(&self, session: &Arc<str>, here: Option<Place>) -> Later<Result<Option<Visit>, StateError>>;

    /// The client set something.
    fn set(&self, session: &Arc<str>, change: TermsChange) -> Later<Result<(), StateError>>;

    /// The client ended its session.
    fn end_session(&self, session: &Arc<str>) -> Later<Result<(), StateError>>;

    /// This process has forgotten the session.
    fn forget_session(&self, session: &Arc<str>, place: Place);

    /// Sends a message of the client to where it belongs.
    fn forward(&self, session: &Arc<str>, to: Addressee, message: String) -> Later<Result<(), StateError>>;

    // The streams that a GET opens.

    /// Keeps a message that belongs to no request, for the one stream of its session that is for those.
    fn post(&self, session: &Arc<str>, data: Arc<str>);

    /// Goes on with a stream after an event, or with the one of the session that belongs to no request. Whoever
    /// followed it before no longer does.
    fn follow(
        &self,
        session: &Arc<str>,
        after: Option<EventId>,
        feed: Arc<dyn Feed>,
    ) -> Later<Result<Following, StateError>>;

    /// Tells all other processes of something that their clients may want to know.
    fn announce(&self, announcement: Announcement);
}

/// What a service asks of the state it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLimits {
    /// How many sessions there may be, in all processes together.
    pub sessions: usize,
    /// How long a session may be without use.
    pub idle: Duration,
    /// What is kept of streams.
    pub events: EventLimits,
}

/// Why a state does not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// It cannot be reached, or not in time.
    Unavailable(String),
    /// There are as many sessions as there may be.
    Full,
    /// There is no such session or stream, or what follows is no longer kept.
    Gone,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(f, "what the processes share cannot be reached: {why}"),
            Self::Full => f.write_str("there are as many sessions as there may be"),
            Self::Gone => f.write_str("it is not there, or no longer"),
        }
    }
}

impl std::error::Error for StateError {}

/// What a process knows of a session that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its part of the session, from 0.
    pub number: u64,
    /// Counts what the client set.
    pub version: u64,
}

/// A session that is used.
#[derive(Clone, Debug)]
pub struct Visit {
    /// What is known now.
    pub place: Place,
    /// Its terms, unless the process knows their latest.
    pub terms: Option<Terms>,
}

/// What a client set in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermsChange {
    /// The mildest log messages it wants.
    LogLevel(LogLevel),
    /// A resource that it subscribed to.
    Subscribed(Box<str>),
    /// A resource that it did not, or no longer.
    Unsubscribed(Box<str>),
}

/// The processes that a message of a client is for, of those that have its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The one whose part of the session has this number.
    Number(u64),
    /// All but this one.
    Others,
}

/// What all clients of a server may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// A list has changed; resources and their templates have the same news.
    ListChanged(Kind),
    /// A resource has other contents.
    ResourceUpdated(String),
}

/// A stream that is gone on with.
pub struct Following {
    /// The event that the client is taken to have seen last.
    pub after: EventId,
    /// Whether it is the session's stream for what belongs to no request.
    pub stands: bool,
    /// What was announced since that stream was last open.
    pub missed: Vec<Announcement>,
    /// Feeds what follows, and is done at the end. Dropping it ends the following.
    pub task: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following")
            .field("after", &self.after)
            .field("stands", &self.stands)
            .field("missed", &self.missed)
            .finish_non_exhaustive()
    }
}

/// Takes the events of a stream.
pub trait Feed: Send + Sync {
    /// The next event. False when nobody wants any more.
    fn event(&self, id: &EventId, data: &str) -> bool;

    /// Nothing follows.
    fn end(&self);
}

/// A service, as the state it shares sees it.
pub trait Process: Send + Sync {
    /// Something happened in another process.
    fn hear(self: Arc<Self>, note: Note);

    /// The sessions with a request in work or an open stream here.
    fn in_use(&self) -> Vec<(Arc<str>, Place)>;
}

/// News from another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A client answers or cancels what runs here.
    Message {
        /// Its session.
        session: Arc<str>,
        /// The text of its message.
        message: String,
    },
    /// A client set something.
    Set(Arc<str>),
    /// A client ended its session, or its time is over.
    Ended(Arc<str>),
    /// A client reads this stream elsewhere now.
    Resumed {
        /// Its session.
        session: Arc<str>,
        /// The stream.
        stream: Arc<str>,
    },
    /// All clients may want to know.
    Announced(Announcement),
}
