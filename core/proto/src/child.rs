//! How a client ends a server process: by steps, each with its time.
//!
//! The stdio clause (2024-11-05 to 2026-07-28, Shutdown): close the input stream, wait, then
//! terminate. A driver performs the steps; this decides when.

use std::time::Duration;

use crate::Instant;

/// The variables of its client's environment that a server's process inherits: what programs need to
/// run, and none that may hold a secret. A server runs code of others; what it should know beyond
/// these is given to it by name.
///
/// A value that starts with `()` is a function of a shell's, not data, and is left out as well.
pub const INHERITED_VARIABLES: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &[
        "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ",
    ]
};

/// What the driver does to the child next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildStep {
    /// Close the child's standard input: the request to leave.
    CloseInput,
    /// Send `SIGTERM` to the child's process group.
    Terminate,
    /// Send `SIGKILL` to the child's process group.
    Kill,
}

/// The steps of one shutdown. The driver stops asking once the child has exited.
///
/// ```
/// use oxmcp_proto::{ChildShutdown, ChildStep, Instant};
/// use std::time::Duration;
///
/// let start = Instant::from_micros(0);
/// let mut shutdown = ChildShutdown::default();
/// assert_eq!(shutdown.poll(start), Some(ChildStep::CloseInput));
/// assert_eq!(shutdown.poll(start), None);
/// assert_eq!(shutdown.poll_timeout(), Some(start + Duration::from_secs(2)));
/// assert_eq!(shutdown.poll(start + Duration::from_secs(2)), Some(ChildStep::Terminate));
/// ```
#[derive(Clone, Debug)]
pub struct ChildShutdown {
    grace: Duration,
    next: Option<ChildStep>,
    at: Option<Instant>,
}

impl Default for ChildShutdown {
    /// Two seconds after each step.
    fn default() -> Self {
        Self::new(Duration::from_secs(2))
    }
}

impl ChildShutdown {
    /// A shutdown that waits `grace` after each step.
    pub fn new(grace: Duration) -> Self {
        Self {
            grace,
            next: Some(ChildStep::CloseInput),
            at: None,
        }
    }

    /// The step that is due at `now`, each one once.
    pub fn poll(&mut self, now: Instant) -> Option<ChildStep> {
        if self.at.is_some_and(|at| now < at) {
            return None;
        }
        let step = self.next?;
        self.next = match step {
            ChildStep::CloseInput => Some(ChildStep::Terminate),
            ChildStep::Terminate => Some(ChildStep::Kill),
            ChildStep::Kill => None,
        };
        self.at = Some(now + self.grace);
        Some(step)
    }

    /// When the next step is due; `None` once all are done or before the first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next.and(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_comes_once_and_in_its_time() {
        let at = |seconds: u64| Instant::from_micros(seconds * 1_000_000);
        let mut shutdown = ChildShutdown::default();
        let steps: Vec<_> = (0..9)
            .filter_map(|second| Some((second, shutdown.poll(at(second))?)))
            .collect();
        assert_eq!(
            steps,
            [
                (0, ChildStep::CloseInput),
                (2, ChildStep::Terminate),
                (4, ChildStep::Kill)
            ]
        );
        assert_eq!(shutdown.poll_timeout(), None);
    }
}
