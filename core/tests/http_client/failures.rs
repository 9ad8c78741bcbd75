//! Requests that fail, each for itself, and what a program is told of them.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxmcp::transport::Http;
use oxmcp::{Client, Error, ErrorKind, Fault, Limits, Problem, ProblemKind, Revision, Stats};
use serde_json::json;
use tokio::net::TcpListener;

use super::script::{Script, said, text};

/// Makes a call that is answered by these bytes.
async fn told(script: &mut Script, client: &Client, response: &str) -> Error {
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.raw(response).await;
    });
    done.unwrap_err()
}

#[tokio::test]
async fn a_status_that_says_no_fails_its_call_alone() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for (status, fields, body, retryable, data) in [
        (400, "", "", false, r#"{"status":400}"#),
        (
            401,
            "WWW-Authenticate: Bearer realm=\"x\"\r\n",
            "",
            false,
            r#"{"status":401,"wwwAuthenticate":"Bearer realm=\"x\""}"#,
        ),
        (
            403,
            "WWW-Authenticate: Bearer scope=\"a\"\r\n",
            "",
            false,
            r#"{"status":403,"wwwAuthenticate":"Bearer scope=\"a\""}"#,
        ),
        (403, "", "out of bounds", false, r#"{"status":403}"#),
        (404, "", "<html>nothing here", false, r#"{"status":404}"#),
        (429, "Retry-After: 7\r\n", "", true, r#"{"status":429,"retryAfter":7}"#),
        (
            429,
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n",
            "",
            true,
            r#"{"status":429,"retryAfter":30}"#,
        ),
        (500, "", "fell over", false, r#"{"status":500}"#),
        (503, "", "", true, r#"{"status":503}"#),
    ] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            script.next_is("tools/call").await.reply(status, fields, body).await;
        });
        let error = done.unwrap_err();
        assert_eq!(
            (error.kind(), error.fault()),
            (ErrorKind::Response, Fault::Peer),
            "{status}"
        );
        assert_eq!(
            (error.http_status(), error.is_retryable()),
            (Some(status), retryable),
            "{status}"
        );
        assert_eq!(error.data(), Some(data), "{status}");
        let message = error.message();
        assert!(
            message.starts_with("tools/call failed: ") && message.contains(&status.to_string()),
            "{message}"
        );
        assert!(message.contains(body), "{message}");
    }
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("still here")).await;
    });
    assert_eq!(text(done), "still here");
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn an_error_that_names_no_request_is_the_failure_of_this_one() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for id in ["null", "\"server-error\""] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"Bad Request: no"}}}}"#);
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            script
                .next_is("tools/call")
                .await
                .reply(400, "Content-Type: application/json\r\n", &body)
                .await;
        });
        let error = done.unwrap_err();
        assert_eq!(
            (error.kind(), error.http_status()),
            (ErrorKind::Response, Some(400)),
            "{id}"
        );
        assert_eq!(error.code().map(|code| code.0), Some(-32600), "{id}");
        assert!(error.message().contains("Bad Request: no"), "{error}");
    }
}

#[tokio::test]
async fn an_error_of_the_request_is_its_answer_whatever_the_status() {
    let mut script = Script::start().await;
    let client = script.legacy(Some("s")).await;
    for (status, code) in [(200, -32602), (400, -32602), (404, -32601), (500, -32603)] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            let body = asked.error(code, json!({"a": 1})).to_string();
            asked.reply(status, "Content-Type: application/json\r\n", &body).await;
        });
        let error = done.unwrap_err();
        assert_eq!(
            (error.kind(), error.http_status()),
            (ErrorKind::Response, None),
            "{status}"
        );
        assert_eq!(error.code().map(|code| code.0), Some(code), "{status}");
        assert_eq!((error.message(), error.data()), ("no", Some(r#"{"a":1}"#)), "{status}");
    }
}

#[tokio::test]
async fn what_only_looks_like_an_answer_breaks_the_protocol() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for (fields, around, why) in [
        ("", ["[", "]"], "a batch is not allowed here"),
        ("", ["{\"a\":1,\"a\":", "}"], "does not answer"),
        ("", ["", ",,"], "is no JSON"),
        ("Content-Encoding: gzip\r\n", ["", ",,"], "coded as gzip"),
    ] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            let body = format!("{}{}{}", around[0], asked.result(said("x")), around[1]);
            let fields = format!("Content-Type: application/json\r\n{fields}");
            asked.reply(200, &fields, &body).await;
        });
        let error = done.unwrap_err();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (ErrorKind::Protocol, false),
            "{error}"
        );
        assert!(error.message().contains(why), "{error}");
    }
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn a_byte_order_mark_is_no_part_of_an_answer() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.field("accept-encoding"), Some("identity"));
        let body = format!("\u{feff}{}", asked.result(said("x")));
        asked.reply(200, "Content-Type: application/json\r\n", &body).await;
    });
    assert_eq!(text(done), "x");
}

