//! When a broken event stream is opened again, and after which event.
//!
//! | the stream | of a request | of a session (GET) |
//! | --- | --- | --- |
//! | ended with the answer | done | |
//! | broke, no event with an id was seen | failed at once: no answer can come | opened again |
//! | broke, an id was seen | resumed after it | resumed after it |
//! | was ended by a server that set `retry` | resumed after that time, as often as it asks | the same |
//! | could not be opened, or broke without a new event, too often | failed | given up |
//!
//! The last id stays until a newer one comes: a stream that breaks before any event is resumed after the same
//! one again. The server's `retry` counts before our own back-off, and is never shortened (2025-11-25
//! transports, Sending Messages). Revisions without a handshake resume nothing.
//!
//! A stream that a server ends again and again is bounded by the timeout of the call it belongs to.

use std::time::Duration;

use crate::Instant;

/// How long a client waits, and how often it tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The first wait.
    pub initial: Duration,
    /// What each wait is longer than the one before, as a factor.
    pub factor: f64,
    /// The longest wait.
    pub max: Duration,
    /// How many attempts in a row may bring nothing.
    pub attempts: u32,
}

impl Default for Backoff {
    /// One second, half as long again each time, up to 30 seconds, eight attempts.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            factor: 1.5,
            max: Duration::from_secs(30),
            attempts: 8,
        }
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The server ended its body.
    Ended,
    /// The connection broke.
    Broken,
    /// It could not be opened: no connection, or a response that may be another one later.
    NotOpened,
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Open it again at this time, with [`Resume::last_event_id`].
    At(Instant),
    /// Give up, for this reason.
    GiveUp(&'static str),
}

/// One event stream over all its connections.
///
/// ```
/// use oxmcp_proto::Instant;
/// use oxmcp_proto::http::client::{Backoff, Break, Resume, Retry};
///
/// let mut stream = Resume::of_request(true, Backoff::default());
/// stream.saw_id("e1");
/// stream.saw_retry(500);
/// let now = Instant::from_micros(0);
/// assert_eq!(stream.broke(Break::Ended, now, 0.5), Retry::At(Instant::from_micros(500_000)));
/// assert_eq!(stream.last_event_id(), Some("e1"));
/// ```
#[derive(Clone, Debug)]
pub struct Resume {
    backoff: Backoff,
    /// Whether an id has to be known to go on.
    needs_id: bool,
    resumable: bool,
    last_event_id: Option<String>,
    retry: Option<Duration>,
    /// Attempts in a row that brought nothing.
    failed: u32,
}

impl Resume {
    /// The stream of a request. `resumable` tells whether its revision resumes streams at all.
    pub fn of_request(resumable: bool, backoff: Backoff) -> Self {
        Self::new(true, resumable, backoff)
    }

    /// The stream of a session, opened by GET.
    pub fn of_session(backoff: Backoff) -> Self {
        Self::new(false, true, backoff)
    }

    fn new(needs_id: bool, resumable: bool, backoff: Backoff) -> Self {
        Self {
            backoff,
            needs_id,
            resumable,
            last_event_id: None,
            retry: None,
            failed: 0,
        }
    }

    /// The id to resume after.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// An event set the id; an empty one takes it back. One that could not be sent in a header is as good
    /// as none.
    pub fn saw_id(&mut self, id: &str) {
        let is_sendable = !id.is_empty() && id.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        self.last_event_id = is_sendable.then(|| id.to_owned());
        self.failed = 0;
    }

    /// An event came, with or without an id.
    pub fn saw_event(&mut self) {
        self.failed = 0;
    }

    /// The server said how many milliseconds to wait.
    pub fn saw_retry(&mut self, millis: u64) {
        self.retry = Some(Duration::from_millis(millis));
    }

    /// The stream ended without what was waited for. `jitter`, from 0 to 1, spreads clients that lost the
    /// same server.
    pub fn broke(&mut self, how: Break, now: Instant, jitter: f64) -> Retry {
        if !self.resumable || self.needs_id && self.last_event_id.is_none() {
            return Retry::GiveUp("the stream ended without a response, and cannot be resumed");
        }
        if let (Break::Ended, Some(retry)) = (how, self.retry) {
            return Retry::At(now + retry);
        }
        self.failed += 1;
        if self.failed > self.backoff.attempts {
            return Retry::GiveUp("the stream could not be resumed: all attempts are spent");
        }
        let own = self.own_wait(jitter);
        Retry::At(now + self.retry.map_or(own, |retry| retry.max(own)))
    }

