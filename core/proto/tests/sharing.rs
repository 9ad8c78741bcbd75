//! Sessions that share a registry keep to themselves what is theirs, and nothing is left of what is over.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, Implementation, InboundId, Instant, Kind, Output, Registry, Session, Stats,
};

const NOW: Instant = Instant::from_micros(0);

fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    let tool = registry.add(Kind::Tool, "work").unwrap();
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).unwrap();
    registry.describe(Kind::Tool, tool, &descriptor).unwrap();
    let resource = registry.add(Kind::Resource, "x://1").unwrap();
    let descriptor = json(r#"{"uri":"x://1","name":"one"}"#).unwrap();
    registry.describe(Kind::Resource, resource, &descriptor).unwrap();
    Arc::new(registry)
}

fn connected(registry: &Arc<Registry>) -> Session {
    let mut config = Config::new(Implementation::new("sharing", "1"));
    config.subscriptions = true;
    let mut session = Session::server(config, Arc::clone(registry));
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    receive(&mut session, hello);
    receive(
        &mut session,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    written(&mut session);
    session
}

fn receive(session: &mut Session, line: &str) {
    session.receive(format!("{line}\n").as_bytes(), NOW);
}

fn written(session: &mut Session) -> String {
    let mut text = Vec::new();
    while let Some(output) = session.poll_output() {
        if let Output::Wire(bytes) = output {
            text.extend(bytes);
        }
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn an_update_reaches_those_who_subscribed_and_nobody_else() {
    let registry = registry();
    let (mut a, mut b) = (connected(&registry), connected(&registry));
    receive(
        &mut a,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://1"}}"#,
    );
    written(&mut a);
    assert!(a.resource_updated("x://1").unwrap());
    assert!(!b.resource_updated("x://1").unwrap());
    assert_eq!(
        written(&mut a),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"x://1\"}}\n"
    );
    assert_eq!(written(&mut b), "");
    a.close("gone");
    written(&mut a);
    assert!(!a.resource_updated("x://1").unwrap());
    assert_eq!(written(&mut a), "");
}

#[test]
fn a_change_is_told_once_on_each_connection() {
    let registry = registry();
    let mut sessions = [connected(&registry), connected(&registry)];
    for number in 0..200 {
        registry.add(Kind::Tool, &format!("tool{number}")).unwrap();
    }
    for session in &mut sessions {
        let told = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
        assert_eq!(written(session), told);
        assert_eq!(written(session), "");
    }
    let mut late = connected(&registry);
    assert_eq!(written(&mut late), "", "what was there before is no change");
}

#[test]
fn answers_stay_on_the_connection_of_their_call() {
    let registry = registry();
    let (mut a, mut b) = (connected(&registry), connected(&registry));
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work"}}"#;
    receive(&mut a, call);
    receive(&mut b, call);
    written(&mut a);
    written(&mut b);
    assert!(b.respond(InboundId(0), Answer::Text("of b"), NOW));
    assert_eq!(written(&mut a), "");
    assert!(written(&mut b).contains("of b"));
    assert_eq!((a.stats().inbound, b.stats().inbound), (1, 0));
}

#[test]
fn nothing_is_left_of_a_hundred_thousand_calls_half_of_which_fail() {
    let registry = registry();
    let mut server = connected(&registry);
    for number in 1..=100_000_u64 {
        let id = InboundId(number - 1);
        receive(
            &mut server,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"work","_meta":{{"progressToken":{number}}}}}}}"#
            ),
        );
        written(&mut server);
        let answer = match number % 4 {
            0 => Answer::Text("done"),
            1 => Answer::ToolError("no"),
            2 => Answer::Error(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no")),
            _ => {
                let cancel = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}"#
                );
                receive(&mut server, &cancel);
                written(&mut server);
                assert!(!server.respond(id, Answer::Text("late"), NOW));
                continue;
            }
        };
        assert!(server.respond(id, answer, NOW));
        written(&mut server);
    }
    assert_eq!(server.stats(), Stats::default());
    assert_eq!(server.unwritten(), 0);
}

#[test]
fn nothing_is_left_of_ten_thousand_connections() {
    let registry = registry();
    for _ in 0..10_000 {
        let mut session = connected(&registry);
        session.begin("ping", None, CallOptions::default(), NOW).unwrap();
        session.close("over");
        written(&mut session);
        assert_eq!(session.stats(), Stats::default());
    }
    assert_eq!(Arc::strong_count(&registry), 1);
}
