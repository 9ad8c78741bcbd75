//! What ought to be true of one side, kept in the plainest way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use oxmcp_proto::{CallOptions, InboundId, Instant};

/// What a side thinks of the calls it made and of those it got.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Calls this side made, by their id on the wire.
    pub made: BTreeMap<u64, Made>,
    /// Handlers that run, or wait for the registry.
    pub live: BTreeMap<InboundId, Handler>,
    /// Every handler there ever was, so that dead ones are tried as well.
    pub seen: Vec<InboundId>,
    /// Ids of requests that came and wait for an answer of a handler.
    pub open: BTreeSet<u64>,
    /// Ids whose cancel was taken in.
    pub cancelled: BTreeSet<u64>,
    /// How many answers were written for each id.
    pub answered: BTreeMap<u64, usize>,
    pub ready: bool,
    pub connecting: bool,
    pub closed: bool,
    pub input_ended: bool,
}

/// A call this side made.
#[derive(Debug)]
pub(crate) struct Made {
    pub began: Instant,
    pub last: Instant,
    pub idle: Duration,
    pub total: Option<Duration>,
    pub reset: bool,
    pub wants_progress: bool,
    pub last_progress: f64,
    pub done: usize,
    /// Cancelled by the program, or timed out: the peer must be told once.
    pub given_up: bool,
    pub told: usize,
}

/// A handler of this side.
#[derive(Debug)]
pub(crate) struct Handler {
    /// The number in the arguments, which is the id of the call; absent while it waits.
    pub call: Option<u64>,
    pub wants_progress: bool,
    pub last_progress: f64,
}

impl Made {
    pub(crate) fn new(options: CallOptions, default: Duration, now: Instant) -> Self {
        Self {
            began: now,
            last: now,
            idle: options.timeout.unwrap_or(default),
            total: options.max_total_timeout,
            reset: options.reset_timeout_on_progress,
            wants_progress: options.progress || options.reset_timeout_on_progress,
            last_progress: f64::NEG_INFINITY,
            done: 0,
            given_up: false,
            told: 0,
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        let idle = self.last + self.idle;
        self.total.map_or(idle, |total| idle.min(self.began + total))
    }
}

impl Model {
    pub(crate) fn pending(&self) -> impl Iterator<Item = (&u64, &Made)> {
        self.made.iter().filter(|(_, call)| call.done == 0)
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.pending().map(|(_, call)| call.deadline()).min()
    }

    /// A request or notification was taken in.
    pub(crate) fn take_in(&mut self, message: &serde_json::Value, waits: bool) {
        if self.closed || self.input_ended {
            return;
        }
        match (message["method"].as_str(), message["id"].as_u64()) {
            (Some("tools/call"), Some(id)) => drop(self.open.insert(id)),
            (Some("tools/list"), Some(id)) if waits => drop(self.open.insert(id)),
            (Some("notifications/cancelled"), None) => {
                let id = message["params"]["requestId"].as_u64().unwrap();
                if self.open.remove(&id) {
                    self.cancelled.insert(id);
                }
            }
            _ => {}
        }
    }
}
