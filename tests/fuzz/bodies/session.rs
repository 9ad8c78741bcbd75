//! The session: whatever the peer sends and however it is cut, the outcome is the same, memory is
//! bounded, every line it writes is JSON, every call ends once, and a closed session holds nothing.
//!
//! Input: the state to start in, the rule of the cut, and stages with a NUL between them. A stage is
//! bytes of the peer; each but the first has one byte before them that says what the program does
//! first. Messages hold no NUL, so nothing is lost by that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, EntryId, Implementation, InboundId, Instant, Kind, OutboundId, Registry, Revision,
    Session, Stats,
};
use serde_json::value::RawValue;

use crate::cuts::chunks;

const MESSAGE: usize = 600;
const IN_FLIGHT: usize = 4;
/// How much of a line over the limit is held.
const START: usize = 1024;
/// Calls that a session may make of its own at a time, such as `initialize`.
const OWN: usize = 8;

const HANDSHAKE: [Revision; 4] = [
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
];

/// What a session did: its events, what it wrote, and what it held after each stage.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    events: Vec<String>,
    wire: String,
    held: Vec<Stats>,
}

pub(crate) fn check(input: &[u8]) {
    let [start, rule, stream @ ..] = input else { return };
    let whole = run(*start, |stage| vec![stage], stream);
    let cut = run(*start, |stage| chunks(*rule, stage), stream);
    assert_eq!(whole, cut, "cut by rule {rule}");
}

fn run(start: u8, cut: impl Fn(&[u8]) -> Vec<&[u8]>, stream: &[u8]) -> Outcome {
    let mut end = End::new(start);
    for (at, stage) in stream.split(|byte| *byte == 0).enumerate() {
        let bytes = match (at, stage) {
            (0, bytes) => bytes,
            (_, [action, bytes @ ..]) => {
                end.act(*action);
                bytes
            }
            (_, []) => &[],
        };
        for chunk in cut(bytes) {
            end.session.receive(chunk, end.now);
            end.drain();
        }
        end.outcome.held.push(end.session.stats());
    }
    end.finish()
}

/// A session with its program.
struct End {
    session: Session,
    now: Instant,
    begun: Vec<OutboundId>,
    /// The peer closed its side, so that a deadline may be for that.
    ended: bool,
    outcome: Outcome,
}

impl End {
    /// 0 to 7 a server: new, ready in each revision with a handshake, with tools that are not described
    /// yet, without tools, strict. 8 to 15 a client: new, connecting, probing, ready in each revision.
    fn new(start: u8) -> Self {
        let mut config = Config::new(Implementation::new("fuzz", "1"));
        config.limits.message = MESSAGE;
        config.limits.in_flight = IN_FLIGHT;
        config.limits.depth = 8;
        let start = usize::from(start % 16);
        let session = if start < 8 {
            config.strict_revision = start == 7;
            Session::server(config, Arc::new(registry(start)))
        } else {
            config.probe = matches!(start, 10 | 15);
            Session::client(config)
        };
        let mut end = Self {
            session,
            now: Instant::default(),
            begun: Vec::new(),
            ended: false,
            outcome: Outcome::default(),
        };
        match start {
            0 | 7 | 8 => {}
            1..=4 => end.greet(HANDSHAKE[start - 1]),
            5 | 6 => end.greet(Revision::V2025_11_25),
            _ => end.connect(start),
        }
        end
    }

