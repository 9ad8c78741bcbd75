//! The two sides, the clock, and what can happen to them.

use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, ErrorKind, Implementation, InboundId, Instant, Kind, OutboundId, Registry, Session,
};

use super::link::Arrival;
use super::model::Made;
use super::side::{Answers, Side};

const TIMEOUT: Duration = Duration::from_secs(60);
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// One thing that happens. Indices count modulo what there is.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    CallTool(CallOptions),
    List(CallOptions),
    Ping(usize, CallOptions),
    Cancel(usize, usize),
    Respond(usize, usize),
    Progress(usize, usize),
    Advance(u64),
    /// Bytes that reach this side.
    Deliver(usize, usize),
    /// What is on its way to this side is lost after so many bytes, and the rest with it.
    Lose(usize, usize),
    Close(usize),
}

impl Op {
    /// The operation that a random number stands for. A number is much cheaper to make than a tree of strategies.
    pub(crate) fn read(bits: u64) -> Self {
        let mut bits = Bits(bits);
        let side = |bits: &mut Bits| bits.index(2);
        match bits.take(37) {
            0..12 => {
                let most = if bits.take(2) == 0 { 40 } else { 2000 };
                Self::Deliver(side(&mut bits), 1 + bits.index(most))
            }
            12..18 => Self::CallTool(bits.options()),
            18..24 => Self::Respond(bits.index(64), bits.index(4)),
            24..27 => Self::Progress(bits.index(64), bits.index(256)),
            27..30 => Self::Advance(bits.take(700)),
            30..32 => Self::Ping(side(&mut bits), bits.options()),
            32..34 => Self::Cancel(side(&mut bits), bits.index(64)),
            34 => Self::List(bits.options()),
            // An end that comes too often leaves nothing to simulate.
            _ if bits.take(6) > 0 => Self::Advance(1),
            35 => Self::Lose(side(&mut bits), bits.index(300)),
            _ => Self::Close(side(&mut bits)),
        }
    }
}

/// A random number from which one choice after the other is taken.
struct Bits(u64);

impl Bits {
    fn take(&mut self, choices: u64) -> u64 {
        let taken = self.0 % choices;
        self.0 /= choices;
        taken
    }

    fn index(&mut self, choices: usize) -> usize {
        self.take(choices as u64) as usize
    }

    fn options(&mut self) -> CallOptions {
        let mut time = || (self.take(2) == 1).then(|| Duration::from_millis(self.take(2000)));
        CallOptions {
            timeout: time(),
            max_total_timeout: time(),
            reset_timeout_on_progress: self.take(2) == 1,
            progress: self.take(2) == 1,
            ..CallOptions::default()
        }
    }
}

/// A client and a server in one process.
#[derive(Debug)]
pub(crate) struct World {
    sides: [Side; 2],
    now: Instant,
    /// What the server's handlers answered.
    answers: Answers,
}

impl World {
    pub(crate) fn new(described: bool) -> Self {
        let config = || Config {
            probe: false,
            ..Config::new(Implementation::new("sim", "1"))
        };
        let registry = Registry::new();
        registry.add(Kind::Tool, "work").unwrap();
        if described {
            describe(&registry);
        }
        let mut client = Session::client(config());
        client
            .connect(Some(Duration::from_secs(2)), Instant::default())
            .unwrap();
        let mut world = Self {
            sides: [client, Session::server(config(), Arc::new(registry))].map(Side::new),
            now: Instant::default(),
            answers: Answers::new(),
        };
        world.sides[CLIENT].model.connecting = true;
        world.settle(CLIENT);
        world
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        match *op {
            Op::CallTool(options) => self.begin(CLIENT, "tools/call", options),
            Op::List(options) => self.begin(CLIENT, "tools/list", options),
            Op::Ping(side, options) => self.begin(side, "ping", options),
            Op::Cancel(side, at) => self.cancel(side, at),
            Op::Respond(at, kind) => self.respond(at, kind),
            Op::Progress(at, value) => self.progress(at, value as f64),
            Op::Advance(millis) => self.advance(Duration::from_millis(millis)),
            Op::Deliver(side, most) => drop(self.deliver(side, most)),
            Op::Lose(side, kept) => self.sides[1 - side].out.lose(kept),
            Op::Close(side) => self.sides[side].close(self.now, &self.answers),
        }
    }

    /// Lets everything arrive and every time pass: no call is left without its end.
    pub(crate) fn come_to_rest(&mut self) {
        while self.deliver(CLIENT, usize::MAX) | self.deliver(SERVER, usize::MAX) {}
        self.advance(Duration::from_secs(600));
        for side in &self.sides {
            assert_eq!(side.session.stats().outbound, 0, "a call never ended");
        }
    }

    /// Ends both sides: every call has ended once and nothing is left.
    pub(crate) fn finish(&mut self) {
        for side in &mut self.sides {
            side.close(self.now, &self.answers);
            assert!(side.model.closed);
            assert!(side.model.made.values().all(|call| call.done == 1));
            assert!(side.model.live.is_empty());
        }
    }

