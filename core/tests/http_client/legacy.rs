//! Servers with a handshake: sessions, streams that break, sessions that are lost, and the end.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use oxmcp::http::Backoff;
use oxmcp::transport::Http;
use oxmcp::{Client, ErrorKind, Fault, Revision, Stats};
use serde_json::{Value, json};

use super::script::{Asked, Script, initialized, said, text};

/// Tries again at once, and so often.
fn hasty(attempts: u32) -> Backoff {
    Backoff {
        initial: Duration::ZERO,
        factor: 1.0,
        max: Duration::ZERO,
        attempts,
    }
}

fn call(client: &Client) -> tokio::task::JoinHandle<Result<oxmcp::CallToolResult, oxmcp::Error>> {
    tokio::spawn(client.call_tool("t", ()).into_future())
}

#[tokio::test]
async fn a_session_is_named_by_the_handshake_and_by_nothing_else() {
    let mut script = Script::start().await;
    let builder = Client::builder().revisions([Revision::V2025_11_25, Revision::V2025_06_18]);
    let http = Http::new(&script.url).listen(false).header("X-Api-Key", "secret");
    let (client, ()) = tokio::join!(builder.connect(http), async {
        let asked = script.next_is("initialize").await;
        assert_eq!(asked.field("Mcp-Session-Id"), None);
        assert_eq!(asked.field("MCP-Protocol-Version"), None);
        assert_eq!(asked.field("Accept"), Some("application/json, text/event-stream"));
        assert_eq!(asked.field("Content-Type"), Some("application/json"));
        assert_eq!(asked.field("X-Api-Key"), Some("secret"));
        let answer = asked.result(initialized("2025-06-18")).to_string();
        let fields = "Content-Type: application/json\r\nMcp-Session-Id: first\r\n";
        asked.reply(200, fields, &answer).await;
        let asked = script.next_is("notifications/initialized").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("first"));
        assert_eq!(asked.field("MCP-Protocol-Version"), Some("2025-06-18"));
        // Another id, at another time, is none.
        asked.reply(202, "Mcp-Session-Id: second\r\n", "").await;
    });
    let client = client.unwrap();
    for _ in 0..2 {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            assert_eq!(asked.field("Mcp-Session-Id"), Some("first"));
            assert_eq!(
                (asked.field("Mcp-Method"), asked.field("X-Api-Key")),
                (None, Some("secret"))
            );
            let answer = asked.result(said("done")).to_string();
            asked
                .reply(
                    200,
                    "Content-Type: application/json\r\nMcp-Session-Id: third\r\n",
                    &answer,
                )
                .await;
        });
        assert_eq!(text(done), "done");
    }
    let ((), ()) = tokio::join!(client.close(), async {
        let asked = script.next_is("DELETE").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("first"));
        assert_eq!(asked.field("MCP-Protocol-Version"), Some("2025-06-18"));
        asked.reply(200, "", "").await;
    });
}

#[tokio::test]
async fn any_success_takes_in_a_notification() {
    for (status, fields, body) in [
        (202, "", ""),
        (204, "", ""),
        (200, "", ""),
        (200, "Content-Type: application/json\r\n", "{\"ok\":true}"),
        (200, "Content-Type: text/event-stream\r\n", ""),
    ] {
        let mut script = Script::start().await;
        let problems = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&problems);
        let builder = Client::builder()
            .revisions([Revision::V2025_11_25])
            .on_problem(move |problem| seen.lock().unwrap().push(problem.message.clone()));
        let http = Http::new(&script.url).listen(false);
        let (client, ()) = tokio::join!(builder.connect(http), async {
            script
                .next_is("initialize")
                .await
                .answer(initialized("2025-11-25"))
                .await;
            script
                .next_is("notifications/initialized")
                .await
                .reply(status, fields, body)
                .await;
        });
        let client = client.unwrap();
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            script.next_is("tools/call").await.answer(said("done")).await;
        });
        assert_eq!(text(done), "done", "{status} {fields}");
        client.close().await;
        assert_eq!(*problems.lock().unwrap(), [""; 0], "{status} {fields}");
    }
}

