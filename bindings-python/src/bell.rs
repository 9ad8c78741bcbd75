//! How threads of the runtime tell an event loop that something waits for it.
//!
//! They never touch Python. They note which mailbox has something, and write to a descriptor that the loop
//! watches, or wake a thread that waits in its place: once, until the loop has looked.

use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use oxmcp::border;

/// One for each event loop.
pub(crate) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
    #[cfg(unix)]
    pipe: Option<Pipe>,
}

#[derive(Default)]
struct State {
    /// The mailboxes that have something, each of them once.
    full: Vec<u64>,
    is_rung: bool,
    /// The thread that waits was told of it.
    is_heard: bool,
    /// There is such a thread. Without one, nobody is to be woken but by the descriptor.
    has_thread: bool,
    /// Nobody listens any more.
    is_silent: bool,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::default(),
            rung: Condvar::new(),
            #[cfg(unix)]
            pipe: Pipe::new().ok(),
        }
    }

    /// What a loop is to watch for reading, where that can be had.
    pub(crate) fn fd(&self) -> Option<i32> {
        #[cfg(unix)]
        return self.pipe.as_ref().map(Pipe::fd);
        #[cfg(not(unix))]
        None
    }

    /// From any thread: a mailbox has something, and may get more by what else is ready on the runtime now. Rings when
    /// that has had its turn, for a turn of the loop costs more than most of what it is for.
    pub(crate) fn ring_soon(self: &Arc<Self>, mailbox: u64) {
        let Ok(runtime) = border::runtime() else {
            return self.ring(mailbox);
        };
        let (bell, mut has_yielded) = (Arc::clone(self), false);
        runtime.spawn(async move {
            poll_fn(|cx| match std::mem::replace(&mut has_yielded, true) {
                true => Poll::Ready(()),
                false => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await;
            bell.ring(mailbox);
        });
    }

    /// From any thread: a mailbox has something.
    pub(crate) fn ring(&self, mailbox: u64) {
        let mut state = self.lock();
        if state.is_silent {
            return;
        }
        state.full.push(mailbox);
        let wakes = !std::mem::replace(&mut state.is_rung, true);
        let has_thread = state.has_thread;
        drop(state);
        if wakes {
            if has_thread {
                self.rung.notify_one();
            }
            #[cfg(unix)]
            if let Some(pipe) = &self.pipe {
                pipe.fill();
            }
        }
    }

    /// The mailboxes that have something. From now on it rings again.
    pub(crate) fn answer(&self) -> Vec<u64> {
        #[cfg(unix)]
        if let Some(pipe) = &self.pipe {
            pipe.empty();
        }
        let mut state = self.lock();
        (state.is_rung, state.is_heard) = (false, false);
        std::mem::take(&mut state.full)
    }

    /// Has these looked at in the next turn of the loop, which comes by itself: need not ring for it.
    pub(crate) fn put_off(&self, mailboxes: &[u64]) {
        let mut state = self.lock();
        state.full.extend_from_slice(mailboxes);
        (state.is_rung, state.is_heard) = (true, true);
    }

    /// Waits until it rings anew. False when it never will again.
    pub(crate) fn wait(&self) -> bool {
        let waits = |state: &mut State| (!state.is_rung || state.is_heard) && !state.is_silent;
        let mut state = self.lock();
        state.has_thread = true;
        let state = self.rung.wait_while(state, waits);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.is_heard = true;
        !state.is_silent
    }

    /// Nobody listens any more.
    pub(crate) fn silence(&self) {
        let mut state = self.lock();
        state.is_silent = true;
        state.full = Vec::new();
        drop(state);
        self.rung.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A pipe that holds a byte when a bell is rung.
#[cfg(unix)]
pub(crate) struct Pipe {
    reader: std::io::PipeReader,
    writer: std::io::PipeWriter,
}

#[cfg(unix)]
impl Pipe {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        let pipe = Self { reader, writer };
        // The loop may come by itself, before it rang.
        // SAFETY: fcntl takes and gives descriptors and flags only; the descriptor is ours alone.
        match unsafe { libc::fcntl(pipe.fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
            0 => Ok(pipe),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    pub(crate) fn fd(&self) -> i32 {
        std::os::fd::AsRawFd::as_raw_fd(&self.reader)
    }

    pub(crate) fn fill(&self) {
        // There is a byte or two in it at the most, so it is never full; it breaks only with the process.
        let _ = std::io::Write::write(&mut &self.writer, &[1]);
    }

    pub(crate) fn empty(&self) {
        let _ = std::io::Read::read(&mut &self.reader, &mut [0; 8]);
    }
}
