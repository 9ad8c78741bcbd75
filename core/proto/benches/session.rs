//! What the session costs, next to what the JSON parser alone costs on the same bytes.
//!
//! `cargo bench -p oxmcp-proto` prints divan's table and then ratios, for which the subjects take turns
//! so that a busy machine disturbs all of them alike. `cargo bench -p oxmcp-proto -- NAME` runs a part
//! of the table only.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use oxmcp_proto::jsonrpc::json;
use oxmcp_proto::{Answer, CallOptions, Config, Implementation, InboundId, Instant, Kind, Registry, Session};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

const NOW: Instant = Instant::from_micros(0);

fn main() {
    check();
    divan::main();
    // Cargo says `--bench` when it is to be measured; a name after it asks for one part.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--bench"] {
        print!("{}", ratios::table());
    }
}

/// The messages that are parsed and routed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Call100B,
    Call10kB,
    Result1MiB,
}

const SHAPES: [Shape; 3] = [Shape::Call100B, Shape::Call10kB, Shape::Result1MiB];

impl Shape {
    /// How many are measured at once.
    fn count(self) -> u64 {
        match self {
            Self::Call100B => 500,
            Self::Call10kB => 50,
            Self::Result1MiB => 4,
        }
    }

    fn line(self, id: u64) -> Vec<u8> {
        let arguments = match self {
            Self::Call100B => r#"{"a":1,"b":2}"#.to_owned(),
            Self::Call10kB => rows(9_900),
            Self::Result1MiB => return result(id, &prose(1024 * 1024)),
        };
        let params = format!(r#"{{"name":"work","arguments":{arguments}}}"#);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n").into_bytes()
    }
}

/// A list of small objects, as tools that work on tables get it.
fn rows(length: usize) -> String {
    let mut text = String::from("{\"rows\":[");
    let mut at = 0;
    while text.len() < length {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            r#"{comma}{{"id":{at},"name":"row {at}","value":{at}.5,"tags":["a","b"],"open":true}}"#
        );
        at += 1;
    }
    text + "]}"
}

/// Lines of text, as tools that read files give it.
fn prose(length: usize) -> String {
    "The quick brown fox jumps over the lazy dog, and says \"hello\" to nobody in particular.\n".repeat(length / 89)
}

fn result(id: u64, text: &str) -> Vec<u8> {
    let text = Value::from(text);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n")
        .into_bytes()
}

/// Messages, and a session that waits for them.
struct Batch {
    session: Session,
    lines: Vec<Vec<u8>>,
}

impl Batch {
    fn new(shape: Shape) -> Self {
        let count = shape.count();
        let (session, first) = match shape {
            Shape::Result1MiB => {
                let mut session = client();
                (0..count).for_each(|_| begin(&mut session));
                drain(&mut session);
                (session, 1)
            }
            _ => (server(), 1_000_000),
        };
        let lines = (0..count).map(|at| shape.line(first + at)).collect();
        Self { session, lines }
    }

    /// The bytes become outputs in hand: a call for a handler, or the end of a call.
    fn route(&mut self) {
        for line in &self.lines {
            self.session.receive(line, NOW);
            drain(&mut self.session);
        }
    }

    fn borrowed(&mut self) {
        for line in &self.lines {
            black_box(serde_json::from_slice::<Borrowed<'_>>(line).unwrap());
        }
    }

    fn value(&mut self) {
        for line in &self.lines {
            black_box(serde_json::from_slice::<Value>(line).unwrap());
        }
    }
}

/// The least that any implementation parses: the members of a message, its payload as text.
#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed, and not looked at")]
struct Borrowed<'a> {
    jsonrpc: &'a str,
    id: u64,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

fn config() -> Config {
    let mut config = Config::new(Implementation::new("bench", "1"));
    config.probe = false;
    config
}

fn server() -> Session {
    let registry = Registry::new();
    let work = registry.add(Kind::Tool, "work").unwrap();
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).unwrap();
    registry.describe(Kind::Tool, work, &descriptor).unwrap();
    let mut session = Session::server(config(), Arc::new(registry));
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    session.receive(format!("{hello}\n{ready}\n").as_bytes(), NOW);
    drain(&mut session);
    session
}

fn client() -> Session {
    let mut session = Session::client(config());
    session.connect(None, NOW).unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    session.receive(format!("{hello}\n").as_bytes(), NOW);
    drain(&mut session);
    session
}

fn begin(session: &mut Session) {
    session
        .call_tool("work", Some("{}"), CallOptions::default(), NOW)
        .unwrap();
}

fn drain(session: &mut Session) {
    while let Some(output) = session.poll_output() {
        black_box(output);
    }
}

/// Calls in flight, of which the oldest gets its answer whenever a new one is made.
struct Flight {
    session: Session,
    answers: VecDeque<Vec<u8>>,
}

const TURNS: u64 = 1000;
const IN_FLIGHT: [u64; 4] = [1, 100, 10_000, 100_000];

impl Flight {
    fn new(in_flight: u64) -> Self {
        let mut session = client();
        (1..in_flight).for_each(|_| begin(&mut session));
        drain(&mut session);
        let answers = (1..=TURNS).map(|id| result(id, "ok")).collect();
        Self { session, answers }
    }

    fn turns(&mut self) {
        for answer in &self.answers {
            begin(&mut self.session);
            drain(&mut self.session);
            self.session.receive(answer, NOW);
            drain(&mut self.session);
        }
    }
}

const MILLION: u64 = 1_000_000;

