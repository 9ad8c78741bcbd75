//! Who is served, and with which media types.

use oxmcp::Server;
use serde_json::json;

use super::Running;
use super::wire::{LEGACY, Request, initialize};

/// Names of this machine pass, whatever the port; others do not, and neither do pages of others.
#[tokio::test]
async fn a_server_on_loopback_serves_the_names_of_this_machine_only() {
    let running = Running::start().await;
    for (host, origin, status) in [
        ("localhost", None, 200),
        ("localhost:9000", None, 200),
        ("127.0.0.1:1", None, 200),
        ("[::1]:8000", None, 200),
        ("localhost", Some("http://localhost:5173"), 200),
        ("evil.test", None, 421),
        ("localhost.evil.test", None, 421),
        ("localhost", Some("http://evil.test"), 403),
        ("localhost", Some("null"), 403),
    ] {
        let mut request = initialize(LEGACY).field("Host", host);
        if let Some(origin) = origin {
            request = request.field("Origin", origin);
        }
        let (head, body) = running.connect().await.call(&request).await;
        assert_eq!(head.status, status, "{host} {origin:?}: {body}");
    }
    let rebound = initialize(LEGACY).target("http://evil.test/mcp");
    assert_eq!(running.connect().await.call(&rebound).await.0.status, 421);
}

/// An address that others can reach needs the names under which they do.
#[tokio::test]
async fn another_address_needs_its_names() {
    let http = Server::new("test", "1.0").http().address([0, 0, 0, 0]);
    let error = http.bind(0).await.unwrap_err();
    assert!(error.to_string().contains("list the host names"), "{error}");
    let serving = http.host("mcp.example.com").bind(0).await.unwrap();
    let port = serving.local_addr().port();
    let served = tokio::spawn(serving);
    for (host, status) in [("mcp.example.com:443", 200), ("localhost", 421)] {
        let mut wire = super::Wire::open(port).await;
        let (head, _) = wire.call(&initialize(LEGACY).field("Host", host)).await;
        assert_eq!(head.status, status, "{host}");
    }
    served.abort();
}

#[tokio::test]
async fn a_listed_origin_is_served_and_told_so() {
    let running = Running::with(|http| http.origin("https://app.example.com")).await;
    let mut wire = running.connect().await;
    let preflight = Request::new("OPTIONS", None)
        .field("Origin", "https://app.example.com")
        .field("Access-Control-Request-Method", "POST");
    let (head, _) = wire.call(&preflight).await;
    assert_eq!(head.status, 204);
    let request = initialize(LEGACY).field("Origin", "https://app.example.com");
    let (head, _) = wire.call(&request).await;
    assert_eq!(
        head.field("access-control-allow-origin"),
        Some("https://app.example.com")
    );
    assert!(
        head.field("access-control-expose-headers")
            .unwrap()
            .contains("Mcp-Session-Id")
    );
}

/// Media types are read as such.
#[tokio::test]
async fn media_types_are_read_and_not_compared_as_text() {
    let running = Running::start().await;
    for (name, value, status) in [
        ("Accept", "*/*", 200),
        ("Accept", "application/*;q=0.5", 200),
        ("Accept", "text/event-stream, APPLICATION/JSON", 200),
        ("Accept", "text/html", 406),
        ("Content-Type", "Application/JSON; charset=utf-8", 200),
        ("Content-Type", "text/plain; a=application/json", 415),
        ("Content-Type", "application/jsonx", 415),
    ] {
        let (head, _) = running
            .connect()
            .await
            .call(&initialize(LEGACY).field(name, value))
            .await;
        assert_eq!(head.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn who_takes_only_one_kind_of_answer_gets_it() {
    let running = Running::start().await;
    let mut wire = running.connect().await;
    let (head, body) = wire
        .call(&initialize(LEGACY).field("Accept", "text/event-stream"))
        .await;
    assert!(head.is_stream(), "{body}");
    assert!(head.field("mcp-session-id").is_some());
    assert!(body.contains("\"protocolVersion\":\"2025-11-25\""), "{body}");
    let discover = Request::modern(1, "server/discover", json!({})).field("Accept", "application/json");
    let (head, _) = wire.call(&discover).await;
    assert_eq!(head.field("content-type"), Some("application/json"));
    let listen = Request::modern(2, "subscriptions/listen", json!({"notifications": {}}));
    let (status, body) = wire.json(&listen.field("Accept", "application/json")).await;
    assert_eq!((status, &body["id"]), (406, &json!(2)));
}

#[tokio::test]
async fn there_is_one_path() {
    let running = Running::start().await;
    let (head, body) = running.connect().await.call(&initialize(LEGACY).target("/other")).await;
    assert_eq!(head.status, 404);
    assert!(body.contains("the endpoint is /mcp"), "{body}");
}
