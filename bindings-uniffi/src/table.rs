//! The connections of an endpoint, and what keeps each of them here.
//!
//! The one connection of a stream stays until its `Closed`. Those of a server over HTTP come without being added: each stays
//! while the host works on a call of it. Those of sessions stay from the handshake to the end, so that the host can speak to
//! their clients between calls. A session that was refused after its handshake ends without a word, and is looked for now and
//! then.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use oxmcp::border::Remote;
use oxmcp_proto::Output;

/// Connections that all endpoints of the process hold.
static LIVE: AtomicU64 = AtomicU64::new(0);

pub(crate) fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Sessions, over which those are looked for that ended without a word.
const SESSIONS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Table {
    held: HashMap<u64, Held>,
    sessions: usize,
    /// Not before there are so many.
    look_at: usize,
}

/// How long a connection is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// Until its `Closed`, which the endpoint waits for.
    Stream,
    /// Until its `Closed`, or until it is found to be over.
    Session,
    /// As long as there are calls.
    Calls,
}

#[derive(Debug)]
struct Held {
    remote: Remote,
    hold: Hold,
    /// Calls that the host works on.
    calls: HashSet<u64>,
}

impl Held {
    fn new(remote: Remote, hold: Hold) -> Self {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Self {
            remote,
            hold,
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
        self.held.insert(remote.number(), Held::new(remote, Hold::Stream));
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

    /// Whether the endpoint has nothing to wait for.
    pub(crate) fn is_done(&self) -> bool {
        let done = |held: &Held| held.hold != Hold::Stream && held.calls.is_empty();
        self.held.values().all(done)
    }

    /// Empties it.
    pub(crate) fn take_all(&mut self) -> impl Sized + use<> {
        self.sessions = 0;
        std::mem::take(&mut self.held)
    }

    /// Takes note of what a connection says. Gives those that were found to be over.
    pub(crate) fn see(&mut self, remote: &Remote, output: &Output) -> Vec<u64> {
        let number = remote.number();
        match output {
            Output::Call { id, .. } | Output::Describe { id, .. } => {
                self.hold(remote).calls.insert(id.0);
            }
            Output::Cancelled { id, .. } => self.let_go(number, id.0),
            Output::Ready(_) if remote.session_id().is_some() => return self.begin_session(remote),
            Output::Closed => self.forget(number),
            _ => {}
        }
        Vec::new()
    }

    fn hold(&mut self, remote: &Remote) -> &mut Held {
        let fresh = || Held::new(remote.clone(), Hold::Calls);
        self.held.entry(remote.number()).or_insert_with(fresh)
    }

    fn begin_session(&mut self, remote: &Remote) -> Vec<u64> {
        self.hold(remote).hold = Hold::Session;
        self.sessions += 1;
        if self.sessions <= self.look_at.max(SESSIONS) {
            return Vec::new();
        }
        // Only what carries a session knows its name.
        let is_over = |held: &Held| held.hold == Hold::Session && held.remote.session_id().is_none();
        let over: Vec<u64> = self
            .held
            .iter()
            .filter(|(_, held)| is_over(held))
            .map(|(number, _)| *number)
            .collect();
        for number in &over {
            self.forget(*number);
        }
        self.look_at = self.sessions * 2;
        over
    }

    fn forget(&mut self, connection: u64) {
        if let Some(held) = self.held.remove(&connection) {
            self.sessions -= usize::from(held.hold == Hold::Session);
        }
    }

    /// The host has done with a call.
    pub(crate) fn let_go(&mut self, connection: u64, call: u64) {
        let Some(held) = self.held.get_mut(&connection) else {
            return;
        };
        held.calls.remove(&call);
        if held.calls.is_empty() && held.hold == Hold::Calls {
            self.held.remove(&connection);
        }
    }
}
