//! Asks a weather server over HTTP. Start `http_server` first, then this:
//! `cargo run -p oxmcp --features http --example http_client [URL [TOKEN]]`. The URL is `http://127.0.0.1:8000/mcp`
//! unless another one is given; a token goes into the header `Authorization`.

use oxmcp::transport::Http;
use oxmcp::types::ElicitRequestFormParams;
use oxmcp::{Client, ClientContext, Elicited, Error};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .unwrap_or_else(|| "http://127.0.0.1:8000/mcp".to_owned());
    if let Err(error) = run(&url, arguments.next()).await {
        eprintln!("{error}");
        if let Some(status) = error.http_status() {
            eprintln!("HTTP status {status}: {}", error.data().unwrap_or_default());
        }
        if error.is_retryable() {
            eprintln!("It may help to try again.");
        }
        std::process::exit(1);
    }
}

async fn run(url: &str, token: Option<String>) -> Result<(), Error> {
    let server = match token {
        Some(token) => Http::new(url).header("Authorization", format!("Bearer {token}")),
        None => Http::new(url),
    };
    let client = Client::builder()
        .info("weather-client", "1.0")
        .on_elicitation(|_: ClientContext, question: ElicitRequestFormParams| async move {
            println!("asked: {}", question.message);
            Ok(Elicited::Accepted(json!({"ahead": 0})))
        })
        .on_problem(|problem| eprintln!("{}", problem.message))
        .connect(server)
        .await?;
    println!(
        "connected to {}, revision {}",
        client.server_info().name,
        client.peer().revision
    );

    for tool in client.list_tools().await? {
        println!("tool {}: {}", tool.name, tool.description.unwrap_or_default());
    }
    let told = client
        .call_tool("weather", json!({"city": "Oslo"}))
        .on_progress(|it| println!("progress {} of {}", it.progress, it.total.unwrap_or_default()))
        .await?;
    println!("{}", told.text());

    client.close().await;
    Ok(())
}