#[tokio::test]
async fn a_success_without_an_answer_breaks_the_protocol() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for (response, why) in [
        (
            "200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
            "\"text/html\"",
        ),
        (
            "200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n<html>",
            "is no JSON",
        ),
        (
            "200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            "does not answer",
        ),
        ("200 OK\r\nContent-Length: 0\r\n\r\n", "no response in it"),
        ("202 Accepted\r\nContent-Length: 0\r\n\r\n", "no response in it"),
        ("204 No Content\r\n\r\n", "no response in it"),
    ] {
        let error = told(&mut script, &client, &format!("HTTP/1.1 {response}")).await;
        assert_eq!(
            (error.kind(), error.fault()),
            (ErrorKind::Protocol, Fault::Peer),
            "{response}"
        );
        assert!(error.message().contains(why) && !error.is_retryable(), "{error}");
    }
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn a_connection_that_breaks_fails_its_call_and_can_be_retried() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for response in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"",
        "no HTTP at all\r\n\r\n",
    ] {
        let error = told(&mut script, &client, response).await;
        assert_eq!(
            (error.kind(), error.fault()),
            (ErrorKind::Closed, Fault::Transport),
            "{response:?}"
        );
        assert!(error.is_retryable() && error.message().contains("broke"), "{error}");
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off_at_the_limit() {
    let mut script = Script::start().await;
    let limits = Limits {
        message: 10_000,
        ..Limits::default()
    };
    let builder = Client::builder().revisions([Revision::V2025_11_25]).limits(limits);
    let http = Http::new(&script.url).listen(false);
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", None));
    let client = client.unwrap();
    let done = tokio::spawn(client.call_tool("t", ()).into_future());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let mut stream = script.next_is("tools/call").await.open(head).await;
    // Ends only when the client closes the connection.
    while tokio::io::AsyncWriteExt::write_all(&mut stream, &[b' '; 4096])
        .await
        .is_ok()
    {}
    let error = done.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("10000 bytes, which is the limit"), "{error}");
}

/// A client that notes the problems it is told of.
async fn noting(script: &mut Script, limits: Limits) -> (Client, Arc<Mutex<Vec<Problem>>>) {
    let problems = Arc::<Mutex<Vec<Problem>>>::default();
    let seen = Arc::clone(&problems);
    let builder = Client::builder()
        .revisions([Revision::V2025_11_25])
        .limits(limits)
        .on_problem(move |problem| seen.lock().unwrap().push(problem.clone()));
    let http = Http::new(&script.url).listen(false);
    let (client, ()) = tokio::join!(builder.connect(http), script.shake_hands("2025-11-25", None));
    (client.unwrap(), problems)
}

#[tokio::test]
async fn an_event_that_is_no_message_is_reported_and_the_stream_goes_on() {
    let mut script = Script::start().await;
    let (client, problems) = noting(&mut script, Limits::default()).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let answer = asked.result(said("done"));
        let mut events = asked.events("").await;
        events
            .text("data: not JSON\n\ndata: {}\n\nevent: other\ndata: not for us\n\n")
            .await;
        events.message(&answer).await;
        events.end().await;
    });
    assert_eq!(text(done), "done");
    let kinds: Vec<_> = problems.lock().unwrap().iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::NotJson, ProblemKind::NotAMessage]);
}

#[tokio::test]
async fn an_answer_over_the_limit_fails_its_call_and_the_connection_goes_on() {
    let mut script = Script::start().await;
    let limits = Limits {
        message: 1000,
        ..Limits::default()
    };
    let (client, problems) = noting(&mut script, limits).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        let asked = script.next_is("tools/call").await;
        let answer = asked.result(said(&"x".repeat(2000)));
        let mut events = asked.events("").await;
        events.message(&answer).await;
        events.end().await;
    });
    let error = done.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("the limit is 1000"), "{error}");
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("small")).await;
    });
    assert_eq!(text(done), "small");
    let kinds: Vec<_> = problems.lock().unwrap().iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::TooLarge]);
}

#[tokio::test]
async fn a_notification_that_is_not_taken_in_is_reported() {
    let mut script = Script::start().await;
    let (client, problems) = noting(&mut script, Limits::default()).await;
    client.notify("notifications/custom", ()).unwrap();
    script
        .next_is("notifications/custom")
        .await
        .reply(500, "", "fell over")
        .await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
    client.close().await;
    let problems = problems.lock().unwrap();
    assert_eq!(problems[0].kind, ProblemKind::NotDelivered);
    assert!(
        problems[0].message.contains("notifications/custom failed"),
        "{}",
        problems[0].message
    );
}

