//! Where the driver leaves what a caller waits for.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use oxmcp_proto::Error;
use oxmcp_proto::jsonrpc::Json;

/// Progress messages kept for a caller that does not look; older ones give way.
const KEPT: usize = 256;

/// The caller's side of one call of ours.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: VecDeque<Json>,
    outcome: Option<Result<Json, Error>>,
    caller: Option<Waker>,
}

/// What comes for a caller, in order.
#[derive(Debug)]
pub(crate) enum News {
    Progress(Json),
    Done(Result<Json, Error>),
}

impl Slot {
    pub(crate) fn progress(&self, params: Json) {
        let mut state = self.lock();
        if state.progress.len() == KEPT {
            state.progress.pop_front();
        }
        state.progress.push_back(params);
        wake(state);
    }

    pub(crate) fn complete(&self, outcome: Result<Json, Error>) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        wake(state);
    }

    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<News> {
        let mut state = self.lock();
        if let Some(params) = state.progress.pop_front() {
            return Poll::Ready(News::Progress(params));
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
}
