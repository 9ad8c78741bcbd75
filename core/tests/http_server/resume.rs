//! Streams that break and go on (2025-11-25 transports, Resumability and Redelivery).

use serde_json::{Value, json};

use super::Running;
use super::wire::{LEGACY, Request, call};

/// In revisions with a handshake a broken connection cancels nothing, and the client gets what it missed.
#[tokio::test]
async fn a_stream_that_broke_goes_on_after_the_last_event() {
    let mut running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    wire.send(&Request::of(&session, &call(1, "wait"))).await;
    assert!(wire.head().await.is_stream());
    let primer = wire.event().await.unwrap();
    assert_eq!((&*primer.data, primer.retry.as_deref()), ("", Some("1000")));
    let progress = wire.event().await.unwrap();
    running.saw("began").await;
    drop(wire);

    running.probe.go_on.add_permits(1);
    running.saw("done").await;
    let resume = |after: &str| Request::get(&session).field("Last-Event-ID", after);
    let mut wire = running.connect().await;
    wire.send(&resume(primer.id.as_ref().unwrap())).await;
    assert!(wire.head().await.is_stream());
    assert_eq!(wire.event().await.unwrap(), progress);
    assert_eq!(wire.message().await["result"]["content"][0]["text"], "waited");
    assert_eq!(wire.event().await, None);

    // As often as it likes.
    let (_, rest) = wire.call(&resume(progress.id.as_ref().unwrap())).await;
    assert!(
        rest.contains("waited") && !rest.contains("notifications/progress"),
        "{rest}"
    );
}

#[tokio::test]
async fn a_handler_may_let_its_stream_go() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    wire.send(&Request::of(&session, &call(1, "leave"))).await;
    assert!(wire.head().await.is_stream());
    let primer = wire.event().await.unwrap();
    assert_eq!(wire.event().await, None);
    // The connection is free for the next request, and the call goes on.
    wire.send(&Request::get(&session).field("Last-Event-ID", primer.id.as_ref().unwrap()))
        .await;
    assert!(wire.head().await.is_stream());
    running.probe.go_on.add_permits(1);
    let answer = wire.message().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&1.into(), &"The client came back.".into())
    );
    assert_eq!(wire.event().await, None);
}

#[tokio::test]
async fn nobody_resumes_the_stream_of_another_session() {
    let mut running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let other = wire.initialize(LEGACY).await;
    let mut calling = running.connect().await;
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    calling.head().await;
    let primer = calling.event().await.unwrap();
    running.saw("began").await;
    for (session, id) in [(&*other, &**primer.id.as_ref().unwrap()), (&session, "nonsense")] {
        let (head, _) = wire.call(&Request::get(session).field("Last-Event-ID", id)).await;
        assert_eq!(head.status, 400, "{id}");
    }
}

#[tokio::test]
async fn older_revisions_have_ids_and_no_primer() {
    let mut running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize("2025-06-18").await;
    wire.send(&Request::of(&session, &call(1, "wait"))).await;
    wire.head().await;
    let first = wire.event().await.unwrap();
    assert!(first.id.is_some() && first.retry.is_none());
    assert_eq!(first.json()["method"], "notifications/progress");
    running.saw("began").await;
}

#[tokio::test]
async fn nothing_is_kept_if_it_is_not_wanted() {
    let mut running = Running::with(oxmcp::http::HttpBuilder::not_resumable).await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    wire.send(&Request::of(&session, &call(1, "wait"))).await;
    wire.head().await;
    assert_eq!(wire.event().await.unwrap().id, None);
    running.saw("began").await;
}

#[tokio::test]
async fn a_long_silence_begins_the_stream() {
    let mut running = Running::with(|http| http.keep_alive(std::time::Duration::from_millis(1))).await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let mut quiet = call(1, "wait");
    quiet["params"]["_meta"].as_object_mut().unwrap().clear();
    wire.send(&Request::of(&session, &quiet)).await;
    assert!(wire.head().await.is_stream());
    assert!(wire.event().await.unwrap().id.is_some());
    assert!(wire.event().await.unwrap().comment);
    running.saw("began").await;
}

/// A client that takes event streams only gets its answer as one event, which nobody could come back for.
#[tokio::test]
async fn an_answer_that_comes_at_once_is_a_stream_of_one_event() {
    let mut running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let events_only = |message: &Value| {
        Request::of(&session, message)
            .without("Accept")
            .field("Accept", "text/event-stream")
    };
    for id in [1, 2] {
        wire.send(&events_only(&call(id, "count"))).await;
        let head = wire.head().await;
        assert!(head.is_stream() && head.field("content-length").is_some(), "{head:?}");
        let event = wire.event().await.unwrap();
        assert_eq!((&event.id, &event.json()["id"]), (&None, &json!(id)));
        assert_eq!(wire.event().await, None);
    }
    // What is said before the answer begins a stream that is kept.
    wire.send(&events_only(&call(3, "wait"))).await;
    assert!(wire.head().await.is_stream());
    assert!(wire.event().await.unwrap().id.is_some());
    running.saw("began").await;
}

#[tokio::test]
async fn a_long_silence_begins_the_stream_that_must_be_one() {
    let mut running = Running::with(|http| http.keep_alive(std::time::Duration::from_millis(1))).await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let mut quiet = call(1, "wait");
    quiet["params"]["_meta"].as_object_mut().unwrap().clear();
    wire.send(
        &Request::of(&session, &quiet)
            .without("Accept")
            .field("Accept", "text/event-stream"),
    )
    .await;
    assert!(wire.head().await.is_stream());
    let primer = wire.event().await.unwrap().id.unwrap();
    running.saw("began").await;
    drop(wire);
    running.probe.go_on.add_permits(1);
    let mut again = running.connect().await;
    again
        .send(&Request::get(&session).field("Last-Event-ID", &primer))
        .await;
    assert!(again.head().await.is_stream());
    let answer = loop {
        let event = again.event().await.unwrap();
        if !event.comment {
            break event.json();
        }
    };
    assert_eq!(answer["result"]["content"][0]["text"], "waited");
}

#[tokio::test]
async fn what_a_client_has_whole_is_kept_no_longer() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let other = wire.initialize(LEGACY).await;
    let count = |session: &str| Request::of(session, &call(1, "count"));
    let streamed = async || {
        let mut wire = running.connect().await;
        wire.send(&Request::of(&session, &call(1, "wait"))).await;
        assert!(wire.head().await.is_stream());
        let primer = wire.event().await.unwrap().id.unwrap();
        running.probe.go_on.add_permits(1);
        while wire.event().await.is_some() {}
        (wire, primer)
    };
    let (mut same, of_same) = streamed().await;
    let (mut another, of_another) = streamed().await;
    let resume = async |primer: &str| {
        let mut wire = running.connect().await;
        let (head, _) = wire.call(&Request::get(&session).field("Last-Event-ID", primer)).await;
        head.status
    };
    for primer in [&of_same, &of_another] {
        assert_eq!(resume(primer).await, 200);
    }
    // The next request by the connection shows that the answer came, unless it is somebody else's.
    assert_eq!(same.call(&count(&session)).await.0.status, 200);
    assert_eq!(another.call(&count(&other)).await.0.status, 200);
    assert_eq!(resume(&of_same).await, 400);
    assert_eq!(resume(&of_another).await, 200);
}
