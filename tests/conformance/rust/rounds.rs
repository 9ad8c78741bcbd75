//! Tools that need input before they can be served, in rounds (2026-07-28).

use oxmcp::jsonrpc::{ErrorCode, ErrorObject};
use oxmcp::types::{CreateMessageRequestParams, PromptMessage, Role, content};
use oxmcp::{Context, HandlerError, InputRequired, NoArguments, Server, ToolError};
use serde_json::json;

use super::Any;

/// The params of a question with one field.
fn question(message: &str, field: &str, kind: &str) -> Any {
    json!({
        "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": kind}}, "required": [field]},
    })
}

/// Asks the person for one value, under this key.
async fn ask(ctx: &Context, key: &str, field: &str, kind: &str) -> Result<Any, oxmcp::Error> {
    let params = question("Please fill this in.", field, kind);
    let mut answer: Any = ctx.ask("elicitation/create", params).key(key).await?;
    Ok(answer["content"][field].take())
}

fn message(tokens: i64, text: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(tokens, vec![content::said(Role::User, text)])
}

async fn elicitation(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let name = ask(&ctx, "user_name", "name", "string").await?;
    Ok(format!("Hello, {}!", name.as_str().unwrap_or("stranger")))
}

async fn sampling(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let answer = ctx.sample(message(100, "What is the capital of France?")).await?;
    Ok(content::sampled_text(&answer))
}

async fn list_roots(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let roots = ctx.list_roots().await?;
    Ok(format!("{} roots", roots.len()))
}

/// Keeps something for the next round.
async fn with_state(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let confirmed = ctx
        .input_responses()
        .is_some_and(|answers| answers.get("confirm").is_some());
    match ctx.request_state() {
        Some(state) if confirmed => Ok(format!("state-ok: {state}")),
        _ => {
            let params = question("Go on?", "ok", "boolean");
            let required = InputRequired::new().request("confirm", "elicitation/create", params);
            Err(required.state("asked").into())
        }
    }
}

async fn multiple(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let answers = ctx.input_responses().unwrap_or_default();
    let keys = ["user_name", "greeting", "client_roots"];
    if keys.iter().all(|key| answers.get(key).is_some()) {
        return Ok("all inputs came".to_owned());
    }
    let required = InputRequired::new()
        .request(
            "user_name",
            "elicitation/create",
            question("Who are you?", "name", "string"),
        )
        .sample("greeting", message(50, "Write a greeting."))
        .roots("client_roots");
    Err(required.state("three at once").into())
}

async fn multi_round(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let name = ask(&ctx, "step1", "name", "string").await?;
    let color = ask(&ctx, "step2", "color", "string").await?;
    Ok(format!("{name} likes {color}"))
}

async fn by_capabilities(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let capabilities = ctx.caller().map(|caller| caller.capabilities).unwrap_or_default();
    let mut required = InputRequired::new();
    let answers = ctx.input_responses().unwrap_or_default();
    let mut open = false;
    if capabilities.sampling.is_some() && answers.get("capital").is_none() {
        required = required.sample("capital", message(50, "Write a greeting."));
        open = true;
    }
    if capabilities.elicitation.is_some() && answers.get("user_name").is_none() {
        let params = question("Who are you?", "name", "string");
        required = required.request("user_name", "elicitation/create", params);
        open = true;
    }
    if open {
        Err(required.into())
    } else {
        Ok("nothing is open".to_owned())
    }
}

async fn needs_sampling(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    let has = ctx
        .caller()
        .is_some_and(|caller| caller.capabilities.sampling.is_some());
    if has {
        return Ok("The client can sample.");
    }
    let why = "this tool needs a client that can sample";
    let error = ErrorObject::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, why);
    let needed = json!({"requiredCapabilities": {"sampling": {}}});
    Err(ToolError::protocol(error.with_data(&needed)))
}

async fn prompt(ctx: Context, _: NoArguments) -> Result<Vec<PromptMessage>, HandlerError> {
    let context = ask(&ctx, "user_context", "context", "string").await?;
    Ok(vec![PromptMessage::new(
        Role::User,
        content::text(format!("Mind this: {context}")),
    )])
}

pub(crate) fn add(server: Server) -> Server {
    server
        .tool(
            "test_missing_capability",
            "Needs a client that can sample.",
            needs_sampling,
        )
        .tool("test_streaming_elicitation", "Asks the person.", elicitation)
        .tool(
            "test_input_required_result_elicitation",
            "Asks for a name.",
            elicitation,
        )
        .tool("test_input_required_result_sampling", "Asks the model.", sampling)
        .tool(
            "test_input_required_result_list_roots",
            "Asks for the roots.",
            list_roots,
        )
        .tool("test_input_required_result_request_state", "Keeps a state.", with_state)
        .tool(
            "test_input_required_result_multiple_inputs",
            "Asks for three things.",
            multiple,
        )
        .tool("test_input_required_result_multi_round", "Asks twice.", multi_round)
        .tool(
            "test_input_required_result_tampered_state",
            "Keeps a state.",
            with_state,
        )
        .tool(
            "test_input_required_result_capabilities",
            "Asks for what the client can do.",
            by_capabilities,
        )
        .prompt("test_input_required_result_prompt", "Asks for context.", prompt)
}