#[tokio::test]
async fn calls_wait_until_the_handshake_is_complete() {
    let mut script = Script::start().await;
    let builder = Client::builder().revisions([Revision::V2025_11_25]);
    let http = Http::new(&script.url).listen(false);
    let (client, told) = tokio::join!(builder.connect(http), async {
        script
            .next_is("initialize")
            .await
            .answer(initialized("2025-11-25"))
            .await;
        script.next_is("notifications/initialized").await
    });
    let client = client.unwrap();
    let done = call(&client);
    tokio::task::yield_now().await;
    assert!(
        script.come().is_none(),
        "the server has not taken in the end of the handshake"
    );
    told.reply(202, "", "").await;
    script.next_is("tools/call").await.answer(said("done")).await;
    assert_eq!(text(done.await.unwrap()), "done");
}

#[tokio::test]
async fn a_stream_reads_the_same_however_it_is_cut() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    let snow = "\u{2603} und Gr\u{fc}\u{df}e";
    for size in [1, 3, 1000] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            let id = asked.body["id"].clone();
            let mut stream = String::from(": note\n\nid: 5\ndata:\n\nevent: ping\ndata: x\n\n");
            stream.push_str(&format!(
                "retry: 10\r\n\r\ndata: {{\"jsonrpc\":\"2.0\",\r\ndata: \"id\":{id},\r"
            ));
            stream.push_str("data: \"result\":");
            stream.push_str(&said(snow).to_string());
            stream.push_str("}\n\r\n");
            let mut events = asked.events("").await;
            for piece in stream.as_bytes().chunks(size) {
                events.piece(piece).await;
            }
            events.end().await;
        });
        assert_eq!(text(done), snow, "{size}");
    }
}

#[tokio::test]
async fn a_burst_of_comments_costs_nothing() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let answer = asked.result(said("done"));
        let mut events = asked.events("").await;
        events.text(&": still here\n".repeat(100_000)).await;
        events.message(&answer).await;
        events.end().await;
    });
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_fails_its_call_at_once() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("s")).await;
    for breaks in [false, true] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()).on_progress(|_| ()), async {
            let asked = script.next_is("tools/call").await;
            let token = asked.body["params"]["_meta"]["progressToken"].clone();
            let mut events = asked.events("").await;
            let params = json!({"progressToken": token, "progress": 1});
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            events.message(&progress).await;
            if !breaks {
                events.end().await;
            }
        });
        let error = done.unwrap_err();
        assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
        assert!(error.message().contains("ended without a response"), "{error}");
    }
    assert!(script.come().is_none(), "there was nothing to resume after");
    assert_eq!(client.stats(), Stats::default());
}

/// There are servers that drop what they have to say while their own stream is not there, and others that send no head
/// of it before they have something to say.
#[tokio::test]
async fn calls_follow_the_servers_own_stream_but_do_not_wait_for_ever() {
    for has_head in [true, false] {
        let mut script = Script::start().await;
        let client = script.legacy_with(Some("s"), |http| http.listen(true)).await;
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let mut asked = Some(script.next_is("GET").await);
            let mut stream = None;
            if has_head && let Some(asked) = asked.take() {
                stream = Some(asked.events("").await);
            }
            script.next_is("tools/call").await.answer(said("done")).await;
            drop((asked, stream));
        });
        assert_eq!(text(done), "done", "{has_head}");
    }
}

