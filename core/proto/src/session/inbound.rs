//! Calls the peer made: one entry from their arrival to their answer or cancel.

use std::collections::HashMap;

use super::output::InboundId;
use crate::ToolIndex;
use crate::jsonrpc::{Json, RequestId};
use crate::revision::Era;

/// The calls of the peer that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    calls: HashMap<InboundId, Call>,
    by_request: HashMap<RequestId, InboundId>,
    next: u64,
}

#[derive(Debug)]
pub(super) struct Call {
    pub request: RequestId,
    /// The rules of the revision that the request is in.
    pub era: &'static Era,
    /// The tool that runs, or the request that waits for [`Inbound::take_parked`].
    pub work: Work,
    /// The JSON text of the progress token, if the caller gave one.
    pub progress_token: Option<Box<str>>,
    pub last_progress: f64,
}

#[derive(Debug)]
pub(super) enum Work {
    Tool(ToolIndex),
    Parked { method: Box<str>, params: Option<Json> },
}

impl Inbound {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn contains(&self, id: InboundId) -> bool {
        self.calls.contains_key(&id)
    }

    /// Whether a call with this id waits for its answer: then the id must not be used again.
    pub(super) fn holds(&self, request: &RequestId) -> bool {
        self.by_request.contains_key(request)
    }

    pub(super) fn insert(
        &mut self,
        request: RequestId,
        era: &'static Era,
        work: Work,
        progress_token: Option<Box<str>>,
    ) -> InboundId {
        let id = InboundId(self.next);
        self.next += 1;
        self.by_request.insert(request.clone(), id);
        self.calls.insert(
            id,
            Call {
                request,
                era,
                work,
                progress_token,
                last_progress: f64::NEG_INFINITY,
            },
        );
        id
    }

    pub(super) fn get_mut(&mut self, id: InboundId) -> Option<&mut Call> {
        self.calls.get_mut(&id)
    }

    /// Removes a call: whoever gets it is the one to answer it.
    pub(super) fn take(&mut self, id: InboundId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        self.by_request.remove(&call.request);
        Some(call)
    }

    /// Removes a call that waits for the registry; leaves any other one alone.
    pub(super) fn take_parked(&mut self, id: InboundId) -> Option<(RequestId, &'static Era, Box<str>, Option<Json>)> {
        if !matches!(self.calls.get(&id)?.work, Work::Parked { .. }) {
            return None;
        }
        let call = self.take(id)?;
        match call.work {
            Work::Parked { method, params } => Some((call.request, call.era, method, params)),
            Work::Tool(_) => None,
        }
    }

    /// Removes the call with the peer's id.
    pub(super) fn take_request(&mut self, request: &RequestId) -> Option<InboundId> {
        let id = self.by_request.remove(request)?;
        self.calls.remove(&id);
        Some(id)
    }

    /// Removes all calls, in the order of their arrival.
    pub(super) fn drain(&mut self) -> Vec<InboundId> {
        self.by_request.clear();
        let mut ids: Vec<_> = self.calls.drain().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }
}
