//! Revision 2026-07-28: each request stands for itself.

use oxmcp::{Context, NoArguments, ToolOffer};
use serde_json::{Value, json};

use super::wire::{MODERN, Request, call};
use super::{Running, within};

#[tokio::test]
async fn an_answer_that_comes_first_is_json() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let request = Request::modern(1, "tools/call", json!({"name": "count", "arguments": {}}));
    let (head, body) = wire.call(&request).await;
    assert_eq!(
        (head.status, head.field("content-type")),
        (200, Some("application/json"))
    );
    assert_eq!(head.field("mcp-session-id"), None);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["result"]["content"][0]["text"], "counted");
}

#[tokio::test]
async fn errors_have_the_status_of_their_code() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let other_version = Request::modern(3, "tools/list", json!({})).field("MCP-Protocol-Version", "2099-01-01");
    for (request, status, code) in [
        (Request::modern(1, "no/such", json!({})), 404, -32601),
        (Request::modern(2, "ping", json!({})), 404, -32601),
        (other_version, 400, -32020),
        (Request::modern(4, "tools/call", json!({"name": "none"})), 200, -32602),
    ] {
        let (found, body) = wire.json(&request).await;
        assert_eq!((found, &body["error"]["code"]), (status, &json!(code)), "{body}");
    }
    for method in ["GET", "DELETE"] {
        let request = Request::new(method, None).field("MCP-Protocol-Version", MODERN);
        assert_eq!(wire.call(&request).await.0.status, 405, "{method}");
    }
}

/// Header and body must say the same; the handler does not run where they do not.
#[tokio::test]
async fn a_request_whose_header_and_body_differ_is_refused() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let request = Request::modern(1, "tools/call", json!({"name": "count", "arguments": {}}));
    for request in [
        request.clone().without("MCP-Protocol-Version"),
        request.clone().field("MCP-Protocol-Version", "2025-06-18"),
        request.clone().without("Mcp-Method"),
        request.clone().field("Mcp-Method", "tools/list"),
        request.clone().field("Mcp-Name", "other"),
    ] {
        let (status, body) = wire.json(&request).await;
        assert_eq!(
            (status, &body["error"]["code"], &body["id"]),
            (400, &json!(-32020), &json!(1)),
            "{request:?}"
        );
    }
    assert_eq!(running.probe.runs(), 0);
    wire.call(&request).await;
    assert_eq!(running.probe.runs(), 1);
}

/// Without a handshake, closing the connection is the cancel.
#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let mut running = Running::start().await;
    let mut streamed = running.connect().await;
    streamed
        .send(&Request::modern(
            1,
            "tools/call",
            json!({"name": "wait", "arguments": {}}),
        ))
        .await;
    assert!(streamed.head().await.is_stream());
    running.saw("began").await;
    drop(streamed);
    running.saw("cancelled").await;

    // The same before anything was said.
    let mut silent = running.connect().await;
    let request = Request::modern(2, "tools/call", json!({"name": "wait", "arguments": {}}));
    silent.send(&request.field("Accept", "application/json")).await;
    running.saw("began").await;
    drop(silent);
    running.saw("cancelled").await;
}

#[tokio::test]
async fn progress_makes_the_answer_a_stream() {
    let mut running = Running::start().await;
    let mut wire = running.connect().await;
    wire.send(&Request::modern(
        7,
        "tools/call",
        json!({"name": "wait", "arguments": {}}),
    ))
    .await;
    let head = wire.head().await;
    assert!(head.is_stream());
    assert_eq!(head.field("x-accel-buffering"), Some("no"));
    let progress = wire.event().await.unwrap();
    assert_eq!(progress.id, None);
    assert_eq!(progress.json()["params"]["progressToken"], 7);
    running.saw("began").await;
    running.probe.go_on.add_permits(1);
    assert_eq!(wire.message().await["result"]["content"][0]["text"], "waited");
    assert_eq!(wire.event().await, None);
}

