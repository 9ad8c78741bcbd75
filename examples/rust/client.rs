//! Starts a server and calls its tools. `cargo run --example client` starts the server beside it; any
//! other can be given with its arguments, as long as it has the same tools.

use std::error::Error;
use std::ffi::OsString;
use std::time::Duration;

use oxmcp::{ChildProcess, Client};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder()
        .info("example-client", "1.0")
        .connect(server()?)
        .await?;
    println!(
        "connected to {}, revision {}",
        client.server_info().name,
        client.peer().revision
    );

    for tool in client.list_tools().await? {
        println!("tool {}: {}", tool.name, tool.description.unwrap_or_default());
    }

    let sum = client.call_tool("add", json!({"a": 2, "b": 3})).await?;
    println!("2 + 3 = {}", sum.text());

    let wrong = client.call_tool("add", json!({"a": 2})).await?;
    println!("failed: {}, {}", wrong.is_error, wrong.text());

    let counted = client
        .call_tool("count", json!({"to": 3}))
        .timeout(Duration::from_secs(10))
        .on_progress(|it| println!("progress {} of {}", it.progress, it.total.unwrap_or_default()))
        .await?;
    println!("{}", counted.text());

    // A call that is no longer wanted is dropped, and the server stops working on it.
    let long = client.call_tool("count", json!({"to": 1000, "pause_ms": 1000}));
    let cut_short = tokio::time::timeout(Duration::from_millis(50), long).await;
    println!("cut short: {}", cut_short.is_err());

    client.close().await;
    Ok(())
}

fn server() -> Result<ChildProcess, Box<dyn Error>> {
    let mut command = std::env::args_os().skip(1);
    let beside_us = || Ok::<OsString, Box<dyn Error>>(std::env::current_exe()?.with_file_name("server").into());
    let program = command.next().map_or_else(beside_us, Ok)?;
    Ok(ChildProcess::new(program).args(command))
}
