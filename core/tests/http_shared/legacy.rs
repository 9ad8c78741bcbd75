//! Sessions of revisions with a handshake, over three processes.

use serde_json::json;

use super::fleet::{Fleet, Nginx};
use super::wire::{Event, LEGACY, Request, Wire, call};
use super::{begin, ping, resume, text_of};

#[tokio::test]
async fn a_session_goes_on_in_every_process_behind_a_load_balancer() {
    let fleet = Fleet::start().await;
    let nginx = Nginx::start(&fleet.nodes).await;
    let session = nginx.connect().await.initialize(LEGACY).await;
    let mut processes = Vec::new();
    for id in 1..=6 {
        processes.push(text_of(&mut nginx.connect().await, &session, id, "process").await);
    }
    for node in &fleet.nodes {
        let served = processes.iter().filter(|it| **it == node.process()).count();
        assert_eq!(served, 2, "{processes:?}");
    }
}

#[tokio::test]
async fn a_session_that_ended_has_ended_everywhere() {
    let fleet = Fleet::start().await;
    let (mut first, mut second) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = first.initialize(LEGACY).await;
    let mut waiting = fleet.nodes[1].connect().await;
    begin(&mut waiting, &session, 1, "wait").await;
    let mut standing = fleet.nodes[0].connect().await;
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    standing.event().await.unwrap();

    let mut third = fleet.nodes[2].connect().await;
    let end = Request::new("DELETE", None).field("Mcp-Session-Id", &session);
    assert_eq!(third.call(&end).await.0.status, 204);
    assert_eq!(waiting.event().await, None);
    assert_eq!(standing.event().await, None);
    for wire in [&mut first, &mut second, &mut third] {
        assert_eq!(ping(wire, &session).await.status, 404);
    }
    assert_eq!(third.call(&end).await.0.status, 404);
}

