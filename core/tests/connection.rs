//! How a connection is made, by which revision, and what each side knows of the other.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxmcp::{
    CacheHints, Client, Context, Direction, ErrorKind, Keyring, NoArguments, Revision, SealKey, Server, transport,
};
use serde_json::{Value, json};
use support::{ERAS, pair, pair_with};

/// The methods that a client sends.
fn tracing() -> (oxmcp::ClientBuilder, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let sent = Arc::clone(&seen);
    let builder = Client::builder().on_trace(move |direction, line| {
        let line: Value = serde_json::from_str(line).unwrap();
        if direction == Direction::Sent {
            sent.lock()
                .unwrap()
                .push(line["method"].as_str().unwrap_or("answer").to_owned());
        }
    });
    (builder, seen)
}

#[tokio::test]
async fn a_client_finds_out_what_a_server_speaks() {
    for (revisions, spoken, sent) in [
        (&Revision::ALL[..], Revision::V2026_07_28, &["server/discover"][..]),
        (
            &[Revision::V2025_06_18],
            Revision::V2025_06_18,
            &["server/discover", "initialize", "notifications/initialized"],
        ),
    ] {
        let server = Server::new("test", "1.0").revisions(revisions.iter().copied());
        let (near, far) = transport::memory();
        tokio::spawn(server.serve(far));
        let (builder, seen) = tracing();
        let client = builder.connect(near).await.unwrap();
        assert_eq!(client.peer().revision, spoken);
        assert_eq!(*seen.lock().unwrap(), sent);
        assert_eq!(client.server_info().name, "test");
        client.close().await;
    }
}

#[tokio::test]
async fn a_client_that_does_not_ask_shakes_hands() {
    let (near, far) = transport::memory();
    tokio::spawn(Server::new("test", "1.0").serve(far));
    let (builder, seen) = tracing();
    let client = builder.probe(false).connect(near).await.unwrap();
    assert_eq!(client.peer().revision, Revision::V2025_11_25);
    assert_eq!(*seen.lock().unwrap(), ["initialize", "notifications/initialized"]);
}

#[tokio::test]
async fn sides_without_a_common_revision_do_not_connect() {
    let (near, far) = transport::memory();
    tokio::spawn(Server::new("test", "1.0").revisions([Revision::V2026_07_28]).serve(far));
    let builder = Client::builder().revisions([Revision::V2024_11_05]);
    assert_eq!(builder.connect(near).await.unwrap_err().fault(), oxmcp::Fault::Peer);
}

#[tokio::test]
async fn a_handler_knows_who_calls() {
    let server = Server::new("test", "1.0").tool("who", "Says who.", |ctx: Context, _: NoArguments| async move {
        let caller = ctx.caller().unwrap();
        let info = caller.client_info.unwrap();
        let meta = caller.meta.get("com.example/k").map(|it| it.get().to_owned());
        let roots = caller.capabilities.roots.is_some();
        Ok(format!(
            "{} {} {} {roots} {meta:?}",
            info.name, info.version, caller.revision
        ))
    });
    for era in ERAS {
        let builder = Client::builder().info("ada", "7").roots(Vec::new());
        let (client, _) = pair_with(&server, builder, era).await;
        let params = json!({"name": "who", "arguments": {}, "_meta": {"com.example/k": 1}});
        let result = client.request("tools/call", params).await.unwrap();
        let result: oxmcp::CallToolResult = serde_json::from_str(result.get()).unwrap();
        assert_eq!(result.text(), format!("ada 7 {era} true Some(\"1\")"));
    }
}

#[tokio::test]
async fn what_a_server_says_of_itself_reaches_the_client() {
    let server = Server::new("test", "1.0")
        .title("Test")
        .instructions("Be nice.")
        .capabilities(json!({"tools": {"listChanged": false}, "experimental": {"x": {}}}))
        .tool("t", "T.", |_: Context, _: NoArguments| async { Ok(()) });
    for era in ERAS {
        let client = pair(&server, era).await;
        assert_eq!(client.server_info().title.as_deref(), Some("Test"));
        assert_eq!(client.peer().instructions.as_deref(), Some("Be nice."));
        let capabilities = client.server_capabilities();
        assert_eq!(capabilities.tools.unwrap().list_changed, Some(false));
        assert!(capabilities.experimental.unwrap().get("x").is_some());
        assert!(capabilities.prompts.is_none() && capabilities.completions.is_none());
    }
}

