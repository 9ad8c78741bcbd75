//! The connections of an endpoint, and what keeps each of them here.
//!
//! The one connection of a stream stays until its `Closed`. Those of a server over HTTP come without being added, and some
//! have no end of their own: each stays while the host works on a call of it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use oxmcp::border::Remote;
use oxmcp_proto::Output;

/// Connections that all endpoints of the process hold.
static LIVE: AtomicU64 = AtomicU64::new(0);

pub(crate) fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    held: HashMap<u64, Held>,
}

#[derive(Debug)]
struct Held {
    remote: Remote,
    /// Until its `Closed`.
    lasting: bool,
    /// Calls that the host works on.
    calls: HashSet<u64>,
}

impl Held {
    fn new(remote: Remote, lasting: bool) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Self {
            remote,
            lasting,
            calls: HashSet::new(),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Table {
    /// A connection that stays until its `Closed`.
    pub(crate) fn add(&mut self, remote: Remote) {
        self.held.insert(remote.number(), Held::new(remote, true));
    }

    pub(crate) fn get(&self, connection: u64) -> Option<Remote> {
        self.held.get(&connection).map(|held| held.remote.clone())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Remote> {
        self.held.values().map(|held| &held.remote)
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Takes note of what a connection says.
    pub(crate) fn see(&mut self, remote: &Remote, output: &Output) {
        let number = remote.number();
        match output {
            Output::Call { id, .. } | Output::Describe { id, .. } => {
                self.hold(remote).calls.insert(id.0);
            }
            Output::Cancelled { id, .. } => self.let_go(number, id.0),
            Output::Closed => drop(self.held.remove(&number)),
            _ => {}
        }
    }

    fn hold(&mut self, remote: &Remote) -> &mut Held {
        let fresh = || Held::new(remote.clone(), false);
        self.held.entry(remote.number()).or_insert_with(fresh)
    }

    /// The host has done with a call.
    pub(crate) fn let_go(&mut self, connection: u64, call: u64) {
        let Some(held) = self.held.get_mut(&connection) else {
            return;
        };
        held.calls.remove(&call);
        if held.calls.is_empty() && !held.lasting {
            self.held.remove(&connection);
        }
    }
}