#[tokio::test]
async fn the_cap_counts_the_sessions_of_all_processes() {
    let fleet = Fleet::with(&["max-sessions=2"]).await;
    let mut wires = Vec::new();
    for node in &fleet.nodes {
        wires.push(node.connect().await);
    }
    let session = wires[0].initialize(LEGACY).await;
    wires[1].initialize(LEGACY).await;
    let (head, body) = wires[2].call(&super::wire::initialize(LEGACY)).await;
    assert_eq!((head.status, head.field("retry-after")), (503, Some("10")), "{body}");
    let end = Request::new("DELETE", None).field("Mcp-Session-Id", &session);
    assert_eq!(wires[1].call(&end).await.0.status, 204);
    wires[2].initialize(LEGACY).await;
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_at_another_process() {
    let mut fleet = Fleet::start().await;
    let mut wire = fleet.nodes[0].connect().await;
    let session = wire.initialize(LEGACY).await;
    let (primer, first) = begin(&mut wire, &session, 1, "step").await;
    fleet.nodes[0].saw("step").await;
    drop(wire);

    // What was missed, and then what happens.
    let mut second = fleet.nodes[1].connect().await;
    second.send(&resume(&session, &primer)).await;
    assert!(second.head().await.is_stream());
    assert_eq!(second.event().await.unwrap().id, Some(first));
    fleet.nodes[0].tell("go").await;
    let step = second.event().await.unwrap();
    assert_eq!(step.json()["params"]["progress"], 2.0);

    // Whoever resumes it last has it.
    let mut third = fleet.nodes[2].connect().await;
    third.send(&resume(&session, &primer)).await;
    assert!(third.head().await.is_stream());
    assert_eq!(second.event().await, None);
    third.event().await.unwrap();
    assert_eq!(third.event().await.unwrap(), step);
    fleet.nodes[0].tell("go").await;
    fleet.nodes[0].tell("go").await;
    assert_eq!(third.message().await["params"]["progress"], 3.0);
    assert_eq!(third.message().await["result"]["content"][0]["text"], "stepped");
    assert_eq!(third.event().await, None);

    // As often as it likes, from anywhere; what was never sent is no place to go on from.
    let (head, rest) = second.call(&resume(&session, step.id.as_ref().unwrap())).await;
    assert_eq!(head.status, 200);
    assert!(rest.contains("stepped") && !rest.contains("\"progress\":2"), "{rest}");
    let stream = primer.split_once('.').unwrap().0;
    for id in [
        format!("{stream}.6"),
        format!("{stream}.9007199254740993"),
        "AAAAAAAAAAAAAAAA.1".to_owned(),
    ] {
        assert_eq!(second.call(&resume(&session, &id)).await.0.status, 400, "{id}");
    }
}

#[tokio::test]
async fn a_stream_that_is_resumed_elsewhere_ends_where_it_was() {
    let mut fleet = Fleet::start().await;
    let mut first = fleet.nodes[0].connect().await;
    let session = first.initialize(LEGACY).await;
    let (primer, _) = begin(&mut first, &session, 1, "wait").await;
    let mut second = fleet.nodes[1].connect().await;
    second.send(&resume(&session, &primer)).await;
    assert!(second.head().await.is_stream());
    assert_eq!(first.event().await, None);
    fleet.nodes[0].tell("go").await;
    second.event().await.unwrap();
    assert_eq!(second.message().await["result"]["content"][0]["text"], "waited");
}

#[tokio::test]
async fn nobody_resumes_the_stream_of_another_session_anywhere() {
    let fleet = Fleet::start().await;
    let mut first = fleet.nodes[0].connect().await;
    let session = first.initialize(LEGACY).await;
    let (primer, _) = begin(&mut first, &session, 1, "wait").await;
    let mut second = fleet.nodes[1].connect().await;
    let other = second.initialize(LEGACY).await;
    assert_eq!(second.call(&resume(&other, &primer)).await.0.status, 400);
}

#[tokio::test]
async fn a_cancel_reaches_the_process_that_runs_the_call() {
    let mut fleet = Fleet::start().await;
    let mut calling = fleet.nodes[0].connect().await;
    let session = calling.initialize(LEGACY).await;
    begin(&mut calling, &session, 1, "wait").await;
    fleet.nodes[0].saw("began").await;
    let mut cancelling = fleet.nodes[1].connect().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(cancelling.call(&Request::of(&session, &cancel)).await.0.status, 202);
    fleet.nodes[0].saw("cancelled").await;
    assert_eq!(calling.event().await, None);
}

/// Asks, and gives the question.
async fn asked(wire: &mut Wire, session: &str, id: u32) -> Event {
    wire.send(&Request::of(session, &call(id, "ask"))).await;
    assert!(wire.head().await.is_stream());
    wire.event().await.unwrap();
    let question = wire.event().await.unwrap();
    assert_eq!(question.json()["method"], "elicitation/create");
    question
}

fn answer(question: &Event, name: &str) -> serde_json::Value {
    let result = json!({"action": "accept", "content": {"name": name}});
    json!({"jsonrpc": "2.0", "id": question.json()["id"], "result": result})
}

#[tokio::test]
async fn an_answer_reaches_the_process_that_asked() {
    let fleet = Fleet::start().await;
    let (mut first, mut second) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = first.initialize(LEGACY).await;
    let ada = asked(&mut first, &session, 1).await;
    let bob = asked(&mut second, &session, 2).await;
    assert_ne!(ada.json()["id"], bob.json()["id"]);
    // Each is answered at another process than the one that asked.
    let (mut third, mut crossing) = (fleet.nodes[2].connect().await, fleet.nodes[0].connect().await);
    for (wire, answer) in [(&mut third, answer(&ada, "Ada")), (&mut crossing, answer(&bob, "Bob"))] {
        let (head, body) = wire.call(&Request::of(&session, &answer)).await;
        assert_eq!((head.status, &*body), (202, ""));
    }
    assert_eq!(first.message().await["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(second.message().await["result"]["content"][0]["text"], "Hello, Bob!");
}

/// Where requests are answered by JSON only, a question takes the stream of a GET, wherever that is.
#[tokio::test]
async fn a_question_takes_the_stream_of_a_get_at_another_process() {
    let fleet = Fleet::with(&["json-only=1"]).await;
    let mut standing = fleet.nodes[1].connect().await;
    let session = standing.initialize(LEGACY).await;
    let mut calling = fleet.nodes[0].connect().await;
    calling.send(&Request::of(&session, &call(1, "ask"))).await;
    // It may be open before or after the question.
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    let primer = standing.event().await.unwrap();
    assert_eq!((&*primer.data, primer.retry.as_deref()), ("", Some("1000")));
    let question = standing.event().await.unwrap();
    let mut third = fleet.nodes[2].connect().await;
    let (head, _) = third.call(&Request::of(&session, &answer(&question, "Ada"))).await;
    assert_eq!(head.status, 202);
    let (_, body) = calling.response().await;
    assert!(body.contains("Hello, Ada!"), "{body}");

    // What was seen is not sent again, unless it is asked for.
    calling.send(&Request::of(&session, &call(2, "ask"))).await;
    let next = standing.event().await.unwrap();
    let mut third = fleet.nodes[2].connect().await;
    third.send(&resume(&session, primer.id.as_ref().unwrap())).await;
    assert!(third.head().await.is_stream());
    assert_eq!(third.event().await.unwrap(), question);
    assert_eq!(third.event().await.unwrap(), next);
    assert_eq!(standing.event().await, None);
    let mut third = fleet.nodes[0].connect().await;
    third.send(&Request::get(&session)).await;
    assert!(third.head().await.is_stream());
    let primer = third.event().await.unwrap();
    assert_eq!((primer.id, &*primer.data), (next.id, ""));
}

#[tokio::test]
async fn what_a_client_sets_counts_in_all_processes() {
    let fleet = Fleet::start().await;
    let (mut first, mut second) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = first.initialize(LEGACY).await;
    second.send(&Request::of(&session, &call(1, "log"))).await;
    assert!(second.head().await.is_stream());
    second.event().await.unwrap();
    assert_eq!(second.message().await["method"], "notifications/message");
    second.message().await;
    assert_eq!(second.event().await, None);
    let set = json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "error"}});
    assert_eq!(first.call(&Request::of(&session, &set)).await.0.status, 200);
    assert_eq!(text_of(&mut second, &session, 3, "log").await, "logged");
}

/// A client that makes many calls takes no more room in Redis than it may.
#[tokio::test]
async fn the_streams_of_a_session_have_a_bound() {
    let fleet = Fleet::with(&["event-bytes=4000"]).await;
    let mut wire = fleet.nodes[0].connect().await;
    let session = wire.initialize(LEGACY).await;
    let mut primers = Vec::new();
    for id in 0..40 {
        wire.send(&Request::of(&session, &call(id, "log"))).await;
        assert!(wire.head().await.is_stream());
        primers.push(wire.event().await.unwrap().id.unwrap());
        while wire.event().await.is_some() {}
    }
    let mut second = fleet.nodes[1].connect().await;
    let (first, last) = (&primers[0], &primers[39]);
    assert_eq!(second.call(&resume(&session, first)).await.0.status, 400);
    let (head, rest) = second.call(&resume(&session, last)).await;
    assert_eq!(head.status, 200);
    assert!(rest.contains("logged"), "{rest}");
    let streams = fleet.redis.keys().await;
    let streams = streams.iter().filter(|(key, _)| key.starts_with("oxmcp:e:")).count();
    assert!((1..40).contains(&streams), "{streams} streams are kept");
}
