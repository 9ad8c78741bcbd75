//! The turns of a connection: read, act on what came, start handlers, write. All on one thread.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oxmcp_proto::{Instant, Output, Role, Session, Verdicts};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;

use crate::calls::Calls;
use crate::descriptors::{self, Sink};
#[cfg(unix)]
use crate::guard::Post;
use crate::hook::Hook;
use crate::host::Host;
use crate::outputs;
use crate::port::Port;
use crate::registry::Registry;
use crate::state::State;

/// What a reporter that never lets the loop run may hold back at the most.
pub(crate) const PROMPT: Duration = Duration::from_millis(1);

/// How long a connection waits by itself for the next message, before it lets the loop do so.
const MOMENT: Duration = Duration::from_millis(1);

/// So much is read while the loop is away: bytes, and what follows from them for the loop.
#[cfg(unix)]
const READ_MEANWHILE: usize = 16 * 1024 * 1024;
#[cfg(unix)]
const WAITING: usize = 4096;

/// What was done in place of a loop.
#[cfg(unix)]
#[derive(Default)]
pub(crate) struct StoodIn {
    /// The loop has to look.
    pub(crate) has_news: bool,
    /// More may be read before the loop is back.
    pub(crate) reads_on: bool,
}

/// What handlers and contexts share with their connection.
pub(crate) struct Core {
    this: Weak<Core>,
    /// Tells it from the others of this process.
    pub(crate) serial: u64,
    state: Mutex<State>,
    pub(crate) calls: Calls,
    pub(crate) registry: Py<Registry>,
    host: Mutex<Option<Arc<Host>>>,
    pub(crate) hook: Hook,
    /// Who looks after it while its loop is away.
    #[cfg(unix)]
    post: Mutex<Option<Arc<Post>>>,
    clock: std::time::Instant,
    /// Microseconds that a test has let pass at once.
    ahead: AtomicU64,
    /// Client: what the server's era is remembered by, if it is to be.
    pub(crate) server: Option<String>,
}

/// The era that each server was found to be of, for all clients of this process.
pub(crate) static VERDICTS: LazyLock<Verdicts> = LazyLock::new(Verdicts::default);

/// How a turn without a host ended.
pub(crate) enum Turn {
    Goes,
    NeedsHost,
    Over,
}

