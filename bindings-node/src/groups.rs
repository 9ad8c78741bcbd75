//! The process groups of an environment's children, killed when the environment or the process ends.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::Env;
use napi_derive::napi;

#[cfg(unix)]
use crate::signals;

type Groups = Arc<Mutex<HashSet<i32>>>;

/// The process groups of the children of one environment.
///
/// A worker thread that is terminated runs no more JavaScript, not even its exit hooks, and a signal that nobody
/// listens for ends the process without any: this is what ends the children then.
#[napi]
pub struct ProcessGroups(Groups);

#[napi]
impl ProcessGroups {
    /// One for each environment: it registers with the environment it is made in.
    #[napi(constructor)]
    pub fn new(env: &Env) -> napi::Result<Self> {
        let groups = Groups::default();
        env.add_env_cleanup_hook(Arc::clone(&groups), |groups| {
            for leader in lock(&groups).drain() {
                #[cfg(unix)]
                {
                    signals::forget(leader);
                    kill_and_reap(leader);
                }
                // Windows has no groups to kill; the child sees the end of its standard input.
                #[cfg(not(unix))]
                let _ = leader;
            }
        })?;
        Ok(Self(groups))
    }

    /// From now on the group led by the process `leader` ends with the environment.
    #[napi]
    pub fn add(&self, leader: i32) {
        // Zero and one would name our own group and every process.
        if leader > 1 && lock(&self.0).insert(leader) {
            #[cfg(unix)]
            signals::remember(leader);
        }
    }

    /// The group has ended.
    #[napi]
    pub fn remove(&self, leader: i32) {
        if lock(&self.0).remove(&leader) {
            #[cfg(unix)]
            signals::forget(leader);
        }
    }
}

fn lock(groups: &Groups) -> MutexGuard<'_, HashSet<i32>> {
    groups.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills a group, and waits for its leader so that no zombie stays: the loop that would have done so is gone.
#[cfg(unix)]
fn kill_and_reap(leader: i32) {
    use std::time::Duration;

    const ATTEMPTS: u32 = 200;
    // SAFETY: no memory is involved; a group that is gone gives an error, which is as well.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
    for _ in 0..ATTEMPTS {
        // SAFETY: the status may be null, and WNOHANG never waits.
        if unsafe { libc::waitpid(leader, std::ptr::null_mut(), libc::WNOHANG) } != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