#[tokio::test]
async fn what_is_fresh_is_not_asked_for_again_unless_it_is_wanted() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let hints = CacheHints {
        ttl: Duration::from_secs(3600),
        public: false,
    };
    let server = Server::new("test", "1.0")
        .cache(hints)
        .resource("app://1", "r", move |_: Context| {
            let read = counted.fetch_add(1, Ordering::SeqCst);
            async move { Ok(read.to_string()) }
        });
    for (era, expected) in ERAS.into_iter().zip([3, 2]) {
        reads.store(0, Ordering::SeqCst);
        let client = pair(&server, era).await;
        client.read_resource("app://1").await.unwrap();
        client.read_resource("app://1").await.unwrap();
        client.read_resource("app://1").fresh().await.unwrap();
        assert_eq!(reads.load(Ordering::SeqCst), expected, "{era}");
    }
    reads.store(0, Ordering::SeqCst);
    let (client, _) = pair_with(&server, Client::builder().response_cache(false), ERAS[1]).await;
    client.read_resource("app://1").await.unwrap();
    client.read_resource("app://1").await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_a_round_keeps_is_good_for_servers_with_the_same_keys_and_for_its_time() {
    let keys = |byte: u8| Keyring::new(SealKey::from_bytes(&[byte; 32]).unwrap());
    let server = |byte| {
        Server::new("test", "1.0").state_keys(keys(byte)).tool(
            "ask",
            "Asks.",
            |ctx: Context, _: NoArguments| async move {
                let roots = ctx.list_roots().await?;
                Ok(roots.len().to_string())
            },
        )
    };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    });
    let start = async |server: &Server| {
        let (mut peer, transport) = support::peer();
        tokio::spawn(server.serve(transport));
        let params = json!({"name": "ask", "arguments": {}, "_meta": meta});
        let asked = peer.request(1, "tools/call", params).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        asked["result"]["requestState"].clone()
    };
    let state = start(&server(1)).await;
    let go_on = async |server: Server, state: &Value| {
        let (mut peer, transport) = support::peer();
        tokio::spawn(server.serve(transport));
        let params = json!({
            "name": "ask", "arguments": {}, "_meta": meta, "requestState": state,
            "inputResponses": {"1": {"roots": [{"uri": "file:///a"}]}},
        });
        peer.request(2, "tools/call", params).await
    };
    let same = go_on(server(1), &state).await;
    assert_eq!(same["result"]["content"][0]["text"], "1", "{same}");
    for other in [server(2), server(1).principal("eve")] {
        assert_eq!(go_on(other, &state).await["error"]["code"], -32602);
    }
    let short = server(1).state_ttl(Duration::ZERO);
    let expired = start(&short).await;
    assert_eq!(go_on(short, &expired).await["error"]["code"], -32602);
}

#[tokio::test]
async fn results_are_checked_against_the_schemas_that_were_listed() {
    let listed = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["n"]}}]});
    for (checks, kind) in [(true, Some(ErrorKind::Protocol)), (false, None)] {
        let (client, mut peer) = support::connect(Client::builder().validate_results(checks)).await;
        let serve = async {
            let request = peer.receive().await;
            peer.answer(&request, listed.clone()).await;
            let request = peer.receive().await;
            peer.answer(&request, json!({"content": [], "structuredContent": {}}))
                .await;
        };
        let call = async {
            client.list_tools().await.unwrap();
            client.call_tool("t", ()).await
        };
        let (outcome, ()) = tokio::join!(call, serve);
        assert_eq!(outcome.err().map(|error| error.kind()), kind);
    }
}
