//! Ids of sessions, and the sessions a server holds.
//!
//! An id is visible ASCII and cannot be guessed (2025-11-25 transports, Session Management). The caller
//! brings the random bytes and the time.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foldhash::HashMap;

use crate::Instant;

/// The longest id that is looked at; ours have 43 characters.
const MAX_LENGTH: usize = 1024;

/// An id made of random bytes: 43 letters, digits, `-` and `_`.
///
/// ```
/// let id = oxmcp_proto::http::session_id([7; 32]);
/// assert_eq!(id.len(), 43);
/// assert!(oxmcp_proto::http::is_session_id(&id));
/// ```
pub fn session_id(random: [u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(random)
}

/// Whether `text` may be the id of a session, ours or another server's: visible ASCII, 0x21 to 0x7E.
pub fn is_session_id(text: &str) -> bool {
    // To the end, whatever is found: so it is a loop of vectors.
    let graphic = text
        .bytes()
        .fold(true, |graphic, byte| graphic & byte.is_ascii_graphic());
    graphic && (1..=MAX_LENGTH).contains(&text.len())
}

/// The sessions a server holds: bounded in number, and ended when nothing used them for a while.
///
/// A session in use, by a request in work or an open stream, does not expire: see [`hold`](Self::hold).
/// Using one costs no search for its timer, which is put right when it comes up.
///
/// ```
/// use oxmcp_proto::Instant;
/// use oxmcp_proto::http::Sessions;
/// use std::time::Duration;
///
/// let mut sessions = Sessions::new(1, Duration::from_secs(60));
/// let (start, later) = (Instant::from_micros(0), Instant::from_micros(90_000_000));
/// assert!(sessions.insert("a".into(), "Ada", start).is_ok());
/// assert!(sessions.insert("b".into(), "Bob", start).is_err());
/// assert_eq!(sessions.get("a", start), Some(&mut "Ada"));
/// let ended: Vec<_> = sessions.expire(later);
/// assert_eq!((&*ended[0].0, ended[0].1), ("a", "Ada"));
/// ```
#[derive(Debug)]
pub struct Sessions<T> {
    cap: usize,
    idle: Duration,
    slots: HashMap<Arc<str>, Slot<T>>,
    /// One entry per session, at or before the time it expires.
    timers: BTreeSet<(Instant, Arc<str>)>,
}

#[derive(Debug)]
struct Slot<T> {
    id: Arc<str>,
    value: T,
    expires: Instant,
    scheduled: Instant,
    holds: usize,
}

/// There are as many sessions as there may be. Holds the value back out.
#[derive(Debug)]
pub struct Full<T>(pub T);

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are as many sessions as there may be")
    }
}

