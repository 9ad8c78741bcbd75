//! A client on our crate: exercises a server, and prints what it saw as one line of JSON.
//! `interop_client tools|surface auto|legacy URL|COMMAND…`. Once it has cancelled a call, it waits for the end of its standard
//! input.

use std::error::Error;

use oxmcp::types::{
    CallToolResult, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, ResourceContents, Role,
    Root, SamplingMessageContentBlock, SubscriptionFilter, TextContent, content,
};
use oxmcp::{ChildProcess, Client, ClientContext, Elicited, HandlerError, LogLevel};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

type Seen = Result<Value, Box<dyn Error>>;

/// What handlers of the client saw.
#[derive(Clone)]
struct Asked(mpsc::UnboundedSender<(&'static str, Value)>);

impl Asked {
    async fn person(self, question: ElicitRequestFormParams) -> Result<Elicited<Value>, HandlerError> {
        drop(self.0.send(("form", serde_json::to_value(&question.requested_schema)?)));
        Ok(Elicited::Accepted(json!({"name": "Ada"})))
    }
}

async fn model(_: ClientContext, asked: CreateMessageRequestParams) -> Result<CreateMessageResult, HandlerError> {
    let asked = serde_json::to_value(&asked.messages[0].content)?;
    let asked = asked.get(0).unwrap_or(&asked)["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let block = SamplingMessageContentBlock::from(TextContent::new(format!("thought of {asked}")));
    Ok(CreateMessageResult::new(Role::Assistant, block, "m"))
}

async fn see_tools(client: &Client) -> Seen {
    let names: Vec<_> = client.list_tools().await?.into_iter().map(|tool| tool.name).collect();
    let add = client.call_tool("add", json!({"a": 2, "b": 3})).await?;
    let (steps, mut progress) = mpsc::unbounded_channel();
    let count = client.call_tool("count", json!({"to": 3}));
    let count = count
        .on_progress(move |it| drop(steps.send(json!([it.progress, it.total, it.message]))))
        .await?;
    let mut reports = Vec::new();
    while let Some(step) = progress.recv().await {
        reports.push(step);
    }
    let fail = client.call_tool("fail", ()).await?;
    let unknown = client.call_tool("nope", ()).await;
    let (waits, mut waiting) = mpsc::unbounded_channel();
    let wait = client.call_tool("wait", ()).on_progress(move |_| {
        let _ = waits.send(());
    });
    let cancelled = tokio::select! {
        _ = wait => false,
        Some(()) = waiting.recv() => true,
    };
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    let after = client.call_tool("add", json!({"a": 1, "b": 1})).await?;
    Ok(json!({
        "revision": client.peer().revision.to_string(),
        "instructions": client.peer().instructions,
        "tools": names,
        "add": add.text(),
        "count": count.text(),
        "progress": reports,
        "fail": [fail.is_error, fail.text()],
        "unknown": refusal(unknown),
        "cancelled": cancelled,
        "after": after.text(),
    }))
}

/// The code of an error, or what the result says that a tool has failed with.
fn refusal(outcome: Result<CallToolResult, oxmcp::Error>) -> Value {
    match outcome {
        Ok(result) => json!(result.text()),
        Err(error) => json!(error.code().map(|code| code.0)),
    }
}

async fn see_surface(client: &Client, mut asked: mpsc::UnboundedReceiver<(&'static str, Value)>) -> Seen {
    let mut seen = see_offers(client).await?;
    if client.server_capabilities().logging.is_some() {
        client.set_logging_level(LogLevel::Info).await?;
    }
    for name in ["ask", "think", "folders", "logs", "rejoin"] {
        seen[name] = json!(client.call_tool(name, ()).await?.text());
    }
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    filter.resource_subscriptions = Some(vec!["config://app".to_owned()]);
    let mut changes = client.listen(filter).await?;
    client.call_tool("grow", ()).await?;
    let honoured = changes.filter();
    let subscribed = honoured
        .resource_subscriptions
        .as_ref()
        .is_some_and(|uris| !uris.is_empty());
    let mut told = Vec::new();
    for _ in 0..usize::from(subscribed) + usize::from(honoured.tools_list_changed == Some(true)) {
        told.extend(changes.next().await.map(|change| change.method));
    }
    told.sort();
    seen["told"] = json!(told);
    seen["grown"] = json!(client.list_tools().await?.iter().any(|tool| tool.name == "grown"));
    let mut logged = Vec::new();
    while let Ok((what, value)) = asked.try_recv() {
        match what {
            "log" => logged.push(value),
            what => seen[what] = value,
        }
    }
    seen["logged"] = json!(logged);
    Ok(seen)
}

async fn see_offers(client: &Client) -> Seen {
    let resources: Vec<_> = client.list_resources().await?.into_iter().map(|it| it.uri).collect();
    let templates = client.list_resource_templates().await?;
    let templates: Vec<_> = templates.into_iter().map(|it| it.uri_template).collect();
    let prompts = client.list_prompts().await?;
    let arguments = prompts[0].arguments.iter().flatten();
    let arguments: Vec<_> = arguments
        .map(|it| json!([it.name, it.required == Some(true)]))
        .collect();
    let greeting = client.get_prompt("greet", json!({"name": "Ada"})).await?;
    let messages = greeting
        .messages
        .iter()
        .map(|it| json!([it.role, content::as_text(&it.content)]));
    Ok(json!({
        "resources": resources,
        "templates": templates,
        "config": read(client, "config://app").await?,
        "bytes": read(client, "bytes://all").await?,
        "note": read(client, "note://00123").await?,
        "prompt": [prompts[0].name, arguments],
        "messages": messages.collect::<Vec<_>>(),
        "completed": client.complete_prompt("greet", "name", "A").await?.values,
    }))
}

/// The text of a resource, or whether its bytes are each of the 256.
async fn read(client: &Client, uri: &str) -> Seen {
    let contents = client.read_resource(uri).await?.contents;
    Ok(match &contents[0] {
        ResourceContents::Text(text) => json!(text.text),
        ResourceContents::Blob(blob) => json!(content::from_base64(&blob.blob)?.into_iter().eq(0..=255)),
        _ => Value::Null,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [kind, mode, target, rest @ ..] = &arguments[..] else {
        return Err(
            "what to see (\"tools\" or \"surface\"), how to connect (\"auto\" or \"legacy\"), and a URL or a command"
                .into(),
        );
    };
    let (sender, asked) = mpsc::unbounded_channel();
    let (person, logs) = (Asked(sender.clone()), sender);
    let mut builder = Client::builder()
        .on_elicitation(move |_: ClientContext, question| person.clone().person(question))
        .on_sampling(model)
        .roots(vec![Root::new("file:///work")])
        .on_log(move |it| {
            let data: Option<Value> = serde_json::from_str(it.data.get()).ok();
            drop(logs.send(("log", json!([it.level, data, it.logger]))));
        })
        .on_problem(|problem| eprintln!("problem: {}", problem.message));
    if mode == "legacy" {
        builder = builder.probe(false);
    }
    let client = match target.starts_with("http:") {
        true => builder.connect(target.as_str()).await?,
        false => builder.connect(ChildProcess::new(target).args(rest)).await?,
    };
    let seen = match kind.as_str() {
        "tools" => see_tools(&client).await?,
        _ => see_surface(&client, asked).await?,
    };
    client.close().await;
    println!("{seen}");
    Ok(())
}
