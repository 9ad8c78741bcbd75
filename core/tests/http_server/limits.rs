//! Bounds on what a client can make the server hold.

use std::time::Duration;

use serde_json::json;

use super::Running;
use super::wire::{LEGACY, Request, initialize};

const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_body_has_a_bound_told_or_not() {
    let running = Running::with(|http| http.body_limit(1000)).await;
    let filler = "x".repeat(1000);
    let request = Request::post(&json!({"jsonrpc": "2.0", "id": 1, "method": filler}));
    assert_eq!(running.connect().await.call(&request).await.0.status, 413);
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{filler}1\r\n"
    );
    let mut wire = running.connect().await;
    wire.send_text(&chunked).await;
    assert_eq!(wire.head().await.status, 413);
}

/// Larger than what the sockets hold.
const LARGE: usize = 32 * 1024 * 1024;

#[tokio::test]
async fn a_client_that_reads_when_it_has_written_all_is_told_that_its_body_is_too_large() {
    let running = Running::with(|http| http.body_limit(1000)).await;
    let filler = "x".repeat(LARGE);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for body in [
        format!("Content-Length: {LARGE}\r\n\r\n{filler}"),
        format!("Transfer-Encoding: chunked\r\n\r\n{LARGE:x}\r\n{filler}\r\n0\r\n\r\n"),
    ] {
        let mut wire = running.connect().await;
        wire.send_text(&format!("{head}{body}")).await;
        let (head, body) = wire.response().await;
        assert_eq!(head.status, 413);
        assert!(body.contains("1000"), "{body}");
        // All of it was read, so the connection goes on.
        let next = Request::modern(1, "server/discover", json!({}));
        assert_eq!(wire.json(&next).await.0, 200);
    }
}

#[tokio::test]
async fn a_client_that_waits_to_be_told_to_send_its_body_is_told_not_to() {
    let running = Running::with(|http| http.body_limit(1000)).await;
    let mut wire = running.connect().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    wire.send_text(&format!("{head}Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n"))
        .await;
    assert_eq!(wire.head().await.status, 413);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let running = Running::with(|http| http.body_timeout(SHORT)).await;
    let mut wire = running.connect().await;
    wire.send_text(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    )
    .await;
    assert_eq!(wire.head().await.status, 408);
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let running = Running::with(|http| http.head_timeout(SHORT)).await;
    let mut wire = running.connect().await;
    wire.send_text("POST /mcp HTTP/1.1\r\nHost: loc").await;
    assert!(wire.ends().await);
}

#[tokio::test]
async fn a_connection_ends_when_it_asks_nothing_more_and_not_while_it_waits_for_an_answer() {
    // Long enough for what comes at once on a busy machine.
    let mut running = Running::with(|http| http.head_timeout(25 * SHORT)).await;
    let (mut busy, mut idle) = (running.connect().await, running.connect().await);
    let tool = |name: &str| Request::modern(1, "tools/call", json!({"name": name, "arguments": {}}));
    busy.send(&tool("wait")).await;
    running.saw("began").await;
    for _ in 0..2 {
        assert_eq!(idle.json(&tool("count")).await.0, 200);
    }
    assert!(idle.ends().await);
    running.probe.go_on.add_permits(1);
    let (head, body) = busy.response().await;
    assert_eq!(head.status, 200);
    assert!(body.contains("waited"), "{body}");
    assert_eq!(busy.json(&tool("count")).await.0, 200);
    assert!(busy.ends().await);
}

#[tokio::test]
async fn a_head_has_a_bound() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let request = initialize(LEGACY).field("X-Filler", &"x".repeat(200 * 1024));
    wire.send(&request).await;
    // What it did not read makes the system cut the connection, which may take the answer with it.
    let answer = wire.last_words().await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_left() {
    let mut running = Running::with(|http| http.write_timeout(SHORT)).await;
    let mut wire = running.connect().await;
    wire.send(&Request::modern(
        1,
        "tools/call",
        json!({"name": "large", "arguments": {}}),
    ))
    .await;
    let head = wire.head().await;
    // More than the system holds for a connection. The server would wait for the rest of it to be read.
    running.handle.shut_down();
    super::within(&mut running.served).await.unwrap().unwrap();
    let length: usize = head.field("content-length").unwrap().parse().unwrap();
    assert!(wire.rest().await < length);
}

#[tokio::test]
async fn connections_over_the_bound_wait_for_others_to_end() {
    let running = Running::with(|http| http.max_connections(1)).await;
    let (mut first, mut second) = (running.connect().await, running.connect().await);
    first.initialize(LEGACY).await;
    second.send(&initialize(LEGACY)).await;
    // It is still the turn of the first.
    first.initialize(LEGACY).await;
    drop(first);
    assert_eq!(second.head().await.status, 200);
}
