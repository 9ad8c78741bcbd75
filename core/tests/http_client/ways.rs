//! The ways a request takes: connections, redirects, proxies.

use std::future::IntoFuture as _;

use oxmcp::http::RedirectPolicy;
use oxmcp::transport::{Http, HttpSse};
use oxmcp::{Client, ErrorKind, Revision};

use super::script::{Script, said, text};

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for number in 0..50 {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            if number % 2 == 0 {
                return asked.answer(said("done")).await;
            }
            let answer = asked.result(said("done"));
            let mut events = asked.events("").await;
            events.message(&answer).await;
            events.end().await;
        });
        assert_eq!(text(done), "done");
    }
    // A call that follows at once may find the connection still in use.
    assert!(script.opened() <= 15, "{} connections for 50 calls", script.opened());
}

#[tokio::test]
async fn many_calls_are_under_way_at_once_and_more_wait() {
    let mut script = Script::start().await;
    let client = script.legacy_with(None, |http| http.max_requests(20)).await;
    let calls: Vec<_> = (0..30)
        .map(|_| tokio::spawn(client.call_tool("t", ()).into_future()))
        .collect();
    let mut asked = Vec::new();
    for _ in 0..20 {
        asked.push(script.next_is("tools/call").await);
    }
    assert!(script.come().is_none());
    for _ in 0..10 {
        asked.pop().unwrap().answer(said("done")).await;
        asked.push(script.next_is("tools/call").await);
    }
    // In another order than they came in.
    while let Some(asked) = asked.pop() {
        asked.answer(said("done")).await;
    }
    for call in calls {
        assert_eq!(text(call.await.unwrap()), "done");
    }
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_can_be_cancelled_unsent() {
    let mut script = Script::start().await;
    let client = script.legacy_with(Some("s"), |http| http.max_requests(1)).await;
    let first = tokio::spawn(client.call_tool("first", ()).into_future());
    let asked = script.next_is("tools/call").await;
    let second = tokio::spawn(client.call_tool("second", ()).into_future());
    while client.stats().outbound < 2 {
        tokio::task::yield_now().await;
    }
    second.abort();
    let _ = second.await;
    asked.answer(said("done")).await;
    assert_eq!(text(first.await.unwrap()), "done");
    let (done, ()) = tokio::join!(client.call_tool("third", ()), async {
        let asked = script.next_is("tools/call").await;
        assert_eq!(asked.body["params"]["name"], "third");
        asked.answer(said("done")).await;
    });
    assert_eq!(text(done), "done");
    assert!(script.come().is_none(), "neither the second nor its cancel was sent");
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_everything() {
    let mut script = Script::start().await;
    let client = script
        .legacy_with(Some("s"), |http| http.header("X-Api-Key", "secret"))
        .await;
    for status in [307, 308] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            let asked = script.next_is("tools/call").await;
            assert_eq!(asked.path, "/mcp");
            asked.reply(status, "Location: /mcp/\r\n", "").await;
            let asked = script.next_is("tools/call").await;
            assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/mcp/"));
            assert_eq!(
                (asked.field("X-Api-Key"), asked.field("Mcp-Session-Id")),
                (Some("secret"), Some("s"))
            );
            asked.answer(said("moved")).await;
        });
        assert_eq!(text(done), "moved", "{status}");
    }
}

#[tokio::test]
async fn a_redirect_that_would_lose_the_message_or_goes_round_fails_the_call() {
    let mut script = Script::start().await;
    let client = script.legacy(None).await;
    for status in [301, 302, 303] {
        let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
            script
                .next_is("tools/call")
                .await
                .reply(status, "Location: /mcp/\r\n", "")
                .await;
        });
        let error = done.unwrap_err();
        assert_eq!((error.kind(), error.http_status()), (ErrorKind::Response, Some(status)));
        assert!(error.message().contains("into a GET"), "{error}");
    }
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        for _ in 0..=RedirectPolicy::default().hops {
            script
                .next_is("tools/call")
                .await
                .reply(307, "Location: /mcp\r\n", "")
                .await;
        }
    });
    assert!(done.unwrap_err().message().contains("too many redirects"));
    assert!(script.come().is_none());
}

