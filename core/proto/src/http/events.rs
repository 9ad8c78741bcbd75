//! Event streams that can be resumed (2025-11-25 transports, Resumability and Redelivery).
//!
//! A [`ReplyStream`] names the events of one stream; a store keeps them, so that a client that lost its
//! connection gets those after the last one it saw, of that stream and no other.
//!
//! A store is anything that turns an [`EventCommand`] into an [`EventReply`]. [`MemoryEvents`] is one that
//! needs no waiting. Commands are plain data, so that one on the other side of a network needs only a
//! function that waits for the reply:
//!
//! | command | in memory | for instance in a store of append-only streams, keyed by session and stream |
//! | --- | --- | --- |
//! | append | push | add under the event's number, and cut to the bound |
//! | finish | mark | set to vanish after a while |
//! | replay | copy the rest | read after the number, or wait for more |
//! | forget | remove | delete the keys of the session |
//!
//! The writer numbers the events itself, so that it never waits for a store to name one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foldhash::HashMap;

use crate::{Instant, Revision};

/// Names the events of one stream.
///
/// ```
/// use oxmcp_proto::http::{EventId, ReplyStream};
///
/// let mut stream = ReplyStream::new([7; 12]);
/// let first = stream.next_id();
/// assert_eq!(first.number, 1);
/// assert_eq!(EventId::parse(&first.to_string()), Some(first));
/// ```
#[derive(Clone, Debug)]
pub struct ReplyStream {
    name: Arc<str>,
    last: u64,
}

/// The id of an event: its stream and its number in it, from 1 on. Opaque to clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventId {
    /// The name of the stream.
    pub stream: Arc<str>,
    /// The number of the event in it.
    pub number: u64,
}

impl ReplyStream {
    /// A stream named by random bytes, so that no two servers that share sessions name one alike.
    pub fn new(random: [u8; 12]) -> Self {
        Self {
            name: URL_SAFE_NO_PAD.encode(random).into(),
            last: 0,
        }
    }

    /// Its name, 16 characters.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The id of the next event. The first one of a stream that [is primed](primes) has no data.
    pub fn next_id(&mut self) -> EventId {
        self.last += 1;
        EventId {
            stream: Arc::clone(&self.name),
            number: self.last,
        }
    }
}

impl EventId {
    /// Reads a `Last-Event-ID`; `None` when it is none of ours.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, digits) = text.split_once('.')?;
        let is_name = stream.len() == 16
            && stream
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let number = digits.parse().ok().filter(|_| is_name && is_number)?;
        Some(Self {
            stream: stream.into(),
            number,
        })
    }

    /// As it is displayed, for those who write one with each message: that costs less.
    pub fn to_text(&self) -> String {
        [&*self.stream, ".", &self.number.to_string()].concat()
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// Whether a stream begins with an event that has an id, no data, and the time to wait before
/// connecting again. Clients of older revisions take an event without data for a broken message.
pub const fn primes(revision: Revision) -> bool {
    revision.era().primes_streams
}

/// What a store is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventCommand {
    /// Keep an event. The first one creates its stream.
    Append {
        /// The session the stream belongs to.
        session: Arc<str>,
        /// The event's id; numbers rise by one.
        id: EventId,
        /// Its data: a message, or nothing for one that primes.
        data: Arc<str>,
    },
    /// Nothing follows on this stream: its request is answered.
    Finish {
        /// The session the stream belongs to.
        session: Arc<str>,
        /// The name of the stream.
        stream: Arc<str>,
    },
    /// The client has the whole of a stream: drop it, if it is finished.
    Taken {
        /// The session the stream belongs to.
        session: Arc<str>,
        /// The name of the stream.
        stream: Arc<str>,
    },
    /// Give the events after this one.
    Replay {
        /// The session that asks. Streams of another one do not exist for it.
        session: Arc<str>,
        /// The last event the client saw.
        after: EventId,
    },
    /// The session has ended: drop what it had.
    Forget {
        /// That session.
        session: Arc<str>,
    },
}

