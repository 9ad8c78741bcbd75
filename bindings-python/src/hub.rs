//! One event loop, and all connections of the runtime that speak to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use oxmcp::border::Remote;
use pyo3::intern;
use pyo3::prelude::*;

use crate::bell::Bell;
use crate::core::PROMPT;
use crate::event_loop::EventLoop;
use crate::mailbox::Mailbox;

/// So much of a mailbox is looked at in one turn of the loop: the program's own callbacks have their turn too.
const BATCH: usize = 128;

/// What an event loop and the threads of the runtime know of each other. `oxmcp._hub` makes one for each loop.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Hub {
    bell: Arc<Bell>,
    state: Mutex<State>,
    /// The process whose threads speak to it: after a fork there are none.
    process: u32,
}

struct State {
    event_loop: Option<Arc<EventLoop>>,
    mailboxes: HashMap<u64, Arc<Mailbox>>,
    last_turn: Instant,
    /// What wrote to them goes on at the end of this turn of the loop.
    unsettled: Vec<Remote>,
}

#[pymethods]
impl Hub {
    /// `event_loop` must be the running loop of this thread.
    #[new]
    fn new(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            bell: Arc::new(Bell::new()),
            state: Mutex::new(State {
                event_loop: Some(Arc::new(EventLoop::new(event_loop)?)),
                mailboxes: HashMap::new(),
                last_turn: Instant::now(),
                unsettled: Vec::new(),
            }),
            process: std::process::id(),
        })
    }

    /// The descriptor that a loop watches, to call `turn` when it can be read. `None` where there is none.
    fn fileno(&self) -> Option<i32> {
        self.bell.fd()
    }

    /// Waits, on a thread, until `turn` is to be called. False when there is nothing to wait for any more.
    fn wait(&self, py: Python<'_>) -> bool {
        py.detach(|| self.bell.wait())
    }

    /// Has what was written in this turn of the loop go out.
    fn settle(&self) {
        let unsettled = std::mem::take(&mut self.state().unsettled);
        unsettled.iter().for_each(Remote::settle);
    }

    /// Acts on what has come, on the loop's thread.
    fn turn(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        let full = this.bell.answer();
        this.state().last_turn = Instant::now();
        this.settle();
        let Some(event_loop) = this.event_loop() else {
            return Ok(());
        };
        let (mut unfinished, mut fatal) = (Vec::new(), None);
        for number in full {
            let Some(mailbox) = this.mailbox(number) else { continue };
            match mailbox.take_turn(py, &event_loop, BATCH) {
                Ok(false) => {}
                Ok(true) => unfinished.push(number),
                Err(error) => {
                    unfinished.push(number);
                    fatal = Some(error);
                }
            }
        }
        if !unfinished.is_empty() {
            this.bell.put_off(&unfinished);
            let turn = slf.getattr(intern!(py, "turn"))?.unbind();
            event_loop.call_soon(py, &turn)?;
        }
        fatal.map_or(Ok(()), Err)
    }

    /// The loop has ended, or is about to: nothing is handed to it any more.
    fn close(&self) {
        self.bell.silence();
        let (event_loop, mailboxes) = {
            let mut state = self.state();
            (state.event_loop.take(), std::mem::take(&mut state.mailboxes))
        };
        if self.process != std::process::id() {
            // Threads of the parent may have held locks when this process was forked off.
            #[allow(clippy::mem_forget)]
            return std::mem::forget(mailboxes);
        }
        for mailbox in mailboxes.into_values() {
            mailbox.close();
        }
        drop(event_loop);
    }

    /// How many mailboxes there are.
    fn __len__(&self) -> usize {
        self.state().mailboxes.len()
    }
}

impl Hub {
    pub(crate) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    pub(crate) fn event_loop(&self) -> Option<Arc<EventLoop>> {
        self.state().event_loop.as_ref().map(Arc::clone)
    }

    pub(crate) fn add(&self, mailbox: &Arc<Mailbox>) {
        self.state().mailboxes.insert(mailbox.number, Arc::clone(mailbox));
    }

    pub(crate) fn forget(&self, number: u64) {
        let mailbox = self.state().mailboxes.remove(&number);
        drop(mailbox);
    }

    /// Has a connection go on at the end of this turn of the loop.
    pub(crate) fn settle_soon(slf: &Bound<'_, Self>, remote: &Remote) -> PyResult<()> {
        let (is_first, event_loop) = {
            let mut state = slf.get().state();
            state.unsettled.push(remote.clone());
            (state.unsettled.len() == 1, state.event_loop.as_ref().map(Arc::clone))
        };
        match event_loop.filter(|_| is_first) {
            Some(event_loop) => event_loop.call_soon(slf.py(), &slf.getattr(intern!(slf.py(), "settle"))?.unbind()),
            None => Ok(()),
        }
    }

    fn mailbox(&self, number: u64) -> Option<Arc<Mailbox>> {
        self.state().mailboxes.get(&number).map(Arc::clone)
    }

    /// Whether the loop has been away for so long that a reporter should let it run; it is taken to do so.
    pub(crate) fn is_late(&self) -> bool {
        let now = Instant::now();
        let mut state = self.state();
        let late = now - state.last_turn > PROMPT;
        if late {
            state.last_turn = now;
        }
        late
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
