//! What every server of these tests offers, on our crate: `interop_server tools` or `interop_server surface`, over HTTP
//! unless `stdio` follows. Over HTTP it prints its address, and ends when its standard input does.

use std::time::Duration;

use oxmcp::types::{
    BlobResourceContents, CreateMessageRequestParams, PromptMessage, ResourceContents, Role, TextResourceContents,
    content,
};
use oxmcp::{
    Completing, Context, Elicited, HandlerError, LogLevel, NoArguments, Offers, PromptOffer, ResourceOffer, Server,
    ToolError, ToolOffer,
};
use serde_json::json;
use tokio::io::AsyncReadExt;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    to: u32,
}

async fn count(ctx: Context, Count { to }: Count) -> Result<&'static str, ToolError> {
    for step in 1..=to {
        ctx.report_progress(step, Some(to.into()), Some(&format!("step {step}")));
        // The official TypeScript client loses reports that arrive in one piece with the result.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok("counted")
}

async fn wait(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    eprintln!("waiting");
    ctx.report_progress(1, None, Some("waiting"));
    ctx.cancelled().await;
    eprintln!("cancelled");
    Ok("never")
}

/// Lets go of its stream, so that the answer is there only for a client that comes back.
async fn rejoin(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    ctx.end_stream();
    Ok("rejoined")
}

fn tools(server: Server) -> Server {
    let add = |_: Context, Numbers { a, b }: Numbers| async move { Ok((a + b).to_string()) };
    let fail = |_: Context, _: NoArguments| async { Err::<(), _>(ToolError::new("on purpose")) };
    server
        .tool("add", "Adds two numbers.", add)
        .tool("count", "Counts, and reports progress.", count)
        .tool("wait", "Waits for its cancel.", wait)
        .tool("fail", "Fails.", fail)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Person {
    name: String,
    #[serde(default = "thirty")]
    age: i64,
}

fn thirty() -> i64 {
    30
}

async fn ask(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    Ok(match ctx.elicit::<Person>("Who are you?").await? {
        Elicited::Accepted(Person { name, age }) => format!("accept {name} {age}"),
        Elicited::Declined => "decline".to_owned(),
        Elicited::Cancelled => "cancel".to_owned(),
    })
}

async fn think(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let messages = vec![content::said(Role::User, "Think.")];
    let answer = ctx.sample(CreateMessageRequestParams::new(10, messages)).await?;
    Ok(content::sampled_text(&answer))
}

async fn folders(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let uris: Vec<_> = ctx.list_roots().await?.into_iter().map(|root| root.uri).collect();
    Ok(uris.join(" "))
}

async fn logs(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    ctx.log(LogLevel::Warning, Some("part"), json!({"n": 1}));
    Ok("logged")
}

fn grow(offers: Offers) -> ToolOffer {
    ToolOffer::new("grow", "Offers one more tool.", move |_: Context, _: NoArguments| {
        let grown = offers.add(ToolOffer::new("grown", "Logs.", logs));
        offers.resource_updated("config://app");
        async move { grown.map(|_| "grown").map_err(ToolError::new) }
    })
}

#[derive(serde::Deserialize)]
struct Note {
    id: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    name: String,
    tone: Option<String>,
}

async fn greet(_: Context, Greeting { name, tone }: Greeting) -> Result<Vec<PromptMessage>, HandlerError> {
    let asked = format!("Greet {name} in a {} way.", tone.as_deref().unwrap_or("warm"));
    Ok(vec![
        PromptMessage::new(Role::User, content::text(asked)),
        PromptMessage::new(Role::Assistant, content::text("Hello.")),
    ])
}

async fn names(_: Context, typed: Completing) -> Result<Vec<&'static str>, HandlerError> {
    let known = ["Ada", "Alan", "Grace"].into_iter();
    Ok(known.filter(|name| name.starts_with(&typed.value)).collect())
}

fn surface(server: Server) -> Server {
    let config = ResourceOffer::new("config://app", "config", |ctx: Context| async move {
        let mut contents = TextResourceContents::new(ctx.uri().unwrap_or_default(), "on");
        contents.mime_type = Some("text/plain".to_owned());
        Ok(ResourceContents::from(contents))
    });
    let bytes = ResourceOffer::new("bytes://all", "all_bytes", |ctx: Context| async move {
        let bytes: Vec<u8> = (0..=255).collect();
        let contents = BlobResourceContents::new(ctx.uri().unwrap_or_default(), content::to_base64(bytes));
        Ok(ResourceContents::from(contents))
    });
    let note = |_: Context, Note { id }: Note| async move { Ok(format!("note {id}")) };
    let server = server
        .subscriptions(true)
        .offer(config.description("The settings.").mime_type("text/plain"))
        .offer(bytes.mime_type("application/octet-stream"))
        .resource_template("note://{id}", "note", note)
        .offer(PromptOffer::new("greet", "Greets a person.", greet).complete("name", names))
        .tool("ask", "Asks the person.", ask)
        .tool("think", "Asks the model.", think)
        .tool("folders", "Names the folders it may work on.", folders)
        .tool("logs", "Logs.", logs)
        .tool("rejoin", "Answers a client that comes back.", rejoin);
    let offers = server.offers();
    server.offer(grow(offers))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = match std::env::args().nth(1).as_deref() {
        Some("tools") => tools(Server::new("interop", "1.0.0").instructions("For tests.")),
        Some("surface") => surface(Server::new("surface", "1.0.0")),
        _ => return Err("which one: \"tools\" or \"surface\"?".into()),
    };
    let server = server.on_problem(|problem| eprintln!("problem: {}", problem.message));
    if std::env::args().nth(2).as_deref() == Some("stdio") {
        return Ok(server.serve(oxmcp::transport::stdio()?).await?);
    }
    let serving = server.http().retry(Duration::from_millis(20)).bind(0).await?;
    println!("http://{}/mcp", serving.local_addr());
    let handle = serving.handle();
    tokio::spawn(async move {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
        handle.shut_down();
    });
    serving.await?;
    // A thread waits for standard input where the server was shut down by something else.
    std::process::exit(0)
}
