//! Revisions with a handshake: sessions.

use std::time::Duration;

use oxmcp::{Context, NoArguments, ToolOffer};
use serde_json::{Value, json};

use super::wire::{LEGACY, Request, call, initialize, ping};
use super::{Running, server, within};

/// An unknown session is 404, none is 400. DELETE and notifications have no body.
#[tokio::test]
async fn a_session_lasts_until_it_is_deleted() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    assert!(session.len() > 32 && session.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(
        wire.json(&Request::of(&session, &ping(1))).await,
        (200, json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
    );
    assert_eq!(wire.call(&Request::post(&ping(2))).await.0.status, 400);
    let (status, body) = wire.json(&Request::of("invented", &ping(3))).await;
    assert_eq!((status, &body["id"]), (404, &json!(3)));

    let delete = Request::new("DELETE", None).field("Mcp-Session-Id", &session);
    let (head, body) = wire.call(&delete).await;
    assert_eq!((head.status, &*body), (204, ""));
    for request in [Request::of(&session, &ping(4)), Request::get(&session), delete] {
        assert_eq!(wire.call(&request).await.0.status, 404, "{request:?}");
    }
    assert_eq!(running.handle.service().sessions(), 0);
}

/// The version header must be that of the session, and of the handshake.
#[tokio::test]
async fn a_version_header_that_differs_is_refused() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let differs = initialize("2025-06-18").field("MCP-Protocol-Version", "2025-03-26");
    assert_eq!(wire.call(&differs).await.0.status, 400);
    let session = wire.initialize("2025-06-18").await;
    let request = Request::of(&session, &call(1, "count"));
    for (version, status) in [("2025-06-18", 200), ("2025-03-26", 400), ("1999-01-01", 400)] {
        let (head, body) = wire.call(&request.clone().field("MCP-Protocol-Version", version)).await;
        assert_eq!(head.status, status, "{version}: {body}");
    }
    assert_eq!(running.probe.runs(), 1);
    assert_eq!(
        wire.call(&request).await.0.status,
        200,
        "without a header that of the session counts"
    );
}

#[tokio::test]
async fn a_handshake_that_fails_begins_no_session() {
    let running = Running::start().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}});
    let (head, body) = running.connect().await.call(&Request::post(&body)).await;
    assert_eq!((head.status, head.field("mcp-session-id")), (200, None), "{body}");
    assert_eq!(running.handle.service().sessions(), 0);
}

/// What belongs to a client goes to no other.
#[tokio::test]
async fn each_message_stays_with_its_client() {
    let mut running = Running::start().await;
    let (mut first, mut second) = (running.connect().await, running.connect().await);
    let session = first.initialize("2025-06-18").await;
    first.send(&Request::of(&session, &call(1, "wait"))).await;
    assert!(first.head().await.is_stream());
    running.saw("began").await;

    // The ids are the same on purpose.
    let other = second.initialize("2025-06-18").await;
    let (_, body) = second.call(&Request::of(&other, &call(1, "count"))).await;
    assert!(body.contains("counted"), "{body}");
    second.send(&Request::get(&other)).await;
    assert!(second.head().await.is_stream());

    running.probe.go_on.add_permits(1);
    assert_eq!(first.message().await["params"]["progressToken"], 1);
    assert_eq!(first.message().await["result"]["content"][0]["text"], "waited");
    assert_eq!(first.event().await, None);
    running.handle.shut_down();
    assert_eq!(second.event().await, None, "nothing came on the other's stream");
}

