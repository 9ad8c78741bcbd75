//! One patience for many waits, nearly all of which end before it does.
//!
//! A timer of the runtime for each of them would wake the thread that waits for the next one, again and again. Here one task counts
//! steps for all, for as long as anyone waits.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use slab::Slab;

/// The steps of one patience.
const STEPS: u32 = 4;

#[derive(Debug)]
pub(super) struct Ticks {
    step: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Steps so far.
    now: u64,
    /// Whether a task counts them.
    counts: bool,
    waits: Slab<Wait>,
}

#[derive(Debug)]
struct Wait {
    until: u64,
    waker: Waker,
}

impl Ticks {
    pub(super) fn new(patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            step: (patience / STEPS).max(Duration::from_millis(1)),
            state: Mutex::default(),
        })
    }

    /// What comes of a future within the patience, or up to a step more.
    pub(super) async fn within<F: Future + Unpin>(self: &Arc<Self>, mut future: F) -> Option<F::Output> {
        let mut over = Over { ticks: self, key: None };
        std::future::poll_fn(|cx| match Pin::new(&mut future).poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => over.poll(cx).map(|()| None),
        })
        .await
    }

    async fn count(self: Arc<Self>) {
        let mut counting = Counting {
            ticks: self,
            goes_on: true,
        };
        while counting.goes_on {
            counting.goes_on = counting.ticks.step().await;
        }
    }

    /// False when nobody waits.
    async fn step(&self) -> bool {
        tokio::time::sleep(self.step).await;
        let mut state = self.lock();
        state.now += 1;
        let now = state.now;
        let due = state.waits.iter().filter(|(_, wait)| wait.until == now);
        let due: Vec<Waker> = due.map(|(_, wait)| wait.waker.clone()).collect();
        let goes_on = !state.waits.is_empty();
        state.counts = goes_on;
        drop(state);
        for waker in due {
            waker.wake();
        }
        goes_on
    }

    // Nothing that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that counts. When its runtime ends it, the next one to wait begins another.
struct Counting {
    ticks: Arc<Ticks>,
    goes_on: bool,
}

impl Drop for Counting {
    fn drop(&mut self) {
        if self.goes_on {
            self.ticks.lock().counts = false;
        }
    }
}

/// The end of one patience. Nothing of it is left when it is dropped.
struct Over<'a> {
    ticks: &'a Arc<Ticks>,
    key: Option<usize>,
}

impl Over<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.ticks.lock();
        let now = state.now;
        if let Some(wait) = self.key.and_then(|key| state.waits.get_mut(key)) {
            if wait.until > now {
                wait.waker.clone_from(cx.waker());
                return Poll::Pending;
            }
            return Poll::Ready(());
        }
        // The step under way is not a whole one.
        let until = now + u64::from(STEPS) + 1;
        self.key = Some(state.waits.insert(Wait {
            until,
            waker: cx.waker().clone(),
        }));
        let begins = !std::mem::replace(&mut state.counts, true);
        drop(state);
        if begins {
            tokio::spawn(Arc::clone(self.ticks).count());
        }
        Poll::Pending
    }
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.ticks.lock().waits.try_remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;
    use tokio::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_after_its_patience_and_at_most_a_step_later() {
        let ticks = Ticks::new(PATIENCE);
        for _ in 0..3 {
            let begun = Instant::now();
            assert!(
                ticks
                    .within(std::pin::pin!(std::future::pending::<()>()))
                    .await
                    .is_none()
            );
            let took = begun.elapsed();
            assert!((PATIENCE..=PATIENCE * 5 / 4).contains(&took), "{took:?}");
            tokio::time::sleep(Duration::from_millis(130)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_given_and_nothing_is_left() {
        let (ticks, notify) = (Ticks::new(PATIENCE), Arc::new(Notify::new()));
        let wait = tokio::spawn({
            let (ticks, notify) = (Arc::clone(&ticks), Arc::clone(&notify));
            async move { ticks.within(std::pin::pin!(notify.notified())).await }
        });
        tokio::time::sleep(PATIENCE / 2).await;
        notify.notify_one();
        assert_eq!(wait.await.expect("it ends"), Some(()));
        tokio::time::sleep(PATIENCE).await;
        let state = ticks.lock();
        assert!(state.waits.is_empty() && !state.counts);
    }

    #[test]
    fn a_runtime_that_ends_takes_no_other_ones_time() {
        let ticks = Ticks::new(Duration::from_millis(4));
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("a runtime");
            let waited = runtime.block_on(ticks.within(std::pin::pin!(std::future::pending::<()>())));
            assert!(waited.is_none());
        }
    }
}