#[tokio::test]
async fn headers_never_follow_to_another_origin() {
    let mut other = Script::start().await;
    let place = format!("Location: {}\r\n", other.url);
    let of_old = || Client::builder().revisions([Revision::V2025_11_25]);
    // Not at all, unless it is allowed.
    let mut script = Script::start().await;
    let http = Http::new(&script.url).listen(false).header("Authorization", "secret");
    let connecting = tokio::spawn(of_old().connect(http.clone()));
    script.next_is("initialize").await.reply(307, &place, "").await;
    let error = connecting.await.unwrap().unwrap_err();
    assert!(error.message().contains("another origin"), "{error}");
    assert_eq!(other.opened(), 0);
    // And then without what the program set, however it goes on from there.
    let policy = RedirectPolicy {
        other_origins: true,
        ..RedirectPolicy::default()
    };
    let connecting = tokio::spawn(of_old().connect(http.redirects(policy)));
    script.next_is("initialize").await.reply(307, &place, "").await;
    for location in [Some("Location: /elsewhere\r\n"), None] {
        let asked = other.next_is("initialize").await;
        assert_eq!(asked.field("Authorization"), None);
        assert_eq!(asked.field("Accept"), Some("application/json, text/event-stream"));
        match location {
            Some(location) => asked.reply(308, location, "").await,
            None => asked.reply(403, "", "").await,
        }
    }
    assert_eq!(connecting.await.unwrap().unwrap_err().http_status(), Some(403));
    // A session is never taken along.
    let mut script = Script::start().await;
    let client = script.legacy_with(Some("s"), |http| http.redirects(policy)).await;
    let (done, ()) = tokio::join!(client.call_tool("t", ()), async {
        script.next_is("tools/call").await.reply(307, &place, "").await;
    });
    assert!(done.unwrap_err().message().contains("a session belongs to one origin"));
    assert!(other.come().is_none());
}

#[tokio::test]
async fn headers_never_follow_to_the_place_that_a_stream_elsewhere_names() {
    let (mut script, mut other) = (Script::start().await, Script::start().await);
    let policy = RedirectPolicy {
        other_origins: true,
        ..RedirectPolicy::default()
    };
    let http = Http::new(&script.url).http_sse(HttpSse::Only).redirects(policy);
    let connecting = tokio::spawn(Client::connect(http.header("Authorization", "secret")));
    let place = format!("Location: {}\r\n", other.url);
    let asked = script.next_is("GET").await;
    assert_eq!(asked.field("Authorization"), Some("secret"));
    asked.reply(307, &place, "").await;
    let asked = other.next_is("GET").await;
    assert_eq!(asked.field("Authorization"), None);
    let mut events = asked.events("").await;
    events.text("event: endpoint\ndata: /messages\n\n").await;
    let asked = other.next_is("initialize").await;
    assert_eq!(asked.field("Authorization"), None);
    asked.reply(403, "", "").await;
    assert_eq!(connecting.await.unwrap().unwrap_err().http_status(), Some(403));
}

#[tokio::test]
async fn all_goes_through_a_proxy_that_is_set() {
    let mut proxy = Script::start().await;
    let http = Http::new("http://server.test:8000/mcp")
        .listen(false)
        .proxy(format!("http://user:pass@127.0.0.1:{}", proxy.port));
    let connecting = tokio::spawn(Client::builder().revisions([Revision::V2025_11_25]).connect(http));
    let asked = proxy.next_is("initialize").await;
    assert_eq!(asked.path, "http://server.test:8000/mcp");
    assert_eq!(asked.field("Proxy-Authorization"), Some("Basic dXNlcjpwYXNz"));
    asked.reply(403, "", "").await;
    assert_eq!(connecting.await.unwrap().unwrap_err().http_status(), Some(403));
}
