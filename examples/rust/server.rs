//! A server with two tools. Start it from a client: `cargo run --example client`.

use std::time::Duration;

use oxmcp::{Context, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

async fn add(_: Context, Add { a, b }: Add) -> Result<String, ToolError> {
    let sum = a
        .checked_add(b)
        .ok_or_else(|| ToolError::new("the sum does not fit 64 bits"))?;
    Ok(sum.to_string())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    /// How far to count.
    to: u32,
    /// The time between two numbers, in milliseconds.
    #[serde(default)]
    pause_ms: u64,
}

async fn count(ctx: Context, Count { to, pause_ms }: Count) -> Result<String, ToolError> {
    for number in 1..=to {
        ctx.report_progress(number, Some(to.into()), Some("counting"));
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    }
    Ok(format!("counted to {to}"))
}

fn main() -> Result<(), oxmcp::Error> {
    Server::new("example", "1.0")
        .tool("add", "Adds two numbers.", add)
        .tool("count", "Counts, and reports its progress.", count)
        .on_problem(|problem| eprintln!("server: {}", problem.message))
        .run_stdio()
}
