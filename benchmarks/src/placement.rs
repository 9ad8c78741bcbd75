//! Where the processes of a run may be.

use std::mem;

use clap::ValueEnum;
use serde::Serialize;

use crate::process::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Placement {
    /// Load and subject share one core: what is measured is the work of a call, not how long a core takes to wake up
    One,
    /// Where the kernel puts them
    Any,
}

impl Placement {
    /// Puts this thread where it belongs, and with it every process and thread that it starts from now on.
    pub(crate) fn apply(self) -> Result<()> {
        if self == Self::Any {
            return Ok(());
        }
        let size = mem::size_of::<libc::cpu_set_t>();
        // SAFETY: a cpu_set_t is plain bits, for which zero is a valid value, and both calls are given its own size.
        // The core that is set is one that was set in it, so it lies within.
        let pinned = unsafe {
            let mut allowed: libc::cpu_set_t = mem::zeroed();
            libc::sched_getaffinity(0, size, &raw mut allowed) == 0
                && (0..size * 8)
                    .rev()
                    .find(|&core| libc::CPU_ISSET(core, &allowed))
                    .is_some_and(|last| {
                        let mut one: libc::cpu_set_t = mem::zeroed();
                        libc::CPU_SET(last, &mut one);
                        libc::sched_setaffinity(0, size, &raw const one) == 0
                    })
        };
        if pinned {
            Ok(())
        } else {
            Err("cannot stay on one core here; try --placement any".into())
        }
    }
}
