//! Starts the server with one of everything, and uses all of it. `cargo run --example everything_client` starts the
//! server beside it; with `--handshake` the two speak the newest revision that has one.

use std::error::Error;

use oxmcp::types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, ResourceContents, Role, Root,
    SamplingMessageContentBlock, SubscriptionFilter, TextContent, content,
};
use oxmcp::{ChildProcess, Client, ClientContext, Elicited, HandlerError, LogLevel, Revision};
use serde_json::json;

/// The person. A real client shows the message and the fields of the form.
async fn person(
    _: ClientContext,
    question: ElicitRequestFormParams,
) -> Result<Elicited<serde_json::Value>, HandlerError> {
    let fields: Vec<_> = question
        .requested_schema
        .properties
        .iter()
        .map(|(name, _)| name)
        .collect();
    println!("asked: {} ({})", question.message, fields.join(", "));
    Ok(Elicited::Accepted(json!({"seats": 2, "place": "garden"})))
}

/// The model. A real client asks the person before it lets a server use it.
async fn model(_: ClientContext, asked: CreateMessageRequestParams) -> Result<CreateMessageResult, HandlerError> {
    let text = format!("an answer to {} message", asked.messages.len());
    let block = SamplingMessageContentBlock::from(TextContent::new(text));
    Ok(CreateMessageResult::new(Role::Assistant, block, "model-1"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Client::builder()
        .info("everything-client", "1.0")
        .on_elicitation(person)
        .on_sampling(model)
        .roots(vec![Root::new("file:///home/ada/work")])
        .on_log(|message| println!("log: {} {}", message.level, message.data.get()));
    if std::env::args().any(|argument| argument == "--handshake") {
        builder = builder.revisions([Revision::V2025_11_25]);
    }
    let server = std::env::current_exe()?.with_file_name("everything_server");
    let client = builder.connect(ChildProcess::new(server)).await?;
    println!(
        "connected to {}, revision {}",
        client.server_info().name,
        client.peer().revision
    );
    client.set_logging_level(LogLevel::Info).await?;

    call_tools(&client).await?;
    read_resources(&client).await?;
    fill_in_prompts(&client).await?;
    client.close().await;
    Ok(())
}

async fn call_tools(client: &Client) -> Result<(), oxmcp::Error> {
    for tool in client.list_tools().await? {
        println!("tool {}: {}", tool.name, tool.description.unwrap_or_default());
    }
    println!("{}", client.call_tool("book", ()).await?.text());
    println!(
        "{}",
        client
            .call_tool("summarize", json!({"text": "A long story."}))
            .await?
            .text()
    );
    println!("{}", client.call_tool("folders", ()).await?.text());
    let done = client
        .call_tool("work", json!({"steps": 2}))
        .on_progress(|it| println!("progress {} of {}", it.progress, it.total.unwrap_or_default()))
        .await?;
    println!("{}", done.text());
    Ok(())
}

async fn read_resources(client: &Client) -> Result<(), oxmcp::Error> {
    let mut filter = SubscriptionFilter::default();
    filter.resource_subscriptions = Some(vec!["app://counter".to_owned()]);
    let mut updates = client.listen(filter).await?;
    client.call_tool("raise", ()).await?;
    if let Some(uri) = updates.next().await.and_then(|update| update.uri()) {
        println!("updated: {uri}");
    }
    for uri in ["app://counter", "note://2"] {
        for contents in client.read_resource(uri).await?.contents {
            if let ResourceContents::Text(contents) = contents {
                println!("{}: {}", contents.uri, contents.text);
            }
        }
    }
    if let Err(error) = client.read_resource("note://7").await {
        println!("failed: {}", error.message());
    }
    let ids = client.complete_resource("note://{id}", "id", "").await?;
    println!("notes: {}", ids.values.join(", "));
    Ok(())
}

async fn fill_in_prompts(client: &Client) -> Result<(), oxmcp::Error> {
    let languages = client.complete_prompt("review", "language", "ru").await?;
    println!("languages: {}", languages.values.join(", "));
    let prompt = client
        .get_prompt("review", json!({"language": "rust", "strictness": "5"}))
        .await?;
    for message in prompt.messages {
        println!(
            "{}: {}",
            message.role,
            content::as_text(&message.content).unwrap_or_default()
        );
    }
    Ok(())
}
