//! Calls we made: one entry holds a call's timers, progress and id, so that all end together.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::time::Duration;

use foldhash::HashMap;

use super::config::CallOptions;
use super::output::{InboundId, OutboundId};
use super::transmit::Extra;
use crate::Instant;

/// How many abandoned calls are remembered, so that their late answers are dropped in silence.
const REMEMBERED: usize = 4096;

/// The calls of ours that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    calls: HashMap<OutboundId, Call>,
    /// One entry per call, at or before its true deadline: a deadline that progress moved is put
    /// right when the old one comes up, so that progress costs no search.
    timers: BTreeSet<(Instant, OutboundId)>,
    abandoned: HashSet<OutboundId>,
    abandoned_order: VecDeque<OutboundId>,
    /// Calls that go by another id on the wire than their own, as they were sent again.
    resent: HashMap<OutboundId, OutboundId>,
    next: u64,
}

#[derive(Debug)]
pub(super) struct Call {
    pub method: Box<str>,
    pub wants_progress: bool,
    /// Its id on the wire; `None` while it waits for input and so for nothing of the peer's.
    pub wire: Option<OutboundId>,
    /// What few calls need; see [`Extra`].
    pub extra: Option<Box<Extra>>,
    /// The call of the peer that it is made for, and ends with.
    pub asked_for: Option<InboundId>,
    pub log_level: Option<super::LogLevel>,
    pub fresh: bool,
    timeout: Duration,
    idle_deadline: Instant,
    total: Option<(Duration, Instant)>,
    reset_on_progress: bool,
    last_progress: f64,
    scheduled: Instant,
}

/// A call whose time is over.
#[derive(Debug)]
pub(super) struct Expired {
    pub id: OutboundId,
    pub call: Call,
    /// The limit that ran out.
    pub limit: Duration,
    /// Whether that was the total timeout.
    pub total: bool,
}

impl Call {
    fn deadline(&self) -> Instant {
        match self.total {
            Some((_, total)) => self.idle_deadline.min(total),
            None => self.idle_deadline,
        }
    }
}

impl Outbound {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The first number that a call gets.
    pub(super) fn begin_at(&mut self, first: OutboundId) {
        self.next = first.0;
    }

    /// A number that no other call has, on the wire or off it.
    pub(super) fn next_id(&mut self) -> OutboundId {
        let id = OutboundId(self.next);
        self.next += 1;
        id
    }

    /// Opens an entry. The id is also its progress token and, the first time, the request's id.
    pub(super) fn insert(&mut self, method: &str, options: CallOptions, default: Duration, now: Instant) -> OutboundId {
        let id = self.next_id();
        let timeout = options.timeout.unwrap_or(default);
        let mut call = Call {
            method: method.into(),
            wants_progress: options.progress || options.reset_timeout_on_progress,
            wire: Some(id),
            extra: None,
            asked_for: None,
            log_level: options.log_level,
            fresh: options.fresh,
            timeout,
            idle_deadline: now + timeout,
            total: options.max_total_timeout.map(|total| (total, now + total)),
            reset_on_progress: options.reset_timeout_on_progress,
            last_progress: f64::NEG_INFINITY,
            scheduled: now,
        };
        call.scheduled = call.deadline();
        self.timers.insert((call.scheduled, id));
        self.calls.insert(id, call);
        id
    }

    pub(super) fn contains(&self, id: OutboundId) -> bool {
        self.calls.contains_key(&id)
    }

    pub(super) fn get(&self, id: OutboundId) -> Option<&Call> {
        self.calls.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: OutboundId) -> Option<&mut Call> {
        self.calls.get_mut(&id)
    }

    /// The call that goes by this id on the wire.
    pub(super) fn on_wire(&self, wire: OutboundId) -> Option<OutboundId> {
        let id = match self.resent.is_empty() {
            true => wire,
            false => self.resent.get(&wire).copied().unwrap_or(wire),
        };
        (self.calls.get(&id)?.wire == Some(wire)).then_some(id)
    }

    /// Puts a call back that goes on by another request, with its time anew; the total timeout stays.
    pub(super) fn resend(&mut self, id: OutboundId, mut call: Call, now: Instant) -> &mut Call {
        let wire = self.next_id();
        self.resent.insert(wire, id);
        call.wire = Some(wire);
        call.idle_deadline = now + call.timeout;
        self.put_back(id, call)
    }

    /// Puts a call back that waits for our own handlers, with its time anew; the total timeout stays. So
    /// a call ends in its time whoever keeps it waiting.
    pub(super) fn suspend(&mut self, id: OutboundId, mut call: Call, now: Instant) {
        call.wire = None;
        call.idle_deadline = now + call.timeout;
        self.put_back(id, call);
    }

    fn put_back(&mut self, id: OutboundId, mut call: Call) -> &mut Call {
        call.scheduled = call.deadline();
        self.timers.insert((call.scheduled, id));
        self.calls.entry(id).or_insert(call)
    }

    /// Whether a call of this id was made and is over.
    pub(super) fn has_ended(&self, id: OutboundId) -> bool {
        id.0 < self.next && !self.contains(id)
    }

    /// Removes a call with its timer: whoever gets it is the one to complete it.
    pub(super) fn take(&mut self, id: OutboundId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        self.timers.remove(&(call.scheduled, id));
        self.forget_wire(id, &call);
        Some(call)
    }

