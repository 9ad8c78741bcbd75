//! One echo tool on rmcp, in the form its own documentation recommends: the tool macros, the stdio transport and
//! tokio's default multi-thread runtime.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[derive(Clone)]
struct Bench;

#[tool_router]
impl Bench {
    #[tool(description = "Answers with the text it was given.")]
    async fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tool_handler]
impl ServerHandler for Bench {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Bench.serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}
