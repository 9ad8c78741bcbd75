//! Tools that ask the client for something while they run (2025-11-25).

use oxmcp::types::{CreateMessageRequestParams, Role, content};
use oxmcp::{Context, NoArguments, Server, ToolError};
use serde_json::json;

use super::Any;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Prompt {
    /// What the model is asked.
    prompt: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Message {
    /// What the person is asked.
    message: String,
}

async fn sampling(ctx: Context, Prompt { prompt }: Prompt) -> Result<String, ToolError> {
    let messages = vec![content::said(Role::User, prompt)];
    let answer = ctx.sample(CreateMessageRequestParams::new(100, messages)).await?;
    Ok(format!("LLM response: {}", content::sampled_text(&answer)))
}

/// Asks the person, and tells what came.
async fn elicit(ctx: &Context, message: &str, schema: Any, told: &str) -> Result<String, ToolError> {
    let params = json!({"message": message, "requestedSchema": schema});
    let answer: Any = ctx.ask("elicitation/create", params).await?;
    Ok(format!(
        "{told}: action={}, content={}",
        answer["action"], answer["content"]
    ))
}

async fn elicitation(ctx: Context, Message { message }: Message) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {"response": {"type": "string", "description": "Your answer"}},
        "required": ["response"],
    });
    elicit(&ctx, &message, schema, "User response").await
}

async fn defaults(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
        "required": [],
    });
    elicit(&ctx, "Please check the defaults.", schema, "Elicitation completed").await
}

async fn enums(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
        "required": [],
    });
    elicit(&ctx, "Please choose.", schema, "Elicitation completed").await
}

pub(crate) fn add(server: Server) -> Server {
    server
        .tool("test_sampling", "Asks the model.", sampling)
        .tool("test_elicitation", "Asks the person.", elicitation)
        .tool("test_elicitation_sep1034_defaults", "Asks with defaults.", defaults)
        .tool("test_elicitation_sep1330_enums", "Asks for choices.", enums)
}
