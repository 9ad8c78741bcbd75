//! Against our own server, in both eras.

use std::future::IntoFuture as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxmcp::http::{HttpBuilder, HttpHandle};
use oxmcp::transport::{Http, HttpSse, IntoTransport as _};
use oxmcp::types::{ElicitRequestFormParams, SubscriptionFilter};
use oxmcp::{
    Client, ClientBuilder, ClientContext, Context, Elicited, ErrorKind, NoArguments, Revision, Server, Stats, ToolError,
};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// A server that listens, until it is dropped.
struct Running {
    url: String,
    handle: HttpHandle,
    served: JoinHandle<Result<(), oxmcp::Error>>,
    go_on: Arc<Semaphore>,
    seen: mpsc::UnboundedReceiver<&'static str>,
    runs: Arc<AtomicU32>,
    server: Server,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.served.abort();
    }
}

impl Running {
    async fn start() -> Self {
        Self::with(|http| http).await
    }

    async fn with(settings: impl FnOnce(HttpBuilder) -> HttpBuilder) -> Self {
        Self::on(0, settings).await
    }

    async fn on(port: u16, settings: impl FnOnce(HttpBuilder) -> HttpBuilder) -> Self {
        let (tell, seen) = mpsc::unbounded_channel();
        let (go_on, runs) = (Arc::new(Semaphore::new(0)), Arc::<AtomicU32>::default());
        let (permits, counter) = (Arc::clone(&go_on), Arc::clone(&runs));
        // Says that it began, and waits until the test lets it go on or it is cancelled.
        let wait = move |ctx: Context, _: NoArguments| {
            let (permits, tell) = (Arc::clone(&permits), tell.clone());
            async move {
                ctx.report_progress(1, Some(2.0), Some("waiting"));
                let _ = tell.send("began");
                tokio::select! {
                    permit = permits.acquire() => permit?.forget(),
                    () = ctx.cancelled() => {
                        let _ = tell.send("cancelled");
                        return Err(ToolError::new("cancelled"));
                    }
                }
                Ok("waited")
            }
        };
        let count = move |_: Context, _: NoArguments| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok("counted") }
        };
        let permits = Arc::clone(&go_on);
        let leave = move |ctx: Context, _: NoArguments| {
            let permits = Arc::clone(&permits);
            async move {
                ctx.end_stream();
                permits.acquire().await?.forget();
                Ok("The client came back.")
            }
        };
        let ask = async |ctx: Context, _: NoArguments| -> Result<String, ToolError> {
            Ok(match ctx.elicit::<Name>("Who are you?").await? {
                Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
                _ => "Hello, whoever you are!".to_owned(),
            })
        };
        let server = Server::new("test", "1.0")
            .tool("wait", "Waits for the test.", wait)
            .tool("count", "Counts its runs.", count)
            .tool("ask", "Asks for a name.", ask)
            .tool("leave", "Ends its stream, then waits for the test.", leave);
        let serving = settings(server.http()).bind(port).await.unwrap();
        Self {
            url: format!("http://{}/mcp", serving.local_addr()),
            handle: serving.handle(),
            served: tokio::spawn(serving),
            go_on,
            seen,
            runs,
            server,
        }
    }

    async fn saw(&mut self, what: &str) {
        assert_eq!(self.seen.recv().await, Some(what));
    }
}

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn of(revision: Revision) -> ClientBuilder {
    Client::builder().revisions([revision])
}

#[tokio::test]
async fn a_client_finds_out_what_the_server_speaks_and_uses_it() {
    let server = Running::start().await;
    let client = Client::connect(server.url.as_str()).await.unwrap();
    assert_eq!(client.peer().revision, Revision::V2026_07_28);
    client.close().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        assert_eq!(
            (client.peer().revision, &*client.server_info().name),
            (revision, "test")
        );
        let names: Vec<_> = client
            .list_tools()
            .await
            .unwrap()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(names, ["wait", "count", "ask", "leave"], "{revision}");
        assert_eq!(client.call_tool("count", ()).await.unwrap().text(), "counted");
        client.ping().await.unwrap();
        client.close().await;
        assert_eq!(client.stats(), Stats::default(), "{revision}");
        assert_eq!(client.ping().await.unwrap_err().kind(), ErrorKind::Closed);
    }
    assert_eq!(server.runs.load(Ordering::SeqCst), 2);
    assert_eq!(server.handle.service().sessions(), 0, "the session was ended");
}

#[tokio::test]
async fn progress_comes_before_the_answer() {
    let mut server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let each = Arc::clone(&seen);
        let call = client
            .call_tool("wait", ())
            .on_progress(move |it| each.lock().unwrap().push(it.message.unwrap_or_default()));
        let call = tokio::spawn(call.into_future());
        server.saw("began").await;
        server.go_on.add_permits(1);
        assert_eq!(call.await.unwrap().unwrap().text(), "waited");
        assert_eq!(*seen.lock().unwrap(), ["waiting"], "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let mut server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        let call = tokio::spawn(client.call_tool("wait", ()).into_future());
        server.saw("began").await;
        call.abort();
        server.saw("cancelled").await;
        client.close().await;
        assert_eq!(client.stats(), Stats::default(), "{revision}");
    }
}

