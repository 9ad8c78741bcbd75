//! One echo tool on rmcp's streamable HTTP service in axum. `nodelay` or `defaults`, then `json` or `sse`: rmcp answers by
//! JSON only where it keeps no sessions.

use axum::serve::ListenerExt;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};

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
    let is_given = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let (nodelay, json) = (is_given("nodelay"), is_given("json"));
    let mut config = StreamableHttpServerConfig::default().with_json_response(json);
    config.legacy_session_mode = !json;
    let service = StreamableHttpService::new(|| Ok(Bench), LocalSessionManager::default().into(), config);
    let app = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(move |stream| {
        if nodelay {
            let _ = stream.set_nodelay(true);
        }
    });
    Ok(axum::serve(listener, app).await?)
}
