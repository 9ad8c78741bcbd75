//! A session of a handshake that goes on in another process.

use std::sync::Arc;

use oxmcp_proto::jsonrpc::{Message, RequestId, json};
use oxmcp_proto::{
    CallOptions, Config, ErrorKind, Implementation, InboundId, Instant, Kind, LogLevel, Output, Registry, Revision,
    Session, Target, Terms, TermsSet,
};

const NOW: Instant = Instant::from_micros(0);

fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    let tool = registry.add(Kind::Tool, "ask").unwrap();
    let descriptor = json(r#"{"name":"ask","inputSchema":{"type":"object"}}"#).unwrap();
    registry.describe(Kind::Tool, tool, &descriptor).unwrap();
    let resource = registry.add(Kind::Resource, "x://1").unwrap();
    let descriptor = json(r#"{"uri":"x://1","name":"one"}"#).unwrap();
    registry.describe(Kind::Resource, resource, &descriptor).unwrap();
    Arc::new(registry)
}

fn server() -> Session {
    let mut config = Config::new(Implementation::new("terms", "1"));
    config.subscriptions = true;
    config.logging = true;
    Session::server(config, registry())
}

fn receive(session: &mut Session, line: &str) {
    session.receive(format!("{line}\n").as_bytes(), NOW);
}

/// What is written, and the calls that are to run.
fn drain(session: &mut Session) -> (String, Vec<InboundId>) {
    let (mut text, mut calls) = (Vec::new(), Vec::new());
    while let Some(output) = session.poll_output() {
        match output {
            Output::Wire(bytes) => text.extend(bytes),
            Output::Call {
                id,
                target: Target::Tool(_),
                ..
            } => calls.push(id),
            _ => {}
        }
    }
    (String::from_utf8(text).unwrap(), calls)
}

/// A session whose client set all there is to set.
fn settled() -> Terms {
    let mut session = server();
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1","x":1.0}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"x://1"}}"#,
    ] {
        receive(&mut session, line);
    }
    drain(&mut session);
    session.terms().unwrap()
}

#[test]
fn a_session_goes_on_from_the_text_of_its_terms() {
    let terms = settled();
    let text = terms.to_json();
    assert_eq!(
        text,
        r#"{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1","x":1.0},"capabilities":{"elicitation":{}}}"#
    );
    let terms = Terms::from_json(&text, terms.set).unwrap();
    let mut session = server();
    session.restore(terms, 5).unwrap();
    assert!(matches!(session.poll_output(), Some(Output::Ready(peer)) if peer.revision == Revision::V2025_06_18));
    assert_eq!(drain(&mut session).0, "", "the client had its handshake");

    assert!(session.resource_updated("x://1").unwrap());
    assert!(!session.log(None, LogLevel::Warning, None, "1").unwrap());
    drain(&mut session);
    receive(
        &mut session,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask"}}"#,
    );
    let (_, calls) = drain(&mut session);
    let form = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
    let options = CallOptions::default();
    session
        .ask(calls[0], None, "elicitation/create", Some(form), options, NOW)
        .unwrap();
    let (asked, _) = drain(&mut session);
    let Ok(Message::Request { id, .. }) = Message::parse(asked.trim().as_bytes(), 128) else {
        panic!("{asked}")
    };
    assert_eq!(Terms::session_of(&id), Some(5));
    receive(
        &mut session,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#),
    );
    assert!(matches!(
        session.poll_output(),
        Some(Output::Done { outcome: Ok(_), .. })
    ));
}

#[test]
fn what_the_client_sets_elsewhere_counts_here() {
    let mut session = server();
    session.restore(settled(), 1).unwrap();
    session.set_terms(TermsSet {
        log_level: LogLevel::Debug,
        subscribed: Vec::new(),
    });
    drain(&mut session);
    assert!(!session.resource_updated("x://1").unwrap());
    assert!(session.log(None, LogLevel::Debug, None, "1").unwrap());
}

#[test]
fn ids_tell_the_sessions_apart_and_stay_exact_numbers() {
    let last = Terms::first_call(Terms::SESSIONS) - 1;
    assert_eq!(last, (1 << 53) - 1);
    let last = i64::try_from(last).unwrap();
    for (id, session) in [
        (RequestId::Integer(0), Some(0)),
        (RequestId::Integer(last), Some(Terms::SESSIONS - 1)),
        // As some clients answer numbers.
        (RequestId::from("4294967296"), Some(1)),
        (RequestId::from("04294967296"), None),
        (RequestId::Integer(-1), None),
    ] {
        assert_eq!(Terms::session_of(&id), session, "{id}");
    }
}

#[test]
fn what_cannot_go_on_here_is_refused() {
    let mut config = Config::new(Implementation::new("terms", "1"));
    config.revisions = vec![Revision::V2025_11_25];
    let mut other = Session::server(config, registry());
    assert_eq!(other.restore(settled(), 1).unwrap_err().kind(), ErrorKind::Usage);
    assert!(server().restore(settled(), Terms::SESSIONS).is_err());
    let mut twice = server();
    twice.restore(settled(), 1).unwrap();
    assert!(twice.restore(settled(), 1).is_err());
    let mut client = Session::client(Config::new(Implementation::new("c", "1")));
    assert!(client.restore(settled(), 1).is_err());
    assert!(client.terms().is_none() && server().terms().is_none());
    for text in ["", "{}", r#"{"protocolVersion":"1","clientInfo":{},"capabilities":{}}"#] {
        assert!(Terms::from_json(text, settled().set).is_none(), "{text}");
    }
}
