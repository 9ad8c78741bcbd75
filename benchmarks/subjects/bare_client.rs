//! The least a stdio MCP client in Rust can do: write a request, read a line, look at the id and the text. It is the
//! yardstick of the benchmarks' clients and keeps to their rules (see the README): same arguments, same phases, same
//! JSON line at the end.

mod measure;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use measure::{Load, Plan, Result, cpu_seconds, text};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: Call<'a>,
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'static str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct Response<'a> {
    id: u64,
    #[serde(borrow)]
    result: ToolResult<'a>,
}

#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow)]
    content: Vec<TextContent<'a>>,
}

#[derive(Deserialize)]
struct TextContent<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}
"#;
const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

fn main() -> Result<()> {
    let Plan {
        warmup,
        calls,
        pipelined,
        window,
        command,
    } = Plan::read()?;

    let begin = Instant::now();
    let mut client = Client::connect(&command)?;
    let connect_ms = begin.elapsed().as_secs_f64() * 1e3;

    client.sequential(warmup / 2)?;
    client.pipelined(warmup - warmup / 2, window)?;
    let times = client.sequential(calls)?;
    let cpu = cpu_seconds();
    let begin = Instant::now();
    client.pipelined(pipelined, window)?;
    let elapsed = begin.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;

    let load = Load {
        times,
        elapsed,
        cpu,
        pipelined,
    };
    load.report(connect_ms, client.last_id)?;
    client.close()
}

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    last_id: u64,
}

impl Client {
    fn connect(command: &[String]) -> Result<Self> {
        let (program, arguments) = command.split_first().ok_or("no server command given")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        input.write_all(INITIALIZE)?;
        let mut client = Self {
            child,
            input,
            output: BufReader::with_capacity(64 * 1024, output),
            line: Vec::new(),
            last_id: 0,
        };
        client.read_line()?;
        let answer: serde_json::Value = serde_json::from_slice(&client.line)?;
        if answer["id"] != 0 || answer["result"]["protocolVersion"] != "2025-06-18" {
            return Err(format!("unexpected answer to initialize: {answer}").into());
        }
        client.input.write_all(INITIALIZED)?;
        Ok(client)
    }

    /// Calls one after the other; the round trip times in microseconds.
    fn sequential(&mut self, calls: u64) -> Result<Vec<f64>> {
        let mut request = Vec::new();
        let mut times = Vec::with_capacity(usize::try_from(calls)?);
        for _ in 0..calls {
            let begin = Instant::now();
            request.clear();
            let id = self.write_call(&mut request)?;
            self.input.write_all(&request)?;
            self.read_line()?;
            let answered = check(&self.line)?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            if answered != id {
                return Err(format!("call {id} got the answer of {answered}").into());
            }
        }
        Ok(times)
    }

    /// Calls with at most `window` of them unanswered; those that become due together are written together.
    fn pipelined(&mut self, calls: u64, window: u64) -> Result<()> {
        let mut request = Vec::new();
        let mut pending = HashSet::new();
        let (mut sent, mut answered) = (0, 0);
        while answered < calls {
            if self.output.buffer().is_empty() {
                request.clear();
                while sent < calls && sent - answered < window {
                    pending.insert(self.write_call(&mut request)?);
                    sent += 1;
                }
                self.input.write_all(&request)?;
            }
            self.read_line()?;
            let id = check(&self.line)?;
            if !pending.remove(&id) {
                return Err(format!("an answer to {id}, which is not pending").into());
            }
            answered += 1;
        }
        Ok(())
    }

    fn write_call(&mut self, request: &mut Vec<u8>) -> Result<u64> {
        self.last_id += 1;
        let id = self.last_id;
        let arguments = Arguments { text: &text(id) };
        let params = Call {
            name: "echo",
            arguments,
        };
        serde_json::to_writer(
            &mut *request,
            &Request {
                jsonrpc: "2.0",
                id,
                method: "tools/call",
                params,
            },
        )?;
        request.push(b'\n');
        Ok(id)
    }

    fn read_line(&mut self) -> Result<()> {
        self.line.clear();
        match self.output.read_until(b'\n', &mut self.line)? {
            0 => Err("the server closed its output".into()),
            _ => Ok(()),
        }
    }

    fn close(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}

/// The id that a reply answers, once its text is known to be the one that was sent with that id.
fn check(line: &[u8]) -> Result<u64> {
    let response: Response<'_> = serde_json::from_slice(line)?;
    match response.result.content.as_slice() {
        [content] if content.text == text(response.id) => Ok(response.id),
        _ => Err(format!("wrong text in {}", String::from_utf8_lossy(line)).into()),
    }
}
