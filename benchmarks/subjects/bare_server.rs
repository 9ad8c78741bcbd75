//! The least a stdio MCP server in Rust can do: read lines, look at the method and the id, answer. No state, no
//! validation, no concurrency. It is the yardstick of the benchmarks, not an example of a good server.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

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
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1.0.0"}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}"#;

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        answer(&line, &mut output)?;
        line.clear();
        // Replies leave together when nothing more is at hand; the next read may block.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()
}

fn answer(line: &[u8], output: &mut impl Write) -> io::Result<()> {
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
        "initialize" => respond(id, raw(INITIALIZE)?, output),
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
