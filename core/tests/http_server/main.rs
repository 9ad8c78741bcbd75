//! The Streamable HTTP server, by requests over real sockets.
#![cfg(feature = "http")]

mod guard;
mod http2;
mod legacy;
mod limits;
mod modern;
mod origin;
mod resume;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use oxmcp::http::{HttpBuilder, HttpHandle};
use oxmcp::{Context, Elicited, Limits, NoArguments, Server, ToolError};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use wire::Wire;

/// What the tools of the test server share with the test.
#[derive(Clone)]
struct Probe {
    /// How often `count` ran.
    runs: Arc<AtomicU32>,
    /// Lets a call of `wait` go on.
    go_on: Arc<Semaphore>,
    /// Told what happens to calls of `wait`.
    seen: mpsc::UnboundedSender<&'static str>,
}

impl Probe {
    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// A server with a tool for each case.
fn server() -> (Server, Probe, mpsc::UnboundedReceiver<&'static str>) {
    let (seen, events) = mpsc::unbounded_channel();
    let probe = Probe {
        runs: Arc::default(),
        go_on: Arc::new(Semaphore::new(0)),
        seen,
    };
    let (counter, waiter, leaver) = (probe.clone(), probe.clone(), probe.clone());
    let count = move |_: Context, _: NoArguments| {
        counter.runs.fetch_add(1, Ordering::SeqCst);
        async { Ok("counted") }
    };
    // Says that it began, and waits until the test lets it go on or it is cancelled.
    let wait = move |ctx: Context, _: NoArguments| {
        let probe = waiter.clone();
        async move {
            ctx.report_progress(1, None, Some("waiting"));
            let _ = probe.seen.send("began");
            tokio::select! {
                permit = probe.go_on.acquire() => permit?.forget(),
                () = ctx.cancelled() => {
                    let _ = probe.seen.send("cancelled");
                    return Err(ToolError::new("cancelled"));
                }
            }
            let _ = probe.seen.send("done");
            Ok("waited")
        }
    };
    let leave = move |ctx: Context, _: NoArguments| {
        let probe = leaver.clone();
        async move {
            ctx.end_stream();
            probe.go_on.acquire().await?.forget();
            Ok("The client came back.")
        }
    };
    let ask = async |ctx: Context, _: NoArguments| -> Result<String, ToolError> {
        Ok(match ctx.elicit::<Name>("Who are you?").await? {
            Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
            _ => "Hello, whoever you are!".to_owned(),
        })
    };
    let large = async |_: Context, _: NoArguments| -> Result<String, ToolError> { Ok("x".repeat(16 * 1024 * 1024)) };
    let server = Server::new("test", "1.0")
        .tool("count", "Counts its runs.", count)
        .tool("wait", "Waits for the test.", wait)
        .tool("leave", "Ends its stream, then waits for the test.", leave)
        .tool("ask", "Asks for a name.", ask)
        .tool("large", "Gives much.", large);
    (server, probe, events)
}

/// A server that listens, until it is dropped.
struct Running {
    port: u16,
    handle: HttpHandle,
    probe: Probe,
    seen: mpsc::UnboundedReceiver<&'static str>,
    server: Server,
    served: JoinHandle<Result<(), oxmcp::Error>>,
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
        let (server, probe, seen) = server();
        // A call that does not end would keep a server that is shut down for longer than a test may take.
        let server = server.limits(Limits {
            drain: Duration::from_secs(3600),
            ..Limits::default()
        });
        let serving = settings(server.http()).bind(0).await.unwrap();
        Self {
            port: serving.local_addr().port(),
            handle: serving.handle(),
            probe,
            seen,
            server,
            served: tokio::spawn(serving),
        }
    }

    async fn connect(&self) -> Wire {
        Wire::open(self.port).await
    }

    async fn saw(&mut self, what: &str) {
        assert_eq!(within(self.seen.recv()).await, Some(what));
    }
}

/// A test that waits for ever fails instead.
async fn within<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(30), future).await;
    waited.expect("it did not happen in 30 seconds")
}