/// A million calls, whose deadlines come in another order than they were made.
fn begin_million(session: &mut Session) {
    for at in 0..MILLION {
        let options = CallOptions {
            timeout: Some(Duration::from_micros(1 + at * 7_919 % MILLION)),
            ..CallOptions::default()
        };
        session.begin("tools/call", None, options, NOW).unwrap();
        // A driver writes now and then.
        if at % 1000 == 0 {
            drain(session);
        }
    }
    drain(session);
}

/// Their time runs out, a thousandth of them at a time.
fn expire_million(session: &mut Session) {
    for at in 1..=1000 {
        session.handle_timeout(Instant::from_micros(at * MILLION / 1000));
        drain(session);
    }
}

fn full() -> Session {
    let mut session = client();
    begin_million(&mut session);
    session
}

/// What is measured does what it is meant to do.
fn check() {
    for shape in SHAPES {
        let mut batch = Batch::new(shape);
        let wanted = if shape == Shape::Result1MiB { 0 } else { shape.count() };
        batch.route();
        batch.borrowed();
        batch.value();
        let stats = batch.session.stats();
        assert_eq!((stats.inbound as u64, stats.outbound), (wanted, 0), "{shape:?}");
        for id in 0..wanted {
            assert!(batch.session.respond(InboundId(id), Answer::Result("{}"), NOW));
        }
    }
    let mut flight = Flight::new(10);
    flight.turns();
    assert_eq!(flight.session.stats().outbound, 9);
}

/// From bytes to outputs, and what two readings of the same bytes by serde_json cost.
mod parse_and_route {
    use super::*;

    fn bench(bencher: Bencher<'_, '_>, shape: Shape, work: fn(&mut Batch)) {
        let count = ItemsCount::new(shape.count());
        let bytes = BytesCount::new(shape.count() * shape.line(1_000_000).len() as u64);
        let bencher = bencher.counter(count).counter(bytes);
        bencher.with_inputs(|| Batch::new(shape)).bench_local_refs(work);
    }

    #[divan::bench(args = SHAPES, sample_count = 50, sample_size = 1)]
    fn session(bencher: Bencher<'_, '_>, shape: Shape) {
        bench(bencher, shape, Batch::route);
    }

    #[divan::bench(args = SHAPES, sample_count = 50, sample_size = 1)]
    fn serde_json_borrowed(bencher: Bencher<'_, '_>, shape: Shape) {
        bench(bencher, shape, Batch::borrowed);
    }

    #[divan::bench(args = SHAPES, sample_count = 50, sample_size = 1)]
    fn serde_json_value(bencher: Bencher<'_, '_>, shape: Shape) {
        bench(bencher, shape, Batch::value);
    }
}

/// A call and its answer, with others waiting.
#[divan::bench(args = IN_FLIGHT, sample_count = 50, sample_size = 1)]
fn call_with_others_in_flight(bencher: Bencher<'_, '_>, in_flight: u64) {
    let bencher = bencher.counter(ItemsCount::new(TURNS));
    bencher
        .with_inputs(|| Flight::new(in_flight))
        .bench_local_refs(Flight::turns);
}

/// A million calls that wait, each with its timer.
mod million_timers {
    use super::*;

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn begin(bencher: Bencher<'_, '_>) {
        let bencher = bencher.counter(ItemsCount::new(MILLION));
        bencher.with_inputs(client).bench_local_refs(begin_million);
    }

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn expire(bencher: Bencher<'_, '_>) {
        let bencher = bencher.counter(ItemsCount::new(MILLION));
        bencher.with_inputs(full).bench_local_refs(expire_million);
    }
}

/// Ratios of subjects that take turns: the best round of each, since all else is the machine's doing.
mod ratios {
    use super::*;

    const ROUNDS: usize = 60;

    pub(super) fn table() -> String {
        let mut table = String::from("\nparse and route, per message   session   / borrowed   / Value\n");
        for shape in SHAPES {
            let work: [fn(&mut Batch); 3] = [Batch::route, Batch::borrowed, Batch::value];
            let [session, borrowed, value] =
                best(|at| once(Batch::new(shape), work[at])).map(|best| best / shape.count() as f64);
            let name = format!("{shape:?}");
            let (by_borrowed, by_value) = (session / borrowed, session / value);
            let _ = writeln!(
                table,
                "{name:<28} {session:>7.0} ns   {by_borrowed:>7.2} x   {by_value:>5.2} x"
            );
        }
        table.push_str("\na call with others in flight   per call   / with 1\n");
        let calls = best::<4>(|at| once(Flight::new(IN_FLIGHT[at]), Flight::turns)).map(|best| best / TURNS as f64);
        for (in_flight, call) in IN_FLIGHT.into_iter().zip(calls) {
            let _ = writeln!(table, "{in_flight:<28} {call:>7.0} ns   {:>5.2} x", call / calls[0]);
        }
        table
    }

    /// The shortest time of each subject, in nanoseconds.
    fn best<const N: usize>(mut run: impl FnMut(usize) -> Duration) -> [f64; N] {
        let mut best = [f64::INFINITY; N];
        for _ in 0..ROUNDS {
            for (at, best) in best.iter_mut().enumerate() {
                *best = best.min(run(at).as_nanos() as f64);
            }
        }
        best
    }

    fn once<T>(mut input: T, work: impl FnOnce(&mut T)) -> Duration {
        let start = std::time::Instant::now();
        work(&mut input);
        start.elapsed()
    }
}
