//! HTTP/2 without TLS, for clients and proxies that know beforehand that it is spoken here.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::wire::{LEGACY, Request, initialize};
use super::{Running, within};

const SHORT: Duration = Duration::from_millis(20);

/// A connection.
struct Http2 {
    sender: SendRequest<Full<Bytes>>,
    /// Done when the connection is closed.
    connection: JoinHandle<hyper::Result<()>>,
}

impl Http2 {
    async fn open(running: &Running) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", running.port)).await.unwrap();
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        Self {
            sender,
            connection: tokio::spawn(connection),
        }
    }

    /// Sends a request. Dropping the result takes it back.
    fn send(&mut self, request: &Request) -> impl Future<Output = hyper::Result<hyper::Response<Incoming>>> + use<> {
        let (method, target, fields, body) = request.parts();
        let mut sent = hyper::Request::builder()
            .method(method)
            .uri(format!("http://localhost{target}"));
        for (name, value) in fields.iter().filter(|(name, _)| name != "Host") {
            sent = sent.header(name, value);
        }
        let body = Full::from(body.unwrap_or_default().to_owned());
        self.sender.send_request(sent.body(body).unwrap())
    }

    async fn call(&mut self, request: &Request) -> (hyper::http::response::Parts, Value) {
        let (head, body) = within(self.send(request)).await.unwrap().into_parts();
        let body = within(body.collect()).await.unwrap().to_bytes();
        (head, serde_json::from_slice(&body).unwrap())
    }
}

fn tool(id: u32, name: &str) -> Request {
    Request::modern(id, "tools/call", json!({"name": name, "arguments": {}}))
}

#[tokio::test]
async fn both_eras_are_served_over_http2() {
    let running = Running::start().await;
    let mut client = Http2::open(&running).await;
    let (head, answer) = client.call(&initialize(LEGACY)).await;
    assert_eq!(answer["result"]["protocolVersion"], LEGACY);
    let session = head.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count"}});
    for request in [Request::of(&session, &call), tool(2, "count")] {
        let (head, answer) = client.call(&request).await;
        assert_eq!(head.version, hyper::Version::HTTP_2);
        assert_eq!(answer["result"]["content"][0]["text"], "counted", "{answer}");
    }
    assert_eq!(running.probe.runs(), 2);
}

#[tokio::test]
async fn calls_on_one_connection_do_not_wait_for_each_other() {
    let mut running = Running::start().await;
    let mut client = Http2::open(&running).await;
    let waiting = [client.send(&tool(1, "wait")), client.send(&tool(2, "wait"))].map(tokio::spawn);
    running.saw("began").await;
    running.saw("began").await;
    let (_, answer) = client.call(&tool(3, "count")).await;
    assert_eq!(answer["id"], 3);
    running.probe.go_on.add_permits(2);
    for waiting in waiting {
        let response = within(waiting).await.unwrap().unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let text = within(response.into_body().collect()).await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&text).contains("waited"), "{text:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_cancelled_and_the_connection_goes_on() {
    let mut running = Running::start().await;
    let mut client = Http2::open(&running).await;
    let response = within(client.send(&tool(1, "wait"))).await.unwrap();
    running.saw("began").await;
    drop(response);
    running.saw("cancelled").await;
    assert_eq!(client.call(&tool(2, "count")).await.1["id"], 2);
}

#[tokio::test]
async fn calls_under_way_may_finish_when_the_server_is_shut_down() {
    let mut running = Running::start().await;
    let mut client = Http2::open(&running).await;
    let response = within(client.send(&tool(1, "wait"))).await.unwrap();
    running.saw("began").await;
    running.handle.shut_down();
    running.probe.go_on.add_permits(1);
    let text = within(response.into_body().collect()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&text).contains("waited"), "{text:?}");
    within(&mut running.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_connection_without_requests_ends_but_not_one_with_a_call_under_way() {
    let mut running = Running::with(|http| http.head_timeout(SHORT)).await;
    let mut idle = Http2::open(&running).await;
    assert_eq!(idle.call(&tool(1, "count")).await.1["id"], 1);
    let mut busy = Http2::open(&running).await;
    let response = within(busy.send(&tool(2, "wait"))).await.unwrap();
    running.saw("began").await;
    within(&mut idle.connection).await.unwrap().unwrap();
    assert!(!busy.connection.is_finished());
    running.probe.go_on.add_permits(1);
    let text = within(response.into_body().collect()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&text).contains("waited"), "{text:?}");
    within(&mut busy.connection).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_beginning_that_goes_no_further_is_not_waited_for() {
    let running = Running::with(|http| http.head_timeout(SHORT)).await;
    for beginning in ["", "PRI * HTTP/2"] {
        let mut wire = running.connect().await;
        wire.send_text(beginning).await;
        assert!(wire.ends().await, "{beginning}");
    }
}

#[tokio::test]
async fn a_beginning_in_pieces_is_read_as_one() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    for piece in [
        "P",
        "OST /mcp HT",
        "TP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
    ] {
        wire.send_text(piece).await;
    }
    assert_eq!(wire.head().await.status, 415);
}
