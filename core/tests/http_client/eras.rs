//! Finding out what a server speaks, servers without a handshake, and those of HTTP+SSE.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};

use oxmcp::transport::{Http, HttpSse};
use oxmcp::{Client, ErrorKind, ProblemKind, Revision, Stats};
use serde_json::{Value, json};

use super::script::{Events, Script, initialized, said, text};

const JSON: &str = "Content-Type: application/json\r\n";

/// What follows the answer to the first question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    /// The server has a handshake.
    Initialize,
    /// It has none; the same question is asked again.
    Discover,
    /// It has none, and serves.
    Ready,
    /// Nothing is known; connecting fails with this status.
    Fails(u16),
}

fn error(code: i64, data: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":0,"error":{{"code":{code},"message":"m","data":{data}}}}}"#)
}

#[tokio::test]
async fn the_answer_to_the_first_question_tells_the_era() {
    let supported = r#"{"supported":["2026-07-28"],"requested":"2026-07-28"}"#;
    for (status, fields, body, then) in [
        (400, "", String::new(), Then::Initialize),
        (400, JSON, error(-32000, "null"), Then::Initialize),
        (
            400,
            JSON,
            error(-32601, "null").replace("\"id\":0", "\"id\":\"server-error\""),
            Then::Initialize,
        ),
        (
            404,
            "Content-Type: text/html\r\n",
            "<html>not here".to_owned(),
            Then::Initialize,
        ),
        (405, "", String::new(), Then::Initialize),
        (406, "", String::new(), Then::Initialize),
        (202, "", String::new(), Then::Initialize),
        (
            200,
            "Content-Type: text/event-stream\r\n",
            String::new(),
            Then::Initialize,
        ),
        (
            200,
            "Content-Type: text/html\r\n",
            "<html>".to_owned(),
            Then::Initialize,
        ),
        (200, JSON, error(-32601, "null"), Then::Initialize),
        (400, JSON, error(-32022, supported), Then::Discover),
        (
            400,
            JSON,
            error(-32022, supported).replace("\"id\":0,", ""),
            Then::Discover,
        ),
        (404, JSON, error(-32601, "null"), Then::Ready),
        (401, "", String::new(), Then::Fails(401)),
        (403, "", String::new(), Then::Fails(403)),
        (429, "", String::new(), Then::Fails(429)),
        (503, "", String::new(), Then::Fails(503)),
    ] {
        let mut script = Script::start().await;
        let connecting = tokio::spawn(Client::connect(Http::new(&script.url).listen(false)));
        let asked = script.next_is("server/discover").await;
        assert_eq!(asked.field("MCP-Protocol-Version"), Some("2026-07-28"));
        assert_eq!(asked.field("Mcp-Method"), Some("server/discover"));
        assert_eq!(asked.field("Mcp-Session-Id"), None);
        asked.reply(status, fields, &body).await;
        let case = format!("{status} {body}");
        match then {
            Then::Initialize => script.shake_hands("2025-11-25", None).await,
            Then::Discover => script.discover().await,
            Then::Ready | Then::Fails(_) => {}
        }
        let connected = connecting.await.unwrap();
        if let Then::Fails(status) = then {
            let error = connected.unwrap_err();
            assert_eq!(error.http_status(), Some(status), "{case}");
            assert!(script.come().is_none(), "{case}");
            continue;
        }
        let client = connected.unwrap();
        let has_handshake = client.peer().revision.has_handshake();
        assert_eq!(has_handshake, then == Then::Initialize, "{case}");
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            script.next_is("tools/call").await.answer(said("served")).await;
        });
        assert_eq!(text(done), "served", "{case}");
    }
}

#[tokio::test]
async fn a_server_with_a_handshake_is_asked_once() {
    let mut script = Script::start().await;
    for is_known in [false, true] {
        let url = format!("{}?other={is_known}", script.url);
        let connecting = tokio::spawn(Client::connect(Http::new(url).listen(false)));
        if !is_known {
            script.next_is("server/discover").await.reply(400, "", "").await;
        }
        script.shake_hands("2025-11-25", None).await;
        connecting.await.unwrap().unwrap();
    }
    // What is known is forgotten when it leads to nothing.
    let connecting = tokio::spawn(Client::connect(Http::new(&script.url).listen(false)));
    script.next_is("initialize").await.reply(500, "", "").await;
    assert!(connecting.await.unwrap().is_err());
    let connecting = tokio::spawn(Client::connect(Http::new(&script.url).listen(false)));
    script.discover().await;
    assert_eq!(
        connecting.await.unwrap().unwrap().peer().revision,
        Revision::V2026_07_28
    );
}

