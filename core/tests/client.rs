//! A client and a peer that speaks JSON by hand.

mod support;

use std::future::{IntoFuture, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use oxmcp::types::{ContentBlock, Root};
use oxmcp::{Client, Error, ErrorKind, Fault, Limits, ProblemKind, Stats};
use serde_json::{Value, json};
use support::{Peer, Problems, connect, peer, peer_with_room_for};
use tokio::task::JoinHandle;

/// A call on its way, as a task.
fn call_echo(client: &Client) -> JoinHandle<Result<oxmcp::CallToolResult, Error>> {
    tokio::spawn(client.call_tool("echo", json!({"text": "x"})).into_future())
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

async fn expect_cancel(peer: &mut Peer, request: &Value) {
    let cancel = peer.receive().await;
    assert_eq!(cancel["method"], "notifications/cancelled");
    assert_eq!(cancel["params"]["requestId"], request["id"]);
}

#[tokio::test]
async fn the_handshake_tells_who_the_server_is() {
    let (mut peer, transport) = peer();
    let builder = Client::builder().info("my-client", "2.0").probe(false);
    let serve = async {
        let request = peer.receive().await;
        assert_eq!(request["params"]["protocolVersion"], "2025-11-25");
        assert_eq!(
            request["params"]["clientInfo"],
            json!({"name": "my-client", "version": "2.0"})
        );
        let info = json!({"name": "s", "version": "3", "title": "S", "x": 1});
        let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info, "instructions": "Be nice."});
        peer.answer(&request, result).await;
    };
    let (client, ()) = tokio::join!(builder.connect(transport), serve);
    let client = client.unwrap();
    assert_eq!(
        (&*client.server_info().name, client.server_info().title.as_deref()),
        ("s", Some("S"))
    );
    assert_eq!(client.peer().revision.name(), "2025-06-18");
    assert_eq!(client.peer().instructions.as_deref(), Some("Be nice."));
    assert!(client.peer().info.get().contains("\"x\":1"));
}

#[tokio::test]
async fn a_server_without_a_revision_of_ours_is_refused() {
    let (mut peer, transport) = peer();
    let serve = async {
        let request = peer.receive().await;
        let result =
            json!({"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "s", "version": "3"}});
        peer.answer(&request, result).await;
    };
    let (client, ()) = tokio::join!(Client::builder().probe(false).connect(transport), serve);
    let error = client.unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Protocol, Fault::Peer));
    assert!(error.message().contains("1999-01-01"), "{error}");
    assert!(peer.rest().await.is_empty());
}

