//! The native library of the Kotlin and Swift packages without a host language: its verbs, called from Rust. What a package
//! takes longer than this is the border's and its language's.

use std::error::Error;

use oxmcp_uniffi::{Endpoint, Happening, Registry, Reply};

const SPEC: &str = r#"{"info":{"name":"bench","version":"1.0.0"},"settings":{},"server":"stdio"}"#;
const ECHO: &str = r#"{"add":{"kind":"tool","key":"echo","checks":{"input":true},"descriptor":{"name":"echo","description":"Answers with the text it was given.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}}}"#;
const BATCH: u32 = 256;

#[derive(serde::Deserialize)]
struct Echo {
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.command(ECHO)?;
    let endpoint = Endpoint::open(SPEC, &registry, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    loop {
        let events = runtime.block_on(endpoint.next_events(BATCH));
        if events.is_empty() {
            return Ok(());
        }
        for event in events {
            if let Happening::Call { id, params, .. } = event.what {
                let Echo { text } = serde_json::from_str(params.as_deref().unwrap_or("{}"))?;
                endpoint.respond(event.connection, id, Reply::Text { text })?;
            }
        }
    }
}
