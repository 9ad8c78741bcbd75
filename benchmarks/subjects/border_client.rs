//! The native library of the Kotlin and Swift packages without a host language, as a client: its verbs, called from Rust.

mod measure;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use measure::{Load, Plan, Result, cpu_seconds, text};
use oxmcp_uniffi::{Endpoint, Happening, Registry, Request};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const BATCH: u32 = 256;

#[derive(Deserialize)]
struct ToolResult {
    content: Vec<TextContent>,
}

#[derive(Deserialize)]
struct TextContent {
    text: String,
}

fn main() -> Result<()> {
    let plan = Plan::read()?;
    let begin = Instant::now();
    let mut client = Client::connect(&plan.command)?;
    let connect_ms = begin.elapsed().as_secs_f64() * 1e3;

    client.sequential(plan.warmup / 2)?;
    client.pipelined(plan.warmup - plan.warmup / 2, plan.window)?;
    let times = client.sequential(plan.calls)?;
    let cpu = cpu_seconds();
    let begin = Instant::now();
    client.pipelined(plan.pipelined, plan.window)?;
    let load = Load {
        times,
        elapsed: begin.elapsed().as_secs_f64(),
        cpu: cpu_seconds() - cpu,
        pipelined: plan.pipelined,
    };
    load.report(connect_ms, client.sent)?;
    client.close()
}

struct Client {
    runtime: Runtime,
    endpoint: Arc<Endpoint>,
    connection: u64,
    /// The texts of calls without an answer.
    pending: HashMap<u64, String>,
    sent: u64,
}

impl Client {
    fn connect(command: &[String]) -> Result<Self> {
        let (program, arguments) = command.split_first().ok_or("no server command given")?;
        let spec = json!({
            "info": {"name": "bench", "version": "1.0.0"},
            "settings": {},
            "client": {"command": {"program": program, "args": arguments}},
        });
        let endpoint = Endpoint::open(&spec.to_string(), &Registry::new(), None)?;
        let mut client = Self {
            runtime: Builder::new_current_thread().build()?,
            connection: endpoint.connection().ok_or("a client has one connection")?,
            endpoint,
            pending: HashMap::new(),
            sent: 0,
        };
        while !client.take_events()?.1 {}
        Ok(client)
    }

    /// Waits for events: how many calls they answer, and whether the handshake is done.
    fn take_events(&mut self) -> Result<(u64, bool)> {
        let events = self.runtime.block_on(self.endpoint.next_events(BATCH));
        if events.is_empty() {
            return Err("the connection has ended".into());
        }
        let (mut answered, mut ready) = (0, false);
        for event in events {
            match event.what {
                Happening::Ready { .. } => ready = true,
                Happening::Result { id, result } => {
                    let wanted = self
                        .pending
                        .remove(&id)
                        .ok_or("an answer to a call that was not made")?;
                    let ToolResult { content } = serde_json::from_str(&result)?;
                    if content.len() != 1 || content[0].text != wanted {
                        return Err(format!("wrong text in {result}").into());
                    }
                    answered += 1;
                }
                Happening::Failed { failure, .. } | Happening::ConnectFailed { failure } => {
                    return Err(failure.message.into());
                }
                _ => {}
            }
        }
        Ok((answered, ready))
    }

    fn begin(&mut self) -> Result<()> {
        self.sent += 1;
        let text = text(self.sent);
        let request = Request::Tool {
            name: "echo".to_owned(),
            arguments: Some(json!({ "text": text }).to_string()),
        };
        let id = self.endpoint.begin(self.connection, request, None)?;
        self.pending.insert(id, text);
        Ok(())
    }

    /// Calls one after the other; the round trip times in microseconds.
    fn sequential(&mut self, calls: u64) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(usize::try_from(calls)?);
        for _ in 0..calls {
            let begin = Instant::now();
            self.begin()?;
            while self.take_events()?.0 == 0 {}
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        Ok(times)
    }

    /// Calls with at most `window` of them unanswered.
    fn pipelined(&mut self, calls: u64, window: u64) -> Result<()> {
        let (mut sent, mut answered) = (0, 0);
        while answered < calls {
            while sent < calls && sent - answered < window {
                self.begin()?;
                sent += 1;
            }
            answered += self.take_events()?.0;
        }
        Ok(())
    }

    fn close(self) -> Result<()> {
        self.endpoint.close(None, "the client was closed");
        while !self.runtime.block_on(self.endpoint.next_events(BATCH)).is_empty() {}
        Ok(())
    }
}