#[tokio::test]
async fn a_server_that_leaves_before_the_handshake_fails_the_connection_at_once() {
    let (peer, transport) = peer();
    drop(peer);
    let error = Client::builder().probe(false).connect(transport).await.unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
    assert!(error.message().contains("initialize"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_the_handshake_times_out() {
    let (mut peer, transport) = peer();
    let start = tokio::time::Instant::now();
    let error = Client::builder()
        .probe(false)
        .connect_timeout(Duration::from_secs(3))
        .connect(transport)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(start.elapsed().as_secs(), 3);
    assert_eq!(peer.receive().await["method"], "initialize");
    assert!(peer.rest().await.is_empty(), "initialize is never cancelled");
}

#[tokio::test]
async fn giving_up_on_the_handshake_ends_the_connection() {
    let (mut peer, transport) = peer();
    let attempt = tokio::spawn(Client::builder().probe(false).connect(transport));
    assert_eq!(peer.receive().await["method"], "initialize");
    attempt.abort();
    assert!(peer.rest().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_without_answer_times_out_after_60_seconds_and_is_cancelled() {
    let problems = Problems::default();
    let (client, mut peer) = connect(Client::builder().on_problem(problems.hook())).await;
    let start = tokio::time::Instant::now();
    let call = call_echo(&client);
    let request = peer.receive().await;
    let error = call.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Timeout, true));
    assert_eq!(start.elapsed().as_secs(), 60);
    expect_cancel(&mut peer, &request).await;
    assert_eq!(client.stats(), Stats::default());
    // A late answer is dropped in silence, and so is late progress.
    peer.answer(&request, text_result("late")).await;
    peer.expect_silence().await;
    assert!(problems.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_client_and_of_a_call_count() {
    let (client, _peer) = connect(Client::builder().timeout(Duration::from_secs(10))).await;
    for (timeout, seconds) in [
        (None, 10),
        (Some(Duration::from_secs(2)), 2),
        (Some(Duration::from_secs(30)), 30),
    ] {
        let start = tokio::time::Instant::now();
        let mut call = client.call_tool("echo", ());
        if let Some(timeout) = timeout {
            call = call.timeout(timeout);
        }
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
        assert_eq!(start.elapsed().as_secs(), seconds);
    }
}

async fn report(peer: &mut Peer, request: &Value, progress: u32) {
    let token = &request["params"]["_meta"]["progressToken"];
    assert!(!token.is_null(), "{request}");
    peer.notify(
        "notifications/progress",
        json!({"progressToken": token, "progress": progress, "total": 6, "message": "m"}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn progress_restarts_the_timeout_without_a_callback() {
    let (client, mut peer) = connect(Client::builder()).await;
    let call = client
        .call_tool("slow", ())
        .timeout(Duration::from_secs(1))
        .reset_timeout_on_progress();
    let call = tokio::spawn(call.into_future());
    let request = peer.receive().await;
    for step in 1..=6 {
        tokio::time::advance(Duration::from_millis(500)).await;
        report(&mut peer, &request, step).await;
        peer.expect_silence().await;
    }
    peer.answer(&request, text_result("done")).await;
    assert_eq!(call.await.unwrap().unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn the_total_timeout_fires_in_spite_of_progress() {
    let (client, mut peer) = connect(Client::builder()).await;
    let start = tokio::time::Instant::now();
    let call = client
        .call_tool("slow", ())
        .timeout(Duration::from_secs(10))
        .reset_timeout_on_progress()
        .max_total_timeout(Duration::from_secs(25));
    let call = tokio::spawn(call.into_future());
    let request = peer.receive().await;
    for step in 1..=3 {
        tokio::time::advance(Duration::from_secs(8)).await;
        report(&mut peer, &request, step).await;
        peer.expect_silence().await;
    }
    let error = call.await.unwrap().unwrap_err();
    assert!(error.message().contains("total timeout of 25 s"), "{error}");
    assert_eq!(start.elapsed().as_secs(), 25);
    expect_cancel(&mut peer, &request).await;
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_result() {
    let problems = Problems::default();
    let (client, mut peer) = connect(Client::builder().on_problem(problems.hook())).await;
    let seen = Arc::<Mutex<Vec<f64>>>::default();
    let steps = Arc::clone(&seen);
    let call = client.call_tool("slow", ()).on_progress(move |it| {
        assert_eq!((it.total, it.message.as_deref()), (Some(6.0), Some("m")));
        steps.lock().unwrap().push(it.progress);
    });
    let call = tokio::spawn(call.into_future());
    let request = peer.receive().await;
    for step in 1..=6 {
        report(&mut peer, &request, step).await;
    }
    peer.answer(&request, text_result("done")).await;
    call.await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    // Progress that crossed the answer is no fault; for a token we never gave, it is.
    report(&mut peer, &request, 7).await;
    peer.expect_silence().await;
    assert!(problems.take().is_empty());
    peer.notify("notifications/progress", json!({"progressToken": 999, "progress": 1}))
        .await;
    peer.expect_silence().await;
    assert_eq!(problems.kinds(), [ProblemKind::UnknownProgress]);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_its_answer_forgiven() {
    let problems = Problems::default();
    let (client, mut peer) = connect(Client::builder().on_problem(problems.hook())).await;
    let call = call_echo(&client);
    let request = peer.receive().await;
    assert_eq!((client.stats().outbound, client.stats().callers), (1, 1));
    call.abort();
    expect_cancel(&mut peer, &request).await;
    peer.answer(&request, text_result("late")).await;
    peer.expect_silence().await;
    assert!(problems.take().is_empty());
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn a_call_that_is_never_awaited_is_never_sent() {
    let (client, mut peer) = connect(Client::builder()).await;
    drop(client.call_tool("echo", ()));
    drop(client.call_tool("echo", ()).into_future());
    peer.expect_silence().await;
}

#[tokio::test]
async fn an_answer_whose_id_became_text_is_accepted_and_reported() {
    let problems = Problems::default();
    let (client, mut peer) = connect(Client::builder().on_problem(problems.hook())).await;
    let call = call_echo(&client);
    let request = peer.receive().await;
    let id = request["id"].as_i64().unwrap().to_string();
    peer.answer(&json!({"id": format!("0{id}")}), text_result("not canonical"))
        .await;
    peer.answer(&json!({"id": id}), text_result("taken")).await;
    assert_eq!(call.await.unwrap().unwrap().text(), "taken");
    assert_eq!(problems.kinds(), [ProblemKind::UnknownResponse, ProblemKind::LooseId]);
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_reported_and_never_answered() {
    let problems = Problems::default();
    let (client, mut peer) = connect(Client::builder().on_problem(problems.hook())).await;
    peer.send_raw("server: listening\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n[1]\n")
        .await;
    peer.expect_silence().await;
    let kinds = [
        ProblemKind::NotJson,
        ProblemKind::UnknownResponse,
        ProblemKind::NotAMessage,
    ];
    assert_eq!(problems.kinds(), kinds);
    let call = call_echo(&client);
    let request = peer.receive().await;
    peer.answer(&request, text_result("still there")).await;
    assert_eq!(call.await.unwrap().unwrap().text(), "still there");
}

#[tokio::test]
async fn a_hook_that_panics_harms_nobody() {
    let (client, mut peer) = connect(Client::builder().on_problem(|_| panic!("in the hook"))).await;
    peer.send_raw("not json\n").await;
    peer.expect_silence().await;
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn notifications_reach_their_hook() {
    let seen = Arc::<Mutex<Vec<(String, Option<String>)>>>::default();
    let notes = Arc::clone(&seen);
    let hook = move |method: &str, params: Option<oxmcp::jsonrpc::Json>| {
        let params = params.map(|json| json.get().to_owned());
        notes.lock().unwrap().push((method.to_owned(), params));
    };
    let (client, mut peer) = connect(Client::builder().roots(Vec::new()).on_notification(hook)).await;
    peer.notify("notifications/message", json!({"level": "info"})).await;
    peer.expect_silence().await;
    let message = (
        "notifications/message".to_owned(),
        Some("{\"level\":\"info\"}".to_owned()),
    );
    assert_eq!(*seen.lock().unwrap(), [message]);
    client.set_roots(vec![Root::new("file:///a")]).unwrap();
    assert_eq!(
        peer.receive().await,
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    );
}

#[tokio::test]
async fn every_message_can_be_seen() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let lines = Arc::clone(&seen);
    let hook = move |direction, line: &str| lines.lock().unwrap().push(format!("{direction:?} {line}"));
    let (client, mut peer) = connect(Client::builder().on_trace(hook)).await;
    seen.lock().unwrap().clear();
    let serve = async {
        let request = peer.receive().await;
        peer.answer(&request, json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping().into_future(), serve);
    pong.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert!(
        seen[0].starts_with("Sent {") && seen[0].contains("\"ping\""),
        "{seen:?}"
    );
    assert!(
        seen[1].starts_with("Received {") && seen[1].contains("\"result\""),
        "{seen:?}"
    );
}

#[tokio::test]
async fn what_the_server_asks_of_the_client_is_answered() {
    let (_client, mut peer) = connect(Client::builder()).await;
    assert_eq!(peer.request("p", "ping", json!({})).await["result"], json!({}));
    assert_eq!(peer.request(1, "roots/list", json!({})).await["error"]["code"], -32601);
}

#[tokio::test]
async fn an_error_of_the_server_keeps_its_code_message_and_data() {
    let (client, mut peer) = connect(Client::builder()).await;
    let call = call_echo(&client);
    let request = peer.receive().await;
    let error = json!({"code": -32042, "message": "sign in first", "data": {"url": "https://x.test"}});
    peer.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        .await;
    let error = call.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Response, Fault::Peer));
    assert_eq!(error.code().unwrap().0, -32042);
    assert_eq!(error.message(), "sign in first");
    assert_eq!(error.data(), Some("{\"url\":\"https://x.test\"}"));
}

#[tokio::test]
async fn a_server_that_leaves_fails_every_call_at_once() {
    let (client, mut peer) = connect(Client::builder()).await;
    let calls = [call_echo(&client), call_echo(&client)];
    peer.receive().await;
    peer.receive().await;
    drop(peer);
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.message().contains("tools/call was not answered"), "{error}");
    }
    let error = client.ping().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("not sent"), "{error}");
    assert_eq!(
        client.notify("notifications/x", ()).unwrap_err().kind(),
        ErrorKind::Closed
    );
    client.close().await;
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test(start_paused = true)]
async fn close_fails_what_is_under_way_and_does_not_wait_for_a_silent_peer() {
    let (client, mut peer) = connect(Client::builder()).await;
    let call = call_echo(&client);
    peer.receive().await;
    let start = tokio::time::Instant::now();
    tokio::join!(client.close(), client.close());
    client.close().await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
    assert!(peer.rest().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn close_is_bounded_when_the_peer_takes_nothing() {
    let (mut peer, transport) = peer_with_room_for(512);
    let (client, ()) = tokio::join!(Client::connect(transport), peer.accept());
    let client = client.unwrap();
    let call = tokio::spawn(
        client
            .call_tool("echo", json!({"text": "x".repeat(5000)}))
            .into_future(),
    );
    while client.stats().unwritten == 0 {
        tokio::task::yield_now().await;
    }
    let start = tokio::time::Instant::now();
    client.close().await;
    assert!(start.elapsed() <= Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_connection() {
    let (client, mut peer) = connect(Client::builder()).await;
    let clone = client.clone();
    drop(client);
    let call = call_echo(&clone);
    let request = peer.receive().await;
    drop(clone);
    // A call under way is a handle as well.
    peer.answer(&request, text_result("x")).await;
    call.await.unwrap().unwrap();
    assert!(peer.rest().await.is_empty());
}

#[test]
fn no_call_outlives_the_runtime_that_drives_it() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (driving, waiting) = (runtime(), runtime());
    let (client, mut peer) = driving.block_on(connect(Client::builder()));
    let mut call = client.call_tool("echo", ()).into_future();
    waiting.block_on(poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    driving.block_on(peer.receive());
    drop(driving);
    let error = waiting.block_on(call).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("runtime"), "{error}");
    waiting.block_on(client.close());
}

#[tokio::test]
async fn what_the_server_did_not_declare_is_not_sent() {
    let (mut peer, transport) = peer();
    let (client, ()) = tokio::join!(Client::connect(transport), peer.accept_with(json!({})));
    let client = client.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::NotNegotiated, Fault::Local));
    assert!(error.message().contains("\"tools\""), "{error}");
    peer.expect_silence().await;
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused_before_anything_is_sent() {
    let (client, mut peer) = connect(Client::builder()).await;
    let error = client.call_tool("echo", [1, 2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.message().contains("[1,2]"), "{error}");
    assert_eq!(
        client.request("x/y", "text").await.unwrap_err().kind(),
        ErrorKind::Usage
    );
    assert_eq!(client.notify("x/y", 5).unwrap_err().kind(), ErrorKind::Usage);
    peer.expect_silence().await;
}

/// Serves pages of tools: what follows each cursor.
async fn serve_pages(peer: &mut Peer, next: impl Fn(Option<&str>) -> Option<&'static str>, stop: usize) -> usize {
    for page in 1..=stop {
        let request = peer.receive().await;
        let cursor = request["params"].get("cursor").map(|cursor| cursor.as_str().unwrap());
        let mut result = json!({"tools": [{"name": format!("t{page}"), "inputSchema": {"type": "object"}}]});
        let next = next(cursor);
        if let Some(next) = next {
            result["nextCursor"] = json!(next);
        }
        peer.answer(&request, result).await;
        if next.is_none_or(str::is_empty) {
            return page;
        }
    }
    stop
}

#[tokio::test]
async fn all_pages_of_tools_are_read() {
    let (client, mut peer) = connect(Client::builder()).await;
    let next = |cursor: Option<&str>| match cursor {
        None => Some("b"),
        Some("b") => Some("c"),
        _ => None,
    };
    let (tools, pages) = tokio::join!(client.list_tools().into_future(), serve_pages(&mut peer, next, 5));
    let names: Vec<_> = tools.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!((pages, names), (3, vec!["t1".into(), "t2".into(), "t3".to_owned()]));

    let (tools, pages) = tokio::join!(
        client.list_tools().into_future(),
        serve_pages(&mut peer, |_| Some(""), 5)
    );
    assert_eq!(
        (pages, tools.unwrap().len()),
        (1, 1),
        "an empty cursor is the end in these revisions"
    );
}

#[tokio::test]
async fn pages_without_end_are_an_error() {
    let (client, mut peer) = connect(Client::builder()).await;
    let (tools, pages) = tokio::join!(
        client.list_tools().into_future(),
        serve_pages(&mut peer, |_| Some("again"), 1000)
    );
    assert_eq!((pages, tools.unwrap_err().kind()), (1000, ErrorKind::Protocol));
}

#[tokio::test]
async fn what_a_client_does_not_know_of_a_result_survives() {
    let (client, mut peer) = connect(Client::builder()).await;
    let call = call_echo(&client);
    let request = peer.receive().await;
    let result = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","x":1}],"structuredContent":{"id":9007199254740993},"later":[1.50]}"#;
    let id = &request["id"];
    peer.send_raw(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"))
        .await;
    let got = call.await.unwrap().unwrap();
    assert_eq!(got.text(), "a");
    assert!(matches!(&got.content[1], ContentBlock::Unknown(json) if json.get() == r#"{"type":"hologram","x":1}"#));
    assert_eq!(serde_json::to_string(&got).unwrap(), result);
}

#[tokio::test]
async fn a_broken_result_is_the_servers_fault() {
    let (client, mut peer) = connect(Client::builder()).await;
    for broken in [
        json!({"content": 5}),
        json!([1]),
        json!({"content": [], "isError": "no"}),
    ] {
        let call = call_echo(&client);
        let request = peer.receive().await;
        peer.answer(&request, broken).await;
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(
            (error.kind(), error.fault()),
            (ErrorKind::Protocol, Fault::Peer),
            "{error}"
        );
    }
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn an_answer_and_the_end_of_the_connection_at_once_complete_a_call_once() {
    for answered in [true, false] {
        for _ in 0..500 {
            let (client, mut peer) = connect(Client::builder()).await;
            let call = call_echo(&client);
            let request = peer.receive().await;
            if answered {
                peer.answer(&request, text_result("x")).await;
            }
            drop(peer);
            assert_eq!(call.await.unwrap().is_ok(), answered);
            client.close().await;
            assert_eq!(client.stats(), Stats::default());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_holds_up_calls_and_no_more_memory() {
    let limits = Limits {
        backlog: 4096,
        ..Limits::default()
    };
    let (mut peer, transport) = peer_with_room_for(512);
    let (client, ()) = tokio::join!(Client::builder().limits(limits).connect(transport), peer.accept());
    let client = client.unwrap();
    let call = || {
        tokio::spawn(
            client
                .call_tool("echo", json!({"text": "x".repeat(1000)}))
                .into_future(),
        )
    };
    let calls: Vec<_> = (0..20).map(|_| call()).collect();
    while client.stats().unwritten < 4096 {
        tokio::task::yield_now().await;
    }
    assert!(client.stats().unwritten < 8192, "{:?}", client.stats());

    // As soon as it reads, all of them go out and are answered.
    for _ in 0..20 {
        let request = peer.receive().await;
        peer.answer(&request, text_result("x")).await;
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(client.stats(), Stats::default());

    let calls: Vec<_> = (0..20).map(|_| call()).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
    }
}