#[tokio::test]
async fn a_listening_stream_is_told_of_changes_and_kept_alive() {
    let running = Running::with(|http| http.keep_alive(std::time::Duration::from_millis(1))).await;
    let mut wire = running.connect().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    wire.send(&Request::modern(5, "subscriptions/listen", filter)).await;
    assert!(wire.head().await.is_stream());
    let acknowledged = wire.message().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert!(wire.event().await.unwrap().comment);

    let tool = ToolOffer::new("new", "Is new.", |_: Context, _: NoArguments| async { Ok("new") });
    running.server.offers().add(tool).unwrap();
    let changed = loop {
        let event = wire.event().await.unwrap();
        if !event.comment {
            break event.json();
        }
    };
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
}

#[tokio::test]
async fn a_question_takes_a_round() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let request = Request::modern(1, "tools/call", json!({"name": "ask", "arguments": {}}));
    let (_, body) = wire.json(&request).await;
    let result = &body["result"];
    assert_eq!(result["resultType"], "input_required");
    let (key, _) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let again = json!({
        "name": "ask",
        "arguments": {},
        "requestState": result["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"name": "Ada"}}},
    });
    let (_, body) = wire.json(&Request::modern(2, "tools/call", again)).await;
    assert_eq!(body["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn a_notification_is_accepted() {
    let running = Running::start().await;
    let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let request = Request::post(&body)
        .field("MCP-Protocol-Version", MODERN)
        .field("Mcp-Method", "notifications/cancelled");
    let (head, body) = running.connect().await.call(&request).await;
    assert_eq!((head.status, &*body), (202, ""));
}

#[tokio::test]
async fn an_app_of_axum_takes_the_service() {
    let (server, probe, _seen) = super::server();
    let service = server.http().build().unwrap();
    let app: axum::Router = axum::Router::new().route_service("/in/an/app", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let mut wire = super::Wire::open(port).await;
    let request = Request::modern(1, "tools/call", json!({"name": "count", "arguments": {}}));
    let (status, body) = wire.json(&request.target("/in/an/app")).await;
    assert_eq!(
        (status, &body["result"]["content"][0]["text"]),
        (200, &json!("counted"))
    );
    assert_eq!(probe.runs(), 1);
    served.abort();
}

/// A connection serves one call after the other. Head and body come in one piece.
#[tokio::test]
async fn calls_in_a_row_take_one_connection_and_one_write_each() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    for id in 0..50 {
        wire.send(&Request::modern(
            id,
            "tools/call",
            json!({"name": "count", "arguments": {}}),
        ))
        .await;
        let text = wire.read_once().await;
        assert!(text.starts_with("HTTP/1.1 200") && text.ends_with('}'), "{text}");
    }
    assert_eq!(running.probe.runs(), 50);
    wire.send(&Request::modern(
        50,
        "tools/call",
        json!({"name": "wait", "arguments": {}}),
    ))
    .await;
    let text = wire.read_once().await;
    assert!(
        text.contains("text/event-stream") && text.contains("notifications/progress"),
        "{text}"
    );
}

/// A server with open streams stops, and ends them in good order.
#[tokio::test]
async fn a_server_that_is_shut_down_ends_its_streams_first() {
    let mut running = Running::start().await;
    let (mut listening, mut standing, mut working) = (
        running.connect().await,
        running.connect().await,
        running.connect().await,
    );
    listening
        .send(&Request::modern(
            1,
            "subscriptions/listen",
            json!({"notifications": {}}),
        ))
        .await;
    assert!(listening.head().await.is_stream());
    listening.message().await;
    let session = standing.initialize("2025-06-18").await;
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    working.send(&Request::of(&session, &call(2, "wait"))).await;
    assert!(working.head().await.is_stream());
    running.saw("began").await;

    running.handle.shut_down();
    assert_eq!(listening.message().await["id"], 1);
    assert_eq!(listening.event().await, None);
    assert_eq!(standing.event().await, None);
    // A call under way may finish.
    running.probe.go_on.add_permits(1);
    assert_eq!(working.message().await["method"], "notifications/progress");
    assert_eq!(working.message().await["result"]["content"][0]["text"], "waited");
    within(&mut running.served).await.unwrap().unwrap();
}