#[tokio::test]
async fn only_the_time_of_the_call_ends_a_call() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    let patient = client.call_tool("t", ()).timeout(Duration::from_secs(600));
    let patient = tokio::spawn(patient.into_future());
    let asked = script.next_is("tools/call").await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(400)).await;
    tokio::time::resume();
    let answer = asked.result(said("at last"));
    let mut events = asked.events("").await;
    events.text(": still here\n\n").await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(199)).await;
    tokio::time::resume();
    assert!(!patient.is_finished());
    events.message(&answer).await;
    assert_eq!(text(patient.await.unwrap()), "at last");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_from_one_that_says_no() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = Client::connect(format!("http://{free}/mcp?key=secret"))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
    assert!(
        error.is_retryable() && error.message().contains("is the server running?"),
        "{error}"
    );
    assert!(
        error.message().contains(&free.to_string()) && !error.message().contains("secret"),
        "{error}"
    );

    // A server without TLS at an https URL: one that answers, and one that waits for more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    let http = Http::new(url)
        .root_certificate(super::tls::ROOT)
        .connect_timeout(Duration::from_millis(100));
    let (error, _) = tokio::join!(Client::connect(http.clone()), async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let text = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, text).await.unwrap();
        stream
    });
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
    assert!(
        error.message().contains("no secure connection") && !error.is_retryable(),
        "{error}"
    );
    let error = Client::connect(http).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.message().contains("raise the connect timeout"), "{error}");
}

#[tokio::test]
async fn what_is_set_wrong_is_told_before_anything_is_sent() {
    let url = "http://127.0.0.1:9/mcp";
    for (http, why) in [
        (Http::new("example.com/mcp"), "is no URL of a server"),
        (Http::new("ftp://example.com/"), "scheme must be http or https"),
        (Http::new("./server --stdio"), "started by a command"),
        (Http::new("http://user:pass@example.com/"), "Authorization"),
        (Http::new(url).header("Mcp-Session-Id", "x"), "the protocol's own"),
        (Http::new(url).header("content-type", "x"), "the protocol's own"),
        (Http::new(url).header("X Y", "x"), "is no name of a header"),
        (Http::new(url).header("X-Key", "a\nb"), "\"X-Key\" cannot be sent"),
        (Http::new(url).proxy("::"), "the proxy is no URL"),
        (Http::new(url).root_certificate("x"), "no PEM text"),
        (Http::new(url).max_requests(0), "at least 1"),
    ] {
        let error = Client::connect(http).await.unwrap_err();
        assert_eq!((error.kind(), error.fault()), (ErrorKind::Usage, Fault::Local), "{why}");
        assert!(error.message().contains(why), "{error}");
        assert!(!error.message().contains("pass@"), "{error}");
    }
    let shown = format!(
        "{:?}",
        Http::new("http://a.test/?key=secret").header("Authorization", "secret")
    );
    assert!(shown.contains("authorization") && !shown.contains("secret"), "{shown}");
}

#[test]
fn settings_as_text_name_what_is_wrong() {
    let url = "http://127.0.0.1:9/mcp";
    for (settings, why) in [
        (r#"{"timeout":1}"#, "unknown field `timeout`"),
        (r#"{"headers":{"A":1}}"#, "headers.A: invalid type"),
        (r#"{"headers":{"Host":"x"}}"#, "the protocol's own"),
        (r#"{"httpSse":"maybe"}"#, "\"auto\", \"never\" or \"only\""),
        (r#"{"connectTimeout":-1}"#, "connectTimeout must be"),
        (r#"{"backoff":{"initialMs":1}}"#, "backoff.initialMs: unknown field"),
        (r#"{"proxy":"http://a.test","noProxy":true}"#, "exclude each other"),
        (r#"{"maxRequests":0}"#, "at least 1"),
        ("[]", "the settings of HTTP are wrong"),
    ] {
        let error = Http::from_json(url, settings).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{settings}");
        assert!(error.message().contains(why), "{settings}: {error}");
        assert!(!error.message().contains(" line "), "{error}");
    }
    let all = json!({
        "headers": {"Authorization": "Bearer x"}, "noProxy": true, "connectTimeout": 100, "closeTimeout": 100,
        "renewSessions": false, "httpSse": "never", "listen": false, "redirects": {"hops": 1, "otherOrigins": true},
        "backoff": {"initial": 1, "max": 2, "factor": 1.0, "attempts": 3}, "maxRequests": 5,
        "rootCertificate": super::tls::ROOT,
    });
    assert!(Http::from_json(url, &all.to_string()).is_ok());
    assert!(Http::from_json("nowhere", "{}").is_err());
}

#[test]
fn no_call_outlives_the_runtime_that_drives_its_connection() {
    let build = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    };
    let (driving, waiting) = (build(), build());
    let (mut script, client) = driving.block_on(async {
        let mut script = Script::start().await;
        let client = script.legacy(Some("s")).await;
        (script, client)
    });
    let error = waiting.block_on(async {
        let call = tokio::spawn(client.call_tool("t", ()).into_future());
        let _asked = script.next_is("tools/call").await;
        driving.shutdown_background();
        call.await.unwrap().unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert_eq!(client.stats(), Stats::default());
}
