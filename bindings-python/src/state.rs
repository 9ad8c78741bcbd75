//! What a connection holds: the session, its two descriptors, and what waits for either.

use std::collections::VecDeque;
use std::io;

use oxmcp_proto::{Instant, Output, Role, Session};
use pyo3::prelude::*;

use crate::descriptors::Sink;

const CHUNK: usize = 64 * 1024;

pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) input: i32,
    /// Gone once the connection is closed: the descriptor's number may be another's soon.
    pub(crate) sink: Option<Sink>,
    /// Bytes for the peer that did not fit into the descriptor yet.
    pub(crate) unsent: Vec<u8>,
    /// How many of them, at the most, the peer itself made us write: answers, but no calls of ours.
    pub(crate) owed: usize,
    pub(crate) chunk: Vec<u8>,
    /// Outputs that wait for the event loop to exist.
    pub(crate) waiting: VecDeque<Output>,
    /// How many bytes were read while the loop was away.
    pub(crate) read_meanwhile: usize,
    /// Client: the output broke, and Python was not told.
    pub(crate) broken: bool,
    /// Client: the input ended while the loop was away.
    pub(crate) ended_meanwhile: bool,
    /// Let go of by its loop: the descriptors may be closed.
    pub(crate) detached: bool,
    pub(crate) flush_is_due: bool,
    pub(crate) awaits_writable: bool,
    pub(crate) paused: bool,
    /// When the loop last came round to us.
    pub(crate) last_turn: Instant,
    pub(crate) armed: Option<(Instant, Py<PyAny>)>,
}

impl State {
    pub(crate) fn new(session: Session, input: i32, output: i32) -> Self {
        Self {
            session,
            input,
            sink: Some(Sink::new(output)),
            unsent: Vec::new(),
            owed: 0,
            chunk: vec![0; CHUNK],
            waiting: VecDeque::new(),
            read_meanwhile: 0,
            broken: false,
            ended_meanwhile: false,
            detached: false,
            flush_is_due: false,
            awaits_writable: false,
            paused: false,
            last_turn: Instant::default(),
            armed: None,
        }
    }

    /// Another server is there, in the place of one that left at the first question.
    pub(crate) fn start_over(&mut self, input: i32, output: i32, now: Instant) {
        self.session.start_over(now);
        (self.input, self.sink) = (input, Some(Sink::new(output)));
        self.unsent.clear();
        (self.owed, self.read_meanwhile) = (0, 0);
        (self.broken, self.ended_meanwhile, self.awaits_writable, self.paused) = (false, false, false, false);
    }

    /// Takes all outputs; bytes join those that wait to be written.
    pub(crate) fn drain(&mut self) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Wire(bytes) if self.unsent.is_empty() => {
                    let empty = std::mem::replace(&mut self.unsent, bytes);
                    self.session.recycle(empty);
                }
                Output::Wire(bytes) => {
                    self.unsent.extend_from_slice(&bytes);
                    self.session.recycle(bytes);
                }
                output => outputs.push(output),
            }
        }
        outputs
    }

    /// The outputs that wait for the loop, and all new ones.
    pub(crate) fn take_outputs(&mut self) -> Vec<Output> {
        let mut outputs: Vec<_> = std::mem::take(&mut self.waiting).into();
        outputs.extend(self.drain());
        outputs
    }

    /// Writes until all is gone or the descriptor is full. An error other than that means that the
    /// peer does not read any more: a client's side may find out why. What a client sent may still be served, so at
    /// a server only the bytes are dropped.
    pub(crate) fn write(&mut self) {
        let Some(sink) = &self.sink else {
            return self.unsent.clear();
        };
        let mut written = 0;
        while written < self.unsent.len() {
            match sink.write(&self.unsent[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    written = self.unsent.len();
                    self.broken = self.session.role() == Role::Client;
                }
            }
        }
        if written == self.unsent.len() {
            self.unsent.clear();
        } else {
            self.unsent.drain(..written);
        }
        self.owed = self.owed.min(self.unsent.len());
    }

    /// Whether to read on. A peer that does not read what it makes us write is not read from. Calls of
    /// ours do not count: both sides would wait for each other.
    pub(crate) fn is_over_backlog(&self) -> bool {
        let owed = match self.session.role() {
            Role::Server => self.unsent.len(),
            Role::Client => self.owed,
        };
        owed > self.session.config().limits.backlog
    }

    /// Lets go of the output, and of what was not written. True when the loop watches it.
    pub(crate) fn release_output(&mut self) -> Option<i32> {
        self.unsent = Vec::new();
        let sink = self.sink.take()?;
        std::mem::take(&mut self.awaits_writable).then(|| sink.fd())
    }

    /// Takes in what a read gave. A client's side tells the end of its input to Python first, which
    /// may find out why the server left: true for that.
    pub(crate) fn receive(&mut self, bytes: io::Result<usize>, now: Instant) -> bool {
        match bytes {
            Ok(0) if self.session.role() == Role::Client => {
                self.session.finish_line(now);
                return true;
            }
            Ok(0) => self.session.end_input(now),
            Ok(count) => {
                let chunk = std::mem::take(&mut self.chunk);
                self.session.receive(&chunk[..count], now);
                self.owed += self.session.unwritten();
                self.chunk = chunk;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return self.receive(Ok(0), now),
        }
        false
    }
}