#[tokio::test]
async fn a_call_that_times_out_is_cancelled_at_the_server() {
    let mut server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        let call = client.call_tool("wait", ()).timeout(Duration::from_millis(200));
        let call = tokio::spawn(call.into_future());
        server.saw("began").await;
        assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
        server.saw("cancelled").await;
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_asks_the_client_in_the_middle_of_a_call() {
    let server = Running::start().await;
    for revision in ERAS {
        let client = of(revision)
            .on_elicitation(|_: ClientContext, question: ElicitRequestFormParams| async move {
                assert_eq!(question.message, "Who are you?");
                Ok(Elicited::Accepted(serde_json::json!({"name": "Ada"})))
            })
            .connect(server.url.as_str())
            .await
            .unwrap();
        assert_eq!(
            client.call_tool("ask", ()).await.unwrap().text(),
            "Hello, Ada!",
            "{revision}"
        );
        client.close().await;
    }
}

#[tokio::test]
async fn a_listener_is_told_of_what_changes() {
    let server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut listening = client.listen(filter).await.unwrap();
        let tool = server.server.offers().tool("count").unwrap();
        tool.disable();
        let news = listening.next().await.unwrap();
        assert_eq!(news.method, "notifications/tools/list_changed", "{revision}");
        tool.enable();
        client.close().await;
    }
}

#[tokio::test]
async fn a_handler_that_lets_go_of_its_stream_is_come_back_to() {
    let server = Running::with(|http| http.retry(Duration::from_millis(1))).await;
    let client = of(Revision::V2025_11_25).connect(server.url.as_str()).await.unwrap();
    let call = tokio::spawn(client.call_tool("leave", ()).into_future());
    server.go_on.add_permits(1);
    assert_eq!(call.await.unwrap().unwrap().text(), "The client came back.");
    client.close().await;
}

#[tokio::test]
async fn many_calls_are_answered_each_with_its_own() {
    let server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        let calls: Vec<_> = (0..200)
            .map(|_| tokio::spawn(client.call_tool("count", ()).into_future()))
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap().unwrap().text(), "counted");
        }
        client.close().await;
        assert_eq!(client.stats(), Stats::default(), "{revision}");
    }
    assert_eq!(server.runs.load(Ordering::SeqCst), 400);
}

#[tokio::test]
async fn a_server_that_started_anew_is_gone_on_with() {
    let mut server = Running::start().await;
    let client = of(Revision::V2025_11_25).connect(server.url.as_str()).await.unwrap();
    client.call_tool("count", ()).await.unwrap();
    server.handle.shut_down();
    (&mut server.served).await.unwrap().unwrap();
    let port = server
        .url
        .rsplit_once(':')
        .unwrap()
        .1
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let server = Running::on(port, |http| http).await;
    assert_eq!(client.call_tool("count", ()).await.unwrap().text(), "counted");
    assert_eq!(server.handle.service().sessions(), 1);
    client.close().await;
}

#[tokio::test]
async fn http_sse_works_with_our_own_server() {
    let server = Running::with(HttpBuilder::http_sse).await;
    let http = Http::new(&server.url).http_sse(HttpSse::Only);
    let client = Client::builder()
        .on_elicitation(|_: ClientContext, _: ElicitRequestFormParams| async {
            Ok(Elicited::Accepted(serde_json::json!({"name": "Ada"})))
        })
        .connect(http)
        .await
        .unwrap();
    assert!(client.peer().revision.has_handshake());
    assert_eq!(client.call_tool("count", ()).await.unwrap().text(), "counted");
    assert_eq!(client.call_tool("ask", ()).await.unwrap().text(), "Hello, Ada!");
    client.close().await;
    assert_eq!(client.stats(), Stats::default());
}

#[tokio::test]
async fn a_client_that_is_dropped_ends_its_session() {
    let server = Running::start().await;
    let client = of(Revision::V2025_11_25).connect(server.url.as_str()).await.unwrap();
    assert_eq!(server.handle.service().sessions(), 1);
    drop(client);
    while server.handle.service().sessions() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_transport_of_a_client_cannot_be_served() {
    let transport = Http::new("http://127.0.0.1:9/mcp").into_transport().unwrap();
    let error = Server::new("test", "1.0").serve(transport).await.unwrap_err();
    assert!(error.message().contains("Server::http"), "{error}");
}

#[tokio::test]
async fn calls_that_are_dropped_at_any_moment_leave_nothing() {
    let server = Running::start().await;
    for revision in ERAS {
        let client = of(revision).connect(server.url.as_str()).await.unwrap();
        for moment in 0..200 {
            let call = tokio::spawn(client.call_tool("count", ()).into_future());
            for _ in 0..moment % 23 {
                tokio::task::yield_now().await;
            }
            call.abort();
        }
        assert_eq!(client.call_tool("count", ()).await.unwrap().text(), "counted");
        assert_eq!(client.stats(), Stats::default(), "{revision}");
        client.close().await;
    }
    assert_eq!(server.handle.service().sessions(), 0);
}
