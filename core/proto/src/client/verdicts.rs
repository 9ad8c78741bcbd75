//! The era that servers were found to be of, so that each is asked once.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many servers are remembered.
const REMEMBERED: usize = 1024;

/// Which servers are of the handshake, by a name of the host's: a command line, an origin.
///
/// Era is a property of a server, not of a request (2026-07-28 versioning, Backward Compatibility), so
/// a program keeps one of these for all its clients. Servers without a handshake need no memory: asking
/// them is how a connection begins.
///
/// ```
/// use oxmcp_proto::{Revision, Verdicts};
///
/// let verdicts = Verdicts::default();
/// assert!(verdicts.should_probe("node server.js"));
/// verdicts.learn("node server.js", Revision::V2025_11_25);
/// assert!(!verdicts.should_probe("node server.js"));
/// verdicts.forget("node server.js"); // connecting failed: it may be another one now
/// assert!(verdicts.should_probe("node server.js"));
/// ```
#[derive(Debug, Default)]
pub struct Verdicts(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    of_the_handshake: HashSet<Box<str>>,
    order: VecDeque<Box<str>>,
}

impl Verdicts {
    /// Whether a client should ask this server what it is: the setting
    /// [`Config::probe`](crate::Config::probe).
    pub fn should_probe(&self, server: &str) -> bool {
        !self.lock().of_the_handshake.contains(server)
    }

    /// The client of this server connected in `revision`.
    pub fn learn(&self, server: &str, revision: crate::Revision) {
        if !revision.has_handshake() {
            return self.forget(server);
        }
        let mut known = self.lock();
        if !known.of_the_handshake.insert(server.into()) {
            return;
        }
        known.order.push_back(server.into());
        if known.order.len() > REMEMBERED
            && let Some(oldest) = known.order.pop_front()
        {
            known.of_the_handshake.remove(&oldest);
        }
    }

    /// Connecting failed, so what was known may no longer hold.
    pub fn forget(&self, server: &str) {
        let mut known = self.lock();
        if known.of_the_handshake.remove(server) {
            known.order.retain(|name| **name != *server);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    #[test]
    fn the_memory_is_bounded_and_forgets_the_oldest() {
        let verdicts = Verdicts::default();
        for number in 0..=REMEMBERED {
            verdicts.learn(&number.to_string(), Revision::V2024_11_05);
        }
        assert!(verdicts.should_probe("0"));
        assert!(!verdicts.should_probe("1"));
        assert_eq!(verdicts.lock().of_the_handshake.len(), REMEMBERED);
    }

    #[test]
    fn a_server_that_moved_on_is_asked_again() {
        let verdicts = Verdicts::default();
        verdicts.learn("s", Revision::V2025_06_18);
        verdicts.learn("s", Revision::V2026_07_28);
        assert!(verdicts.should_probe("s"));
        assert!(verdicts.lock().order.is_empty());
    }
}
