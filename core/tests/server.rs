//! A server and a peer that speaks JSON by hand.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxmcp::{Context, ErrorKind, Json, Limits, NoArguments, ProblemKind, Server, ToolError};
use serde_json::{Value, json};
use support::{Problems, peer, peer_with_room_for, serve};
use tokio::sync::{Notify, mpsc};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(_: Context, Echo { text }: Echo) -> Result<String, ToolError> {
    Ok(text)
}

fn echo_server() -> Server {
    Server::new("test", "1.0").tool("echo", "Echoes.", echo)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {answer}"))
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let (mut peer, ..) = serve(&echo_server()).await;
    for id in [json!("1"), json!(1), json!(""), json!(-7), json!("a\"b")] {
        let answer = peer
            .request(id, "tools/call", json!({"name": "echo", "arguments": {"text": "x"}}))
            .await;
        assert_eq!(text(&answer), "x");
    }
}

#[tokio::test]
async fn text_that_is_no_json_is_refused_without_id_and_the_server_reads_on() {
    let problems = Problems::default();
    let (mut peer, ..) = serve(&echo_server().on_problem(problems.hook())).await;
    peer.send_raw("not json\n").await;
    let answer = peer.receive().await;
    assert_eq!(answer["error"]["code"], -32700);
    assert!(answer.get("id").is_none());
    peer.expect_silence().await;
    assert_eq!(problems.kinds(), [ProblemKind::NotJson]);
}

#[tokio::test]
async fn json_that_is_no_message_is_refused_with_its_id() {
    let (mut peer, ..) = serve(&echo_server()).await;
    peer.send_raw("{\"id\":99,\"method\":\"tools/list\",\"params\":{}}\n")
        .await;
    let answer = peer.receive().await;
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(99)));
    peer.send_raw("[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}]\n")
        .await;
    assert_eq!(peer.receive().await["error"]["code"], -32600);
    peer.expect_silence().await;
}

#[tokio::test]
async fn a_line_that_comes_in_two_halves_survives_what_is_written_meanwhile() {
    let go = Arc::new(Notify::new());
    let waiter = Arc::clone(&go);
    let server = echo_server().tool("wait", "Waits.", move |ctx: Context, _: NoArguments| {
        let go = Arc::clone(&waiter);
        async move {
            go.notified().await;
            ctx.report_progress(1, None, None);
            Ok("waited")
        }
    });
    let (mut peer, ..) = serve(&server).await;
    peer.call(1, "wait", json!({})).await;
    let line = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "whole"}}}).to_string();
    let (first, second) = line.split_at(40);
    peer.send_raw(first).await;
    go.notify_one();
    assert_eq!(peer.receive().await["method"], "notifications/progress");
    assert_eq!(peer.receive().await["id"], 1);
    peer.send_raw(&format!("{second}\n")).await;
    assert_eq!(text(&peer.receive().await), "whole");
}

#[tokio::test]
async fn a_byte_order_mark_and_windows_line_ends_are_no_content() {
    let (mut peer, transport) = peer();
    tokio::spawn(echo_server().serve(transport));
    peer.send_raw("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n")
        .await;
    assert_eq!(peer.receive().await["result"], json!({}));
}

#[tokio::test]
async fn an_id_in_use_is_refused_and_the_first_call_is_left_alone() {
    let go = Arc::new(Notify::new());
    let waiter = Arc::clone(&go);
    let server = Server::new("test", "1.0").tool("wait", "Waits.", move |_: Context, _: NoArguments| {
        let go = Arc::clone(&waiter);
        async move {
            go.notified().await;
            Ok("first")
        }
    });
    let (mut peer, ..) = serve(&server).await;
    peer.call(3, "wait", json!({})).await;
    peer.call(3, "wait", json!({})).await;
    let refused = peer.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32600)));
    go.notify_one();
    assert_eq!(text(&peer.receive().await), "first");
    peer.expect_silence().await;
}