/// What a store answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventReply {
    /// It is done.
    Done,
    /// The events that follow.
    Replayed {
        /// Number and data of each, in order, without those that only prime.
        events: Vec<(u64, Arc<str>)>,
        /// Whether nothing follows after them; else the connection goes on with what is written next.
        finished: bool,
    },
    /// There is no such stream, or events after that one are no longer kept: the client cannot go on.
    Gone,
}

/// The bounds of a store in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventLimits {
    /// Bytes in all streams together. Over it, the streams go that were written to longest ago.
    pub bytes: usize,
    /// Events in one stream. Over it, its oldest ones go.
    pub events_per_stream: usize,
    /// How long a finished stream is kept.
    pub keep_finished: Duration,
}

impl Default for EventLimits {
    /// 64 MiB, 1024 events, two minutes.
    fn default() -> Self {
        Self {
            bytes: 64 * 1024 * 1024,
            events_per_stream: 1024,
            keep_finished: Duration::from_secs(120),
        }
    }
}

/// What an event costs beside its data, about.
const PER_EVENT: usize = 48;

/// What a stream costs beside its events, about.
const PER_STREAM: usize = 384;

/// A store in memory.
///
/// ```
/// use oxmcp_proto::Instant;
/// use oxmcp_proto::http::{EventCommand, EventLimits, EventReply, MemoryEvents, ReplyStream};
///
/// let mut store = MemoryEvents::new(EventLimits::default());
/// let mut stream = ReplyStream::new([7; 12]);
/// let now = Instant::from_micros(0);
/// let session: std::sync::Arc<str> = "s".into();
/// let seen = stream.next_id();
/// for (id, data) in [(seen.clone(), ""), (stream.next_id(), "{}")] {
///     store.run(EventCommand::Append { session: session.clone(), id, data: data.into() }, now);
/// }
/// let reply = store.run(EventCommand::Replay { session, after: seen }, now);
/// assert_eq!(reply, EventReply::Replayed { events: vec![(2, "{}".into())], finished: false });
/// ```
#[derive(Debug)]
pub struct MemoryEvents {
    limits: EventLimits,
    streams: HashMap<Arc<str>, Stored>,
    by_session: HashMap<Arc<str>, VecDeque<Arc<str>>>,
    /// Streams in the order in which they were written to; of each, the last place counts.
    by_age: VecDeque<(u64, Arc<str>)>,
    /// Finished streams with the time they may go, in that order. Some have gone before.
    finished: VecDeque<(Instant, Arc<str>)>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Stored {
    session: Arc<str>,
    events: VecDeque<Arc<str>>,
    /// The number of the first event that is kept, or of the next one.
    first: u64,
    age: u64,
    bytes: usize,
    /// When it may go, once it is finished.
    goes: Option<Instant>,
}

impl MemoryEvents {
    /// An empty store.
    pub fn new(limits: EventLimits) -> Self {
        Self {
            limits,
            streams: HashMap::default(),
            by_session: HashMap::default(),
            by_age: VecDeque::new(),
            finished: VecDeque::new(),
            clock: 0,
            bytes: 0,
        }
    }

    /// Obeys a command.
    pub fn run(&mut self, command: EventCommand, now: Instant) -> EventReply {
        self.expire(now);
        match command {
            EventCommand::Append { session, id, data } => self.append(session, id, data),
            EventCommand::Finish { session, stream } => self.finish(&session, stream, now),
            EventCommand::Taken { session, stream } => self.taken(&session, &stream),
            EventCommand::Replay { session, after } => return self.replay(&session, &after),
            EventCommand::Forget { session } => {
                for name in self.by_session.remove(&session).unwrap_or_default() {
                    self.remove(&name);
                }
            }
        }
        self.compact();
        EventReply::Done
    }

    /// Drops the finished streams whose time is over. Each command does so too.
    pub fn expire(&mut self, now: Instant) {
        while let Some((at, _)) = self.finished.front()
            && *at <= now
        {
            if let Some((_, name)) = self.finished.pop_front() {
                self.remove(&name);
            }
        }
        self.compact();
    }

    /// Streams and bytes that are kept.
    pub fn usage(&self) -> (usize, usize) {
        (self.streams.len(), self.bytes)
    }