#[tokio::test]
async fn a_stream_is_resumed_after_its_last_id_until_the_answer_comes() {
    let mut script = Script::start().await;
    let client = script.legacy_with(Some("s"), |http| http.backoff(hasty(4))).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let answer = asked.result(said("resumed"));
        let mut events = asked.events("").await;
        events.text("id: e1\nretry: 0\ndata:\n\n").await;
        drop(events);
        // It breaks again before any new event: the last id stays.
        for _ in 0..2 {
            let asked = script.next_is("GET").await;
            assert_eq!(asked.field("Last-Event-ID"), Some("e1"));
            assert_eq!(asked.field("Mcp-Session-Id"), Some("s"));
            assert_eq!(asked.field("Accept"), Some("text/event-stream"));
            drop(asked.events("").await);
        }
        // A server that is busy is asked again.
        script.next_is("GET").await.reply(503, "", "").await;
        let asked = script.next_is("GET").await;
        assert_eq!(asked.field("Last-Event-ID"), Some("e1"));
        let mut events = asked.events("").await;
        events.text(&format!("id: e2\ndata: {answer}\n\n")).await;
        events.end().await;
    });
    assert_eq!(text(done), "resumed");
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn the_time_that_a_server_asks_for_is_waited() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("s")).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let answer = asked.result(said("later"));
        let mut events = asked.events("").await;
        events.text("id: e1\nretry: 80\ndata:\n\n").await;
        let ended = Instant::now();
        events.end().await;
        let asked = script.next_is("GET").await;
        assert!(ended.elapsed() >= Duration::from_millis(80), "{:?}", ended.elapsed());
        let mut events = asked.events("").await;
        events.message(&answer).await;
        // Whether the stream goes on or not is no concern of the call.
        let _kept = events;
    });
    assert_eq!(text(done), "later");
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_fails_its_call() {
    for (status, why) in [
        (None, "all attempts are spent"),
        (Some(405), "resumes none"),
        (Some(400), "status 400"),
    ] {
        let mut script = Script::start().await;
        let client = script.legacy_with(Some("s"), |http| http.backoff(hasty(2))).await;
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let mut events = script.next_is("tools/call").await.events("").await;
            events.text("id: e1\ndata:\n\n").await;
            drop(events);
            match status {
                Some(status) => script.next_is("GET").await.reply(status, "", "").await,
                None => {
                    for _ in 0..2 {
                        drop(script.next_is("GET").await);
                    }
                }
            }
        });
        let error = done.unwrap_err();
        assert!(error.message().contains(why), "{status:?} {error}");
        assert_eq!(client.stats(), Stats::default());
    }
}

/// Serves a call in a session that the server does not know.
async fn not_known(asked: Asked) {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}});
    asked
        .reply(404, "Content-Type: application/json\r\n", &error.to_string())
        .await;
}

#[tokio::test]
async fn a_lost_session_is_begun_anew_once_and_the_calls_are_made_again() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    let calls = [call(&client), call(&client), call(&client)];
    let mut lost = Vec::new();
    for _ in 0..3 {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("old"));
        lost.push(asked);
    }
    for asked in lost {
        not_known(asked).await;
    }
    let asked = script.next_is("initialize").await;
    assert_eq!(asked.field("Mcp-Session-Id"), None);
    let answer = asked.result(initialized("2025-11-25")).to_string();
    let fields = "Content-Type: application/json\r\nMcp-Session-Id: new\r\n";
    asked.reply(200, fields, &answer).await;
    let asked = script.next_is("notifications/initialized").await;
    assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
    asked.reply(202, "", "").await;
    for _ in 0..3 {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
        asked.answer(said("again")).await;
    }
    for call in calls {
        assert_eq!(text(call.await.unwrap()), "again");
    }
    assert_eq!(client.stats(), Stats::default());
    let ((), ()) = tokio::join!(client.close(), async {
        let asked = script.next_is("DELETE").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
        asked.reply(204, "", "").await;
    });
}

#[tokio::test]
async fn a_session_that_is_lost_twice_fails_the_call_and_not_the_connection() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        not_known(script.next_is("tools/call").await).await;
        script.shake_hands("2025-11-25", Some("new")).await;
        not_known(script.next_is("tools/call").await).await;
    });
    let error = done.unwrap_err();
    assert_eq!((error.kind(), error.http_status()), (ErrorKind::Closed, Some(404)));
    assert!(error.is_retryable() && error.message().contains("expired"), "{error}");
    // The next one begins a session once more.
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        not_known(script.next_is("tools/call").await).await;
        script.shake_hands("2025-11-25", Some("newest")).await;
        script.next_is("tools/call").await.answer(said("at last")).await;
    });
    assert_eq!(text(done), "at last");
}