#[tokio::test]
async fn each_wrong_call_gets_its_code_and_says_what_is_wrong() {
    let (mut peer, ..) = serve(&echo_server()).await;
    let cases = [
        ("no/such", json!({}), -32601, "no/such"),
        ("tools/call", json!({"name": 5}), -32602, "expected"),
        ("tools/call", json!({"name": "nope"}), -32602, "nope"),
        ("tools/call", json!({"name": "echo", "arguments": []}), -32602, "object"),
        ("prompts/list", json!({}), -32601, "prompts/list"),
    ];
    for (id, (method, params, code, what)) in cases.into_iter().enumerate() {
        let answer = peer.request(id, method, params).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(what), "{answer}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model_or_refused_by_revision() {
    let (mut peer, ..) = serve(&echo_server()).await;
    let answer = peer
        .request(1, "tools/call", json!({"name": "echo", "arguments": {}}))
        .await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("missing field `text`"), "{answer}");
    assert!(text(&answer).contains(r#"{"text": string}"#), "{answer}");

    let (mut old, transport) = support::peer();
    tokio::spawn(echo_server().serve(transport));
    old.initialize("2025-06-18").await;
    let answer = old
        .request(1, "tools/call", json!({"name": "echo", "arguments": {"text": 5}}))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("`text`"),
        "{answer}"
    );
}

#[tokio::test]
async fn before_the_handshake_only_pings_are_served() {
    let (mut peer, transport) = peer();
    tokio::spawn(echo_server().serve(transport));
    let refused = peer.request(1, "tools/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused["error"]["data"], "initialize first");
    assert_eq!(peer.request(2, "ping", json!({})).await["result"], json!({}));
    peer.initialize("2025-11-25").await;
    assert_eq!(
        peer.request(3, "tools/list", json!({})).await["result"]["tools"][0]["name"],
        "echo"
    );
}

#[tokio::test]
async fn an_unknown_revision_gets_our_newest_or_a_refusal_from_a_strict_server() {
    let (mut peer, transport) = peer();
    tokio::spawn(echo_server().instructions("Echo away.").title("Test").serve(transport));
    let answer = peer.initialize("1999-01-01").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answer["result"]["instructions"], "Echo away.");
    assert_eq!(answer["result"]["serverInfo"]["title"], "Test");

    let (mut peer, transport) = support::peer();
    tokio::spawn(echo_server().strict_revision().serve(transport));
    let answer = peer.initialize("1999-01-01").await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["requested"], "1999-01-01");
}

#[tokio::test]
async fn tools_are_listed_with_their_schemas_in_order() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Size {
        bytes: u64,
    }
    let server = echo_server()
        .tool("zero", "Takes nothing.", |_: Context, _: NoArguments| async { Ok(()) })
        .tool("size", "Measures.", |_: Context, _: NoArguments| async {
            Ok(Json(Size { bytes: u64::MAX }))
        });
    let (mut peer, ..) = serve(&server).await;
    let answer = peer.request(1, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["text"]));
    assert_eq!(tools[1]["inputSchema"]["properties"], json!({}));
    assert_eq!(tools[2]["outputSchema"]["type"], "object");
    assert!(tools[0].get("outputSchema").is_none());
    let answer = peer.request(2, "tools/call", json!({"name": "size"})).await;
    assert_eq!(answer["result"]["structuredContent"]["bytes"], u64::MAX);
    assert_eq!(text(&answer), format!("{{\"bytes\":{}}}", u64::MAX));
}

#[tokio::test]
async fn a_failing_tool_is_a_result_and_a_protocol_error_is_an_error() {
    use oxmcp::jsonrpc::{ErrorCode, ErrorObject};

    let server = Server::new("test", "1.0")
        .tool("fail", "Fails.", |_: Context, _: NoArguments| async {
            Err::<(), _>(ToolError::new("out of paper"))
        })
        .tool("refuse", "Refuses.", |_: Context, _: NoArguments| async {
            Err::<(), _>(ToolError::protocol(
                ErrorObject::new(ErrorCode(429), "too many").with_data(&[1]),
            ))
        });
    let (mut peer, ..) = serve(&server).await;
    let failed = peer.request(1, "tools/call", json!({"name": "fail"})).await;
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(text(&failed), "out of paper");
    let refused = peer.request(2, "tools/call", json!({"name": "refuse"})).await;
    assert_eq!(
        refused["error"],
        json!({"code": 429, "message": "too many", "data": [1]})
    );
}