#[tokio::test]
async fn a_client_of_one_era_teaches_nothing_about_the_other() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    client.close().await;
    let connecting = tokio::spawn(Client::connect(Http::new(&script.url)));
    script.discover().await;
    connecting.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_header_says_what_the_body_says() {
    let mut script = Script::start().await;
    let client = script.modern().await;
    let (done, ()) = tokio::join!(client.call_tool("w\u{fc}", ()), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("MCP-Protocol-Version"), Some("2026-07-28"));
        assert_eq!(asked.field("Mcp-Method"), Some("tools/call"));
        assert_eq!(asked.field("Mcp-Name"), Some("=?base64?d8O8?="));
        let body = asked.result(said("done")).to_string();
        asked.reply(200, &format!("{JSON}Mcp-Session-Id: x\r\n"), &body).await;
    });
    assert_eq!(text(done), "done");
    let (done, ()) = tokio::join!(client.read_resource("file:///a%20b"), async {
        let asked = script.next_is("resources/read").await;
        assert_eq!(asked.field("Mcp-Name"), Some("file:///a%20b"));
        assert_eq!(asked.field("Mcp-Session-Id"), None);
        asked
            .answer(json!({"contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}))
            .await;
    });
    done.unwrap();
    client.close().await;
    assert!(
        script.come().is_none(),
        "there is no session to end, and no stream to ask for"
    );
}

fn tool(name: &str, header: &Value) -> Value {
    let properties = json!({"region": {"type": "string", "x-mcp-header": header}});
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

fn tools(tools: &[Value]) -> Value {
    json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
}

#[tokio::test]
async fn parameters_go_in_header_fields_as_the_list_says_and_bad_tools_are_left_out() {
    let mut script = Script::start().await;
    let problems = Arc::<Mutex<Vec<_>>>::default();
    let seen = Arc::clone(&problems);
    let builder = Client::builder().on_problem(move |problem| seen.lock().unwrap().push(problem.clone()));
    let client = script.modern_by(builder).await;
    let (listed, ()) = tokio::join!(client.list_tools(), async {
        let all = [tool("good", &json!("Region")), tool("bad", &json!("My Region"))];
        script.next_is("tools/list").await.answer(tools(&all)).await;
    });
    let names: Vec<_> = listed.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["good"]);
    {
        let problems = problems.lock().unwrap();
        assert_eq!(problems[0].kind, ProblemKind::BadTool);
        assert!(problems[0].message.contains("\"bad\"") && problems[0].message.contains("My Region"));
    }
    let (done, ()) = tokio::join!(client.call_tool("good", json!({"region": "us-west1"})), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Param-Region"), Some("us-west1"));
        asked.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn a_call_whose_headers_are_out_of_date_is_made_again_after_the_list() {
    let mut script = Script::start().await;
    let client = script.modern().await;
    let (done, ()) = tokio::join!(client.call_tool("t", json!({"region": "x"})), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Param-Region"), None);
        let body = asked.error(-32020, Value::Null).to_string();
        asked.reply(400, JSON, &body).await;
        let asked = script.next_is("tools/list").await;
        assert_eq!(asked.field("Mcp-Method"), Some("tools/list"));
        let meta = &asked.body["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        let first =
            json!({"tools": [], "nextCursor": "2", "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
        asked.answer(first).await;
        let asked = script.next_is("tools/list").await;
        assert_eq!(asked.body["params"]["cursor"], "2");
        asked.answer(tools(&[tool("t", &json!("Region"))])).await;
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("Mcp-Param-Region"), Some("x"));
        asked.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
    // Once only.
    let (done, ()) = tokio::join!(client.call_tool("t", json!({"region": "x"})), async {
        for method in ["tools/call", "tools/list", "tools/call"] {
            let asked = script.next_is(method).await;
            if method == "tools/list" {
                asked.answer(tools(&[])).await;
                continue;
            }
            let body = asked.error(-32020, Value::Null).to_string();
            asked.reply(400, JSON, &body).await;
        }
    });
    assert_eq!(done.unwrap_err().code().map(|code| code.0), Some(-32020));
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn without_a_handshake_closing_the_stream_is_the_cancel() {
    let mut script = Script::start().await;
    let client = script.modern().await;
    for streams in [false, true] {
        let call = tokio::spawn(client.call_tool("t", ()).into_future());
        let asked = script.next_is("tools/call").await;
        if streams {
            let events = asked.events("").await;
            call.abort();
            events.left().await;
        } else {
            call.abort();
            asked.left().await;
        }
    }
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("next")).await;
    });
    assert_eq!(text(done), "next");
    assert!(script.come().is_none(), "no message says it");
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn without_a_handshake_a_broken_stream_is_not_resumed() {
    let mut script = Script::start().await;
    let client = script.modern().await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let mut events = script.next_is("tools/call").await.events("").await;
        events.text("id: e1\nretry: 0\ndata:\n\n").await;
        events.end().await;
    });
    let error = done.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("ended without a response"), "{error}");
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("next")).await;
    });
    assert_eq!(text(done), "next");
}

