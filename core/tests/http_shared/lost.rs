//! Processes that are killed, and Redis that goes away.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

use super::fleet::{Fleet, Nginx};
use super::wire::{LEGACY, Request, Wire, call};
use super::{begin, ping, resume, text_of, within};

/// Soon over, where a test waits for that.
const LEASE: &str = "lease=1000";

#[tokio::test]
async fn the_call_of_a_process_that_was_killed_ends_with_an_error_elsewhere() {
    let mut fleet = Fleet::with(&[LEASE]).await;
    let (mut calling, mut other) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = calling.initialize(LEGACY).await;
    let (primer, progress) = begin(&mut calling, &session, 7, "wait").await;
    begin(&mut other, &session, 8, "wait").await;
    // It is known to be stored once another process has it.
    let mut waiting = fleet.nodes[2].connect().await;
    waiting.send(&resume(&session, &primer)).await;
    assert!(waiting.head().await.is_stream());
    assert_eq!(waiting.event().await.unwrap().id.as_ref(), Some(&progress));
    fleet.nodes[0].kill().await;

    // Who waits for more of it is told, and who comes later too.
    let error = waiting.message().await;
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&json!(7), &json!(-32603)),
        "{error}"
    );
    assert!(error["error"]["message"].as_str().unwrap().contains("lost"), "{error}");
    assert_eq!(waiting.event().await, None);
    let (_, rest) = fleet.nodes[1].connect().await.call(&resume(&session, &primer)).await;
    assert!(rest.contains(&progress) && rest.contains("-32603"), "{rest}");

    // The others go on, and the session with them.
    fleet.nodes[1].tell("go").await;
    assert_eq!(other.message().await["result"]["content"][0]["text"], "waited");
    assert_eq!(other.event().await, None);
    assert_eq!(
        text_of(&mut other, &session, 9, "process").await,
        fleet.nodes[1].process()
    );
}

#[tokio::test]
async fn a_process_that_stops_leaves_an_end_to_its_streams() {
    let mut fleet = Fleet::start().await;
    let mut calling = fleet.nodes[0].connect().await;
    let session = calling.initialize(LEGACY).await;
    let (primer, _) = begin(&mut calling, &session, 7, "wait").await;
    fleet.nodes[0].stop().await;
    let (_, rest) = fleet.nodes[1].connect().await.call(&resume(&session, &primer)).await;
    assert!(rest.contains("-32603"), "{rest}");
}

/// What a client got for each call, by its number: the text, or the server that did not answer.
type Outcomes = Vec<Result<String, Option<String>>>;

/// Calls a tool over and over through the load balancer, once all are ready, and tells of each answer.
async fn client(port: u16, calls: u32, modern: bool, ready: Arc<Barrier>, told: mpsc::UnboundedSender<()>) -> Outcomes {
    let mut outcomes = Vec::new();
    let session = match modern {
        true => None,
        false => Some(Wire::open(port).await.initialize(LEGACY).await),
    };
    ready.wait().await;
    for id in 1..=calls {
        let request = match &session {
            Some(session) => Request::of(session, &call(id, "process")),
            None => Request::modern(id, "tools/call", json!({"name": "process", "arguments": {}})),
        };
        let (head, body) = Wire::open(port).await.call(&request).await;
        outcomes.push(match head.status {
            200 => {
                let body: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(body["id"], id);
                Ok(body["result"]["content"][0]["text"].as_str().unwrap().to_owned())
            }
            _ => Err(head.field("x-server").map(ToOwned::to_owned)),
        });
        // Nobody counts any more at the end.
        let _ = told.send(());
    }
    outcomes
}

#[tokio::test]
async fn no_answer_of_another_process_is_lost_when_one_is_killed() {
    const CLIENTS: u32 = 12;
    const CALLS: u32 = 60;
    let mut fleet = Fleet::start().await;
    let nginx = Nginx::start(&fleet.nodes).await;
    let mut clients = JoinSet::new();
    let (told, mut answers) = mpsc::unbounded_channel();
    let ready = Arc::new(Barrier::new(CLIENTS as usize));
    for number in 0..CLIENTS {
        let ready = Arc::clone(&ready);
        clients.spawn(client(nginx.port, CALLS, number % 2 == 0, ready, told.clone()));
    }
    // In the middle of it.
    for _ in 0..CLIENTS * CALLS / 2 {
        within(answers.recv()).await.unwrap();
    }
    let mut outcomes = Vec::new();
    let mut killed = fleet.nodes.remove(0);
    let (address, process) = (format!("127.0.0.1:{}", killed.port), killed.process());
    killed.kill().await;
    while let Some(client) = within(clients.join_next()).await {
        outcomes.push(client.unwrap());
    }
    // Whoever comes now gets an answer from one of the two others.
    outcomes.push(client(nginx.port, CALLS, false, Arc::new(Barrier::new(1)), told).await);
    let mut served = HashSet::new();
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(process) => drop(served.insert(process)),
            Err(server) => assert_eq!(server.as_deref(), Some(&*address), "only the killed one may fail"),
        }
    }
    assert!(served.contains(&process));
    assert_eq!(served.len(), 3);
}