#[tokio::test]
async fn a_new_session_that_cannot_be_begun_fails_those_who_wait_for_it() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    let calls = [call(&client), call(&client)];
    let lost = [script.next().await, script.next().await];
    for asked in lost {
        not_known(asked).await;
    }
    script.next_is("initialize").await.reply(503, "", "").await;
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert!(error.message().contains("could not be begun"), "{error}");
    }
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn a_program_that_wants_no_second_session_is_told_that_it_expired() {
    let mut script = Script::start().await;
    let client = script.legacy_with(Some("old"), |http| http.renew_sessions(false)).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        not_known(script.next_is("tools/call").await).await;
    });
    let error = done.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("expired"), "{error}");
    assert_eq!(client.ping().await.unwrap_err().kind(), ErrorKind::Closed);
    client.close().await;
    assert!(script.come().is_none(), "there is nothing to end");
}

#[tokio::test]
async fn calls_that_stream_in_a_lost_session_fail_when_it_is_begun_anew() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    let streaming = call(&client);
    let asked = script.next_is("tools/call").await;
    let mut events = asked.events("").await;
    events.text("id: e1\ndata:\n\n").await;
    // Whether the client has begun to read the stream is known by a question on it that is answered.
    events
        .message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        .await;
    let pong = script.next().await;
    assert_eq!(pong.body["result"], json!({}));
    pong.reply(202, "", "").await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        not_known(script.next_is("tools/call").await).await;
        script.shake_hands("2025-11-25", Some("new")).await;
        script.next_is("tools/call").await.answer(said("new")).await;
    });
    assert_eq!(text(done), "new");
    let error = streaming.await.unwrap().unwrap_err();
    assert!(error.message().contains("lost the session"), "{error}");
    events.left().await;
}

#[tokio::test]
async fn what_was_subscribed_to_is_subscribed_to_in_the_new_session() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    for uri in ["app://a", "app://b"] {
        let (done, ()) = tokio::join!(client.subscribe(uri), async {
            script.next_is("resources/subscribe").await.answer(json!({})).await;
        });
        done.unwrap();
    }
    let (done, ()) = tokio::join!(client.unsubscribe("app://a"), async {
        script.next_is("resources/unsubscribe").await.answer(json!({})).await;
    });
    done.unwrap();
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        not_known(script.next_is("tools/call").await).await;
        script.shake_hands("2025-11-25", Some("new")).await;
        let asked = script.next_is("resources/subscribe").await;
        assert_eq!(asked.body["params"]["uri"], "app://b");
        assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
        asked.answer(json!({})).await;
        script.next_is("tools/call").await.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn a_cancelled_call_is_told_to_the_server_and_its_stream_closes() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("s")).await;
    let done = call(&client);
    let asked = script.next_is("tools/call").await;
    let id = asked.body["id"].clone();
    let events = asked.events("").await;
    done.abort();
    let asked = script.next_is("notifications/cancelled").await;
    assert_eq!(asked.body["params"]["requestId"], id);
    assert_eq!(asked.field("Mcp-Session-Id"), Some("s"));
    asked.reply(202, "", "").await;
    events.left().await;
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn what_a_server_tells_unasked_comes_on_a_stream_that_is_opened_again() {
    let mut script = Script::start().await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let builder = Client::builder()
        .revisions([Revision::V2025_11_25])
        .on_notification(move |method, params| {
            let _ = tell.send((method.to_owned(), params.map(|params| params.get().to_owned())));
        });
    let http = Http::new(&script.url).backoff(hasty(1));
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", Some("s")));
    let client = client.unwrap();
    let news = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    for last in [None, Some("g1"), Some("g1")] {
        let asked = script.next_is("GET").await;
        assert_eq!(asked.field("Last-Event-ID"), last);
        assert_eq!(asked.field("Mcp-Session-Id"), Some("s"));
        let mut events = asked.events("").await;
        let id = if last.is_none() { "id: g1\n" } else { "" };
        events.text(&format!("{id}data: {news}\n\n")).await;
        assert_eq!(told.recv().await.unwrap().0, "notifications/tools/list_changed");
    }
    // Where there is no stream, nobody asks again.
    script.next_is("GET").await.reply(405, "", "").await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
    let ((), ()) = tokio::join!(client.close(), async {
        script.next_is("DELETE").await.reply(200, "", "").await;
    });
}

