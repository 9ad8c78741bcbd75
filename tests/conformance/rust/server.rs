//! The server that the public conformance suite is run against: it offers what the suite's scenarios call.
//! `conformance_server [PORT]` prints its address.

mod asking;
mod content;
mod rounds;

use std::time::Duration;

use oxmcp::types::{JsonObject, Tool};
use oxmcp::{Context, LogLevel, NoArguments, Offers, PromptOffer, Server, ToolError, ToolOffer};

type Any = serde_json::Value;

async fn progress(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    for done in [0, 50, 100] {
        ctx.report_progress(done, Some(100.0), None);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok("done")
}

async fn logging(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    let stages = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    for stage in stages {
        ctx.log(LogLevel::Info, None, stage);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok("logged")
}

async fn reconnection(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    ctx.end_stream();
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok("The client came back for this.")
}

const CONTACT: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;

const REGION: &str = r#"{
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"]
}"#;

/// A tool with a schema as it is written here.
fn raw(name: &str, description: &str, schema: &str) -> ToolOffer {
    let schema = JsonObject::parse(schema).expect("the schema is an object");
    let mut tool = Tool::new(name, schema);
    tool.description = Some(description.to_owned());
    ToolOffer::raw(tool, |_: Context, arguments: JsonObject| async move {
        Ok(format!("called with {}", arguments.get()))
    })
}

/// Something that comes and goes, so that clients are told.
fn trigger_tools(server: Server, offers: Offers) -> Server {
    let prompts = offers.clone();
    let tool = move |_: Context, _: NoArguments| {
        let passing = ToolOffer::new("test_passing", "Comes and goes.", content::simple_text);
        let changed = offers.add(passing).map(|tool| tool.remove());
        async move { Ok(format!("changed: {}", changed?)) }
    };
    let prompt = move |_: Context, _: NoArguments| {
        let passing = PromptOffer::new("test_passing", "Comes and goes.", content::simple_prompt);
        let changed = prompts.add(passing).map(|prompt| prompt.remove());
        async move { Ok(format!("changed: {}", changed?)) }
    };
    server
        .tool("test_trigger_tool_change", "Changes the list of tools.", tool)
        .tool("test_trigger_prompt_change", "Changes the list of prompts.", prompt)
}

fn server() -> Server {
    let server = Server::new("oxmcp conformance server", oxmcp::VERSION)
        .subscriptions(true)
        .on_problem(|problem| eprintln!("problem: {}", problem.message));
    let server = content::add(server)
        .tool("test_tool_with_progress", "Reports its progress.", progress)
        .tool("test_tool_with_logging", "Logs what it does.", logging)
        .tool("test_logging_tool", "Logs what it does.", logging)
        .tool("test_reconnection", "Ends its stream before it is done.", reconnection)
        .offer(raw(
            "json_schema_2020_12_tool",
            "Has a schema of many keywords.",
            CONTACT,
        ))
        .offer(raw("test_x_mcp_header", "Has a parameter in a header.", REGION));
    let server = rounds::add(asking::add(server));
    let offers = server.offers();
    trigger_tools(server, offers)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let serving = server().http().bind(port).await?;
    println!("http://localhost:{}/mcp", serving.local_addr().port());
    Ok(serving.await?)
}