    fn greet(&mut self, revision: Revision) {
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"roots":{{}},"sampling":{{}},"elicitation":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        ));
        self.receive(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.begin("ping");
        self.begin("roots/list");
        self.drain();
    }

    fn connect(&mut self, start: usize) {
        assert!(self.session.connect(None, self.now).is_ok(), "a new client connects");
        let capabilities = r#"{"tools":{},"prompts":{},"resources":{}}"#;
        match start {
            9 | 10 => {}
            15 => self.receive(&format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{capabilities},"ttlMs":0,"cacheScope":"private"}}}}"#
            )),
            _ => {
                let revision = HANDSHAKE[start - 11];
                self.receive(&format!(
                    r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
                ));
            }
        }
        self.begin("ping");
        self.begin("tools/call");
        self.begin("tools/list");
        self.drain();
    }

    fn receive(&mut self, line: &str) {
        self.session.receive(format!("{line}\n").as_bytes(), self.now);
        self.drain();
    }

    fn begin(&mut self, method: &str) {
        let options = CallOptions {
            timeout: Some(Duration::from_secs(10)),
            max_total_timeout: Some(Duration::from_secs(15)),
            reset_timeout_on_progress: true,
            progress: true,
            ..CallOptions::default()
        };
        let params = Some(r#"{"name":"work","_meta":{"a":1}}"#);
        self.begun.extend(self.session.begin(method, params, options, self.now));
    }

    /// What the program does between two stages.
    fn act(&mut self, action: u8) {
        let open = self.open();
        match action % 10 {
            0 => open
                .iter()
                .for_each(|id| self.respond(*id, Answer::Result(r#"{"content":[]}"#))),
            1 => open.iter().for_each(|id| self.respond(*id, Answer::ToolError("no\n"))),
            2 => {
                let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "no");
                open.first()
                    .into_iter()
                    .for_each(|id| self.respond(*id, Answer::Error(error.clone())));
            }
            3 => open.iter().for_each(|id| {
                self.session.progress(*id, 1.0, Some(2.0), Some("half"));
            }),
            4 => self.describe_and_resume(&open),
            5 => self.begin("tools/call"),
            6 => self.begun.clone().into_iter().for_each(|id| {
                self.session.cancel(id, None);
            }),
            7 => self.wait(Duration::from_secs(8)),
            8 => self.wait(Duration::from_secs(3600)),
            _ => self.end_input(),
        }
        self.drain();
    }

    fn end_input(&mut self) {
        self.ended = true;
        self.session.end_input(self.now);
    }

    /// The calls of the peer that wait for an answer. Their ids count up from zero.
    fn open(&self) -> Vec<InboundId> {
        let ids = (0..).map(InboundId).filter(|id| self.session.is_open(*id));
        ids.take(self.session.stats().inbound).collect()
    }

    fn respond(&mut self, id: InboundId, answer: Answer<'_>) {
        assert!(self.session.respond(id, answer, self.now), "{id:?} was open");
        assert!(
            !self.session.respond(id, Answer::Result("{}"), self.now),
            "{id:?} has its answer"
        );
    }

    fn describe_and_resume(&mut self, open: &[InboundId]) {
        let registry = Arc::clone(self.session.registry());
        if let Some(work) = registry.find(Kind::Tool, "work") {
            describe(&registry, work);
        }
        for id in open {
            self.session.resume(*id);
        }
    }

    /// Lets time pass as a driver does: each deadline is handled when it comes.
    fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(due) = self.session.poll_timeout().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.session.handle_timeout(self.now);
            self.drain();
            let next = self.session.poll_timeout();
            assert!(
                next.is_none_or(|next| next > self.now),
                "a deadline stays due: a driver would spin"
            );
        }
        self.now = until;
    }

    fn drain(&mut self) {
        let (mut events, mut wire) = (Vec::new(), Vec::new());
        self.session.encode_outputs(&mut events, &mut wire);
        let rows: Vec<&RawValue> = serde_json::from_slice(&events).expect("the events are a JSON array");
        assert_eq!(rows.len() % 4, 0, "four elements make an event");
        let row = |row: &[&RawValue]| row.iter().map(|it| it.get()).collect::<Vec<_>>().join(" ");
        self.outcome.events.extend(rows.chunks(4).map(row));
        let wire = String::from_utf8(wire).expect("what is written is UTF-8");
        for line in wire.split_inclusive('\n') {
            let text = line.strip_suffix('\n').expect("a line has an end");
            let message: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_str(text);
            let message = message.unwrap_or_else(|error| panic!("{error} in {text}"));
            assert_eq!(message.get("jsonrpc").map(|it| it.get()), Some("\"2.0\""), "{text}");
        }
        self.outcome.wire.push_str(&wire);
        let Stats {
            inbound,
            outbound,
            buffered,
            ..
        } = self.session.stats();
        assert!(inbound <= IN_FLIGHT, "{inbound} calls of the peer wait");
        assert!(
            outbound <= self.begun.len() + OWN,
            "{outbound} calls wait, {} were made",
            self.begun.len()
        );
        let due = self.session.poll_timeout();
        assert!(
            outbound > 0 || self.ended || due.is_none(),
            "nothing waits, but a deadline is due"
        );
        assert!(buffered <= START.max(MESSAGE + 4), "{buffered} bytes are held");
    }

    fn finish(mut self) -> Outcome {
        self.end_input();
        self.drain();
        self.wait(Duration::from_secs(3600));
        self.session.close("the end");
        self.drain();
        assert_eq!(self.session.stats(), Stats::default(), "a closed session holds nothing");
        assert_eq!(self.session.poll_timeout(), None, "a closed session waits for nothing");
        self.receive(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let events = &self.outcome.events;
        let closed = events.iter().filter(|event| event.starts_with("\"closed\""));
        assert_eq!(closed.count(), 1, "it closes once");
        assert!(
            events.last().is_some_and(|event| event.starts_with("\"closed\"")),
            "closed is the last"
        );
        for id in &self.begun {
            let (result, error) = (format!("\"result\" {} ", id.0), format!("\"error\" {} ", id.0));
            let ends = events
                .iter()
                .filter(|event| event.starts_with(&result) || event.starts_with(&error));
            assert_eq!(ends.count(), 1, "{id:?} ends once");
        }
        self.outcome
    }
}

fn registry(start: usize) -> Registry {
    let registry = Registry::new();
    if start != 6 {
        let work = registry.add(Kind::Tool, "work").expect("its name is free");
        if start != 5 {
            describe(&registry, work);
        }
    }
    registry
}

fn describe(registry: &Registry, work: EntryId) {
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).expect("it is JSON");
    registry.describe(Kind::Tool, work, &descriptor).expect("it is a tool");
}