    fn forget_wire(&mut self, id: OutboundId, call: &Call) {
        if let Some(wire) = call.wire.filter(|wire| *wire != id) {
            self.resent.remove(&wire);
        }
    }

    /// Remembers that the answer to `id` is no longer wanted.
    pub(super) fn abandon(&mut self, id: OutboundId) {
        if self.abandoned_order.len() == REMEMBERED
            && let Some(oldest) = self.abandoned_order.pop_front()
        {
            self.abandoned.remove(&oldest);
        }
        self.abandoned.insert(id);
        self.abandoned_order.push_back(id);
    }

    /// Whether an answer that found no call was to an abandoned one. True once.
    pub(super) fn forgive(&mut self, id: OutboundId) -> bool {
        self.abandoned.remove(&id)
    }

    /// Takes in a sign of life; `None` when no call of this id asked for progress. One that does not
    /// grow is no progress, and moves nothing.
    pub(super) fn progress(&mut self, id: OutboundId, progress: f64, now: Instant) -> Option<()> {
        let call = self.calls.get_mut(&id).filter(|call| call.wants_progress)?;
        if progress > call.last_progress {
            call.last_progress = progress;
            if call.reset_on_progress && call.wire.is_some() {
                call.idle_deadline = now + call.timeout;
            }
        }
        Some(())
    }

    /// When the next call may expire.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        // A time that never comes needs no timer.
        let never = Instant::default() + Duration::MAX;
        self.timers.first().map(|(at, _)| *at).filter(|at| *at != never)
    }

    /// Removes one call whose time is over at `now`.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Expired> {
        while let Some(&(at, id)) = self.timers.first() {
            if at > now {
                return None;
            }
            self.timers.pop_first();
            let Some(call) = self.calls.get_mut(&id) else { continue };
            if call.deadline() > now {
                call.scheduled = call.deadline();
                self.timers.insert((call.scheduled, id));
                continue;
            }
            let call = self.calls.remove(&id)?;
            self.forget_wire(id, &call);
            return Some(match call.total {
                Some((limit, deadline)) if deadline <= now => Expired {
                    id,
                    limit,
                    total: true,
                    call,
                },
                _ => Expired {
                    id,
                    limit: call.timeout,
                    total: false,
                    call,
                },
            });
        }
        None
    }

    /// Removes all calls, in the order they were made, and forgets the abandoned ones.
    pub(super) fn drain(&mut self) -> Vec<(OutboundId, Call)> {
        self.timers.clear();
        self.resent.clear();
        self.abandoned.clear();
        self.abandoned_order.clear();
        let mut calls: Vec<_> = self.calls.drain().collect();
        calls.sort_unstable_by_key(|(id, _)| *id);
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn progress_moves_the_idle_deadline_but_never_the_total() {
        let mut outbound = Outbound::default();
        let options = CallOptions {
            timeout: Some(Duration::from_secs(10)),
            max_total_timeout: Some(Duration::from_secs(25)),
            reset_timeout_on_progress: true,
            ..CallOptions::default()
        };
        let id = outbound.insert("m", options, DEFAULT, at(0));
        for second in [8, 16, 24] {
            assert!(outbound.progress(id, second as f64, at(second)).is_some());
            assert!(outbound.expire(at(second)).is_none());
        }
        let expired = outbound.expire(at(25)).unwrap();
        assert!(expired.total);
        assert_eq!((outbound.len(), outbound.next_deadline()), (0, None));
    }

    #[test]
    fn progress_that_does_not_grow_moves_nothing() {
        let mut outbound = Outbound::default();
        let options = CallOptions {
            reset_timeout_on_progress: true,
            ..CallOptions::default()
        };
        let id = outbound.insert("m", options, DEFAULT, at(0));
        for second in [10, 20, 30] {
            outbound.progress(id, 1.0, at(second)).unwrap();
        }
        assert!(outbound.expire(at(69)).is_none());
        assert!(outbound.expire(at(70)).is_some());
    }

    #[test]
    fn without_the_option_progress_moves_nothing() {
        let mut outbound = Outbound::default();
        let options = CallOptions {
            progress: true,
            ..CallOptions::default()
        };
        let id = outbound.insert("m", options, DEFAULT, at(0));
        outbound.progress(id, 1.0, at(59)).unwrap();
        assert!(!outbound.expire(at(60)).unwrap().total);
    }

    #[test]
    fn a_taken_call_leaves_no_timer() {
        let mut outbound = Outbound::default();
        let id = outbound.insert("m", CallOptions::default(), DEFAULT, at(0));
        assert!(outbound.take(id).is_some());
        assert!(outbound.take(id).is_none());
        assert_eq!(outbound.next_deadline(), None);
    }

    #[test]
    fn the_memory_of_abandoned_calls_is_bounded() {
        let mut outbound = Outbound::default();
        for id in 0..10_000 {
            outbound.abandon(OutboundId(id));
        }
        assert_eq!(outbound.abandoned.len(), REMEMBERED);
        assert!(!outbound.forgive(OutboundId(0)));
        assert!(outbound.forgive(OutboundId(9_999)));
        assert!(!outbound.forgive(OutboundId(9_999)));
    }
}