#[tokio::test]
async fn closing_waits_for_no_stream_and_not_long_for_the_server() {
    let mut script = Script::start().await;
    let builder = Client::builder().revisions([Revision::V2025_11_25]);
    let http = Http::new(&script.url).close_timeout(Duration::from_millis(50));
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", Some("s")));
    let client = client.unwrap();
    let listening = script.next_is("GET").await.events("").await;
    let done = call(&client);
    let streaming = script.next_is("tools/call").await.events("").await;
    client.close().await;
    assert_eq!(done.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
    // Nobody answered that.
    let delete = script.next_is("DELETE").await;
    tokio::join!(listening.left(), streaming.left(), delete.left());
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn what_was_said_before_the_end_is_sent_before_it() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("s")).await;
    for number in 0..3 {
        client
            .notify("notifications/custom", json!({"number": number}))
            .unwrap();
    }
    let closing = tokio::spawn(async move { client.close().await });
    for number in 0..3 {
        let asked = script.next_is("notifications/custom").await;
        assert_eq!(asked.body["params"]["number"], number);
        asked.reply(202, "", "").await;
    }
    script.next_is("DELETE").await.reply(200, "", "").await;
    closing.await.unwrap();
}

#[tokio::test]
async fn a_batch_of_2025_03_26_answers_its_call() {
    let mut script = Script::start().await;
    let builder = Client::builder().revisions([Revision::V2025_03_26]);
    let http = Http::new(&script.url).listen(false);
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-03-26", None));
    let client = client.unwrap();
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let batch = Value::from(vec![log, asked.result(said("done"))]);
        asked
            .reply(200, "Content-Type: application/json\r\n", &batch.to_string())
            .await;
    });
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn listening_finds_out_that_a_session_is_lost_and_goes_on_in_the_new_one() {
    let mut script = Script::start().await;
    let builder = Client::builder().revisions([Revision::V2025_11_25]);
    let http = Http::new(&script.url).backoff(hasty(1));
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", Some("old")));
    let client = client.unwrap();
    let mut events = script.next_is("GET").await.events("").await;
    events.text("id: e1\ndata:\n\n").await;
    drop(events);
    let asked = script.next_is("GET").await;
    assert_eq!(asked.field("Last-Event-ID"), Some("e1"));
    not_known(asked).await;
    script.shake_hands("2025-11-25", Some("new")).await;
    let asked = script.next_is("GET").await;
    assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
    assert_eq!(
        asked.field("Last-Event-ID"),
        None,
        "the events of the old session are gone"
    );
    let _listening = asked.events("").await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Session-Id"), Some("new"));
        asked.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn listening_that_was_given_up_begins_again_when_the_server_answers() {
    let mut script = Script::start().await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let builder = Client::builder()
        .revisions([Revision::V2025_11_25])
        .on_problem(move |problem| {
            let _ = tell.send(problem.message.clone());
        });
    let http = Http::new(&script.url).backoff(hasty(1));
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", Some("s")));
    let client = client.unwrap();
    for _ in 0..2 {
        script.next_is("GET").await.reply(503, "", "").await;
    }
    assert!(told.recv().await.unwrap().contains("all attempts are spent"));
    assert!(script.come().is_none());
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("back")).await;
    });
    assert_eq!(text(done), "back");
    script.next_is("GET").await.reply(405, "", "").await;
}

#[tokio::test]
async fn a_new_session_does_not_depend_on_the_call_that_wanted_it_first() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("old")).await;
    let first = call(&client);
    not_known(script.next_is("tools/call").await).await;
    let asked = script.next_is("initialize").await;
    let second = call(&client);
    first.abort();
    let _ = first.await;
    asked.answer(initialized("2025-11-25")).await;
    script
        .next_is("notifications/initialized")
        .await
        .reply(202, "", "")
        .await;
    script.next_is("tools/call").await.answer(said("done")).await;
    assert_eq!(text(second.await.unwrap()), "done");
    assert!(script.come().is_none(), "the first is neither made again nor cancelled");
}
