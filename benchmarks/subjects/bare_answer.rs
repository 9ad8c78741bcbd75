//! What the bare servers in Rust answer, whatever they are connected by.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Wanted<'a> {
    #[serde(borrow, rename = "protocolVersion")]
    protocol_version: Cow<'a, str>,
}

#[derive(Serialize)]
struct Response<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
}

#[derive(Serialize)]
struct ToolResult<'a> {
    content: [TextContent<'a>; 1],
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: &'a str,
}

const INITIALIZE: &str =
    r#"{"protocolVersion":"{revision}","capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1.0.0"}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}"#;

/// Answers one message, if it is a request, and ends the answer with a line feed.
pub(crate) fn answer(line: &[u8], output: &mut impl Write) -> io::Result<()> {
    let request: Request<'_> = serde_json::from_slice(line)?;
    let Some(id) = request.id else { return Ok(()) };
    match &*request.method {
        "tools/call" => {
            let call: ToolCall<'_> = serde_json::from_str(request.params.map_or("{}", RawValue::get))?;
            let content = [TextContent {
                r#type: "text",
                text: &call.arguments.text,
            }];
            respond(id, ToolResult { content }, output)
        }
        "initialize" => {
            let wanted: Wanted<'_> = serde_json::from_str(request.params.map_or("{}", RawValue::get))?;
            let result = INITIALIZE.replace("{revision}", &wanted.protocol_version);
            respond(id, raw(&result)?, output)
        }
        "tools/list" => respond(id, raw(TOOLS)?, output),
        "ping" => respond(id, raw("{}")?, output),
        _ => {
            let id = id.get();
            writeln!(
                output,
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
            )
        }
    }
}

fn respond(id: &RawValue, result: impl Serialize, output: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(
        &mut *output,
        &Response {
            jsonrpc: "2.0",
            id,
            result,
        },
    )?;
    output.write_all(b"\n")
}

fn raw(json: &str) -> io::Result<&RawValue> {
    Ok(serde_json::from_str(json)?)
}
