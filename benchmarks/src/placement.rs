//! Where the processes of a run may be.

use std::mem;
use std::sync::OnceLock;

use clap::ValueEnum;
use serde::Serialize;

use crate::process::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Placement {
    /// Load and subject share one core: what is measured is the work of a call, not how long a core takes to wake up
    One,
    /// The load has one core, the subject all others: what a subject does while the load costs it nothing
    Split,
    /// Where the kernel puts them
    Any,
}

/// Where the load is and where subjects are to be, if that is not the same.
static APART: OnceLock<(libc::cpu_set_t, libc::cpu_set_t)> = OnceLock::new();

impl Placement {
    /// Puts this thread where it belongs, and with it every process and thread that it starts from now on, but for those
    /// that [`of_subject`] starts.
    pub(crate) fn apply(self) -> Result<()> {
        if self == Self::Any {
            return Ok(());
        }
        let Some((one, others)) = last_core() else {
            return Err("cannot find out which cores there are; try --placement any".into());
        };
        if self == Self::Split {
            if others.is_none() {
                return Err("there is one core only; try --placement one".into());
            }
            APART.get_or_init(|| (one, others.unwrap_or(one)));
        }
        match stay_on(&one) {
            true => Ok(()),
            false => Err("cannot stay on one core here; try --placement any".into()),
        }
    }

    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::One => "load and subject share one core",
            Self::Split => "the load has one core, the subject the others",
            Self::Any => "load and subject run where the kernel puts them",
        }
    }
}

/// Starts a subject where subjects belong.
pub(crate) fn of_subject<T>(start: impl FnOnce() -> T) -> T {
    let Some((load, subject)) = APART.get() else {
        return start();
    };
    stay_on(subject);
    let started = start();
    stay_on(load);
    started
}

fn stay_on(cores: &libc::cpu_set_t) -> bool {
    // SAFETY: the call is given the size of what it reads.
    unsafe { libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), cores) == 0 }
}

/// The last core that this thread may use, and all others, if there are any.
fn last_core() -> Option<(libc::cpu_set_t, Option<libc::cpu_set_t>)> {
    let size = mem::size_of::<libc::cpu_set_t>();
    // SAFETY: a cpu_set_t is plain bits, for which zero is a valid value, and the call is given its size. The core that is
    // set and cleared is one that was set in it, so it lies within.
    unsafe {
        let mut allowed: libc::cpu_set_t = mem::zeroed();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return None;
        }
        let last = (0..size * 8).rev().find(|&core| libc::CPU_ISSET(core, &allowed))?;
        let mut one: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(last, &mut one);
        libc::CPU_CLR(last, &mut allowed);
        Some((one, (libc::CPU_COUNT(&allowed) > 0).then_some(allowed)))
    }
}
