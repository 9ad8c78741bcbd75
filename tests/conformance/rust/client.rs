//! The client that the public conformance suite runs: it does what the scenario in `MCP_CONFORMANCE_SCENARIO` wants of
//! a client. `conformance_client URL`.

use std::error::Error;

use oxmcp::types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, Role, Root, SamplingMessageContentBlock,
    TextContent,
};
use oxmcp::{Client, ClientContext, Elicited, HandlerError};
use serde_json::json;

type Any = serde_json::Value;
type Done = Result<(), Box<dyn Error>>;

/// A person who leaves the form as it is shown, with its defaults, and says yes to all else.
async fn person(_: ClientContext, question: ElicitRequestFormParams) -> Result<Elicited<Any>, HandlerError> {
    let form = serde_json::to_value(&question.requested_schema)?;
    let fields = form["properties"].as_object().cloned().unwrap_or_default();
    let filled = fields.into_iter().filter_map(|(name, field)| {
        let yes = (field["type"] == "boolean").then_some(Any::Bool(true));
        Some((name, field.get("default").cloned().or(yes)?))
    });
    Ok(Elicited::Accepted(filled.collect()))
}

async fn model(_: ClientContext, _: CreateMessageRequestParams) -> Result<CreateMessageResult, HandlerError> {
    let block = SamplingMessageContentBlock::from(TextContent::new("Nothing comes to mind."));
    Ok(CreateMessageResult::new(Role::Assistant, block, "model-1"))
}

async fn connect(url: &str) -> Result<Client, oxmcp::Error> {
    let builder = Client::builder().info("oxmcp conformance client", oxmcp::VERSION);
    let builder = builder
        .on_elicitation(person)
        .on_sampling(model)
        .roots(vec![Root::new("file:///work")])
        .on_problem(|problem| eprintln!("problem: {}", problem.message));
    builder.connect(url).await
}

/// Calls the tools of the list, those with parameters in header fields as well.
async fn call_each(client: &Client, arguments: Any) -> Done {
    for tool in client.list_tools().await? {
        client.call_tool(&tool.name, &arguments).await?;
    }
    Ok(())
}

async fn use_all(client: &Client) -> Done {
    call_each(client, json!({})).await?;
    for resource in client.list_resources().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        client.get_prompt(&prompt.name, ()).await?;
    }
    Ok(())
}

/// Makes the calls that the scenario names.
async fn call_named(client: &Client) -> Done {
    let context: Any = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    client.list_tools().await?;
    for call in context["toolCalls"].as_array().ok_or("the context names no calls")? {
        let name = call["name"].as_str().ok_or("a call has no name")?;
        client.call_tool(name, &call["arguments"]).await?;
    }
    Ok(())
}

/// Calls tools that ask for input, and another one while an answer is being found.
async fn take_rounds(client: &Client) -> Done {
    client.list_tools().await?;
    let asking = client.call_tool("test_mrtr_echo_state", ());
    let other = client.call_tool("test_mrtr_unrelated", ());
    let (asked, called) = tokio::join!(asking, other);
    asked?;
    called?;
    client.call_tool("test_mrtr_no_state", ()).await?;
    client.call_tool("test_mrtr_no_result_type", ()).await?;
    Ok(())
}

/// Sends a schema back as it came.
async fn echo_schema(client: &Client) -> Done {
    let tools = client.list_tools().await?;
    let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = &tool.ok_or("the tool is not in the list")?.input_schema;
    client.call_tool("json_schema_echo", json!({"schema": schema})).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let url = std::env::args().nth(1).ok_or("the address of a server is missing")?;
    let client = connect(&url).await?;
    match scenario.as_str() {
        // Their servers offer nothing.
        "initialize" | "request-metadata" => {}
        "json-schema-ref-no-deref" => drop(client.list_tools().await?),
        "tools_call" => call_each(&client, json!({"a": 2, "b": 3})).await?,
        "elicitation-sep1034-client-defaults" | "sse-retry" => call_each(&client, json!({})).await?,
        "http-invalid-tool-headers" => call_each(&client, json!({"region": "us-west1"})).await?,
        "http-standard-headers" => use_all(&client).await?,
        "http-custom-headers" => call_named(&client).await?,
        "sep-2322-client-request-state" => take_rounds(&client).await?,
        "json-schema-2020-12-preservation" => echo_schema(&client).await?,
        other => return Err(format!("the scenario \"{other}\" is not known here").into()),
    }
    client.close().await;
    Ok(())
}
