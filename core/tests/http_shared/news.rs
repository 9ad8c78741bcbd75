//! What all clients are told, in revisions with a handshake.

use serde_json::json;

use super::fleet::Fleet;
use super::text_of;
use super::wire::{Request, Wire};

const REVISION: &str = "2025-06-18";

async fn stand(wire: &mut Wire, session: &str) {
    wire.send(&Request::get(session)).await;
    assert!(wire.head().await.is_stream());
}

#[tokio::test]
async fn news_reach_the_stream_of_a_get_once_wherever_they_come_from() {
    let mut fleet = Fleet::start().await;
    let (mut first, mut standing) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = first.initialize(REVISION).await;
    // All processes have a part of the session.
    for (id, node) in (1..).zip(&fleet.nodes) {
        text_of(&mut node.connect().await, &session, id, "process").await;
    }
    stand(&mut standing, &session).await;
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 9, "method": "resources/subscribe", "params": {"uri": "test://changing"}});
    assert_eq!(first.call(&Request::of(&session, &subscribe)).await.0.status, 200);
    fleet.nodes[2].tell("offer").await;
    assert_eq!(standing.message().await["method"], "notifications/tools/list_changed");
    fleet.nodes[0].tell("update").await;
    let updated = standing.message().await;
    assert_eq!(
        (&updated["method"], &updated["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("test://changing"))
    );
    fleet.nodes[1].tell("update").await;
    assert_eq!(standing.message().await["method"], "notifications/resources/updated");

    // Who unsubscribed hears no more of it; the next news follow at once.
    let mut unsubscribe = subscribe;
    unsubscribe["method"] = json!("resources/unsubscribe");
    let mut third = fleet.nodes[2].connect().await;
    assert_eq!(third.call(&Request::of(&session, &unsubscribe)).await.0.status, 200);
    assert_eq!(
        text_of(&mut fleet.nodes[1].connect().await, &session, 10, "process").await,
        fleet.nodes[1].process()
    );
    fleet.nodes[2].tell("update").await;
    fleet.nodes[0].tell("offer").await;
    assert_eq!(standing.message().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn news_that_nobody_listened_to_are_told_when_somebody_does() {
    let mut fleet = Fleet::start().await;
    let mut first = fleet.nodes[0].connect().await;
    let session = first.initialize(REVISION).await;
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 9, "method": "resources/subscribe", "params": {"uri": "test://changing"}});
    assert_eq!(first.call(&Request::of(&session, &subscribe)).await.0.status, 200);
    // A listener at the same process tells when they have arrived there.
    let mut listening = fleet.nodes[1].connect().await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://changing"]});
    super::modern::listen(&mut listening, filter).await;
    fleet.nodes[2].tell("offer").await;
    listening.message().await;
    for _ in 0..3 {
        fleet.nodes[2].tell("update").await;
        listening.message().await;
    }
    let mut standing = fleet.nodes[1].connect().await;
    stand(&mut standing, &session).await;
    let told = [standing.message().await, standing.message().await];
    let mut methods = told.map(|message| message["method"].as_str().unwrap().to_owned());
    methods.sort();
    assert_eq!(
        methods,
        ["notifications/resources/updated", "notifications/tools/list_changed"]
    );
    // Once; what is next is new.
    let mut again = fleet.nodes[0].connect().await;
    stand(&mut again, &session).await;
    assert_eq!(standing.event().await, None);
    fleet.nodes[1].tell("offer").await;
    assert_eq!(again.message().await["method"], "notifications/tools/list_changed");
}
