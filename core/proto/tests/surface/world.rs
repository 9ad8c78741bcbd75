//! The two sides, the clock, and what must hold whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::{
    CallOptions, Config, ErrorKind, Implementation, Instant, Keyring, Kind, Limits, OutboundId, Output, Problem,
    ProblemKind, Registry, Revision, SealKey, Session, Target, jsonrpc,
};
use serde_json::{Value, json};

use super::host::{Handlers, answer_to};
use super::link::{Arrival, Pipe};

const CLIENT: usize = 0;
const SERVER: usize = 1;
const CHANGED: &str = "notifications/tools/list_changed";

/// One thing that happens. Indices count modulo what there is.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A call whose handler asks so many questions.
    Call(u64, CallOptions),
    List,
    Reply(usize, bool),
    Cancel(usize),
    /// A tool comes, goes, or is hidden or shown.
    Change(usize, usize),
    Advance(u64),
    Deliver(usize, usize),
}

impl Op {
    pub(crate) fn read(mut bits: u64) -> Self {
        let mut take = |choices: u64| {
            let taken = bits % choices;
            bits /= choices;
            taken
        };
        match take(20) {
            0..8 => {
                let side = take(2) as usize;
                let most = if take(2) == 0 { 40 } else { 4000 };
                Self::Deliver(side, 1 + take(most) as usize)
            }
            8..11 => {
                let questions = take(4);
                let mut time = || (take(3) == 0).then(|| Duration::from_millis(take(4000)));
                let options = CallOptions {
                    timeout: time(),
                    max_total_timeout: time(),
                    ..CallOptions::default()
                };
                Self::Call(questions, options)
            }
            11..15 => Self::Reply(take(64) as usize, take(20) == 0),
            15 => Self::Cancel(take(64) as usize),
            16 | 17 => Self::Change(take(4) as usize, take(6) as usize),
            18 => Self::List,
            _ => Self::Advance(take(1500)),
        }
    }
}

/// A call of the client's program.
#[derive(Debug)]
struct Made {
    number: u64,
    questions: u64,
    last_moment: Option<Instant>,
    done: usize,
}

#[derive(Debug)]
pub(crate) struct World {
    sessions: [Session; 2],
    out: [Pipe; 2],
    handlers: [Handlers; 2],
    registry: Arc<Registry>,
    revision: Revision,
    now: Instant,
    ready: bool,
    calls: BTreeMap<OutboundId, Made>,
    lists: BTreeMap<OutboundId, Option<Result<Value, ErrorKind>>>,
    listening: Option<OutboundId>,
    /// Whether a change was made that the client does not know of.
    untold: bool,
}

impl World {
    pub(crate) fn new(revision: Revision, page_size: usize) -> Self {
        let registry = Arc::new(Registry::new());
        registry.set_page_size(NonZeroUsize::new(page_size));
        add(&registry, "work");
        let mut client = Session::client(config(revision));
        client.connect(None, Instant::default()).unwrap();
        let mut world = Self {
            sessions: [client, Session::server(config(revision), Arc::clone(&registry))],
            out: Default::default(),
            handlers: Default::default(),
            registry,
            revision,
            now: Instant::default(),
            ready: false,
            calls: BTreeMap::new(),
            lists: BTreeMap::new(),
            listening: None,
            untold: false,
        };
        world.settle();
        world.deliver_all();
        assert!(world.ready);
        if !revision.has_handshake() {
            let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
            let listen =
                world.sessions[CLIENT].begin("subscriptions/listen", Some(filter), CallOptions::default(), world.now);
            world.listening = Some(listen.unwrap());
            world.deliver_all();
        }
        world
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        match *op {
            Op::Call(questions, options) => self.call(questions, options),
            Op::List => self.list(),
            Op::Reply(at, fails) => self.handlers[CLIENT].reply(&mut self.sessions[CLIENT], at, fails, self.now),
            Op::Cancel(at) => self.cancel(at),
            Op::Change(tool, how) => self.change(tool, how),
            Op::Advance(millis) => self.advance(Duration::from_millis(millis)),
            Op::Deliver(to, most) => drop(self.deliver(to, most)),
        }
        self.settle();
        self.check();
    }

