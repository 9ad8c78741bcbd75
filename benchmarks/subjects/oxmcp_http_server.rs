//! oxmcp from Rust, over HTTP. It answers each line `stats` on its stdin by what it holds, for the soak.

use std::io::BufRead;

use oxmcp::http::{HttpService, HttpStats};
use oxmcp::{Context, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(_: Context, Echo { text }: Echo) -> Result<String, ToolError> {
    Ok(text)
}

/// Until its client leaves.
async fn wait(_: Context, _: Echo) -> Result<String, ToolError> {
    std::future::pending().await
}

fn tell(service: &HttpService) {
    for line in std::io::stdin().lock().lines() {
        if line.is_ok_and(|line| line == "stats") {
            let HttpStats {
                sessions,
                connections,
                calls,
            } = service.stats();
            println!(r#"{{"sessions":{sessions},"connections":{connections},"calls":{calls}}}"#);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), oxmcp::Error> {
    let server = Server::new("bench", "1.0")
        .tool("echo", "Answers with the text it was given.", echo)
        .tool("wait", "Waits.", wait);
    let serving = server.http().max_sessions(20_000).bind(0).await?;
    println!("http://{}/mcp", serving.local_addr());
    let service = serving.handle().service().clone();
    std::thread::spawn(move || tell(&service));
    serving.await
}
