//! Kills the children's groups when a signal that nobody listens for ends the process.
//!
//! A listener in JavaScript would do so too, but would also change what the signal does: with one, Node no longer dies
//! of it. This hook stands before the disposition that is about to end the process, and passes the signal on to it. A
//! program that listens itself replaces the hook, and then ends by its own will and its exit hooks.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use libc::{c_int, c_void, sigaction, siginfo_t};

const SIGNALS: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The leaders of the groups of all environments; zero is a free place. A fixed array, because a signal handler must
/// neither allocate nor lock. Children beyond it are left to the end of their standard input.
static LEADERS: [AtomicI32; 1024] = [const { AtomicI32::new(0) }; 1024];

/// How many leaders there are. Its lock orders the changes; the handler does without.
static COUNT: Mutex<usize> = Mutex::new(0);

static PREVIOUS: [Previous; SIGNALS.len()] =
    [const { Previous(UnsafeCell::new(MaybeUninit::zeroed())) }; SIGNALS.len()];

/// What a signal did before our hook.
struct Previous(UnsafeCell<MaybeUninit<sigaction>>);

// SAFETY: written under the lock of COUNT while the hook is not installed; read by the hook and under that lock.
unsafe impl Sync for Previous {}

/// From now on a deadly signal kills the group of `leader` first.
pub(crate) fn remember(leader: i32) {
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    let claim = |place: &&AtomicI32| {
        place
            .compare_exchange(0, leader, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    };
    if LEADERS.iter().find(claim).is_some() {
        *count += 1;
    }
    install();
}

/// The group of `leader` has ended. After the last one the signals do what they did before.
pub(crate) fn forget(leader: i32) {
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    let release = |place: &&AtomicI32| {
        place
            .compare_exchange(leader, 0, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    };
    if LEADERS.iter().find(release).is_some() {
        *count -= 1;
    }
    if *count == 0 {
        uninstall();
    }
}

/// Puts the hook before each disposition that ends the process: the system's own, or a handler that runs only once
/// (Node's, which restores the terminal and raises the signal again).
fn install() {
    for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        let current = disposition(signal);
        let ends_process = current.sa_sigaction == libc::SIG_DFL || current.sa_flags & libc::SA_RESETHAND != 0;
        if is_ours(&current) || !ends_process {
            continue;
        }
        let mut ours = current;
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO;
        // SAFETY: our hook is not installed for this signal, so nobody reads the place; `ours` is a whole sigaction.
        unsafe {
            (*previous.0.get()).write(current);
            libc::sigfillset(&raw mut ours.sa_mask);
            libc::sigaction(signal, &raw const ours, ptr::null_mut());
        }
    }
}

fn uninstall() {
    for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        if is_ours(&disposition(signal)) {
            // SAFETY: our hook is installed, so the place was written before.
            unsafe { libc::sigaction(signal, (*previous.0.get()).as_ptr(), ptr::null_mut()) };
        }
    }
}

fn disposition(signal: c_int) -> sigaction {
    let mut current = MaybeUninit::zeroed();
    // SAFETY: a zeroed sigaction is a valid one (SIG_DFL), and stays so where the system refuses to fill it.
    unsafe {
        libc::sigaction(signal, ptr::null(), current.as_mut_ptr());
        current.assume_init()
    }
}

fn is_ours(action: &sigaction) -> bool {
    action.sa_sigaction == on_signal as *const () as usize
}

/// Only what is safe in a signal handler: atomics, `kill`, `sigaction`, `raise`.
extern "C" fn on_signal(signal: c_int, _info: *mut siginfo_t, _context: *mut c_void) {
    for place in &LEADERS {
        let leader = place.load(Ordering::SeqCst);
        if leader > 1 {
            // SAFETY: no memory is involved.
            unsafe { libc::kill(-leader, libc::SIGKILL) };
        }
    }
    for (known, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        if known == signal {
            // SAFETY: the hook is installed, so the place was written before. The signal is blocked until this returns,
            // and then does what it did without us.
            unsafe {
                libc::sigaction(signal, (*previous.0.get()).as_ptr(), ptr::null_mut());
                libc::raise(signal);
            }
        }
    }
}