/// Opens the stream of HTTP+SSE and serves the handshake on it.
async fn serve_http_sse(script: &mut Script, endpoint: &str) -> Events {
    let asked = script.next_is("GET").await;
    assert_eq!(asked.field("Accept"), Some("text/event-stream"));
    let mut events = asked.events("").await;
    events.text(&format!("event: endpoint\ndata: {endpoint}\n\n")).await;
    let asked = script.next_is("initialize").await;
    assert_eq!(asked.path, "/messages?id=1");
    let answer = asked.result(initialized("2024-11-05"));
    asked.reply(202, "", "Accepted").await;
    events.message(&answer).await;
    script
        .next_is("notifications/initialized")
        .await
        .reply(202, "", "Accepted")
        .await;
    events
}

#[tokio::test]
async fn a_server_of_http_sse_is_found_and_used() {
    for only in [false, true] {
        let mut script = Script::start().await;
        let http = match only {
            true => Http::new(&script.url).http_sse(HttpSse::Only),
            false => Http::new(&script.url),
        };
        let connecting = tokio::spawn(Client::connect(http.header("X-Api-Key", "secret")));
        if !only {
            script.next_is("server/discover").await.reply(405, "", "").await;
            script.next_is("initialize").await.reply(405, "", "").await;
        }
        let endpoint = match only {
            true => format!("http://127.0.0.1:{}/messages?id=1", script.port),
            false => "/messages?id=1".to_owned(),
        };
        let mut events = serve_http_sse(&mut script, &endpoint).await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.peer().revision, Revision::V2024_11_05);
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            assert_eq!(
                (asked.path.as_str(), asked.field("X-Api-Key")),
                ("/messages?id=1", Some("secret"))
            );
            let answer = asked.result(said("old"));
            asked.reply(202, "", "Accepted").await;
            events.message(&answer).await;
        });
        assert_eq!(text(done), "old");
        // A call that is dropped is told of, though its POST is long over.
        let call = tokio::spawn(client.call_tool("t", ()).into_future());
        script.next_is("tools/call").await.reply(202, "", "").await;
        call.abort();
        script.next_is("notifications/cancelled").await.reply(202, "", "").await;
        // The end of the stream is the end of the connection.
        let call = tokio::spawn(client.call_tool("t", ()).into_future());
        script.next_is("tools/call").await.reply(202, "", "").await;
        events.end().await;
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.message().contains("ended its event stream"), "{error}");
        assert_eq!(client.ping().await.unwrap_err().kind(), ErrorKind::Closed);
    }
}

#[tokio::test]
async fn http_sse_is_not_tried_where_it_is_not_wanted_or_cannot_be() {
    for (setting, status) in [(HttpSse::Never, 405), (HttpSse::Auto, 500)] {
        let mut script = Script::start().await;
        let http = Http::new(&script.url).http_sse(setting);
        let connecting = tokio::spawn(Client::builder().revisions([Revision::V2025_11_25]).connect(http));
        script.next_is("initialize").await.reply(status, "", "").await;
        let error = connecting.await.unwrap().unwrap_err();
        assert_eq!(error.http_status(), Some(status));
        assert!(script.come().is_none());
    }
    // It is no server of it either: what it said first is told.
    let mut script = Script::start().await;
    let connecting = tokio::spawn(
        Client::builder()
            .revisions([Revision::V2025_11_25])
            .connect(script.url.clone()),
    );
    script.next_is("initialize").await.reply(404, "", "no such page").await;
    script.next_is("GET").await.reply(404, "", "").await;
    let error = connecting.await.unwrap().unwrap_err();
    assert_eq!(error.http_status(), Some(404));
    assert!(
        error.message().contains("no such page") && error.message().contains("HTTP+SSE"),
        "{error}"
    );
}

#[tokio::test]
async fn http_sse_never_sends_messages_to_another_origin() {
    let other = Script::start().await;
    for endpoint in [other.url.as_str(), "//127.0.0.1:1/", "\\\\evil.test"] {
        let mut script = Script::start().await;
        let http = Http::new(&script.url).http_sse(HttpSse::Only);
        let connecting = tokio::spawn(Client::connect(http));
        let mut events = script.next_is("GET").await.events("").await;
        events.text(&format!("event: endpoint\ndata: {endpoint}\n\n")).await;
        let error = connecting.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{endpoint}");
        assert!(error.message().contains("no place of the same origin"), "{error}");
        assert_eq!(other.opened(), 0);
    }
}