impl<T> Sessions<T> {
    /// Room for `cap` sessions, each of which ends after it was `idle` for that long.
    pub fn new(cap: usize, idle: Duration) -> Self {
        Self {
            cap,
            idle,
            slots: HashMap::default(),
            timers: BTreeSet::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a session. Call [`expire`](Self::expire) first, to make room.
    ///
    /// # Errors
    /// When there is no room. A session in use is never given up for a new one: who opens many must not
    /// end those of others.
    pub fn insert(&mut self, id: Arc<str>, value: T, now: Instant) -> Result<(), Full<T>> {
        if self.slots.len() >= self.cap {
            return Err(Full(value));
        }
        let expires = now + self.idle;
        let slot = Slot {
            id: Arc::clone(&id),
            value,
            expires,
            scheduled: expires,
            holds: 0,
        };
        self.timers.insert((expires, Arc::clone(&id)));
        if let Some(before) = self.slots.insert(Arc::clone(&id), slot)
            && before.scheduled != expires
        {
            self.timers.remove(&(before.scheduled, id));
        }
        Ok(())
    }

    /// The session with this id, which is now used; `None` when there is none, or no longer.
    pub fn get(&mut self, id: &str, now: Instant) -> Option<&mut T> {
        let slot = self.slots.get_mut(id).filter(|slot| slot.is_alive(now))?;
        slot.expires = now + self.idle;
        Some(&mut slot.value)
    }

    /// The same with its id, kept from expiring until [`release`](Self::release) has been called as often.
    pub fn hold(&mut self, id: &str, now: Instant) -> Option<(&Arc<str>, &mut T)> {
        let slot = self.slots.get_mut(id).filter(|slot| slot.is_alive(now))?;
        slot.holds += 1;
        slot.expires = now + self.idle;
        Some((&slot.id, &mut slot.value))
    }

    /// Takes one hold back; the idle time begins anew. Nothing happens when the session has ended.
    pub fn release(&mut self, id: &str, now: Instant) {
        if let Some(slot) = self.slots.get_mut(id) {
            slot.holds = slot.holds.saturating_sub(1);
            slot.expires = now + self.idle;
        }
    }

    /// Ends a session, in use or not.
    pub fn remove(&mut self, id: &str) -> Option<T> {
        let (id, slot) = self.slots.remove_entry(id)?;
        self.timers.remove(&(slot.scheduled, id));
        Some(slot.value)
    }

    /// All of them, and whether each is held.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &T, bool)> {
        self.slots.iter().map(|(id, slot)| (id, &slot.value, slot.holds > 0))
    }

    /// When to call [`expire`](Self::expire) next; never later than the first session expires.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Ends the sessions whose time is over, and gives them back.
    pub fn expire(&mut self, now: Instant) -> Vec<(Arc<str>, T)> {
        let mut ended = Vec::new();
        while let Some((at, _)) = self.timers.first()
            && *at <= now
        {
            let Some((_, id)) = self.timers.pop_first() else { break };
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            if slot.is_alive(now) {
                // One that is held has no time of its own: it is looked at again later.
                let next = if slot.holds > 0 { now + self.idle } else { slot.expires };
                slot.scheduled = next.max(Instant::from_micros(now.as_micros() + 1));
                self.timers.insert((slot.scheduled, id));
            } else if let Some(slot) = self.slots.remove(&id) {
                ended.push((id, slot.value));
            }
        }
        ended
    }

    /// Ends all of them, and gives them back.
    pub fn drain(&mut self) -> impl Iterator<Item = (Arc<str>, T)> {
        self.timers.clear();
        self.slots.drain().map(|(id, slot)| (id, slot.value))
    }
}

impl<T> Slot<T> {
    fn is_alive(&self, now: Instant) -> bool {
        self.holds > 0 || self.expires > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn sessions() -> Sessions<u32> {
        Sessions::new(100, IDLE)
    }

    #[test]
    fn ids_are_visible_ascii_and_differ_as_their_bytes_do() {
        for (text, good) in [
            ("1868a90c-2d4e", true),
            ("!~", true),
            ("", false),
            ("a b", false),
            ("a\tb", false),
            ("a\u{7f}", false),
            ("\u{e9}", false),
        ] {
            assert_eq!(is_session_id(text), good, "{text:?}");
        }
        assert!(!is_session_id(&"x".repeat(MAX_LENGTH + 1)));
        let mut bytes = [0xff; 32];
        let id = session_id(bytes);
        bytes[31] = 0xfe;
        assert!(is_session_id(&id) && session_id(bytes) != id);
    }

    #[test]
    fn a_session_ends_when_it_was_idle_for_its_time() {
        let mut sessions = sessions();
        sessions.insert("a".into(), 1, at(0)).unwrap();
        sessions.insert("b".into(), 2, at(0)).unwrap();
        assert_eq!(sessions.get("a", at(40)), Some(&mut 1));
        assert_eq!(sessions.expire(at(59)).len(), 0);
        assert_eq!(sessions.expire(at(60)), [("b".into(), 2)]);
        assert_eq!(sessions.get("b", at(60)), None);
        assert_eq!(sessions.next_expiry(), Some(at(100)));
        assert_eq!(sessions.expire(at(100)), [("a".into(), 1)]);
        assert_eq!((sessions.len(), sessions.timers.len()), (0, 0));
    }

    #[test]
    fn an_expired_session_is_gone_before_anyone_looked() {
        let mut sessions = sessions();
        sessions.insert("a".into(), 1, at(0)).unwrap();
        assert_eq!(sessions.get("a", at(60)), None);
        assert!(sessions.hold("a", at(60)).is_none());
    }

    #[test]
    fn a_session_in_use_does_not_expire() {
        let mut sessions = sessions();
        sessions.insert("a".into(), 1, at(0)).unwrap();
        assert_eq!(sessions.hold("a", at(0)), Some((&"a".into(), &mut 1)));
        assert!(sessions.hold("a", at(10)).is_some());
        let all: Vec<_> = sessions.iter().map(|(id, value, held)| (&**id, *value, held)).collect();
        assert_eq!(all, [("a", 1, true)]);
        sessions.release("a", at(20));
        assert_eq!(sessions.expire(at(500)).len(), 0);
        assert_eq!(sessions.get("a", at(500)), Some(&mut 1));
        sessions.release("a", at(520));
        assert_eq!(sessions.expire(at(579)).len(), 0);
        assert_eq!(sessions.expire(at(600)).len(), 1);
    }

    #[test]
    fn a_full_table_takes_no_more_and_ends_nobody() {
        let mut sessions = Sessions::new(2, IDLE);
        sessions.insert("a".into(), 1, at(0)).unwrap();
        sessions.insert("b".into(), 2, at(0)).unwrap();
        assert_eq!(sessions.insert("c".into(), 3, at(0)).unwrap_err().0, 3);
        assert_eq!(sessions.remove("a"), Some(1));
        sessions.insert("c".into(), 3, at(0)).unwrap();
        assert_eq!((sessions.len(), sessions.timers.len()), (2, 2));
    }

    #[test]
    fn nothing_stays_behind_after_many_sessions() {
        let mut sessions = sessions();
        for round in 0..10_000 {
            let id: Arc<str> = round.to_string().into();
            sessions.insert(Arc::clone(&id), round, at(u64::from(round))).unwrap();
            if round % 3 == 0 {
                sessions.remove(&id).unwrap();
            } else if round % 3 == 1 {
                sessions.hold(&id, at(u64::from(round)));
                sessions.release(&id, at(u64::from(round)));
            }
            sessions.expire(at(u64::from(round)));
        }
        sessions.expire(at(20_000));
        assert_eq!((sessions.len(), sessions.timers.len()), (0, 0));
        sessions.insert("a".into(), 1, at(20_000)).unwrap();
        assert_eq!(sessions.drain().count(), 1);
        assert!(sessions.is_empty() && sessions.next_expiry().is_none());
    }
}