    fn append(&mut self, session: Arc<str>, id: EventId, data: Arc<str>) {
        self.clock += 1;
        if !self.streams.contains_key(&id.stream) {
            self.create(Arc::clone(&session), &id);
        }
        let Some(stored) = self.streams.get_mut(&id.stream) else {
            return;
        };
        let is_next = id.number == stored.next() && stored.session == session && stored.goes.is_none();
        debug_assert!(is_next, "one writer numbers the events of a stream one after the other");
        if !is_next {
            return;
        }
        let added = data.len() + PER_EVENT;
        stored.events.push_back(data);
        let mut dropped = 0;
        if stored.events.len() > self.limits.events_per_stream {
            dropped = stored.events.pop_front().map_or(0, |oldest| oldest.len() + PER_EVENT);
            stored.first += 1;
        }
        stored.bytes = stored.bytes + added - dropped;
        self.bytes = self.bytes + added - dropped;
        stored.age = self.clock;
        self.by_age.push_back((self.clock, id.stream));
        self.shrink();
    }

    fn create(&mut self, session: Arc<str>, id: &EventId) {
        let names = self.by_session.entry(Arc::clone(&session)).or_default();
        names.push_back(Arc::clone(&id.stream));
        let stored = Stored {
            session,
            events: VecDeque::new(),
            first: id.number,
            age: self.clock,
            bytes: PER_STREAM,
            goes: None,
        };
        self.bytes += PER_STREAM;
        self.streams.insert(Arc::clone(&id.stream), stored);
    }

    /// Drops the streams that were written to longest ago, until the rest fits.
    fn shrink(&mut self) {
        while self.bytes > self.limits.bytes
            && let Some((age, oldest)) = self.by_age.pop_front()
        {
            if self.streams.get(&oldest).is_some_and(|stored| stored.age == age) {
                self.remove(&oldest);
            }
        }
    }

    /// Forgets places in both queues that count no longer, once they are most of them.
    fn compact(&mut self) {
        let (streams, most) = (&self.streams, 2 * self.streams.len());
        if self.by_age.len() > most {
            self.by_age
                .retain(|(age, name)| streams.get(name).is_some_and(|stored| stored.age == *age));
        }
        if self.finished.len() > most {
            self.finished.retain(|(_, name)| streams.contains_key(name));
        }
    }

    fn finish(&mut self, session: &Arc<str>, name: Arc<str>, now: Instant) {
        match self.streams.get_mut(&name) {
            Some(stored) if stored.session == *session && stored.goes.is_none() => {
                let goes = now + self.limits.keep_finished;
                stored.goes = Some(goes);
                self.finished.push_back((goes, name));
            }
            _ => {}
        }
    }

    fn taken(&mut self, session: &Arc<str>, name: &Arc<str>) {
        let stored = self.streams.get(name);
        if stored.is_some_and(|stored| stored.session == *session && stored.goes.is_some()) {
            self.remove(name);
        }
    }

    fn replay(&self, session: &Arc<str>, after: &EventId) -> EventReply {
        let stored = self
            .streams
            .get(&after.stream)
            .filter(|stored| stored.session == *session);
        let Some(stored) = stored else { return EventReply::Gone };
        if after.number >= stored.next() || after.number + 1 < stored.first {
            return EventReply::Gone;
        }
        let skipped = usize::try_from(after.number + 1 - stored.first).unwrap_or(usize::MAX);
        let kept = (after.number + 1..).zip(stored.events.iter().skip(skipped));
        let events = kept.filter(|(_, data)| !data.is_empty());
        EventReply::Replayed {
            events: events.map(|(number, data)| (number, Arc::clone(data))).collect(),
            finished: stored.goes.is_some(),
        }
    }

