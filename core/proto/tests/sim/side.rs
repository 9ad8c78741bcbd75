//! One side: a session, its model, and the checks that hold between them.

use std::collections::BTreeMap;

use oxmcp_proto::{Error, ErrorKind, Instant, Kind, OutboundId, Output, ProblemKind, Role, Session};
use serde_json::Value;

use super::link::Pipe;
use super::model::{Handler, Model};

/// What a handler answered, by the id of the call: the caller must get just that.
pub(crate) type Answers = BTreeMap<u64, &'static str>;

/// A session with the model of what it should do.
#[derive(Debug)]
pub(crate) struct Side {
    pub session: Session,
    pub model: Model,
    /// To the other side.
    pub out: Pipe,
    /// Bytes of a line that is not complete, for the model's own view of what arrives.
    line: Vec<u8>,
}

impl Side {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session,
            model: Model::default(),
            out: Pipe::default(),
            line: Vec::new(),
        }
    }

    /// Hands bytes to the session, and their messages to the model.
    pub(crate) fn receive(&mut self, bytes: &[u8], now: Instant, answers: &Answers) {
        let mut lines = 0;
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            lines += 1;
            let message: Value = serde_json::from_slice(&self.line).unwrap();
            self.line.clear();
            let waits = !self.session.registry().is_described(Kind::Tool);
            self.model.take_in(&message, waits);
        }
        let bound = 2 * lines + self.model.pending().count() + self.model.live.len() + 4;
        self.session.receive(bytes, now);
        self.drain(now, answers, bound);
    }

    pub(crate) fn end_input(&mut self, now: Instant, answers: &Answers) {
        // A last line may lack its end and be whole otherwise.
        if let Ok(message) = serde_json::from_slice(&self.line) {
            let waits = !self.session.registry().is_described(Kind::Tool);
            self.model.take_in(&message, waits);
        }
        self.model.input_ended = true;
        self.session.end_input(now);
        self.settle(now, answers);
    }

    pub(crate) fn close(&mut self, now: Instant, answers: &Answers) {
        self.session.close("the simulation closed it");
        self.settle(now, answers);
    }

    /// Takes out what an input other than bytes gave.
    pub(crate) fn settle(&mut self, now: Instant, answers: &Answers) {
        let bound = self.model.pending().count() + self.model.live.len() + 4;
        self.drain(now, answers, bound);
    }

    /// Takes out everything and checks each output, then the state as a whole.
    fn drain(&mut self, now: Instant, answers: &Answers, bound: usize) {
        let (mut count, mut closes, mut closed_calls) = (0, 0, 0);
        while let Some(output) = self.session.poll_output() {
            count += 1;
            assert_eq!(closes, 0, "nothing comes after Closed");
            match output {
                Output::Wire(bytes) => self.write(&bytes),
                Output::Closed => closes += 1,
                Output::Done { id, outcome } => {
                    closed_calls += usize::from(outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Closed));
                    self.done(id, outcome.map(|result| result.get().to_owned()), now, answers);
                }
                other => self.event(other, now),
            }
        }
        assert!(count <= bound, "{count} outputs, at most {bound} were due");
        if closes > 0 {
            assert!(!self.model.closed, "it closed twice");
            self.model.closed = true;
            self.model.open.clear();
            self.out.end();
        }
        assert!(
            closed_calls == 0 || self.model.closed || self.model.input_ended,
            "a call failed as closed"
        );
        self.check(now);
    }

    fn event(&mut self, output: Output, now: Instant) {
        let model = &mut self.model;
        match output {
            Output::Ready(_) => (model.ready, model.connecting) = (true, false),
            Output::ConnectFailed(_) => model.connecting = false,
            Output::Call {
                id,
                params,
                wants_progress,
                ..
            } => {
                let arguments: Value = serde_json::from_str(params.unwrap().get()).unwrap();
                let handler = Handler {
                    call: arguments["n"].as_u64(),
                    wants_progress,
                    last_progress: f64::NEG_INFINITY,
                };
                model.live.insert(id, handler);
                model.seen.push(id);
            }
            Output::Describe { id, .. } => {
                let handler = Handler {
                    call: None,
                    wants_progress: false,
                    last_progress: f64::NEG_INFINITY,
                };
                model.live.insert(id, handler);
                model.seen.push(id);
            }
            Output::Cancelled { id, .. } => {
                let handler = model.live.remove(&id);
                assert!(handler.is_some(), "a cancel of a handler that does not run");
            }
            Output::Progress { id, params } => {
                let params: Value = serde_json::from_str(params.get()).unwrap();
                let call = model.made.get_mut(&id.0).unwrap();
                let progress = params["progress"].as_f64().unwrap();
                assert!(call.wants_progress && call.done == 0, "progress nobody waits for");
                assert!(progress > call.last_progress, "progress out of order");
                call.last_progress = progress;
                if call.reset {
                    call.last = now;
                }
            }
            // The link changes no message; it may cut the last one short, which a server answers.
            Output::Problem(problem) => match problem.kind {
                ProblemKind::NotJson => assert!(model.input_ended, "{problem:?}"),
                ProblemKind::PeerError => assert!(self.session.role() == Role::Client, "{problem:?}"),
                _ => panic!("{problem:?}"),
            },
            other => panic!("unexpected: {other:?}"),
        }
    }

    fn done(&mut self, id: OutboundId, outcome: Result<String, Error>, now: Instant, answers: &Answers) {
        let call = self.model.made.get_mut(&id.0).unwrap();
        call.done += 1;
        assert_eq!(call.done, 1, "a call ended twice");
        let answer = answers
            .get(&id.0)
            .filter(|_| self.session.role() == Role::Client)
            .copied();
        match outcome {
            Ok(result) => {
                let result: Value = serde_json::from_str(&result).unwrap();
                if let Some(n) = result["n"].as_u64() {
                    assert_eq!(n, id.0, "the answer to another call");
                }
                assert_ne!(answer, Some("error"));
                assert_eq!(
                    answer == Some("failed") || answer == Some("invalid"),
                    result["isError"].as_bool().unwrap_or(false)
                );
            }
            Err(error) => match error.kind() {
                ErrorKind::Response => assert_eq!(answer, Some("error")),
                ErrorKind::Timeout => {
                    assert_eq!(call.deadline(), now, "it timed out at another time");
                    call.given_up = true;
                }
                ErrorKind::Cancelled => assert!(call.given_up),
                ErrorKind::Closed => {}
                other => panic!("a call ended as {other:?}"),
            },
        }
    }

    /// Checks what the session writes before it goes on its way.
    fn write(&mut self, bytes: &[u8]) {
        assert!(bytes.ends_with(b"\n"), "half a message was written");
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message: Value = serde_json::from_slice(line).unwrap();
            let model = &mut self.model;
            match (message["method"].as_str(), message["id"].as_u64()) {
                (None, Some(id)) => {
                    let count = model.answered.entry(id).or_default();
                    *count += 1;
                    assert_eq!(*count, 1, "two answers to {id}");
                    assert!(!model.cancelled.contains(&id), "{id} was answered after its cancel");
                    model.open.remove(&id);
                }
                (Some("notifications/cancelled"), None) => {
                    let id = message["params"]["requestId"].as_u64().unwrap();
                    model.made.get_mut(&id).unwrap().told += 1;
                }
                (Some("notifications/progress"), None) => {
                    let id = message["params"]["progressToken"].as_u64().unwrap();
                    assert!(model.open.contains(&id), "progress after the end of {id}");
                }
                _ => {}
            }
        }
        self.out.write(bytes);
    }

    /// What holds between any two inputs.
    fn check(&self, now: Instant) {
        let (stats, model) = (self.session.stats(), &self.model);
        let handshake = usize::from(model.connecting && !model.closed);
        assert_eq!(stats.inbound, model.open.len(), "calls of the peer");
        assert_eq!(stats.inbound, model.live.len(), "handlers");
        assert_eq!(stats.outbound, model.pending().count() + handshake, "calls of ours");
        assert_eq!(self.session.is_closed(), model.closed);
        if model.closed {
            assert_eq!(stats, oxmcp_proto::Stats::default());
            assert_eq!(self.session.poll_timeout(), None);
        } else if let Some(deadline) = model.next_deadline() {
            let due = self.session.poll_timeout().expect("a call without a timer");
            assert!(due <= deadline, "the timer is later than the call's deadline");
            assert!(deadline >= now, "a call outlived its time");
        }
        if handshake + stats.outbound == 0 && !model.input_ended {
            assert_eq!(self.session.poll_timeout(), None, "a timer without a call");
        }
        let finished = model.input_ended && model.open.is_empty();
        assert!(model.closed || !finished, "nothing is left to do, and it did not close");
        for call in model.made.values() {
            assert_eq!(
                call.told,
                usize::from(call.given_up),
                "the peer is told of a call given up, once"
            );
        }
    }
}
