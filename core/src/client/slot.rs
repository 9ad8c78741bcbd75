//! Where the driver leaves what a caller waits for.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use oxmcp_proto::Error;
use oxmcp_proto::jsonrpc::Json;

use super::Notification;

/// Progress messages and notifications kept for a caller that does not look; older ones give way.
const KEPT: usize = 256;

/// The caller's side of one call of ours.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Item>,
    outcome: Option<Result<Json, Error>>,
    caller: Option<Waker>,
}

#[derive(Debug)]
enum Item {
    Progress(Json),
    Notification(Notification),
}

/// What comes for a caller, in order.
#[derive(Debug)]
pub(crate) enum News {
    Progress(Json),
    Notification(Notification),
    Done(Result<Json, Error>),
}

impl Slot {
    pub(crate) fn progress(&self, params: Json) {
        self.push(Item::Progress(params));
    }

    /// A notification that waits already says all that the same again would.
    pub(crate) fn notify(&self, notification: Notification) {
        let waits = |item: &Item| matches!(item, Item::Notification(other) if other.says_the_same(&notification));
        if !self.lock().waiting.iter().any(waits) {
            self.push(Item::Notification(notification));
        }
    }

    fn push(&self, item: Item) {
        let mut state = self.lock();
        if state.waiting.len() == KEPT {
            state.waiting.pop_front();
        }
        state.waiting.push_back(item);
        wake(state);
    }

    pub(crate) fn complete(&self, outcome: Result<Json, Error>) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        wake(state);
    }

    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<News> {
        let mut state = self.lock();
        match state.waiting.pop_front() {
            Some(Item::Progress(params)) => return Poll::Ready(News::Progress(params)),
            Some(Item::Notification(notification)) => return Poll::Ready(News::Notification(notification)),
            None => {}
        }
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(News::Done(outcome));
        }
        state.caller = Some(cx.waker().clone());
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the caller after the lock is free.
fn wake(mut state: MutexGuard<'_, State>) {
    let caller = state.caller.take();
    drop(state);
    if let Some(caller) = caller {
        caller.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmcp_proto::jsonrpc::json;

    #[test]
    fn the_newest_progress_is_kept_and_comes_before_the_outcome() {
        let slot = Slot::default();
        for step in 0..KEPT + 2 {
            slot.progress(json(step.to_string()).unwrap());
        }
        slot.complete(Ok(json("{}").unwrap()));
        let mut cx = Context::from_waker(Waker::noop());
        for step in 2..KEPT + 2 {
            let Poll::Ready(News::Progress(params)) = slot.poll(&mut cx) else {
                panic!("no progress {step}");
            };
            assert_eq!(params.get(), step.to_string());
        }
        assert!(matches!(slot.poll(&mut cx), Poll::Ready(News::Done(Ok(_)))));
        assert!(slot.poll(&mut cx).is_pending());
    }

    #[test]
    fn the_same_notification_waits_once() {
        let slot = Slot::default();
        let notification = |uri: &str| Notification::new("m", json(format!("{{\"uri\":\"{uri}\"}}")).ok());
        for uri in ["a", "b", "a", "a"] {
            slot.notify(notification(uri));
        }
        let mut cx = Context::from_waker(Waker::noop());
        for uri in ["a", "b", "a"] {
            if uri == "a" {
                slot.notify(notification(uri));
            }
            let Poll::Ready(News::Notification(next)) = slot.poll(&mut cx) else {
                panic!("no notification of {uri}");
            };
            assert!(next.says_the_same(&notification(uri)));
        }
    }
}