#[tokio::test]
async fn a_panic_fails_one_call_is_reported_and_leaks_nothing() {
    let problems = Problems::default();
    let server = echo_server()
        .on_problem(problems.hook())
        .tool("now", "Panics at once.", |_: Context, _: NoArguments| async {
            if true {
                panic!("secret 1");
            }
            Ok(())
        })
        .tool("later", "Panics later.", |_: Context, _: NoArguments| async {
            tokio::task::yield_now().await;
            if true {
                panic!("secret {}", 2);
            }
            Ok(())
        })
        .blocking_tool(
            "thread",
            "Panics on a thread.",
            |_: Context, _: NoArguments| -> Result<(), ToolError> { panic!("secret 3") },
        );
    let (mut peer, handle, _) = serve(&server).await;
    for (id, tool) in ["now", "later", "thread"].into_iter().enumerate() {
        let answer = peer.request(id, "tools/call", json!({"name": tool})).await;
        assert_eq!(answer["error"]["code"], -32603);
        assert!(!answer.to_string().contains("secret"), "{answer}");
        let problem = problems.take().remove(0);
        assert_eq!(problem.kind, ProblemKind::HandlerFailed);
        assert!(problem.message.contains(&format!("secret {}", id + 1)), "{problem:?}");
        assert!(problem.message.contains(tool), "{problem:?}");
    }
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn progress_stands_before_the_result_every_time() {
    let server = Server::new("test", "1.0")
        .tool("now", "Reports and ends.", |ctx: Context, _: NoArguments| async move {
            assert!(ctx.report_progress(0.5, Some(1.0), Some("half")));
            assert!(!ctx.report_progress(0.5, None, None), "progress must grow");
            ctx.report_progress(1, Some(1.0), None);
            Ok("done")
        })
        .tool(
            "later",
            "The same as a task.",
            |ctx: Context, _: NoArguments| async move {
                tokio::task::yield_now().await;
                ctx.report_progress(0.5, Some(1.0), Some("half"));
                ctx.report_progress(1, Some(1.0), None);
                Ok("done")
            },
        );
    let (mut peer, ..) = serve(&server).await;
    for run in 0..100 {
        peer.call(run, if run % 2 == 0 { "now" } else { "later" }, json!({}))
            .await;
        let half = peer.receive().await;
        assert_eq!(
            half["params"],
            json!({"progressToken": "p", "progress": 0.5, "total": 1, "message": "half"})
        );
        assert_eq!(peer.receive().await["params"]["progress"], 1);
        assert_eq!(text(&peer.receive().await), "done");
    }
}

#[tokio::test]
async fn progress_nobody_asked_for_is_not_sent() {
    let server = Server::new("test", "1.0").tool("quiet", "Reports.", |ctx: Context, _: NoArguments| async move {
        Ok(format!(
            "{} {}",
            ctx.wants_progress(),
            ctx.report_progress(1, None, None)
        ))
    });
    let (mut peer, ..) = serve(&server).await;
    let answer = peer.request(1, "tools/call", json!({"name": "quiet"})).await;
    assert_eq!(text(&answer), "false false");
}

/// Tells when it is dropped.
struct Dropped(mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tokio::test]
async fn a_cancel_drops_the_handler_and_nothing_more_is_written() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("hang", "Never ends.", move |_: Context, _: NoArguments| {
        let events = events.clone();
        async move {
            let _dropped = Dropped(events.clone());
            events.send("started").unwrap();
            std::future::pending::<()>().await;
            Ok(())
        }
    });
    let (mut peer, handle, _) = serve(&server).await;
    peer.call(4, "hang", json!({})).await;
    assert_eq!(seen.recv().await.unwrap(), "started");
    assert_eq!((handle.stats().inbound, handle.stats().handlers), (1, 1));
    peer.cancel(4).await;
    assert_eq!(seen.recv().await.unwrap(), "dropped");
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn a_handler_sees_its_cancel_and_may_finish_what_it_does() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("tidy", "Tidies up.", move |ctx: Context, _: NoArguments| {
        let events = events.clone();
        async move {
            events.send("started".to_owned()).unwrap();
            ctx.cancelled().await;
            assert!(ctx.is_cancelled() && !ctx.report_progress(1, None, None));
            events.send(ctx.cancel_reason().unwrap().to_owned()).unwrap();
            Ok("an answer that nobody waits for")
        }
    });
    let (mut peer, handle, _) = serve(&server).await;
    peer.call(4, "tidy", json!({})).await;
    assert_eq!(seen.recv().await.unwrap(), "started");
    peer.cancel(4).await;
    assert_eq!(seen.recv().await.unwrap(), "no need");
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn a_cancel_in_the_same_chunk_as_its_call_and_one_after_the_answer_do_no_harm() {
    let server = echo_server().tool("hang", "Never ends.", |_: Context, _: NoArguments| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let (mut peer, handle, _) = serve(&server).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang"}});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    peer.send_raw(&format!("{call}\n{cancel}\n")).await;
    peer.expect_silence().await;
    peer.request(2, "tools/call", json!({"name": "echo", "arguments": {"text": "x"}}))
        .await;
    peer.cancel(2).await;
    peer.cancel("never made").await;
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn a_blocking_tool_holds_nothing_up_and_learns_of_its_cancel() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let (events, mut seen) = mpsc::unbounded_channel();
    let gate = Mutex::new(gate);
    let server = Server::new("test", "1.0").blocking_tool("block", "Blocks.", move |ctx: Context, _: NoArguments| {
        started.send(()).unwrap();
        gate.lock().unwrap().recv()?;
        events.send(ctx.is_cancelled()).unwrap();
        Ok("unblocked")
    });
    let (mut peer, handle, _) = serve(&server).await;
    peer.call(1, "block", json!({})).await;
    starts.recv().await.unwrap();
    peer.expect_silence().await;
    release.send(()).unwrap();
    assert_eq!(text(&peer.receive().await), "unblocked");
    assert!(!seen.recv().await.unwrap());

    peer.call(2, "block", json!({})).await;
    starts.recv().await.unwrap();
    peer.cancel(2).await;
    peer.expect_silence().await;
    release.send(()).unwrap();
    assert!(seen.recv().await.unwrap());
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_a_handler_that_computes_holds_nothing_up() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let server = Server::new("test", "1.0").tool("compute", "Computes.", move |_: Context, _: NoArguments| {
        let (started, gate) = (started.clone(), Arc::clone(&gate));
        async move {
            started.send(()).unwrap();
            gate.lock().unwrap().recv()?;
            Ok("computed")
        }
    });
    let (mut peer, ..) = serve(&server).await;
    peer.call(1, "compute", json!({})).await;
    starts.recv().await.unwrap();
    peer.expect_silence().await;
    release.send(()).unwrap();
    assert_eq!(text(&peer.receive().await), "computed");
}

#[tokio::test]
async fn at_the_end_of_input_accepted_calls_are_still_answered() {
    let (go, started) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (waiter, starter) = (Arc::clone(&go), Arc::clone(&started));
    let server = Server::new("test", "1.0").tool("slow", "Waits.", move |_: Context, _: NoArguments| {
        let (go, started) = (Arc::clone(&waiter), Arc::clone(&starter));
        async move {
            started.notify_one();
            go.notified().await;
            Ok("late but there")
        }
    });
    let (mut peer, _, served) = serve(&server).await;
    peer.call(1, "slow", json!({})).await;
    peer.close().await;
    started.notified().await;
    go.notify_one();
    assert_eq!(text(&peer.receive().await), "late but there");
    assert!(peer.rest().await.is_empty());
    served.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn at_the_end_of_input_a_call_without_end_is_cut_after_five_seconds() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("hang", "Never ends.", move |ctx: Context, _: NoArguments| {
        let events = events.clone();
        async move {
            ctx.cancelled().await;
            events.send("cancelled").unwrap();
            Ok(())
        }
    });
    let (mut peer, _, served) = serve(&server).await;
    peer.call(1, "hang", json!({})).await;
    let start = tokio::time::Instant::now();
    peer.close().await;
    assert!(peer.rest().await.is_empty());
    served.await.unwrap().unwrap();
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(seen.recv().await.unwrap(), "cancelled");
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_the_stream_goes_on() {
    let limits = Limits {
        message: 1000,
        ..Limits::default()
    };
    let (mut peer, ..) = serve(&echo_server().limits(limits)).await;
    peer.call(1, "echo", json!({"text": "x".repeat(2000)})).await;
    let refused = peer.receive().await;
    assert_eq!(refused["error"]["code"], -32600);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("1000"),
        "{refused}"
    );
    peer.expect_silence().await;
}

#[tokio::test]
async fn a_peer_that_does_not_read_is_not_read_from_and_loses_nothing() {
    use tokio::io::AsyncWriteExt as _;

    let limits = Limits {
        backlog: 4096,
        ..Limits::default()
    };
    let (mut peer, transport) = peer_with_room_for(1024);
    let serving = echo_server().limits(limits).serve(transport);
    let handle = serving.handle();
    tokio::spawn(serving);
    peer.initialize("2025-11-25").await;

    // Pings, until no more are taken: the transport is full, because the server has stopped reading.
    let ping = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    let (mut sent, mut rest) = (0, Vec::new());
    loop {
        rest.extend_from_slice(ping(sent).as_bytes());
        sent += 1;
        while !rest.is_empty() {
            let writer = peer.writer().await;
            let Some(written) = settled(writer.write(&rest)).await else {
                break;
            };
            rest.drain(..written.unwrap());
        }
        if !rest.is_empty() {
            break;
        }
        assert!(sent < 10_000, "the server takes in what nobody lets it answer");
    }
    let held = handle.stats().unwritten;
    assert!((4096..20_000).contains(&held), "{held} bytes wait");

    let rest = String::from_utf8(rest).unwrap();
    for id in 0..sent {
        // The last ping goes out as room is made for it.
        if id == sent - 1 {
            peer.send_raw(&rest).await;
        }
        assert_eq!(peer.receive().await["id"], id);
    }
    peer.expect_silence().await;
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

/// What a future gives once all other tasks have done what they can; `None` if it still waits.
async fn settled<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for _ in 0..100 {
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx))).await;
        if let std::task::Poll::Ready(done) = polled {
            return Some(done);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test]
async fn a_handler_that_reports_to_nobody_holds_a_bounded_amount() {
    let limits = Limits {
        backlog: 4096,
        ..Limits::default()
    };
    let server = Server::new("test", "1.0").limits(limits).tool(
        "chatty",
        "Reports.",
        |ctx: Context, _: NoArguments| async move {
            let sent = (0..100_000)
                .filter(|step| ctx.report_progress(*step, None, None))
                .count();
            Ok(sent.to_string())
        },
    );
    let (mut peer, ..) = serve(&server).await;
    peer.call(1, "chatty", json!({})).await;
    let mut reports = 0;
    let answer = loop {
        let message = peer.receive().await;
        if message.get("id").is_some() {
            break message;
        }
        reports += 1;
    };
    assert_eq!(text(&answer), reports.to_string());
    assert!((10..1000).contains(&reports), "{reports}");
}

#[tokio::test]
async fn connections_of_one_server_do_not_mix() {
    let go = Arc::new(Notify::new());
    let waiter = Arc::clone(&go);
    let server = Server::new("test", "1.0").tool("slow", "Waits.", move |ctx: Context, _: NoArguments| {
        let go = Arc::clone(&waiter);
        async move {
            go.notified().await;
            ctx.report_progress(1, None, None);
            Ok(ctx.caller().unwrap().client_info.unwrap().name)
        }
    });
    let (mut first, ..) = serve(&server).await;
    first.call(1, "slow", json!({})).await;
    first.expect_silence().await;
    let (mut second, ..) = serve(&server).await;
    go.notify_one();
    assert_eq!(first.receive().await["method"], "notifications/progress");
    assert_eq!(text(&first.receive().await), "peer");
    second.expect_silence().await;
}

#[tokio::test]
async fn a_server_can_end_a_connection_itself() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("hang", "Never ends.", move |_: Context, _: NoArguments| {
        let events = events.clone();
        async move {
            let _dropped = Dropped(events.clone());
            events.send("started").unwrap();
            std::future::pending::<()>().await;
            Ok(())
        }
    });
    let (mut peer, handle, served) = serve(&server).await;
    peer.call(1, "hang", json!({})).await;
    seen.recv().await.unwrap();
    handle.close();
    handle.close();
    served.await.unwrap().unwrap();
    assert_eq!(seen.recv().await.unwrap(), "dropped");
    assert!(peer.rest().await.is_empty());
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn dropping_what_serves_ends_the_connection_and_its_handlers() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("hang", "Never ends.", move |_: Context, _: NoArguments| {
        let events = events.clone();
        async move {
            let _dropped = Dropped(events.clone());
            events.send("started").unwrap();
            std::future::pending::<()>().await;
            Ok(())
        }
    });
    let (mut peer, handle, served) = serve(&server).await;
    peer.call(1, "hang", json!({})).await;
    seen.recv().await.unwrap();
    served.abort();
    assert_eq!(seen.recv().await.unwrap(), "dropped");
    assert!(peer.rest().await.is_empty());
    assert_eq!(handle.stats(), oxmcp::Stats::default());
}

