//! Calls the peer made: one entry from their arrival to their answer or cancel.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::listen::Filter;
use super::output::{InboundId, OutboundId, Target};
use super::replay::Replay;
use crate::jsonrpc::{Json, RequestId, members};
use crate::{Few, Kind, Revision};

/// The calls of the peer that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    calls: Few<InboundId, Call>,
    by_request: Few<RequestId, InboundId>,
    next: u64,
    /// The calls that hold a stream of notifications open (2026-07-28).
    pub listening: Vec<InboundId>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub origin: Origin,
    /// The revision that the request is in.
    pub revision: Revision,
    pub work: Work,
    /// What the request says of itself, where its answer depends on that.
    pub meta: Option<Box<str>>,
    /// The params, where the call may take rounds (2026-07-28).
    pub params: Option<Box<str>>,
    /// The JSON text of the progress token, if the caller gave one.
    pub progress_token: Option<Box<str>>,
    pub last_progress: f64,
    /// Calls of ours that its handler waits for.
    pub asked: Vec<OutboundId>,
    /// What its handler asked the client for, where that takes a round (2026-07-28).
    pub replay: Option<Box<Replay>>,
    /// The page of a list that the host adds to.
    pub page: Option<Arc<str>>,
}

/// Where a call came from, and so where its answer goes.
#[derive(Debug)]
pub(super) enum Origin {
    /// A request on the wire.
    Request(RequestId),
    /// A result that asks for input: the answer goes into the retry of our own call (2026-07-28).
    Input { call: OutboundId, key: Box<str> },
}

#[derive(Debug)]
pub(super) enum Work {
    /// A handler of the host's runs.
    Run(Target),
    /// The request waits for descriptors ([`Inbound::take_parked`]).
    Parked {
        kind: Kind,
        method: Box<str>,
        params: Option<Json>,
    },
    /// A stream of notifications is open.
    Listen(Box<Filter>),
}

impl Call {
    pub(super) fn new(origin: Origin, revision: Revision, work: Work) -> Self {
        Self {
            origin,
            revision,
            work,
            meta: None,
            params: None,
            progress_token: None,
            last_progress: f64::NEG_INFINITY,
            asked: Vec::new(),
            replay: None,
            page: None,
        }
    }
}

impl Call {
    /// A member of the `_meta` of the request.
    pub(super) fn stated(&self, member: &str) -> Option<&RawValue> {
        let meta = members(serde_json::from_str(self.meta.as_ref()?).ok()?)?;
        meta.into_iter().find(|(key, _)| key == member).map(|(_, value)| value)
    }
}

impl Inbound {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Calls that end by themselves: all but the open streams.
    pub(super) fn working(&self) -> usize {
        self.calls.len() - self.listening.len()
    }

    pub(super) fn contains(&self, id: InboundId) -> bool {
        self.calls.contains_key(&id)
    }

    /// Whether a call with this id waits for its answer: then the id must not be used again.
    pub(super) fn holds(&self, request: &RequestId) -> bool {
        self.by_request.contains_key(request)
    }

    pub(super) fn insert(&mut self, call: Call) -> InboundId {
        let id = InboundId(self.next);
        self.next += 1;
        if let Origin::Request(request) = &call.origin {
            self.by_request.insert(request.clone(), id);
        }
        if matches!(call.work, Work::Listen(_)) {
            self.listening.push(id);
        }
        self.calls.insert(id, call);
        id
    }

    pub(super) fn get(&self, id: InboundId) -> Option<&Call> {
        self.calls.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: InboundId) -> Option<&mut Call> {
        self.calls.get_mut(&id)
    }

    /// Removes a call: whoever gets it is the one to answer it.
    pub(super) fn take(&mut self, id: InboundId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        if let Origin::Request(request) = &call.origin {
            self.by_request.remove(request);
        }
        if matches!(call.work, Work::Listen(_)) {
            self.listening.retain(|open| *open != id);
        }
        Some(call)
    }

    /// Removes a call that waits for descriptors; leaves any other one alone.
    pub(super) fn take_parked(&mut self, id: InboundId) -> Option<Call> {
        matches!(self.calls.get(&id)?.work, Work::Parked { .. })
            .then(|| self.take(id))
            .flatten()
    }

    /// Removes the call with the peer's id.
    pub(super) fn take_request(&mut self, request: &RequestId) -> Option<(InboundId, Call)> {
        let id = *self.by_request.get(request)?;
        Some((id, self.take(id)?))
    }

    /// Removes the calls whose answers go into the retry of this one, in the order of their arrival.
    pub(super) fn take_inputs(&mut self, of: OutboundId) -> Vec<InboundId> {
        let is_one = |call: &Call| matches!(call.origin, Origin::Input { call, .. } if call == of);
        let mut ids: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| is_one(call))
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        for id in &ids {
            self.calls.remove(id);
        }
        ids
    }

    /// Removes all calls, in the order of their arrival.
    pub(super) fn drain(&mut self) -> Vec<(InboundId, Call)> {
        self.by_request.clear();
        self.listening.clear();
        let mut calls = self.calls.drain();
        calls.sort_unstable_by_key(|(id, _)| *id);
        calls
    }
}