    fn remove(&mut self, name: &Arc<str>) {
        let Some(stored) = self.streams.remove(name) else {
            return;
        };
        self.bytes -= stored.bytes;
        if let Some(names) = self.by_session.get_mut(&stored.session) {
            // Most go in the order in which they came.
            if let Some(at) = names.iter().position(|its| its == name) {
                names.remove(at);
            }
            if names.is_empty() {
                self.by_session.remove(&stored.session);
            }
        }
    }
}

impl Stored {
    /// The number of the event to come.
    fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: EventLimits = EventLimits {
        bytes: 10_000,
        events_per_stream: 4,
        keep_finished: Duration::from_secs(60),
    };

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    struct Fixture {
        store: MemoryEvents,
        now: Instant,
    }

    impl Fixture {
        fn new() -> Self {
            let store = MemoryEvents::new(LIMITS);
            Self { store, now: at(0) }
        }

        fn append(&mut self, session: &str, stream: &mut ReplyStream, data: &str) -> EventId {
            let id = stream.next_id();
            let command = EventCommand::Append {
                session: session.into(),
                id: id.clone(),
                data: data.into(),
            };
            assert_eq!(self.store.run(command, self.now), EventReply::Done);
            id
        }

        fn finish(&mut self, session: &str, stream: &ReplyStream) {
            let (session, stream) = (session.into(), Arc::clone(stream.name()));
            self.store.run(EventCommand::Finish { session, stream }, self.now);
        }

        /// The data of the events after `after`, and whether nothing follows; `None` when they are gone.
        fn replay(&mut self, session: &str, after: &EventId) -> Option<(Vec<String>, bool)> {
            let command = EventCommand::Replay {
                session: session.into(),
                after: after.clone(),
            };
            match self.store.run(command, self.now) {
                EventReply::Replayed { events, finished } => {
                    assert!(events.iter().all(|(number, _)| *number > after.number));
                    Some((events.iter().map(|(_, data)| data.to_string()).collect(), finished))
                }
                EventReply::Gone => None,
                EventReply::Done => panic!("a replay gives events"),
            }
        }

        fn is_empty(&self) -> bool {
            let store = &self.store;
            let empty = store.by_session.is_empty() && store.by_age.is_empty() && store.finished.is_empty();
            empty && store.usage() == (0, 0)
        }
    }

