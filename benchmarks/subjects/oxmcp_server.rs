//! oxmcp from Rust.

use oxmcp::{Context, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(_: Context, Echo { text }: Echo) -> Result<String, ToolError> {
    Ok(text)
}

fn main() -> Result<(), oxmcp::Error> {
    Server::new("bench", "1.0")
        .tool("echo", "Answers with the text it was given.", echo)
        .run_stdio()
}