impl Core {
    pub(crate) fn new(state: State, registry: Py<Registry>, server: Option<String>, on_event: Py<PyAny>) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            serial: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            state: Mutex::new(state),
            calls: Calls::default(),
            registry,
            host: Mutex::new(None),
            hook: Hook::new(on_event),
            #[cfg(unix)]
            post: Mutex::default(),
            clock: std::time::Instant::now(),
            ahead: AtomicU64::new(0),
            server,
        })
    }

    pub(crate) fn now(&self) -> Instant {
        let passed = self.clock.elapsed().as_micros() as u64;
        Instant::from_micros(passed.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Has the clock of this connection jump, for tests.
    pub(crate) fn advance(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.ahead.fetch_add(micros, Ordering::Relaxed);
    }

    /// Another handle on this core; only handed out while one exists.
    pub(crate) fn shared(&self) -> Arc<Self> {
        self.this
            .upgrade()
            .unwrap_or_else(|| unreachable!("called through a handle"))
    }

    /// One input to the session.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        let now = self.now();
        work(&mut self.state().session, now)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn host(&self) -> MutexGuard<'_, Option<Arc<Host>>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn current_host(&self) -> Option<Arc<Host>> {
        self.host().as_ref().map(Arc::clone)
    }

    /// One blocking read, and all that can be answered without Python. Interrupted by signals.
    pub(crate) fn serve_once(&self) -> io::Result<Turn> {
        self.write_all(None)?;
        let mut chunk = std::mem::take(&mut self.state().chunk);
        let input = self.state().input;
        let bytes = descriptors::read(input, &mut chunk);
        let now = self.now();
        let mut state = self.state();
        state.chunk = chunk;
        if let Err(error) = &bytes {
            match error.kind() {
                io::ErrorKind::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
                io::ErrorKind::WouldBlock => {
                    drop(state);
                    descriptors::wait_readable(input)?;
                    return Ok(Turn::Goes);
                }
                _ => {}
            }
        }
        state.receive(bytes, now);
        let outputs = state.drain();
        state
            .waiting
            .extend(outputs.into_iter().filter(|output| !matches!(output, Output::Ready(_))));
        let closed = matches!(state.waiting.back(), Some(Output::Closed));
        if state.waiting.iter().any(|output| !matches!(output, Output::Closed)) {
            return Ok(Turn::NeedsHost);
        }
        drop(state);
        self.write_all(None)?;
        Ok(if closed { Turn::Over } else { Turn::Goes })
    }

    /// Writes what is queued, waiting for the peer to read, until a deadline if there is one.
    pub(crate) fn write_all(&self, deadline: Option<Instant>) -> io::Result<()> {
        loop {
            let mut state = self.state();
            state.write();
            let full = !state.unsent.is_empty();
            let Some(fd) = state.sink.as_ref().map(Sink::fd).filter(|_| full) else {
                return Ok(());
            };
            drop(state);
            let left = deadline.map_or(Duration::MAX, |deadline| self.now().until(deadline));
            if left.is_zero() {
                return Ok(());
            }
            descriptors::wait_writable(fd, left)?;
        }
    }

    /// One read, and what it led to; whether the input of a client has ended. The loop found that there is something
    /// to read.
    pub(crate) fn read_once(&self) -> (Vec<Output>, bool) {
        #[cfg(unix)]
        if let Some(post) = &*self.post() {
            post.turn();
        }
        let now = self.now();
        let mut state = self.state();
        #[cfg(unix)]
        if std::mem::take(&mut state.read_meanwhile) > 0 && !descriptors::is_readable(state.input) {
            return (state.take_outputs(), false);
        }
        let mut chunk = std::mem::take(&mut state.chunk);
        let bytes = descriptors::read(state.input, &mut chunk);
        state.chunk = chunk;
        let ended = state.receive(bytes, now);
        (state.take_outputs(), ended)
    }

    /// Has the connection looked after while its loop is away; gives what the loop is to watch.
    #[cfg(unix)]
    pub(crate) fn guard(&self) -> io::Result<Option<i32>> {
        let input = self.state().input;
        let post = Post::new(&self.shared(), input)?;
        let fd = post.fd();
        let before = self.post().replace(post);
        if let Some(before) = before {
            before.leave();
        }
        Ok(fd)
    }

    #[cfg(unix)]
    pub(crate) fn unguard(&self) {
        let post = self.post().take();
        if let Some(post) = post {
            post.leave();
        }
    }

    /// The loop is back: what waits for it, and whether the input of a client has ended meanwhile.
    #[cfg(unix)]
    pub(crate) fn come_back(&self) -> (Vec<Output>, bool) {
        if let Some(post) = &*self.post() {
            post.answer();
        }
        let mut state = self.state();
        let ended = std::mem::take(&mut state.ended_meanwhile);
        (state.take_outputs(), ended)
    }

    /// Does what is due in place of a loop that is away, and needs no Python.
    #[cfg(unix)]
    pub(crate) fn stand_in(&self) -> StoodIn {
        let now = self.now();
        let mut state = self.state();
        if state.detached {
            return StoodIn::default();
        }
        let mut stood = StoodIn::default();
        if state.session.poll_timeout().is_some_and(|due| due <= now) {
            state.session.handle_timeout(now);
            stood.has_news = true;
        }
        stood.reads_on = !state.paused
            && !state.ended_meanwhile
            && state.read_meanwhile < READ_MEANWHILE
            && state.waiting.len() < WAITING
            && !state.is_over_backlog();
        if stood.reads_on && descriptors::is_readable(state.input) {
            let mut chunk = std::mem::take(&mut state.chunk);
            let bytes = descriptors::read(state.input, &mut chunk);
            state.chunk = chunk;
            // The end of the input is told by reading it again and again.
            stood.reads_on = !matches!(bytes, Ok(0));
            state.read_meanwhile += bytes.as_ref().map_or(1, |count| *count.max(&1));
            state.ended_meanwhile = state.receive(bytes, now);
            stood.has_news = true;
        }
        let outputs = state.drain();
        state.waiting.extend(outputs);
        if let Some(fd) = state.sink.as_ref().map(Sink::fd)
            && !state.unsent.is_empty()
            && descriptors::is_writable(fd)
        {
            state.write();
        }
        stood
    }

    /// How long until something is due.
    #[cfg(unix)]
    pub(crate) fn due(&self) -> Option<Duration> {
        let now = self.now();
        let due = self.state().session.poll_timeout()?;
        Some(now.until(due))
    }

    #[cfg(unix)]
    fn post(&self) -> MutexGuard<'_, Option<Arc<Post>>> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for more input where the loop has nothing else to do: it would come back here, by a long way.
    /// Whether there is more.
    pub(crate) fn stays(&self, py: Python<'_>, since: std::time::Instant) -> PyResult<bool> {
        let Some(host) = self.current_host() else {
            return Ok(false);
        };
        let left = MOMENT.saturating_sub(since.elapsed());
        if left.is_zero() || !host.is_idle(py, MOMENT)? {
            return Ok(false);
        }
        let input = {
            let state = self.state();
            if state.paused || state.awaits_writable || state.flush_is_due || state.detached {
                return Ok(false);
            }
            state.input
        };
        Ok(host.wait_for_input(py, input, left))
    }

    /// Acts on outputs, then writes. Handlers that start during it need not ask for a write.
    pub(crate) fn take_turn(&self, py: Python<'_>, outputs: Vec<Output>) -> PyResult<()> {
        let Some(host) = self.current_host() else {
            self.state().waiting.extend(outputs);
            return Ok(());
        };
        let before = {
            let mut state = self.state();
            state.last_turn = self.now();
            std::mem::replace(&mut state.flush_is_due, true)
        };
        let (port, event_loop) = (Port::Loop(self.shared()), host.event_loop());
        let (mut started, mut fatal) = (false, None);
        for output in outputs {
            let acted = match output {
                Output::Closed => self.closed(py, &host).map(|()| false),
                output => outputs::act(py, &port, event_loop, output),
            };
            // Whatever the program's own code does, the other outputs have their turn too.
            match acted {
                Ok(started_one) => started |= started_one,
                Err(error) if error.is_instance_of::<PyException>(py) => error.write_unraisable(py, None),
                Err(error) => fatal = Some(error),
            }
        }
        if !before && started {
            // Tasks run later in this turn of the loop; the write comes after them.
            host.flush_soon(py)?;
        } else if !before {
            self.flush(py)?;
        }
        fatal.map_or(Ok(()), Err)
    }

    /// The session is over. A client's descriptors are closed next, so nothing may touch them any more;
    /// a server still writes what is left.
    fn closed(&self, py: Python<'_>, host: &Host) -> PyResult<()> {
        let watched = {
            let mut state = self.state();
            state.write();
            match state.session.role() {
                Role::Client => state.release_output(),
                Role::Server => None,
            }
        };
        if let Some(fd) = watched {
            host.unwatch_output(py, fd)?;
        }
        self.hook.tell(py, "closed", None, py.None(), py.None())
    }

    /// Whether the loop has been away for so long that a reporter should let it run. What was reported is written at
    /// once then.
    pub(crate) fn is_late(&self, reported: bool) -> bool {
        let now = self.now();
        let mut state = self.state();
        let late = now - state.last_turn > PROMPT;
        if reported && late && !state.awaits_writable {
            let outputs = state.drain();
            state.waiting.extend(outputs);
            state.write();
        }
        late
    }

    /// Has what is queued written at the end of this turn of the loop. May be called from any thread.
    pub(crate) fn flush_later(&self, py: Python<'_>) -> PyResult<()> {
        let Some(host) = self.current_host() else {
            // Nobody takes turns yet, so this one ends here.
            let mut state = self.state();
            if !state.detached {
                let outputs = state.drain();
                state.waiting.extend(outputs);
                state.write();
            }
            return Ok(());
        };
        if std::mem::replace(&mut self.state().flush_is_due, true) {
            return Ok(());
        }
        if host.event_loop().is_here(py)? {
            return host.flush_soon(py);
        }
        let woken = host.flush_from_thread(py);
        // The loop may have let go of the connection, and have ended, a moment ago.
        if self.state().detached { Ok(()) } else { woken }
    }

    /// Writes what is queued; arms what is needed for the rest.
    pub(crate) fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let (outputs, change, broken) = {
            let mut state = self.state();
            state.flush_is_due = false;
            state.last_turn = self.now();
            let outputs = state.take_outputs();
            state.write();
            let full = !state.unsent.is_empty();
            let paused = state.is_over_backlog();
            let change = Interest {
                writable: (full != state.awaits_writable).then_some(full),
                readable: (paused != state.paused).then_some(!paused),
                input: state.input,
                output: state.sink.as_ref().map(Sink::fd),
            };
            state.awaits_writable = full;
            state.paused = paused;
            (outputs, change, std::mem::take(&mut state.broken))
        };
        let Some(host) = self.current_host() else { return Ok(()) };
        change.tell(py, &host, self)?;
        if broken {
            self.hook.tell(py, "input_ended", None, py.None(), py.None())?;
        }
        self.arm_timer(py, &host)?;
        if outputs.is_empty() {
            Ok(())
        } else {
            self.take_turn(py, outputs)
        }
    }

    /// Sets the loop's timer if none is set that comes early enough.
    pub(crate) fn arm_timer(&self, py: Python<'_>, host: &Host) -> PyResult<()> {
        let (deadline, old) = {
            let mut state = self.state();
            let Some(deadline) = state.session.poll_timeout() else {
                return Ok(());
            };
            if state.armed.as_ref().is_some_and(|(at, _)| *at <= deadline) {
                return Ok(());
            }
            (deadline, state.armed.take())
        };
        if let Some((_, timer)) = old {
            timer.bind(py).call_method0(intern!(py, "cancel"))?;
        }
        let delay = self.now().until(deadline).as_secs_f64();
        let timer = host.call_later(py, delay)?;
        self.state().armed = Some((deadline, timer.unbind()));
        Ok(())
    }

    /// Writes at once when nothing else is under way, else together with the rest of this turn.
    pub(crate) fn turn_after_call(&self, py: Python<'_>, at_once: bool) -> PyResult<()> {
        if at_once && !self.state().flush_is_due {
            return self.flush(py);
        }
        self.flush_later(py)
    }
}

/// What the loop should watch from now on.
struct Interest {
    writable: Option<bool>,
    readable: Option<bool>,
    input: i32,
    output: Option<i32>,
}

impl Interest {
    fn tell(&self, py: Python<'_>, host: &Host, core: &Core) -> PyResult<()> {
        match (self.writable, self.output) {
            (Some(true), Some(fd)) => host.watch_output(py, fd)?,
            (Some(false), Some(fd)) => host.unwatch_output(py, fd)?,
            (_, None) | (None, _) => {}
        }
        match self.readable {
            Some(true) => core.hook.tell(py, "resume_reading", None, self.input, py.None()),
            Some(false) => core.hook.tell(py, "pause_reading", None, self.input, py.None()),
            None => Ok(()),
        }
    }
}
