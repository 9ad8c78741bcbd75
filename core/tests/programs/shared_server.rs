//! One of several server processes that share their state by Redis, for `tests/http_shared`.
//!
//! Prints `port N` when it serves, then what happens to calls of its tools. It is told on standard input: `go` lets
//! one waiting call go on, `offer` adds a tool, `update` says that a resource has other contents, `stop` shuts it down.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use oxmcp::http::{EventLimits, RedisState};
use oxmcp::{Context, Elicited, Keyring, Limits, LogLevel, NoArguments, Offers, SealKey, Server, ToolError, ToolOffer};
use tokio::sync::Semaphore;

const RESOURCE: &str = "test://changing";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    // The test that reads it may have ended.
    let _ = writeln!(out, "{what}").and_then(|()| out.flush());
}

fn server(go: &Arc<Semaphore>) -> Result<Server, oxmcp::SealKeyError> {
    let (waits, steps) = (Arc::clone(go), Arc::clone(go));
    let wait = move |ctx: Context, _: NoArguments| {
        let go = Arc::clone(&waits);
        async move {
            ctx.report_progress(1, None, Some("waiting"));
            say("began");
            tokio::select! {
                permit = go.acquire() => permit?.forget(),
                () = ctx.cancelled() => {
                    say("cancelled");
                    return Err(ToolError::new("cancelled"));
                }
            }
            Ok("waited")
        }
    };
    // Reports a step each time it may go on, three times.
    let step = move |ctx: Context, _: NoArguments| {
        let go = Arc::clone(&steps);
        async move {
            for step in 1..=3 {
                ctx.report_progress(step, None, None);
                say("step");
                go.acquire().await?.forget();
            }
            Ok::<_, ToolError>("stepped")
        }
    };
    let ask = async |ctx: Context, _: NoArguments| -> Result<String, ToolError> {
        Ok(match ctx.elicit::<Name>("Who are you?").await? {
            Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
            _ => "Hello, whoever you are!".to_owned(),
        })
    };
    let log = async |ctx: Context, _: NoArguments| -> Result<String, ToolError> {
        ctx.log(LogLevel::Info, None, "it happens");
        Ok("logged".to_owned())
    };
    let process =
        async |_: Context, _: NoArguments| -> Result<String, ToolError> { Ok(std::process::id().to_string()) };
    Ok(Server::new("shared", "1.0")
        .state_keys(Keyring::new(SealKey::from_bytes(&[7; 32])?))
        .subscriptions(true)
        .limits(Limits {
            drain: Duration::from_millis(1),
            ..Limits::default()
        })
        .resource(RESOURCE, "changing", |_: Context| async { Ok("now") })
        .tool("process", "Tells the number of the process.", process)
        .tool("wait", "Waits for the test.", wait)
        .tool("step", "Reports steps.", step)
        .tool("ask", "Asks for a name.", ask)
        .tool("log", "Logs a message.", log))
}

fn offer(offers: &Offers) {
    let tool = ToolOffer::new("new", "Is new.", |_: Context, _: NoArguments| async { Ok("new") });
    if let Err(error) = offers.add(tool) {
        say(&format!("not offered: {error}"));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let redis = args.next().ok_or("usage: shared_server REDIS [SETTING=VALUE]...")?;
    let go = Arc::new(Semaphore::new(0));
    let server = server(&go)?;
    // A stream says nothing by itself.
    let mut http = server.http().keep_alive(Duration::from_secs(3600));
    // Long, so that a busy machine changes nothing, unless the test is about them.
    let (mut lease, mut patience) = (20_000, 10_000);
    for arg in args {
        let (name, value) = arg.split_once('=').ok_or("a setting is NAME=VALUE")?;
        let value: u64 = value.parse()?;
        match name {
            "lease" => lease = value,
            "patience" => patience = value,
            "json-only" => http = http.json_only(),
            "max-sessions" => http = http.max_sessions(value.try_into()?),
            "event-bytes" => {
                http = http.events(EventLimits {
                    bytes: value.try_into()?,
                    ..EventLimits::default()
                });
            }
            _ => return Err(format!("{arg} is not known").into()),
        }
    }
    let shared = RedisState::at(redis)
        .lease(Duration::from_millis(lease))
        .patience(Duration::from_millis(patience));
    let http = http.shared(shared.connect().await?);
    let serving = http.bind(0).await?;
    say(&format!("port {}", serving.local_addr().port()));
    let (handle, offers) = (serving.handle(), server.offers());
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match &*line {
                "go" => go.add_permits(1),
                "offer" => offer(&offers),
                "update" => drop(offers.resource_updated(RESOURCE)),
                _ => break,
            }
        }
        handle.shut_down();
    });
    serving.await?;
    Ok(())
}
