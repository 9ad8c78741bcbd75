//! Looks after connections while their event loops are away.
//!
//! A loop reads, answers and keeps time for its connections itself, as long as it comes round. A handler that
//! computes for seconds keeps it away, and so does any thread that holds the interpreter's lock. So one thread of
//! the process, which needs no interpreter, looks whether input lies there unread and times have passed. If so it does
//! what the core can do by itself: it reads, answers pings and lists, takes cancels in, has calls time out. What needs
//! the loop waits for it, and the loop is woken.
//!
//! It costs nothing per message: it waits for the first input after a silence, and from then on only looks every
//! few milliseconds whether the loop has read since.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::bell::Pipe;
use crate::core::Core;
use crate::descriptors::{self, Input};

/// How often to look at a loop that has been at work.
const GLANCE: Duration = Duration::from_millis(10);
/// How long a loop may leave input unread, or a time unnoticed.
const PATIENCE: Duration = Duration::from_millis(5);
/// The thread gives way for so long at least.
const LEAST: Duration = Duration::from_millis(1);
/// A connection that has been still for so long is waited for instead.
const STILL: Duration = Duration::from_millis(500);

/// What a connection and the thread that looks after it know of each other.
pub(crate) struct Post {
    core: Weak<Core>,
    input: RawFd,
    /// Can be read when something waits for the loop.
    wake: Mutex<Option<Pipe>>,
    is_woken: AtomicBool,
    /// How often the loop has come round to read.
    turns: AtomicU64,
    is_left: AtomicBool,
    guard: Arc<Guard>,
}

impl Post {
    /// Has a connection looked after.
    pub(crate) fn new(core: &Arc<Core>, input: RawFd) -> std::io::Result<Arc<Self>> {
        let post = Arc::new(Self {
            core: Arc::downgrade(core),
            input,
            wake: Mutex::new(Some(Pipe::new()?)),
            is_woken: AtomicBool::new(false),
            turns: AtomicU64::new(0),
            is_left: AtomicBool::new(false),
            guard: Guard::of_process()?,
        });
        post.guard.take(Arc::clone(&post))?;
        Ok(post)
    }

    /// What the loop watches; it calls `answer` when this can be read.
    pub(crate) fn fd(&self) -> Option<RawFd> {
        self.wake().as_ref().map(Pipe::fd)
    }

    /// The loop comes round to read.
    pub(crate) fn turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// The loop looks at what waits for it.
    pub(crate) fn answer(&self) {
        if let Some(wake) = &*self.wake() {
            wake.empty();
        }
        self.is_woken.store(false, Ordering::Release);
        self.turn();
    }

    /// The connection is over, or its loop is. The descriptor may be closed then.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Release);
        let wake = self.wake().take();
        drop(wake);
        self.guard.posts().retain(|post| !post.is_left());
        self.guard.bell.fill();
    }

    fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Acquire) || self.core.strong_count() == 0
    }

    fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Does what is due in place of the loop. False when there is nothing left to read until the loop is back.
    fn stand_in(&self) -> bool {
        let Some(core) = self.core.upgrade() else { return false };
        let stood = core.stand_in();
        if stood.has_news
            && !self.is_woken.swap(true, Ordering::AcqRel)
            && let Some(wake) = &*self.wake()
        {
            wake.fill();
        }
        stood.reads_on
    }

    /// How long until something is due.
    fn due(&self) -> Option<Duration> {
        self.core.upgrade()?.due()
    }

    /// Whether something was due a while ago.
    fn is_late(&self) -> bool {
        self.due().is_some_and(|due| due.is_zero())
    }

    fn wake(&self) -> MutexGuard<'_, Option<Pipe>> {
        self.wake.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, and the connections that it looks after.
struct Guard {
    process: u32,
    posts: Mutex<Vec<Arc<Post>>>,
    /// Rung when they change.
    bell: Pipe,
}

impl Guard {
    /// The one of this process. A process that was forked off has its own: the thread of its parent is not there.
    fn of_process() -> std::io::Result<Arc<Self>> {
        static GUARD: Mutex<Option<Arc<Guard>>> = Mutex::new(None);
        let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = &*guard
            && guard.process == std::process::id()
        {
            return Ok(Arc::clone(guard));
        }
        let new = Arc::new(Self {
            process: std::process::id(),
            posts: Mutex::default(),
            bell: Pipe::new()?,
        });
        let thread = std::thread::Builder::new()
            .name("oxmcp-guard".into())
            .stack_size(128 * 1024);
        thread.spawn({
            let new = Arc::clone(&new);
            move || new.watch()
        })?;
        if let Some(before) = guard.replace(Arc::clone(&new)) {
            // It was the parent's, and locked perhaps when this process was forked off.
            #[allow(clippy::mem_forget)]
            std::mem::forget(before);
        }
        Ok(new)
    }

