//! The least an MCP server over HTTP in Rust can do: axum, one route, look at the method and the id, answer. No sessions,
//! no validation, no look at the header fields but one. It is the yardstick of the benchmarks, not an example of a good
//! server.

mod bare_answer;

use std::convert::Infallible;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;

async fn serve(headers: HeaderMap, body: Bytes) -> Response {
    let mut answer = Vec::new();
    if bare_answer::answer(&body, &mut answer).is_err() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    answer.pop();
    if answer.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    if headers.get(ACCEPT).is_some_and(|accept| accept == "text/event-stream") {
        let event = Event::default().data(String::from_utf8_lossy(&answer));
        return Sse::new(futures_util::stream::iter([Ok::<_, Infallible>(event)])).into_response();
    }
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/mcp", post(serve))).await
}