    fn begin(&mut self, at: usize, method: &str, options: CallOptions) {
        let now = self.now;
        let side = &mut self.sides[at];
        let n = u64::try_from(side.model.made.len()).unwrap() + u64::from(at == CLIENT);
        let begun = if method == "tools/call" {
            side.session
                .call_tool("work", Some(&format!("{{\"n\":{n}}}")), options, now)
        } else {
            side.session.begin(method, None, options, now)
        };
        let model = &mut side.model;
        let gone = model.closed || model.input_ended;
        let allowed = !gone && (model.ready || (model.connecting && method == "ping"));
        match begun {
            Ok(id) => {
                assert!(allowed, "{method} was sent in the wrong state");
                assert_eq!(id, OutboundId(n), "ids count up");
                model.made.insert(n, Made::new(options, TIMEOUT, now));
            }
            Err(error) => {
                assert!(!allowed, "{error}");
                assert_eq!(error.kind() == ErrorKind::Closed, gone);
            }
        }
        self.settle(at);
        // A timeout of zero is due at once.
        self.advance(Duration::ZERO);
    }

    fn cancel(&mut self, at: usize, call: usize) {
        let side = &mut self.sides[at];
        let calls = side.model.made.len();
        if calls == 0 {
            return;
        }
        let (&id, made) = side.model.made.iter_mut().nth(call % calls).unwrap();
        let pending = made.done == 0;
        made.given_up |= pending;
        assert_eq!(side.session.cancel(OutboundId(id), None), pending);
        self.settle(at);
    }

    fn respond(&mut self, at: usize, kind: usize) {
        let side = &mut self.sides[SERVER];
        let Some(id) = pick(&side.model.seen, at) else { return };
        let handler = side.model.live.remove(&id);
        let live = handler.is_some();
        let Some(call) = handler.map_or(Some(0), |handler| handler.call) else {
            // It waits for the registry.
            describe(side.session.registry());
            assert!(side.session.resume(id));
            return self.settle(SERVER);
        };
        let result = format!("{{\n\"content\":[],\"n\":{call}}}");
        let (name, answer) = match kind {
            0 => ("result", Answer::Result(&result)),
            1 => ("failed", Answer::ToolError("no")),
            2 => ("invalid", Answer::InvalidArguments("n")),
            _ => (
                "error",
                Answer::Error(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no")),
            ),
        };
        if live {
            self.answers.insert(call, name);
        }
        assert_eq!(side.session.respond(id, answer, self.now), live);
        self.settle(SERVER);
    }

    fn progress(&mut self, at: usize, value: f64) {
        let side = &mut self.sides[SERVER];
        let Some(id) = pick(&side.model.seen, at) else { return };
        let handler = side.model.live.get_mut(&id);
        let sent = handler.filter(|handler| handler.wants_progress && value > handler.last_progress);
        let wanted = sent.is_some();
        if let Some(handler) = sent {
            handler.last_progress = value;
        }
        assert_eq!(side.session.progress(id, value, None, None), wanted);
        self.settle(SERVER);
    }

    /// Moves the clock from deadline to deadline, as a driver does.
    fn advance(&mut self, by: Duration) {
        let target = self.now + by;
        loop {
            let due = |side: usize| self.sides[side].session.poll_timeout();
            let next = [CLIENT, SERVER].into_iter().filter_map(|side| Some((due(side)?, side)));
            let Some((at, side)) = next.min().filter(|(at, _)| *at <= target) else {
                break;
            };
            self.now = self.now.max(at);
            self.sides[side].session.handle_timeout(self.now);
            let again = self.sides[side].session.poll_timeout();
            assert!(
                again.is_none_or(|again| again > self.now),
                "a handled deadline is still due"
            );
            self.settle(side);
        }
        self.now = target;
    }

    /// Whether anything arrived.
    fn deliver(&mut self, to: usize, most: usize) -> bool {
        let arrival = self.sides[1 - to].out.deliver(most);
        let side = &mut self.sides[to];
        match arrival {
            Arrival::Nothing => return false,
            // A driver reads no more once its session is closed.
            _ if side.model.closed => {}
            Arrival::Bytes(bytes) => side.receive(&bytes, self.now, &self.answers),
            Arrival::End => side.end_input(self.now, &self.answers),
        }
        true
    }

    fn settle(&mut self, side: usize) {
        self.sides[side].settle(self.now, &self.answers);
    }
}

fn pick(seen: &[InboundId], at: usize) -> Option<InboundId> {
    seen.get(at % seen.len().max(1)).copied()
}

fn describe(registry: &Registry) {
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).unwrap();
    if !registry.is_described(Kind::Tool) {
        registry.describe(Kind::Tool, 0, &descriptor).unwrap();
    }
}