#[tokio::test]
async fn nothing_stays_for_ever_of_processes_that_were_killed() {
    let mut fleet = Fleet::start().await;
    let mut wire = fleet.nodes[0].connect().await;
    let session = wire.initialize(LEGACY).await;
    begin(&mut wire, &session, 1, "wait").await;
    let mut standing = fleet.nodes[1].connect().await;
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 9, "method": "resources/subscribe", "params": {"uri": "test://changing"}});
    let mut third = fleet.nodes[2].connect().await;
    assert_eq!(third.call(&Request::of(&session, &subscribe)).await.0.status, 200);
    fleet.nodes[0].tell("offer").await;
    standing.event().await.unwrap();
    standing.event().await.unwrap();
    for node in &mut fleet.nodes {
        node.kill().await;
    }
    let keys = fleet.redis.keys().await;
    let kinds: HashSet<&str> = keys
        .iter()
        .map(|(key, _)| key.strip_prefix("oxmcp:").unwrap().split(':').next().unwrap())
        .collect();
    let all = ["n", "s", "r", "u", "x", "m", "e", "sessions", "changes", "news"];
    assert_eq!(kinds, HashSet::from(all));
    for (key, ttl) in keys {
        assert!(ttl > 0, "{key} stays for ever");
    }
}

/// Asks again, as a client is told to, until there is an answer.
async fn until_served(wire: &mut Wire, session: &str) {
    within(async {
        while ping(wire, session).await.status == 503 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    assert_eq!(ping(wire, session).await.status, 200);
}

#[tokio::test]
async fn redis_may_go_away_and_come_back() {
    let mut fleet = Fleet::start().await;
    let (mut first, mut second) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = first.initialize(LEGACY).await;
    let mut calling = fleet.nodes[0].connect().await;
    begin(&mut calling, &session, 1, "wait").await;
    let mut listening = fleet.nodes[1].connect().await;
    super::modern::listen(&mut listening, json!({"toolsListChanged": true})).await;
    assert_eq!(ping(&mut second, &session).await.status, 200);
    let mut standing = fleet.nodes[2].connect().await;
    standing.send(&Request::get(&session)).await;
    assert!(standing.head().await.is_stream());
    standing.event().await.unwrap();

    fleet.redis.stop().await;
    for request in [
        Request::of(&session, &super::wire::ping(2)),
        Request::get(&session),
        super::wire::initialize(LEGACY),
    ] {
        let (head, body) = second.call(&request).await;
        assert_eq!((head.status, head.field("retry-after")), (503, Some("1")), "{body}");
        assert!(body.contains("try again later"), "{body}");
    }
    // What needs no session is served, and what is under way ends well.
    let request = Request::modern(1, "tools/call", json!({"name": "process", "arguments": {}}));
    assert_eq!(second.json(&request).await.0, 200);
    fleet.nodes[0].tell("go").await;
    assert_eq!(calling.message().await["result"]["content"][0]["text"], "waited");
    fleet.nodes[0].tell("offer").await;

    fleet.redis.start_again().await;
    for wire in [&mut first, &mut second] {
        until_served(wire, &session).await;
    }
    // What happened meanwhile is told, and what happens now.
    assert_eq!(listening.message().await["method"], "notifications/tools/list_changed");
    assert_eq!(standing.message().await["method"], "notifications/tools/list_changed");
    fleet.nodes[2].tell("offer").await;
    assert_eq!(listening.message().await["method"], "notifications/tools/list_changed");
}

/// As when the machine of Redis swaps: it takes connections and says nothing.
#[tokio::test]
async fn a_redis_server_that_hangs_is_not_waited_for() {
    let fleet = Fleet::with(&["patience=1000"]).await;
    let mut wire = fleet.nodes[0].connect().await;
    let session = wire.initialize(LEGACY).await;
    fleet.redis.signal("STOP").await;
    for _ in 0..2 {
        let (head, _) = wire.call(&Request::of(&session, &super::wire::ping(1))).await;
        assert_eq!((head.status, head.field("retry-after")), (503, Some("1")));
    }
    let request = Request::modern(1, "tools/call", json!({"name": "process", "arguments": {}}));
    assert_eq!(wire.json(&request).await.0, 200);
    fleet.redis.signal("CONT").await;
    until_served(&mut wire, &session).await;
}

/// Nothing but its clients can tell a process that stands still from one that is dead.
#[tokio::test]
async fn a_process_that_stood_still_goes_on() {
    let mut fleet = Fleet::with(&[LEASE]).await;
    let (mut calling, mut second) = (fleet.nodes[0].connect().await, fleet.nodes[1].connect().await);
    let session = calling.initialize(LEGACY).await;
    let (primer, _) = begin(&mut calling, &session, 7, "wait").await;
    fleet.nodes[0].saw("began").await;
    fleet.nodes[0].signal("STOP").await;
    let (_, rest) = second.call(&resume(&session, &primer)).await;
    assert!(rest.contains("-32603"), "{rest}");
    fleet.nodes[0].signal("CONT").await;
    let mut wire = fleet.nodes[0].connect().await;
    assert_eq!(
        text_of(&mut wire, &session, 8, "process").await,
        fleet.nodes[0].process()
    );
    // What is kept of the stream stays as it was told.
    fleet.nodes[0].tell("go").await;
    let (_, again) = second.call(&resume(&session, &primer)).await;
    assert_eq!(again, rest);
}
