//! Requests that a transport could not carry.

use oxmcp_proto::jsonrpc::RequestId;
use oxmcp_proto::{CallOptions, Config, Error, ErrorKind, Implementation, Instant, Output, Revision, Session, Stats};

const NOW: Instant = Instant::from_micros(0);

fn session(revisions: &[Revision]) -> Session {
    let mut config = Config::new(Implementation::new("test", "1"));
    config.revisions = revisions.to_vec();
    config.routed = true;
    let mut session = Session::client(config);
    session.connect(None, NOW).unwrap();
    session
}

fn connected() -> Session {
    let mut session = session(&[Revision::V2025_11_25]);
    let answer = concat!(
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
        r#""serverInfo":{"name":"s","version":"1"}}}"#,
        "\n"
    );
    session.receive(answer.as_bytes(), NOW);
    while session.poll_output().is_some() {}
    session
}

fn unreachable() -> Error {
    Error::new(ErrorKind::Closed, "nobody is there").from_transport(false, None)
}

#[test]
fn a_request_that_was_not_carried_ends_its_call_once() {
    let mut session = connected();
    let call = session.begin("ping", None, CallOptions::default(), NOW).unwrap();
    let request = RequestId::from(i64::try_from(call.0).unwrap());
    assert!(session.fail_request(&request, unreachable(), NOW));
    assert!(!session.fail_request(&request, unreachable(), NOW));
    let ended: Vec<_> = std::iter::from_fn(|| session.poll_output())
        .filter_map(|output| match output {
            Output::Done { id, outcome } => Some((id, outcome.unwrap_err())),
            Output::Problem(problem) => panic!("{problem:?}"),
            _ => None,
        })
        .collect();
    assert_eq!(ended.len(), 1);
    let (id, error) = &ended[0];
    assert_eq!(
        (*id, error.message(), error.is_retryable()),
        (call, "nobody is there", false)
    );
    assert_eq!(session.stats(), Stats::default());
    assert!(!session.is_closed());
}

#[test]
fn a_request_that_nobody_made_or_that_was_answered_cannot_fail() {
    let mut session = connected();
    let call = session.begin("ping", None, CallOptions::default(), NOW).unwrap();
    for other in [RequestId::from(77), RequestId::from("x")] {
        assert!(!session.fail_request(&other, unreachable(), NOW), "{other}");
    }
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", call.0);
    session.receive(answer.as_bytes(), NOW);
    let request = RequestId::from(i64::try_from(call.0).unwrap());
    assert!(!session.fail_request(&request, unreachable(), NOW));
    session.close("the end");
    assert!(!session.fail_request(&request, unreachable(), NOW));
}

#[test]
fn a_handshake_or_a_probe_that_was_not_carried_fails_the_connection() {
    for revisions in [&[Revision::V2025_11_25][..], &Revision::ALL] {
        let mut session = session(revisions);
        while session.poll_output().is_some() {}
        assert!(session.fail_request(&RequestId::from(0), unreachable(), NOW));
        let said: Vec<_> = std::iter::from_fn(|| session.poll_output()).collect();
        let [Output::ConnectFailed(error), Output::Closed] = &said[..] else {
            panic!("{said:?}");
        };
        assert_eq!(error.message(), "nobody is there");
        assert!(session.is_closed());
    }
}

/// Over a stream a server of an older revision may ignore what it does not know; over HTTP it has to respond.
#[test]
fn a_server_over_http_may_take_its_time_before_it_counts_as_one_of_a_handshake() {
    for (connecting, asked_until) in [(None, 30), (Some(20), 10)] {
        let mut config = Config::new(Implementation::new("test", "1"));
        config.routed = true;
        let mut session = Session::client(config);
        session
            .connect(connecting.map(std::time::Duration::from_secs), NOW)
            .unwrap();
        let mut sent = |after: u64| {
            session.handle_timeout(Instant::from_micros(after));
            let outputs = std::iter::from_fn(|| session.poll_output());
            let text = outputs.map(|output| match output {
                Output::Message { line, .. } => String::from_utf8(line).unwrap(),
                other => panic!("{other:?}"),
            });
            text.collect::<Vec<_>>()
        };
        assert!(matches!(&sent(0)[..], [probe] if probe.contains("server/discover")));
        assert_eq!(sent(asked_until * 1_000_000 - 1), [""; 0]);
        let after = sent(asked_until * 1_000_000);
        assert!(
            matches!(&after[..], [handshake] if handshake.contains("\"initialize\"")),
            "{after:?}"
        );
    }
}
