//! What wakes the host's one loop that waits for events.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::event::{Event, Happening};

/// Lines of standard error that wait for the host; the oldest give way.
const LINES: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waker: Option<Waker>,
    /// No more connections will come.
    over: bool,
    /// What a child said on its standard error.
    lines: VecDeque<String>,
}

impl Signal {
    /// Whoever waits is woken the next time that there may be something.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut state = self.lock();
        match &mut state.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    pub(crate) fn wake(&self) {
        // The host may poll at once, so the lock is free by then.
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.wake();
    }

    /// What the host has done with may have been the last.
    pub(crate) fn wake_if_over(&self) {
        if self.is_over() {
            self.wake();
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().over
    }

    pub(crate) fn add_line(&self, line: &str) {
        let mut state = self.lock();
        if state.lines.len() == LINES {
            state.lines.pop_front();
        }
        state.lines.push_back(line.to_owned());
        drop(state);
        self.wake();
    }

    pub(crate) fn take_lines(&self, events: &mut Vec<Event>) {
        let lines = std::mem::take(&mut self.lock().lines);
        events.extend(lines.into_iter().map(|line| Event {
            connection: 0,
            what: Happening::Stderr { line },
        }));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    /// A host that looks at once, from inside the wake-up.
    struct Eager {
        signal: Arc<Signal>,
        woken: AtomicUsize,
    }

    impl Wake for Eager {
        fn wake(self: Arc<Self>) {
            self.woken.fetch_add(1, Ordering::Relaxed);
            self.signal.register(Waker::noop());
            self.signal.take_lines(&mut Vec::new());
        }
    }

    #[test]
    fn a_wake_up_comes_once_for_each_look_and_under_no_lock() {
        let signal = Arc::<Signal>::default();
        let host = Arc::new(Eager {
            signal: Arc::clone(&signal),
            woken: AtomicUsize::new(0),
        });
        let waker = Waker::from(Arc::clone(&host));
        signal.wake();
        assert_eq!(host.woken.load(Ordering::Relaxed), 0, "nobody waits yet");
        signal.register(&waker);
        signal.wake();
        signal.wake();
        assert_eq!(host.woken.load(Ordering::Relaxed), 1);
        signal.register(&waker);
        signal.add_line("a");
        assert_eq!(host.woken.load(Ordering::Relaxed), 2);
        signal.register(&waker);
        signal.end();
        assert!(signal.is_over() && host.woken.load(Ordering::Relaxed) == 3);
    }

    #[test]
    fn of_too_many_lines_the_oldest_give_way() {
        let signal = Signal::default();
        for line in 0..=LINES {
            signal.add_line(&line.to_string());
        }
        let mut events = Vec::new();
        signal.take_lines(&mut events);
        assert_eq!(events.len(), LINES);
        assert_eq!(events[0].what, Happening::Stderr { line: "1".into() });
    }
}
