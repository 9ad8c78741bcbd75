//! What a handler is told of the HTTP request that brought its call.

use oxmcp::{Context, NoArguments, Server, ToolError};
use serde_json::{Value, json};

use super::wire::{Request, call, initialize};
use super::{Wire, within};

/// A layer before the service knows who calls.
#[derive(Clone, Debug)]
struct User(&'static str);

/// Tells what it sees of its request.
async fn origin(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let request = ctx.http_request().ok_or_else(|| ToolError::new("there is none"))?;
    let header = request.headers.get("x-test").and_then(|value| value.to_str().ok());
    let user = request.extensions.get::<User>().map(|user| user.0);
    let session = ctx.session_id();
    Ok(json!([request.uri.path(), header, user, session.as_deref()]).to_string())
}

fn server() -> Server {
    Server::new("test", "1.0").tool("origin", "Tells where a call came from.", origin)
}

fn seen(body: &Value) -> Value {
    let text = body["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{body}"))).unwrap()
}

#[tokio::test]
async fn a_handler_sees_the_request_that_brought_its_call() {
    let serving = server().http().http_sse().bind(0).await.unwrap();
    let port = serving.local_addr().port();
    let served = tokio::spawn(serving);
    let mut wire = Wire::open(port).await;

    let modern = Request::modern(1, "tools/call", json!({"name": "origin", "arguments": {}}));
    let (_, body) = wire.json(&modern.clone().field("X-Test", "first")).await;
    assert_eq!(seen(&body), json!(["/mcp", "first", null, null]));

    let session = wire.initialize("2025-06-18").await;
    let legacy = |id| Request::of(&session, &call(id, "origin"));
    for (id, header) in [(2, "second"), (3, "third")] {
        let (_, body) = wire.json(&legacy(id).field("X-Test", header)).await;
        assert_eq!(seen(&body), json!(["/mcp", header, null, session]));
    }
    let events = legacy(4).without("Accept").field("Accept", "text/event-stream");
    wire.send(&events.field("X-Test", "fourth")).await;
    assert!(wire.head().await.is_stream());
    assert_eq!(seen(&wire.message().await), json!(["/mcp", "fourth", null, session]));

    // There, it is the request that opened the stream.
    let (mut stream, mut posting) = (Wire::open(port).await, Wire::open(port).await);
    let get = Request::new("GET", None).field("Accept", "text/event-stream");
    stream.send(&get.field("X-Test", "fifth")).await;
    assert!(stream.head().await.is_stream());
    let endpoint = stream.event().await.unwrap().data;
    for request in [initialize("2024-11-05"), Request::post(&call(1, "origin"))] {
        let request = request.target(&endpoint).field("X-Test", "sixth");
        assert_eq!(posting.call(&request).await.0.status, 202);
    }
    within(stream.message()).await;
    assert_eq!(seen(&within(stream.message()).await)[1], "fifth");
    served.abort();
}

/// What a middleware found out goes with the request.
#[tokio::test]
async fn a_handler_sees_what_layers_added_to_the_request() {
    let service = server().http().build().unwrap();
    let add = |mut request: axum::extract::Request, next: axum::middleware::Next| async move {
        request.extensions_mut().insert(User("ada"));
        next.run(request).await
    };
    let app = axum::Router::new().route_service("/in/an/app", service);
    let app: axum::Router = app.layer(axum::middleware::from_fn(add));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let modern = Request::modern(1, "tools/call", json!({"name": "origin", "arguments": {}}));
    let (_, body) = Wire::open(port).await.json(&modern.target("/in/an/app")).await;
    assert_eq!(seen(&body), json!(["/in/an/app", null, "ada", null]));
    served.abort();
}
