//! A server inside an app of axum, beside its other routes.
//! Start it with `cargo run -p oxmcp --features http --example http_axum`.

use axum::Router;
use axum::routing::get;
use oxmcp::{Context, NoArguments, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("clock", "1.0").tool("now", "Tells the time.", |_: Context, _: NoArguments| async {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        Ok(format!("{} seconds since 1970", since.as_secs()))
    });
    // Under which name it is reached decides which requests it serves.
    let service = server.http().host("mcp.example.com").build()?;
    let streams = service.clone();
    let app = Router::new()
        .route("/", get(|| async { "There is a clock at /mcp." }))
        .route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let closing = async move {
        // Without a signal there is nothing to wait for.
        let _ = tokio::signal::ctrl_c().await;
        streams.end_streams();
    };
    axum::serve(listener, app).with_graceful_shutdown(closing).await?;
    Ok(())
}
