//! However a stream of bytes is cut, it means the same.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::json;
use oxmcp_proto::{CallOptions, Config, Implementation, Instant, Kind, Registry, Session};
use proptest::prelude::*;

/// Lines of all kinds: whole, broken, too long, not UTF-8, and batches.
const LINES: &[&[u8]] = &[
    br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{}}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"work","_meta":{"progressToken":"t"}}}"#,
    br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work","arguments":{"n":1.0}}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
    br#"{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"x"}}"#,
    br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
    br#"[{"jsonrpc":"2.0","id":4,"method":"ping"},3,[]]"#,
    br#"{"id":5,"method":"ping"}"#,
    b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"\xC3\xA4\xFF\"}",
    b"\xEF\xBB\xBF",
    b"not json",
    b"[]",
    b"",
    b"   ",
    b"................................................................................................................................................................",
];

const ENDS: &[&[u8]] = &[b"\n", b"\r\n", b"\n\n", b""];

fn server() -> Session {
    let registry = Registry::new();
    let work = registry.add(Kind::Tool, "work").unwrap();
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).unwrap();
    registry.describe(Kind::Tool, work, &descriptor).unwrap();
    Session::server(config(), Arc::new(registry))
}

fn client() -> Session {
    let mut client = Session::client(config());
    client.connect(None, Instant::default()).unwrap();
    client
        .begin("ping", None, CallOptions::default(), Instant::default())
        .unwrap();
    client
}

fn config() -> Config {
    let mut config = Config::new(Implementation::new("cuts", "1"));
    config.probe = false;
    config.limits.message = 150;
    config
}

/// What a session did with the chunks: its events, what it wrote, and what it holds.
fn outcome(mut session: Session, chunks: &[&[u8]]) -> (Vec<String>, String, String) {
    let (mut events, mut wire) = (Vec::new(), Vec::new());
    let mut drain = |session: &mut Session| {
        let mut array = Vec::new();
        session.encode_outputs(&mut array, &mut wire);
        let array = String::from_utf8(array).unwrap();
        let rows: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&array).unwrap();
        events.extend(rows.iter().map(ToString::to_string));
    };
    for chunk in chunks {
        session.receive(chunk, Instant::default());
        drain(&mut session);
    }
    let held = format!("{:?}", session.stats());
    session.end_input(Instant::default());
    drain(&mut session);
    session.close("end");
    drain(&mut session);
    (events, String::from_utf8(wire).unwrap(), held)
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => proptest::sample::select(LINES).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
        // A line that was damaged on its way.
        2 => (proptest::sample::select(LINES), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(line, at, byte)| {
            let mut line = line.to_vec();
            if !line.is_empty() {
                let at = at.index(line.len());
                line[at] = byte;
            }
            line
        }),
    ];
    let end = proptest::sample::select(ENDS);
    proptest::collection::vec((line, end), 1..12).prop_map(|lines| {
        // Most streams begin with a handshake, or nothing would get far.
        let handshake = [LINES[0], b"\n", LINES[1], b"\n"].concat();
        let rest = lines.into_iter().flat_map(|(line, end)| [line, end.to_vec()].concat());
        handshake.into_iter().chain(rest).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cut_of_a_stream_changes_nothing(
        stream in stream(),
        headless in any::<bool>(),
        cuts in proptest::collection::vec(1..60usize, 0..60),
    ) {
        let start = if headless { LINES[0].len() / 2 } else { 0 };
        let stream = &stream[start..];
        let mut chunks = Vec::new();
        let mut rest = stream;
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            chunks.push(head);
            rest = tail;
        }
        chunks.push(rest);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        for session in [server as fn() -> Session, client] {
            let whole = outcome(session(), &[stream]);
            prop_assert_eq!(&outcome(session(), &chunks), &whole);
            prop_assert_eq!(&outcome(session(), &bytes), &whole);
        }
    }
}