    /// Everything arrives and every question is answered: all calls end, and what changed was told.
    pub(crate) fn come_to_rest(&mut self) {
        self.deliver_all();
        while !self.handlers[CLIENT].asked.is_empty() {
            self.handlers[CLIENT].reply(&mut self.sessions[CLIENT], 0, false, self.now);
            self.settle();
            self.deliver_all();
        }
        assert!(self.calls.values().all(|call| call.done == 1), "a call never ended");
        assert!(!self.untold, "a change was not told");
        let open_streams = usize::from(self.listening.is_some());
        assert_eq!(self.sessions[CLIENT].stats().outbound, open_streams);
        assert_eq!(self.sessions[SERVER].stats().inbound, open_streams);
        self.list();
        self.settle();
        self.deliver_all();
        let (_, last) = self.lists.last_key_value().unwrap();
        let listed = names(last.as_ref().unwrap().as_ref().unwrap());
        assert_eq!(listed, self.shown(), "the list is what the registry shows");
    }

    pub(crate) fn finish(&mut self) {
        self.sessions[SERVER].close("the end");
        self.settle();
        self.deliver_all();
        self.sessions[CLIENT].close("the end");
        self.settle();
        for side in [CLIENT, SERVER] {
            assert_eq!(self.sessions[side].stats(), oxmcp_proto::Stats::default());
            assert!(self.handlers[side].running.is_empty() && self.handlers[side].asked.is_empty());
        }
        assert_eq!(self.listening, None, "the stream ended with its server");
    }

    fn call(&mut self, questions: u64, options: CallOptions) {
        let number = self.calls.len() as u64;
        let arguments = json!({ "call": number, "questions": questions }).to_string();
        let call = self.sessions[CLIENT].call_tool("work", Some(&arguments), options, self.now);
        let made = Made {
            number,
            questions,
            last_moment: options.max_total_timeout.map(|total| self.now + total),
            done: 0,
        };
        self.calls.insert(call.unwrap(), made);
        self.settle();
        // A timeout of zero is due at once.
        self.advance(Duration::ZERO);
    }

    fn list(&mut self) {
        let list = self.sessions[CLIENT].list("tools/list", CallOptions::default(), self.now);
        self.lists.insert(list.unwrap(), None);
    }

    fn cancel(&mut self, at: usize) {
        let Some((&id, call)) = self.calls.iter().nth(at % self.calls.len().max(1)) else {
            return;
        };
        let open = call.done == 0;
        assert_eq!(self.sessions[CLIENT].cancel(id, None), open);
    }

    fn change(&mut self, tool: usize, how: usize) {
        let name = format!("tool{tool}");
        let found = self.registry.find(Kind::Tool, &name);
        let changed = match (found, how) {
            (None, _) => add(&self.registry, &name),
            (Some(id), 0) => self.registry.remove(Kind::Tool, id),
            (Some(id), 1) => {
                // Hidden for a moment: two changes in one turn.
                self.registry.set_enabled(Kind::Tool, id, false) && self.registry.set_enabled(Kind::Tool, id, true)
            }
            (Some(id), _) => {
                let descriptor = descriptor(&name, how);
                self.registry.describe(Kind::Tool, id, &descriptor).is_ok()
            }
        };
        self.untold |= changed;
    }

    fn advance(&mut self, by: Duration) {
        let target = self.now + by;
        loop {
            let due = |side: usize| self.sessions[side].poll_timeout();
            let next = [CLIENT, SERVER].into_iter().filter_map(|side| Some((due(side)?, side)));
            let Some((at, side)) = next.min().filter(|(at, _)| *at <= target) else {
                break;
            };
            self.now = self.now.max(at);
            self.sessions[side].handle_timeout(self.now);
            let again = self.sessions[side].poll_timeout();
            assert!(
                again.is_none_or(|again| again > self.now),
                "a handled deadline is still due"
            );
            self.settle();
        }
        self.now = target;
    }

    fn deliver(&mut self, to: usize, most: usize) -> bool {
        match self.out[1 - to].deliver(most) {
            Arrival::Nothing => return false,
            _ if self.sessions[to].is_closed() => {}
            Arrival::Bytes(bytes) => self.sessions[to].receive(&bytes, self.now),
            Arrival::End => self.sessions[to].end_input(self.now),
        }
        self.settle();
        true
    }

    fn deliver_all(&mut self) {
        self.settle();
        while self.deliver(CLIENT, usize::MAX) | self.deliver(SERVER, usize::MAX) {}
    }

    /// Takes out what both sessions give, and lets the hosts act on it.
    fn settle(&mut self) {
        for side in [CLIENT, SERVER] {
            while let Some(output) = self.sessions[side].poll_output() {
                self.take(side, output);
            }
        }
    }