#[tokio::test]
async fn a_question_goes_on_the_stream_of_its_call() {
    let running = Running::start().await;
    let (mut calling, mut answering) = (running.connect().await, running.connect().await);
    let session = calling.initialize("2025-06-18").await;
    calling.send(&Request::of(&session, &call(1, "ask"))).await;
    assert!(calling.head().await.is_stream());
    let question = calling.message().await;
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    let (head, body) = answering.call(&Request::of(&session, &answer)).await;
    assert_eq!((head.status, &*body), (202, ""));
    assert_eq!(calling.message().await["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn changes_go_on_the_stream_of_a_get_and_the_newest_is_the_one() {
    let running = Running::start().await;
    let (mut first, mut second) = (running.connect().await, running.connect().await);
    let session = first.initialize("2025-06-18").await;
    first.send(&Request::get(&session)).await;
    assert!(first.head().await.is_stream());
    second.send(&Request::get(&session)).await;
    assert!(second.head().await.is_stream());
    assert_eq!(first.event().await, None);
    let tool = ToolOffer::new("new", "Is new.", |_: Context, _: NoArguments| async { Ok("new") });
    running.server.offers().add(tool).unwrap();
    assert_eq!(second.message().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_cancelled_call_has_no_answer() {
    let mut running = Running::start().await;
    let (mut calling, mut cancelling) = (running.connect().await, running.connect().await);
    let session = calling.initialize("2025-06-18").await;
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    assert!(calling.head().await.is_stream());
    running.saw("began").await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(cancelling.call(&Request::of(&session, &cancel)).await.0.status, 202);
    running.saw("cancelled").await;
    assert_eq!(calling.message().await["method"], "notifications/progress");
    assert_eq!(calling.event().await, None);
    // Its id is free again.
    let (_, body) = calling.call(&Request::of(&session, &call(1, "count"))).await;
    assert!(body.contains("counted"), "{body}");
}

#[tokio::test]
async fn a_cancel_that_overtakes_its_call_cancels_it() {
    let mut running = Running::start().await;
    let (mut calling, mut cancelling) = (running.connect().await, running.connect().await);
    let session = calling.initialize("2025-06-18").await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(cancelling.call(&Request::of(&session, &cancel)).await.0.status, 202);
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    running.saw("began").await;
    running.saw("cancelled").await;
    assert!(calling.head().await.is_stream());
    assert_eq!(calling.message().await["method"], "notifications/progress");
    assert_eq!(calling.event().await, None);
    // It counts once, and for this request alone.
    for id in [1, 2] {
        let (_, body) = calling.call(&Request::of(&session, &call(id, "count"))).await;
        assert!(body.contains("counted"), "{body}");
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let mut running = Running::start().await;
    let (mut calling, mut other) = (running.connect().await, running.connect().await);
    let session = calling.initialize("2025-06-18").await;
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    running.saw("began").await;
    let (status, body) = other.json(&Request::of(&session, &call(1, "count"))).await;
    assert_eq!((status, &body["id"]), (400, &json!(1)));
    assert_eq!(running.probe.runs(), 0);
}

#[tokio::test]
async fn a_batch_is_answered_by_a_list() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let session = wire.initialize("2025-03-26").await;
    let batch = json!([ping(1), {"jsonrpc": "2.0", "method": "notifications/x"}, call(2, "count"), 7]);
    let (status, body) = wire.json(&Request::of(&session, &batch)).await;
    assert_eq!(status, 200);
    let answers = body.as_array().unwrap();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids.len(), 3, "{body}");
    assert!(ids.contains(&&json!(1)) && ids.contains(&&json!(2)), "{body}");
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32600), "{body}");

    let quiet = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
    assert_eq!(wire.call(&Request::of(&session, &quiet)).await.0.status, 202);
    let newer = wire.initialize("2025-06-18").await;
    assert_eq!(wire.call(&Request::of(&newer, &batch)).await.0.status, 400);
}

#[tokio::test]
async fn json_only_says_the_rest_on_the_stream_of_the_session() {
    let mut running = Running::with(oxmcp::http::HttpBuilder::json_only).await;
    let (mut calling, mut standing) = (running.connect().await, running.connect().await);
    let session = calling.initialize("2025-06-18").await;
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    running.saw("began").await;
    assert_eq!(standing.message().await["method"], "notifications/progress");
    running.probe.go_on.add_permits(1);
    let (head, body) = calling.response().await;
    assert_eq!(head.field("content-type"), Some("application/json"));
    assert!(body.contains("waited"), "{body}");
}

#[tokio::test]
async fn without_sessions_each_request_stands_for_itself() {
    let mut running = Running::with(oxmcp::http::HttpBuilder::stateless).await;
    let mut wire = running.connect().await;
    let (head, _) = wire.call(&initialize(LEGACY)).await;
    assert_eq!((head.status, head.field("mcp-session-id")), (200, None));
    let request = Request::post(&call(1, "count")).field("MCP-Protocol-Version", LEGACY);
    let (_, body) = wire.call(&request).await;
    assert!(body.contains("counted"), "{body}");
    assert_eq!(wire.call(&Request::get("x")).await.0.status, 405);

    // Who leaves cancels nothing in these revisions.
    wire.send(&Request::post(&call(2, "wait")).field("MCP-Protocol-Version", LEGACY))
        .await;
    running.saw("began").await;
    drop(wire);
    let mut wire = running.connect().await;
    wire.call(&request).await;
    running.probe.go_on.add_permits(1);
    running.saw("done").await;
}

#[tokio::test]
async fn a_session_in_no_use_ends_and_a_full_server_says_so() {
    let running = Running::with(|http| http.max_sessions(1)).await;
    let mut wire = running.connect().await;
    let session = wire.initialize(LEGACY).await;
    let (head, _) = wire.call(&initialize(LEGACY)).await;
    assert_eq!((head.status, head.field("retry-after")), (503, Some("10")));
    let delete = Request::new("DELETE", None).field("Mcp-Session-Id", &session);
    wire.call(&delete).await;
    wire.initialize(LEGACY).await;
}

/// Without sockets, so that time can be let pass.
#[tokio::test(start_paused = true)]
async fn an_idle_session_ends_by_itself_and_one_in_use_does_not() {
    use tower_service::Service as _;
    let (server, _probe, _seen) = server();
    let mut service = server.http().session_idle(Duration::from_secs(60)).build().unwrap();
    let mut post = |session: Option<&str>, body: Value| {
        let mut request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        service.call(request.body(body.to_string()).unwrap())
    };
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "0"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begun = post(None, hello).await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    drop(begun);
    let working = post(Some(&session), call(1, "wait")).await.unwrap();
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert_eq!(post(Some(&session), ping(2)).await.unwrap().status(), 200);
    drop(working);
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(post(Some(&session), ping(3)).await.unwrap().status(), 200);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(post(Some(&session), ping(4)).await.unwrap().status(), 404);
    while service.sessions() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn ending_a_session_cancels_its_calls() {
    let mut running = Running::start().await;
    let (mut calling, mut ending) = (running.connect().await, running.connect().await);
    let session = calling.initialize(LEGACY).await;
    calling.send(&Request::of(&session, &call(1, "wait"))).await;
    running.saw("began").await;
    let delete = Request::new("DELETE", None).field("Mcp-Session-Id", &session);
    assert_eq!(ending.call(&delete).await.0.status, 204);
    running.saw("cancelled").await;
}

#[tokio::test]
async fn a_client_of_http_sse_has_one_stream() {
    let running = Running::with(oxmcp::http::HttpBuilder::http_sse).await;
    let (mut stream, mut posting) = (running.connect().await, running.connect().await);
    stream
        .send(&Request::new("GET", None).field("Accept", "text/event-stream"))
        .await;
    assert!(stream.head().await.is_stream());
    let endpoint = stream.event().await.unwrap();
    assert_eq!(endpoint.kind.as_deref(), Some("endpoint"));
    for (message, id) in [(None, 0), (Some(call(1, "count")), 1)] {
        let request = message.map_or_else(|| initialize("2024-11-05"), |message| Request::post(&message));
        assert_eq!(posting.call(&request.target(&endpoint.data)).await.0.status, 202);
        assert_eq!(stream.message().await["id"], id);
    }
    drop(stream);
    let mut gone = false;
    while !gone {
        gone = posting
            .call(&Request::post(&ping(2)).target(&endpoint.data))
            .await
            .0
            .status
            == 404;
    }
    assert_eq!(within(async { running.handle.service().sessions() }).await, 0);
}