#[tokio::test]
async fn what_was_built_wrong_is_told_when_the_server_starts() {
    let serve = async |server: Server| server.serve(support::peer().1).await.unwrap_err();
    let nothing = |_: Context, _: NoArguments| async { Ok(()) };

    let twice = serve(echo_server().tool("echo", "Again.", nothing)).await;
    assert_eq!(twice.kind(), ErrorKind::Usage);
    assert!(twice.message().contains("\"echo\""), "{twice}");
    assert!(
        serve(Server::new("t", "1").tool("", "None.", nothing))
            .await
            .message()
            .contains("name")
    );
    let list = Server::new("t", "1").tool("list", "L.", |_: Context, _: Vec<i32>| async { Ok(()) });
    assert!(serve(list).await.message().contains("must be an object"));
    let nobody = Server::new("t", "1").completion("nobody", "x", |_: Context, _| async { Ok(["a"]) });
    assert!(serve(nobody).await.message().contains("nobody"));
    let taken = Server::new("t", "1").method("tools/call", |_: Context, _: NoArguments| async { Ok(()) });
    assert!(serve(taken).await.message().contains("tools/call"));
}

#[tokio::test]
async fn run_stdio_inside_a_runtime_says_what_to_do() {
    let error = echo_server().run_stdio().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.message().contains("serve("), "{error}");
}

#[test]
fn stdio_outside_a_runtime_says_what_to_do() {
    let error = oxmcp::transport::stdio().unwrap_err();
    assert!(error.message().contains("run_stdio"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_does_not_hold_up_the_end_for_ever() {
    let (mut peer, transport) = peer_with_room_for(512);
    let serving = echo_server().serve(transport);
    let handle = serving.handle();
    let served = tokio::spawn(serving);
    peer.initialize("2025-11-25").await;
    peer.call(1, "echo", json!({"text": "x".repeat(5000)})).await;
    while handle.stats().unwritten == 0 {
        tokio::task::yield_now().await;
    }
    let start = tokio::time::Instant::now();
    handle.close();
    served.await.unwrap().unwrap();
    assert!(start.elapsed() <= Duration::from_secs(15), "{:?}", start.elapsed());
}
