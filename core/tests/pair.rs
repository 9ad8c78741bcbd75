//! A server and a client of this crate, in one process.

use std::sync::Arc;

use oxmcp::{Client, Context, ErrorKind, NoArguments, Server, ServingHandle, Stats, ToolError, transport};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    number: u32,
}

/// Every second call fails, each in one of the ways there are.
async fn picky(_: Context, Number { number }: Number) -> Result<String, ToolError> {
    if number.is_multiple_of(6) {
        tokio::task::yield_now().await;
    }
    match number % 8 {
        1 => Err(ToolError::new("odd")),
        3 => Err(ToolError::invalid_arguments("odd")),
        5 => {
            tokio::task::yield_now().await;
            Err(ToolError::new("odd, and late"))
        }
        _ => Ok(number.to_string()),
    }
}

fn server() -> Server {
    Server::new("test", "1.0")
        .tool("picky", "Wants even numbers.", picky)
        .tool("hang", "Never ends.", |_: Context, _: NoArguments| async {
            std::future::pending::<()>().await;
            Ok(())
        })
}

async fn pair(server: &Server) -> (Client, ServingHandle) {
    let (near, far) = transport::memory();
    let serving = server.serve(far);
    let handle = serving.handle();
    tokio::spawn(serving);
    (Client::connect(near).await.unwrap(), handle)
}

async fn a_hundred_thousand_calls() {
    let (client, server) = pair(&server()).await;
    let room = Arc::new(Semaphore::new(64));
    let (outcomes, mut ended) = mpsc::unbounded_channel();
    for number in 0..100_000_u32 {
        let permit = Arc::clone(&room).acquire_owned().await.unwrap();
        let (client, outcomes) = (client.clone(), outcomes.clone());
        tokio::spawn(async move {
            let arguments = match number % 8 {
                7 => json!({"number": "seven"}),
                _ => json!({"number": number}),
            };
            let result = client.call_tool("picky", arguments).await.unwrap();
            assert_eq!(result.is_error, number % 2 == 1, "{number}: {}", result.text());
            assert!(result.is_error || result.text() == number.to_string());
            outcomes.send(result.is_error).unwrap();
            drop(permit);
        });
    }
    drop(outcomes);
    let mut failed = 0;
    while let Some(is_error) = ended.recv().await {
        failed += u32::from(is_error);
    }
    assert_eq!(failed, 50_000);
    assert_eq!(client.stats(), Stats::default());
    assert_eq!(server.stats(), Stats::default());
}

#[tokio::test]
async fn a_hundred_thousand_calls_leave_nothing_behind_on_one_thread() {
    a_hundred_thousand_calls().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_calls_leave_nothing_behind_on_two_threads() {
    a_hundred_thousand_calls().await;
}

#[tokio::test]
async fn ten_thousand_dropped_calls_leave_nothing_behind() {
    let (client, server) = pair(&server()).await;
    for _ in 0..10_000 {
        tokio::select! {
            biased;
            ended = async { client.call_tool("hang", ()).await } => panic!("it ended: {ended:?}"),
            () = tokio::task::yield_now() => {}
        }
    }
    client.ping().await.unwrap();
    // The last cancelled task is gone after its turn.
    tokio::task::yield_now().await;
    client.ping().await.unwrap();
    assert_eq!(client.stats(), Stats::default());
    assert_eq!(server.stats(), Stats::default());
}

#[tokio::test]
async fn connections_that_come_and_go_leave_the_server_usable() {
    let server = server();
    for _ in 0..1000 {
        let (client, handle) = pair(&server).await;
        assert_eq!(client.list_tools().await.unwrap().len(), 2);
        let call = tokio::spawn({
            let client = client.clone();
            async move { client.call_tool("hang", ()).await }
        });
        client.ping().await.unwrap();
        client.close().await;
        assert_eq!(call.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(client.stats(), Stats::default());
        drop(handle);
    }
}

#[tokio::test]
async fn big_integers_and_big_messages_pass_unchanged() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Big {
        id: u64,
        text: String,
    }
    let server = Server::new("test", "1.0").tool("big", "Echoes.", |_: Context, Big { id, text }: Big| async move {
        Ok(format!("{id} {text}"))
    });
    let (client, _) = pair(&server).await;
    let text = "ä\u{2028}\\\"\n".repeat(500_000);
    let result = client
        .call_tool("big", json!({"id": 9_007_199_254_740_993_u64, "text": text}))
        .await
        .unwrap();
    assert_eq!(result.text(), format!("9007199254740993 {text}"));
}
