//! A weather server over HTTP, for any number of clients at once.
//! Start it with `cargo run -p oxmcp --features http --example http_server 8000`; its endpoint is
//! `http://127.0.0.1:8000/mcp`. Ctrl-C ends it in good order.

use oxmcp::{Context, Elicited, Server, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// The name of a city.
    city: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Day {
    /// How many days from now.
    ahead: u32,
}

async fn weather(ctx: Context, Place { city }: Place) -> Result<String, ToolError> {
    ctx.report_progress(1, Some(2.0), Some("looking out of the window"));
    match ctx.elicit::<Day>("For which day?").await? {
        Elicited::Accepted(Day { ahead: 0 }) => Ok(format!("It is sunny in {city}.")),
        Elicited::Accepted(_) => Err(ToolError::new("nobody knows the weather of tomorrow")),
        Elicited::Declined | Elicited::Cancelled => Ok("As you like.".to_owned()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(8000), |port| port.parse())?;
    let server = Server::new("weather", "1.0")
        .tool("weather", "Tells the weather in a city.", weather)
        .on_problem(|problem| eprintln!("{}", problem.message));
    let serving = server.http().bind(port).await?;
    println!("http://{}/mcp", serving.local_addr());
    let handle = serving.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shut_down();
        }
    });
    Ok(serving.await?)
}