    fn take(&self, post: Arc<Post>) -> std::io::Result<()> {
        self.posts().push(post);
        self.bell.fill();
        Ok(())
    }

    /// Never ends: it costs nothing while there is nothing to look after.
    fn watch(&self) {
        block_signals();
        let mut rounds: Vec<Round> = Vec::new();
        let mut inputs = Vec::new();
        loop {
            self.renew(&mut rounds);
            let now = Instant::now();
            let wait = rounds.iter().filter_map(|round| round.wait(now)).min();
            inputs.clear();
            inputs.push(Some(self.bell.fd()));
            inputs.extend(
                rounds
                    .iter()
                    .map(|round| round.waits_for_input().then_some(round.post.input)),
            );
            let ready = descriptors::wait_any(&inputs, wait);
            if ready[0] == Input::Readable {
                self.bell.empty();
            }
            let now = Instant::now();
            for (round, input) in rounds.iter_mut().zip(&ready[1..]) {
                match input {
                    // Whoever closed it forgot to say so.
                    Input::Gone => round.post.is_left.store(true, Ordering::Release),
                    input => round.look(*input == Input::Readable, now),
                }
            }
        }
    }

    /// Takes in who has come, and lets go of who has left.
    fn renew(&self, rounds: &mut Vec<Round>) {
        let mut posts = self.posts();
        posts.retain(|post| !post.is_left());
        rounds.retain(|round| !round.post.is_left());
        let known = rounds.len();
        for post in posts.iter() {
            if !rounds[..known].iter().any(|round| Arc::ptr_eq(&round.post, post)) {
                rounds.push(Round::new(Arc::clone(post)));
            }
        }
    }

    fn posts(&self) -> MutexGuard<'_, Vec<Arc<Post>>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread knows of one connection.
struct Round {
    post: Arc<Post>,
    watch: Watch,
    /// The loop's turns when it was last seen to have one, and when that was.
    turns: u64,
    seen: Instant,
}

#[derive(Clone, Copy)]
enum Watch {
    /// Nothing happens: for input, or for a time that is due.
    ForInput,
    /// The loop was at work a moment ago: look again then.
    At(Instant),
    /// There is something to do for the loop: see then whether it did.
    Suspect(Instant),
    /// The loop is away: for input, which is read at once.
    InCharge,
    /// The same without input: there is no more, or the loop has enough of it waiting.
    Deaf,
}

impl Round {
    fn new(post: Arc<Post>) -> Self {
        let now = Instant::now();
        let turns = post.turns();
        Self {
            post,
            watch: Watch::At(now + GLANCE),
            turns,
            seen: now,
        }
    }

    fn waits_for_input(&self) -> bool {
        matches!(self.watch, Watch::ForInput | Watch::InCharge)
    }

    /// How long nothing need be done for it.
    fn wait(&self, now: Instant) -> Option<Duration> {
        match self.watch {
            Watch::ForInput => self.post.due().map(|due| due + PATIENCE),
            Watch::At(when) | Watch::Suspect(when) => Some(when.saturating_duration_since(now)),
            Watch::InCharge | Watch::Deaf => Some(self.post.due().unwrap_or(GLANCE).clamp(LEAST, GLANCE)),
        }
    }

    fn look(&mut self, is_readable: bool, now: Instant) {
        let turns = self.post.turns();
        if turns != self.turns {
            (self.turns, self.seen) = (turns, now);
            self.watch = Watch::At(now + GLANCE);
            return;
        }
        let has_to_do = |round: &Self| descriptors::is_readable(round.post.input) || round.post.is_late();
        self.watch = match self.watch {
            Watch::ForInput if is_readable || self.post.is_late() => {
                self.seen = now;
                Watch::Suspect(now + PATIENCE)
            }
            Watch::At(when) if now < when => return,
            Watch::At(_) if has_to_do(self) => Watch::Suspect(now + PATIENCE),
            Watch::At(_) if now.saturating_duration_since(self.seen) >= STILL => Watch::ForInput,
            Watch::At(_) => Watch::At(now + GLANCE),
            Watch::Suspect(when) if now < when => return,
            Watch::Suspect(_) if has_to_do(self) => self.stand_in(),
            Watch::Suspect(_) => Watch::At(now + GLANCE),
            Watch::InCharge if is_readable || self.post.is_late() => self.stand_in(),
            Watch::Deaf if self.post.is_late() => self.stand_in(),
            watch @ (Watch::ForInput | Watch::InCharge | Watch::Deaf) => watch,
        };
    }

    fn stand_in(&self) -> Watch {
        match self.post.stand_in() {
            true => Watch::InCharge,
            false => Watch::Deaf,
        }
    }
}

/// Signals are the main thread's, which waits for them.
fn block_signals() {
    // SAFETY: the set is plain data, filled before it is read.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}
