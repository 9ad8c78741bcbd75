//! Where outputs wait for the event loop of a host.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use oxmcp_proto::Output;

use super::exchange::ExchangeEvent;
use super::remote::Remote;
use crate::transport::Unauthorized;

/// With more than so much in it, streams are read no further.
const ROOM: usize = 4096;

/// One thing for a host to look at.
#[derive(Debug)]
pub enum Item {
    /// What a connection's session says; never [`Output::Wire`] or [`Output::Message`].
    Output(Remote, Output),
    /// What becomes of an exchange, with the token it was begun with.
    Exchange(u64, ExchangeEvent),
    /// The server of a client refused a request for want of authorization: [`Remote::give_headers`] is waited for.
    Unauthorized(Remote, Unauthorized),
}

/// Where the outputs of connections wait for the event loop of a host; or other things, such as
/// [`RouteEvent`](super::RouteEvent).
pub struct Inbox<T = Item> {
    state: Mutex<State<T>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

struct State<T> {
    items: VecDeque<T>,
    /// The host was woken, and has not looked yet.
    woken: bool,
    closed: bool,
    /// Transports that wait for room.
    waiting: Vec<Waker>,
}

impl<T> Inbox<T> {
    /// `wake` is called from any thread when something came, and not again until the host has drained it. It must
    /// not block and must not drain.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                woken: false,
                closed: false,
                waiting: Vec::new(),
            }),
            wake: Box::new(wake),
        })
    }

    /// Takes `max` items at the most, the oldest first. True when more wait: come back for them, nobody wakes.
    pub fn drain(&self, max: usize, items: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        let count = max.min(state.items.len());
        items.extend(state.items.drain(..count));
        let more = !state.items.is_empty();
        state.woken = more;
        let waiting = match state.items.len() <= ROOM / 2 {
            true => std::mem::take(&mut state.waiting),
            false => Vec::new(),
        };
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        more
    }

    /// The host is gone: what is here and what comes is dropped.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let (items, waiting) = (std::mem::take(&mut state.items), std::mem::take(&mut state.waiting));
        drop(state);
        drop(items);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Adds an item; a host may leave itself one.
    pub fn push(&self, item: T) {
        let mut state = self.lock();
        if state.closed {
            // Its end may come back here, so the lock is free by then.
            drop(state);
            return drop(item);
        }
        state.items.push_back(item);
        let wakes = !std::mem::replace(&mut state.woken, true);
        drop(state);
        if wakes {
            (self.wake)();
        }
    }

    /// Whether there is room for more; if not, the waker is told when there is.
    pub(super) fn has_room(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        let has_room = state.items.len() < ROOM;
        if !has_room && !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        has_room
    }

    // Nothing that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("waiting", &self.lock().items.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    /// How often a transport was told.
    #[derive(Default)]
    struct Told(AtomicUsize);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counting() -> (Arc<Inbox>, Arc<AtomicUsize>) {
        let wakes = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&wakes);
        let inbox = Inbox::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        (inbox, wakes)
    }

    fn tokens(items: &[Item]) -> Vec<u64> {
        let token = |item: &Item| match item {
            Item::Exchange(token, _) => Some(*token),
            _ => None,
        };
        items.iter().filter_map(token).collect()
    }

    #[test]
    fn a_host_is_woken_once_until_it_has_taken_all() {
        let (inbox, wakes) = counting();
        for token in 0..5 {
            inbox.push(Item::Exchange(token, ExchangeEvent::End));
        }
        assert_eq!(wakes.load(Ordering::Relaxed), 1);
        let mut items = Vec::new();
        assert!(inbox.drain(3, &mut items));
        inbox.push(Item::Exchange(5, ExchangeEvent::End));
        assert_eq!(wakes.load(Ordering::Relaxed), 1);
        assert!(!inbox.drain(9, &mut items));
        assert_eq!(tokens(&items), [0, 1, 2, 3, 4, 5]);
        inbox.push(Item::Exchange(6, ExchangeEvent::End));
        assert_eq!(wakes.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_transport_waits_for_room_and_is_told_of_it() {
        let (inbox, _) = counting();
        let told = Arc::new(Told::default());
        let waker = Waker::from(Arc::clone(&told));
        let mut cx = Context::from_waker(&waker);
        for token in 0..ROOM as u64 {
            assert!(inbox.has_room(&mut cx));
            inbox.push(Item::Exchange(token, ExchangeEvent::End));
        }
        assert!(!inbox.has_room(&mut cx) && !inbox.has_room(&mut cx));
        inbox.drain(ROOM / 2 - 1, &mut Vec::new());
        assert_eq!(told.0.load(Ordering::Relaxed), 0);
        inbox.drain(ROOM, &mut Vec::new());
        assert_eq!(told.0.load(Ordering::Relaxed), 1);
        assert!(inbox.has_room(&mut cx));
    }

    #[test]
    fn nothing_is_kept_for_a_host_that_is_gone() {
        let (inbox, wakes) = counting();
        inbox.push(Item::Exchange(1, ExchangeEvent::End));
        inbox.close();
        inbox.push(Item::Exchange(2, ExchangeEvent::End));
        let mut items = Vec::new();
        assert!(!inbox.drain(9, &mut items));
        assert!(items.is_empty() && wakes.load(Ordering::Relaxed) == 1);
    }
}