    #[test]
    fn ids_name_their_stream_and_strangers_are_not_read() {
        let mut stream = ReplyStream::new([0xff; 12]);
        stream.next_id();
        let id = stream.next_id().to_string();
        assert_eq!(id, "________________.2");
        assert_eq!(EventId::parse(&id).unwrap().number, 2);
        for text in [
            "",
            "2",
            "________________.",
            "________________.0",
            "________________.02",
            "________________.+2",
            "________________.-2",
            "________________.99999999999999999999",
            "______________.2",
            "____ ___________.2",
            "________________.2.3",
        ] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_client_gets_what_followed_on_its_stream_and_no_other() {
        let mut it = Fixture::new();
        let (mut a, mut b) = (ReplyStream::new([1; 12]), ReplyStream::new([2; 12]));
        let primed = it.append("s", &mut a, "");
        it.append("s", &mut b, "other");
        let first = it.append("s", &mut a, "one");
        let last = it.append("s", &mut a, "two");
        let two = |data: &[&str]| Some((data.iter().map(ToString::to_string).collect(), false));
        assert_eq!(it.replay("s", &primed), two(&["one", "two"]));
        assert_eq!(it.replay("s", &first), two(&["two"]));
        assert_eq!(it.replay("s", &last), two(&[]));
        it.finish("s", &a);
        assert_eq!(it.replay("s", &first), Some((vec!["two".to_owned()], true)));
    }

    #[test]
    fn a_second_resume_after_the_same_event_gives_the_same() {
        let mut it = Fixture::new();
        let mut stream = ReplyStream::new([1; 12]);
        let seen = it.append("s", &mut stream, "");
        it.append("s", &mut stream, "answer");
        assert_eq!(it.replay("s", &seen), it.replay("s", &seen));
    }

    #[test]
    fn a_finished_stream_that_was_taken_goes_and_no_other() {
        let mut it = Fixture::new();
        let (mut done, mut goes_on) = (ReplyStream::new([1; 12]), ReplyStream::new([2; 12]));
        let (of_done, of_other) = (it.append("s", &mut done, "a"), it.append("s", &mut goes_on, "b"));
        it.finish("s", &done);
        let mut taken = |session: &str, stream: &ReplyStream| {
            let (session, stream) = (session.into(), Arc::clone(stream.name()));
            it.store.run(EventCommand::Taken { session, stream }, it.now);
            (it.replay("s", &of_done).is_some(), it.replay("s", &of_other).is_some())
        };
        assert_eq!(taken("t", &done), (true, true));
        assert_eq!(taken("s", &goes_on), (true, true));
        assert_eq!(taken("s", &done), (false, true));
        it.finish("s", &goes_on);
        let (session, stream) = ("s".into(), Arc::clone(goes_on.name()));
        it.store.run(EventCommand::Taken { session, stream }, it.now);
        assert!(it.is_empty());
    }

    #[test]
    fn streams_of_another_session_do_not_exist() {
        let mut it = Fixture::new();
        let mut stream = ReplyStream::new([1; 12]);
        let id = it.append("s", &mut stream, "secret");
        assert_eq!(it.replay("t", &id), None);
        it.finish("t", &stream);
        assert!(!it.replay("s", &id).unwrap().1);
        it.store.run(EventCommand::Forget { session: "t".into() }, at(0));
        assert!(it.replay("s", &id).is_some());
    }

    #[test]
    fn what_was_never_sent_or_is_no_longer_kept_cannot_be_resumed() {
        let mut it = Fixture::new();
        let mut stream = ReplyStream::new([1; 12]);
        let ids: Vec<_> = (0..6).map(|n| it.append("s", &mut stream, &n.to_string())).collect();
        // Four are kept: the third to the sixth, so that the second is a place to go on from.
        assert_eq!(it.replay("s", &ids[0]), None);
        assert_eq!(it.replay("s", &ids[1]).unwrap().0, ["2", "3", "4", "5"]);
        for number in [7, u64::MAX] {
            let stream = Arc::clone(stream.name());
            assert_eq!(it.replay("s", &EventId { stream, number }), None, "{number}");
        }
    }

    #[test]
    fn over_the_bound_the_streams_go_that_are_oldest() {
        let mut it = Fixture::new();
        let (mut old, mut new) = (ReplyStream::new([1; 12]), ReplyStream::new([2; 12]));
        let (big, bigger) = ("x".repeat(4_000), "x".repeat(5_000));
        let (first, second) = (it.append("s", &mut old, &big), it.append("s", &mut new, &big));
        assert_eq!(it.store.usage().0, 2);
        let third = it.append("s", &mut new, &bigger);
        assert_eq!(it.replay("s", &first), None);
        assert_eq!(it.replay("s", &second).unwrap().0, [bigger]);
        // The stream whose past went can be resumed from here on.
        let late = it.append("s", &mut old, "late");
        it.append("s", &mut old, "later");
        assert_eq!(it.replay("s", &late).unwrap().0, ["later"]);
        assert_eq!(it.replay("s", &third), Some((vec![], false)));
        it.append("s", &mut old, &big);
        assert_eq!(it.replay("s", &third), None);
        assert!(it.store.usage().1 <= LIMITS.bytes);
    }

    #[test]
    fn finished_streams_go_after_a_while_and_forgotten_sessions_at_once() {
        let mut it = Fixture::new();
        let mut streams: Vec<_> = (0..4).map(|n| ReplyStream::new([n; 12])).collect();
        for (n, stream) in streams.iter_mut().enumerate() {
            it.now = at(n as u64);
            it.append(if n == 3 { "t" } else { "s" }, stream, "{}");
            it.finish(if n == 3 { "t" } else { "s" }, stream);
        }
        it.store.expire(at(60));
        assert_eq!(it.store.usage().0, 3);
        it.store.run(EventCommand::Forget { session: "s".into() }, at(60));
        assert_eq!(it.store.usage().0, 1);
        it.store.expire(at(63));
        assert!(it.is_empty());
    }

    #[test]
    fn only_clients_that_know_it_get_an_event_without_data() {
        let primed: Vec<_> = Revision::ALL.into_iter().filter(|it| primes(*it)).collect();
        assert_eq!(primed, [Revision::V2025_11_25]);
    }
}