    fn take(&mut self, side: usize, output: Output) {
        let now = self.now;
        match output {
            Output::Wire(bytes) => self.out[side].write(&bytes),
            Output::Closed => self.out[side].end(),
            Output::Ready(peer) => {
                assert_eq!(peer.revision, self.revision);
                self.ready = true;
            }
            Output::Call {
                id,
                target: Target::Tool(_),
                params,
                ..
            } => self.handlers[side].start(&mut self.sessions[side], id, params.unwrap().get(), now),
            Output::Call { id, params, .. } => {
                let params = serde_json::from_str(params.unwrap().get()).unwrap();
                self.handlers[side].asked.insert(id, params);
            }
            Output::Cancelled { id, .. } => self.handlers[side].stop(id),
            Output::Done { id, outcome } if side == SERVER => {
                let outcome = outcome
                    .as_ref()
                    .map(|result| result.get())
                    .map_err(oxmcp_proto::Error::kind);
                self.handlers[SERVER].answered(&mut self.sessions[SERVER], id, outcome, now);
            }
            Output::Done { id, outcome } => {
                let outcome = outcome.map(|result| serde_json::from_str(result.get()).unwrap());
                self.done(id, outcome.map_err(|error| error.kind()));
            }
            Output::Notification {
                method, subscription, ..
            } => {
                assert_eq!((side, subscription), (CLIENT, self.listening), "{method}");
                if method == CHANGED {
                    self.untold = false;
                }
            }
            // A late answer finds its question withdrawn; nothing else is wrong on this link.
            Output::Problem(Problem {
                kind: ProblemKind::UnknownResponse,
                ..
            }) if side == SERVER => {}
            other => panic!("unexpected: {other:?}"),
        }
    }

    fn done(&mut self, id: OutboundId, outcome: Result<Value, ErrorKind>) {
        if self.listening == Some(id) {
            assert_eq!(
                outcome.unwrap()["resultType"],
                "complete",
                "the stream ended in good order"
            );
            self.listening = None;
        } else if let Some(list) = self.lists.get_mut(&id) {
            assert!(list.replace(outcome).is_none(), "a list ended twice");
        } else {
            let call = self.calls.get_mut(&id).unwrap();
            call.done += 1;
            assert_eq!(call.done, 1, "a call ended twice");
            let late = call.last_moment.is_some_and(|last| last < self.now);
            assert!(!late, "a call outlived its total timeout");
            if let Ok(result) = outcome
                && result["isError"] != true
            {
                let wanted: Vec<_> = (0..call.questions).map(|at| answer_to(call.number, at)).collect();
                assert_eq!(
                    result["answers"],
                    Value::from(wanted),
                    "each question has its own answer"
                );
            }
        }
    }

    fn check(&self) {
        for side in [CLIENT, SERVER] {
            let handlers = self.handlers[side].running.len() + self.handlers[side].asked.len();
            let streams = usize::from(side == SERVER && self.listening.is_some());
            assert_eq!(self.sessions[side].stats().inbound, handlers + streams, "side {side}");
        }
    }

    fn shown(&self) -> BTreeSet<String> {
        let all = ["work", "tool0", "tool1", "tool2", "tool3"];
        let shown = all
            .into_iter()
            .filter(|name| self.registry.find(Kind::Tool, name).is_some());
        shown.map(str::to_owned).collect()
    }
}

fn config(revision: Revision) -> Config {
    let mut config = Config::new(Implementation::new("surface", "1"));
    config.revisions = vec![revision];
    config.capabilities = jsonrpc::json(r#"{"elicitation":{}}"#).unwrap();
    config.state_keys = Some(Keyring::new(SealKey::from_bytes(&[7; 64]).unwrap()));
    config.limits = Limits {
        rounds: 8,
        ..Limits::default()
    };
    config
}

fn add(registry: &Registry, name: &str) -> bool {
    let Ok(id) = registry.add(Kind::Tool, name) else {
        return false;
    };
    registry.describe(Kind::Tool, id, &descriptor(name, 0)).unwrap();
    true
}

fn descriptor(name: &str, version: usize) -> jsonrpc::Json {
    let text = format!(r#"{{"name":"{name}","title":"{version}","inputSchema":{{"type":"object"}}}}"#);
    jsonrpc::json(text).unwrap()
}

fn names(list: &Value) -> BTreeSet<String> {
    let tools = list["tools"].as_array().unwrap();
    let names: BTreeSet<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), tools.len(), "nothing is listed twice");
    names
}
