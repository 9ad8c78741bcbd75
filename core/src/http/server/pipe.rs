//! What goes from a connection to the body of one response.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::receipt::Receipt;

/// One response, as its connection fills it and its reader empties it.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The whole of a response.
    answers: Option<Answers>,
    /// It is an event stream.
    streams: bool,
    /// The text of events that were not taken yet.
    events: Vec<u8>,
    /// Nothing follows.
    ended: bool,
    /// What is kept of it until its client has all.
    receipt: Option<Receipt>,
    /// Nobody reads any more.
    gone: bool,
    reader: Option<Waker>,
}

/// All that a response holds.
#[derive(Debug)]
pub(super) enum Answers {
    /// The answer to the one request.
    One(Vec<u8>),
    /// The answers to all of a batch.
    Batch(Vec<Vec<u8>>),
    /// The same as the text of events.
    Events(Vec<u8>),
}

/// How a response begins.
#[derive(Debug)]
pub(super) enum Beginning {
    /// This is all.
    Answers(Answers),
    /// It is an event stream, of which more is to come.
    Events,
    /// There is no answer.
    Nothing,
}

impl Pipe {
    /// Adds events. False when nobody gets them.
    pub(super) fn push(&self, events: &[u8]) -> bool {
        self.change(|state| {
            let heard = !state.gone && !state.ended;
            if heard {
                state.events.extend_from_slice(events);
            }
            heard
        })
    }

    /// Makes it an event stream.
    pub(super) fn begin_events(&self) {
        self.change(|state| state.streams = true);
    }

    /// All of it is here.
    pub(super) fn answer(&self, answers: Answers) {
        self.change(|state| {
            state.answers = Some(answers);
            state.ended = true;
        });
    }

    /// Nothing follows on this response.
    pub(super) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Nothing follows on an event stream that is kept, unless it ended before: then there is more of it than went here.
    pub(super) fn end_kept(&self, receipt: Receipt) {
        self.change(|state| {
            if !std::mem::replace(&mut state.ended, true) {
                state.receipt = Some(receipt);
            }
        });
    }

    /// What is kept of a stream that was taken to its end.
    pub(super) fn take_receipt(&self) -> Option<Receipt> {
        self.lock().receipt.take()
    }

    /// The reader leaves. True when there would have been more.
    pub(super) fn leave(&self) -> bool {
        let mut state = self.lock();
        state.gone = true;
        state.events = Vec::new();
        state.reader = None;
        !state.ended
    }

    /// Bytes that wait to be taken.
    pub(super) fn waiting(&self) -> usize {
        self.lock().events.len()
    }

    pub(super) fn poll_beginning(&self, cx: &mut Context<'_>) -> Poll<Beginning> {
        let mut state = self.lock();
        if let Some(answers) = state.answers.take() {
            return Poll::Ready(Beginning::Answers(answers));
        }
        match (state.streams, state.ended) {
            (true, _) => Poll::Ready(Beginning::Events),
            (false, true) => Poll::Ready(Beginning::Nothing),
            (false, false) => state.wait(cx),
        }
    }

    /// The next events; `None` at the end.
    pub(super) fn poll_events(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let mut state = self.lock();
        if !state.events.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut state.events)));
        }
        if state.ended { Poll::Ready(None) } else { state.wait(cx) }
    }

    fn change<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let done = work(&mut state);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        done
    }

    // Nothing that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        self.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmcp_proto::http::EventLimits;

    use super::*;
    use crate::http::server::state::MemoryState;

    #[test]
    fn only_a_stream_that_went_whole_by_one_response_has_a_receipt() {
        let end_kept = |pipe: &Pipe| {
            pipe.end_kept(Receipt {
                state: Arc::new(MemoryState::new(EventLimits::default())),
                session: "s".into(),
                stream: "t".into(),
            });
            pipe.take_receipt().is_some()
        };
        let whole = Pipe::default();
        assert!(end_kept(&whole));
        assert!(whole.take_receipt().is_none());
        // The handler let go of it, and the rest is for another response.
        let begun = Pipe::default();
        begun.end();
        assert!(!end_kept(&begun));
    }
}
