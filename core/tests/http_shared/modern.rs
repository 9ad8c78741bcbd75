//! Revision 2026-07-28: nothing is shared but keys and news.

use serde_json::{Value, json};

use super::fleet::{Fleet, Nginx};
use super::wire::{Request, Wire};

/// Opens a stream of notifications.
pub(super) async fn listen(wire: &mut Wire, filter: Value) {
    let request = Request::modern(5, "subscriptions/listen", json!({"notifications": filter}));
    wire.send(&request).await;
    assert!(wire.head().await.is_stream());
    assert_eq!(
        wire.message().await["method"],
        "notifications/subscriptions/acknowledged"
    );
}

#[tokio::test]
async fn a_round_goes_on_at_another_process() {
    let fleet = Fleet::start().await;
    let nginx = Nginx::start(&fleet.nodes).await;
    let ask = json!({"name": "ask", "arguments": {}});
    let (_, body) = nginx
        .connect()
        .await
        .json(&Request::modern(1, "tools/call", ask.clone()))
        .await;
    let result = &body["result"];
    assert_eq!(result["resultType"], "input_required");
    let (key, _) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut again = ask;
    again["requestState"] = result["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    // Round after round, each at the next process.
    for id in 2..5 {
        let request = Request::modern(id, "tools/call", again.clone());
        let (_, body) = nginx.connect().await.json(&request).await;
        assert_eq!(body["result"]["content"][0]["text"], "Hello, Ada!", "{body}");
    }
}

#[tokio::test]
async fn news_reach_listeners_at_all_processes() {
    let mut fleet = Fleet::start().await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://changing"]});
    let mut wires = Vec::new();
    for node in &fleet.nodes {
        let mut wire = node.connect().await;
        listen(&mut wire, filter.clone()).await;
        wires.push(wire);
    }
    let mut other = fleet.nodes[1].connect().await;
    listen(&mut other, json!({"resourceSubscriptions": ["test://changing"]})).await;
    fleet.nodes[0].tell("offer").await;
    for wire in &mut wires {
        let changed = wire.message().await;
        assert_eq!(changed["method"], "notifications/tools/list_changed");
        assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
    }
    fleet.nodes[2].tell("update").await;
    // What a stream did not ask for is not on it.
    wires.push(other);
    for wire in &mut wires {
        let updated = wire.message().await;
        assert_eq!(updated["method"], "notifications/resources/updated");
        assert_eq!(updated["params"]["uri"], "test://changing");
    }
}