    /// From a half to the whole of the wait that is due.
    fn own_wait(&self, jitter: f64) -> Duration {
        let Backoff {
            initial, factor, max, ..
        } = self.backoff;
        let grown = initial.as_secs_f64() * factor.max(1.0).powi(self.failed.saturating_sub(1).min(1_000) as i32);
        let whole = grown.min(max.as_secs_f64());
        let share = 0.5 + jitter.clamp(0.0, 1.0) / 2.0;
        Duration::try_from_secs_f64(whole * share).unwrap_or(max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        initial: Duration::from_secs(1),
        factor: 2.0,
        max: Duration::from_secs(10),
        attempts: 3,
    };

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    fn gives_up(retry: &Retry) -> bool {
        matches!(retry, Retry::GiveUp(_))
    }

    #[test]
    fn without_an_id_the_stream_of_a_request_has_failed_at_once() {
        for resumable in [true, false] {
            let mut stream = Resume::of_request(resumable, BACKOFF);
            stream.saw_event();
            assert!(gives_up(&stream.broke(Break::Ended, at(0), 0.0)));
        }
        let mut modern = Resume::of_request(false, BACKOFF);
        modern.saw_id("e1");
        assert!(gives_up(&modern.broke(Break::Broken, at(0), 0.0)));
        let mut taken_back = Resume::of_request(true, BACKOFF);
        taken_back.saw_id("e1");
        taken_back.saw_id("");
        assert!(gives_up(&taken_back.broke(Break::Broken, at(0), 0.0)));
    }

    #[test]
    fn the_last_id_stays_until_a_newer_one_comes() {
        let mut stream = Resume::of_request(true, BACKOFF);
        stream.saw_id("e1");
        for _ in 0..2 {
            assert!(matches!(stream.broke(Break::Broken, at(0), 0.0), Retry::At(_)));
            assert_eq!(stream.last_event_id(), Some("e1"));
        }
        stream.saw_id("e2");
        assert_eq!(stream.last_event_id(), Some("e2"));
    }

    #[test]
    fn waits_grow_to_a_bound_and_are_spread() {
        let backoff = Backoff { attempts: 6, ..BACKOFF };
        for (jitter, waits) in [
            (1.0, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]),
            (0.0, [500, 1_000, 2_000, 4_000, 5_000, 5_000]),
        ] {
            let mut stream = Resume::of_session(backoff);
            for wait in waits {
                assert_eq!(
                    stream.broke(Break::NotOpened, at(7), jitter),
                    Retry::At(at(7 + wait)),
                    "{jitter}"
                );
            }
            assert!(gives_up(&stream.broke(Break::NotOpened, at(7), jitter)));
        }
        let mut odd = Resume::of_session(Backoff {
            factor: f64::NAN,
            ..BACKOFF
        });
        assert!(matches!(odd.broke(Break::NotOpened, at(0), f64::NAN), Retry::At(_)));
    }

    #[test]
    fn an_event_makes_the_attempts_count_anew() {
        let mut stream = Resume::of_session(BACKOFF);
        for round in 0..10 {
            assert!(
                matches!(stream.broke(Break::Broken, at(0), 0.0), Retry::At(_)),
                "{round}"
            );
            stream.saw_event();
        }
        for _ in 0..BACKOFF.attempts {
            assert!(!gives_up(&stream.broke(Break::Broken, at(0), 0.0)));
        }
        assert!(gives_up(&stream.broke(Break::Broken, at(0), 0.0)));
    }

    #[test]
    fn the_time_the_server_set_is_kept_to_the_millisecond() {
        let mut stream = Resume::of_request(true, BACKOFF);
        stream.saw_id("e1");
        stream.saw_retry(500);
        for jitter in [0.0, 1.0] {
            assert_eq!(stream.broke(Break::Ended, at(100), jitter), Retry::At(at(600)));
        }
        // It is a lower bound where our own wait is longer.
        stream.saw_retry(700);
        assert_eq!(stream.broke(Break::NotOpened, at(0), 0.0), Retry::At(at(700)));
        assert_eq!(stream.broke(Break::NotOpened, at(0), 1.0), Retry::At(at(2_000)));
    }

    #[test]
    fn a_server_that_wants_to_be_asked_again_is_asked_as_often_as_it_wants() {
        let mut stream = Resume::of_request(true, BACKOFF);
        stream.saw_id("e1");
        stream.saw_retry(10);
        for _ in 0..1_000 {
            assert_eq!(stream.broke(Break::Ended, at(0), 0.0), Retry::At(at(10)));
        }
        let mut silent = Resume::of_request(true, BACKOFF);
        silent.saw_id("e1");
        let attempts = (0..100).take_while(|_| !gives_up(&silent.broke(Break::Ended, at(0), 0.0)));
        assert_eq!(attempts.count(), 3);
    }

    #[test]
    fn an_id_that_no_header_can_carry_is_none() {
        for id in ["a\u{e9}", "a\u{1}", "a\u{7f}"] {
            let mut stream = Resume::of_session(BACKOFF);
            stream.saw_id(id);
            assert_eq!(stream.last_event_id(), None, "{id:?}");
        }
    }
}
