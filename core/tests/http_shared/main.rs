//! Several server processes that share their state by Redis, behind nginx.
#![cfg(feature = "redis")]

mod fleet;
mod legacy;
mod lost;
mod modern;
mod news;
#[path = "../http_server/wire.rs"]
#[allow(dead_code, reason = "the tests of one server use more of it")]
mod wire;

use std::time::Duration;

use oxmcp::http::RedisState;
use oxmcp::{ErrorKind, Keyring, SealKey, Server};

use fleet::{Fleet, Redis};
use wire::{Head, LEGACY, Request, Wire, call};

/// A test that waits for ever fails instead.
async fn within<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(30), future).await;
    waited.expect("it did not happen in 30 seconds")
}

/// The text that a tool gives, which comes as JSON.
async fn text_of(wire: &mut Wire, session: &str, id: u32, tool: &str) -> String {
    let (status, body) = wire.json(&Request::of(session, &call(id, tool))).await;
    assert_eq!((status, &body["id"]), (200, &id.into()), "{body}");
    body["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn resume(session: &str, after: &str) -> Request {
    Request::get(session).field("Last-Event-ID", after)
}

/// Begins a call that reports progress, and reads up to the first report; gives the ids of the events so far.
async fn begin(wire: &mut Wire, session: &str, id: u32, tool: &str) -> (String, String) {
    wire.send(&Request::of(session, &call(id, tool))).await;
    assert!(wire.head().await.is_stream());
    let primer = wire.event().await.unwrap();
    assert_eq!(primer.data, "");
    let progress = wire.event().await.unwrap();
    assert_eq!(progress.json()["method"], "notifications/progress");
    (primer.id.unwrap(), progress.id.unwrap())
}

#[tokio::test]
async fn settings_that_do_not_go_with_a_shared_state_are_refused() {
    let redis = Redis::start().await;
    let connect = async || RedisState::connect(redis.url()).await.unwrap();
    let server = Server::new("shared", "1.0");
    let refused = |built: Result<_, oxmcp::Error>, why: &str| {
        let error: oxmcp::Error = built.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message().contains(why), "{error}");
    };
    refused(server.http().shared(connect().await).build(), "state_keys");
    let legacy = server.clone().revisions([oxmcp::Revision::V2025_11_25]);
    assert!(
        legacy.http().shared(connect().await).build().is_ok(),
        "nothing is sealed"
    );

    let keys = Keyring::new(SealKey::from_bytes(&[7; 32]).unwrap());
    let server = server.state_keys(keys);
    refused(server.http().shared(connect().await).http_sse().build(), "http_sse");
    refused(
        server.http().shared(connect().await).not_resumable().build(),
        "not_resumable",
    );
    let http = server.http().shared(connect().await);
    assert!(http.build().is_ok());
    refused(http.build(), "connect another one");
}

#[tokio::test]
async fn a_redis_server_that_is_not_there_is_named_as_the_cause() {
    let mut redis = Redis::start().await;
    let url = redis.url();
    redis.stop().await;
    let error = RedisState::connect(url).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(
        error.message().starts_with("the Redis server does not answer: "),
        "{error}"
    );
    let error = RedisState::connect("http://127.0.0.1/").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

/// The head of the answer to a ping of a session.
async fn ping(wire: &mut Wire, session: &str) -> Head {
    wire.call(&Request::of(session, &wire::ping(1))).await.0
}

#[tokio::test]
async fn a_version_of_the_protocol_counts_in_all_processes() {
    let fleet = Fleet::start().await;
    let mut first = fleet.nodes[0].connect().await;
    let session = first.initialize("2025-06-18").await;
    let mut second = fleet.nodes[1].connect().await;
    let request = Request::of(&session, &wire::ping(1));
    let other = request.clone().field("MCP-Protocol-Version", LEGACY);
    assert_eq!(second.call(&other).await.0.status, 400);
    let same = request.field("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(second.call(&same).await.0.status, 200);
}
