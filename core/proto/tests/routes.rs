//! Each message says which request it belongs to, where a transport asks for it.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{RequestId, json};
use oxmcp_proto::{
    Answer, CallOptions, Config, Implementation, InboundId, Instant, Kind, LogLevel, Output, Registry, Session,
};

const NOW: Instant = Instant::from_micros(0);

fn server() -> Session {
    let registry = Registry::new();
    let tool = registry.add(Kind::Tool, "work").unwrap();
    let descriptor = json(r#"{"name":"work","inputSchema":{"type":"object"}}"#).unwrap();
    registry.describe(Kind::Tool, tool, &descriptor).unwrap();
    let mut config = Config::new(Implementation::new("routes", "1"));
    config.routed = true;
    config.logging = true;
    Session::server(config, Arc::new(registry))
}

/// The messages of a drain, each as its request, whether it answers, and what it is.
fn messages(session: &mut Session) -> Vec<(Option<String>, bool, String)> {
    let mut all = Vec::new();
    while let Some(output) = session.poll_output() {
        match output {
            Output::Message { request, answers, line } => {
                let text = String::from_utf8(line).unwrap();
                let part = |text: &str| text.chars().take(60).collect::<String>();
                all.push((request.map(|id| id.to_string()), answers, part(&text)));
            }
            Output::Wire(_) => panic!("messages come one by one"),
            _ => {}
        }
    }
    all
}

fn receive(session: &mut Session, line: &str) {
    session.receive(format!("{line}\n").as_bytes(), NOW);
}

fn shake_hands(session: &mut Session) {
    receive(
        session,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    receive(session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

#[test]
fn what_a_handler_says_goes_with_its_request_and_the_rest_with_none() {
    let mut session = server();
    shake_hands(&mut session);
    let first = messages(&mut session);
    assert_eq!((first[0].0.as_deref(), first[0].1), (Some("0"), true));
    for id in ["1", "2"] {
        receive(
            &mut session,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"work","_meta":{{"progressToken":{id}}}}}}}"#
            ),
        );
    }
    receive(&mut session, r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    assert_eq!(
        messages(&mut session),
        [(
            Some("3".to_owned()),
            true,
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.to_owned()
        )]
    );
    let (first, second) = (InboundId(0), InboundId(1));
    session.progress(second, 1.0, None, None);
    session.progress(first, 1.0, None, None);
    session.log(Some(first), LogLevel::Info, None, "1").unwrap();
    session.log(None, LogLevel::Info, None, "1").unwrap();
    session
        .ask(second, None, "roots/list", None, CallOptions::default(), NOW)
        .unwrap();
    session.begin("ping", None, CallOptions::default(), NOW).unwrap();
    session.notify("notifications/tools/list_changed", None).unwrap();
    session.respond(first, Answer::Text("done"), NOW);
    let found: Vec<_> = messages(&mut session)
        .into_iter()
        .map(|(request, answers, _)| (request, answers))
        .collect();
    let request = |id: &str| Some(id.to_owned());
    assert_eq!(
        found,
        [
            (request("2"), false),
            (request("1"), false),
            (request("1"), false),
            (None, false),
            (request("2"), false),
            (None, false),
            (None, false),
            (request("1"), true),
        ]
    );
}

#[test]
fn a_stream_gets_its_own_notifications() {
    let mut session = server();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    receive(
        &mut session,
        &format!(
            r#"{{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{meta}}}}}"#
        ),
    );
    session.registry().add(Kind::Prompt, "p").unwrap();
    session.registry().set_enabled(Kind::Tool, 0, false);
    session.close("end");
    let found: Vec<_> = messages(&mut session)
        .into_iter()
        .map(|(request, answers, _)| (request, answers))
        .collect();
    let stream = Some(RequestId::from("s").to_string());
    assert_eq!(
        found,
        [(stream.clone(), false), (stream.clone(), true), (stream, false)]
    );
}
