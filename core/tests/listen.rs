//! What a client is told without asking: changes of lists, updates of resources, log messages.

mod support;

use std::sync::{Arc, Mutex};

use oxmcp::types::{LoggingMessageNotificationParams, SubscriptionFilter};
use oxmcp::{
    Client, Context, ErrorKind, LogLevel, NoArguments, Notification, PromptOffer, ResourceOffer, Revision, Server,
    Stats, ToolOffer,
};
use serde_json::json;
use support::{ERAS, connect, pair, pair_with};

fn resource(uri: &str) -> ResourceOffer {
    ResourceOffer::new(uri, "r", |_: Context| async { Ok("x") })
}

fn tool(name: &str) -> ToolOffer {
    ToolOffer::new(name, "T.", |_: Context, _: NoArguments| async { Ok(()) })
}

fn server() -> Server {
    Server::new("test", "1.0")
        .subscriptions(true)
        .offer(resource("app://1"))
        .offer(tool("first"))
}

fn updates_of(uris: &[&str]) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.resource_subscriptions = Some(uris.iter().map(|uri| (*uri).to_owned()).collect());
    filter
}

#[tokio::test]
async fn only_those_who_listen_to_a_resource_are_told_of_its_updates() {
    for era in ERAS {
        let server = server();
        let offers = server.offers();
        let (first, handle) = pair_with(&server, Client::builder(), era).await;
        let second = pair(&server, era).await;
        assert!(!offers.resource_updated("app://1"), "nobody listens yet");
        let mut updates = first.listen(updates_of(&["app://1"])).await.unwrap();
        let mut others = second.listen(updates_of(&["app://2"])).await.unwrap();
        assert_eq!(
            updates.filter().resource_subscriptions.as_deref(),
            Some(&["app://1".to_owned()][..])
        );
        assert!(offers.resource_updated("app://1"));
        let update = updates.next().await.unwrap();
        assert_eq!(
            (&*update.method, update.uri().as_deref()),
            ("notifications/resources/updated", Some("app://1"))
        );
        assert!(offers.resource_updated("app://2"));
        assert_eq!(
            others.next().await.unwrap().uri().as_deref(),
            Some("app://2"),
            "it was told of its own alone"
        );

        drop(updates);
        first.ping().await.unwrap();
        first.ping().await.unwrap();
        assert!(!offers.resource_updated("app://1"));
        assert_eq!(first.stats(), Stats::default());
        assert_eq!(handle.stats(), Stats::default());
    }
}

#[tokio::test]
async fn a_resource_that_two_listen_to_stays_subscribed_when_one_leaves() {
    for era in ERAS {
        let server = server();
        let client = pair(&server, era).await;
        let first = client.listen(updates_of(&["app://1"])).await.unwrap();
        let mut second = client.listen(updates_of(&["app://1", "app://2"])).await.unwrap();
        drop(first);
        client.ping().await.unwrap();
        client.ping().await.unwrap();
        assert!(server.offers().resource_updated("app://1"));
        assert_eq!(second.next().await.unwrap().uri().as_deref(), Some("app://1"));
    }
}

#[tokio::test]
async fn changes_of_lists_are_told_once_for_all_of_a_moment() {
    for era in ERAS {
        let server = server();
        let client = pair(&server, era).await;
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        filter.resources_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        let mut changes = client.listen(filter).await.unwrap();
        assert_eq!(changes.filter().tools_list_changed, Some(true));

        let offers = server.offers();
        for name in ["a", "b", "c"] {
            offers.add(tool(name)).unwrap();
        }
        assert_eq!(changes.next().await.unwrap().method, "notifications/tools/list_changed");
        offers.add(resource("app://2")).unwrap();
        // What a change made stale is not taken from the cache.
        assert_eq!(
            changes.next().await.unwrap().method,
            "notifications/resources/list_changed"
        );
        assert_eq!(client.list_tools().await.unwrap().len(), 4);
        assert_eq!(client.list_resources().await.unwrap().len(), 2);
    }
}

/// Also when the connection gets its turn after each one.
#[tokio::test(start_paused = true)]
async fn changes_that_come_one_by_one_are_told_together() {
    for era in ERAS {
        let server = server();
        let client = pair(&server, era).await;
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut changes = client.listen(filter).await.unwrap();
        let offers = server.offers();
        for number in 0..200 {
            offers.add(tool(&format!("t{number}"))).unwrap();
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(changes.next().await.unwrap().method, "notifications/tools/list_changed");
        let more = tokio::time::timeout(std::time::Duration::from_secs(1), changes.next()).await;
        assert!(more.is_err(), "{more:?}");

        // What is said anyway waits for nothing.
        offers.add(tool("last")).unwrap();
        client.ping().await.unwrap();
        let told = tokio::time::timeout(std::time::Duration::ZERO, changes.next()).await;
        assert_eq!(told.unwrap().unwrap().method, "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn what_a_server_cannot_tell_is_left_out_of_what_is_listened_to() {
    let server = Server::new("test", "1.0")
        .offer(resource("app://1"))
        .offer(tool("first"));
    for era in ERAS {
        let client = pair(&server, era).await;
        let mut filter = updates_of(&["app://1"]);
        filter.tools_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        let listening = client.listen(filter).await.unwrap();
        let honoured = listening.filter();
        assert_eq!(
            (honoured.tools_list_changed, honoured.prompts_list_changed),
            (Some(true), None)
        );
        assert!(honoured.resource_subscriptions.as_ref().is_none_or(Vec::is_empty));
    }
}

#[tokio::test]
async fn listening_ends_with_the_connection() {
    for era in ERAS {
        let server = server();
        let (client, handle) = pair_with(&server, Client::builder(), era).await;
        let mut updates = client.listen(updates_of(&["app://1"])).await.unwrap();
        server.offers().resource_updated("app://1");
        let first = updates.next().await.unwrap();
        assert_eq!(first.uri().as_deref(), Some("app://1"));
        handle.close();
        assert!(updates.next().await.is_none());
        assert!(updates.next().await.is_none());
        client.close().await;
        assert_eq!(
            client.listen(updates_of(&[])).await.unwrap_err().kind(),
            ErrorKind::Closed
        );
    }
}

#[tokio::test]
async fn subscribing_by_hand_reaches_the_hook_where_there_is_a_handshake() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let notes = Arc::clone(&seen);
    let builder = Client::builder().on_notification(move |method, params| {
        let params = params.map(|it| it.get().to_owned()).unwrap_or_default();
        notes.lock().unwrap().push(format!("{method} {params}"));
    });
    let server = server();
    let (client, _) = pair_with(&server, builder, ERAS[0]).await;
    client.subscribe("app://1").await.unwrap();
    assert!(server.offers().resource_updated("app://1"));
    client.ping().await.unwrap();
    client.unsubscribe("app://1").await.unwrap();
    assert!(!server.offers().resource_updated("app://1"));
    client.ping().await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        ["notifications/resources/updated {\"uri\":\"app://1\"}"]
    );

    let client = pair(&server, ERAS[1]).await;
    assert_eq!(
        client.subscribe("app://1").await.unwrap_err().kind(),
        ErrorKind::NotNegotiated
    );
    let plain = pair(&Server::new("t", "1").offer(resource("app://1")), ERAS[0]).await;
    assert_eq!(
        plain.subscribe("app://1").await.unwrap_err().kind(),
        ErrorKind::NotNegotiated
    );
}

async fn chat(ctx: Context, _: NoArguments) -> Result<String, oxmcp::ToolError> {
    let sent = [
        ctx.log(LogLevel::Debug, None, "details"),
        ctx.log(LogLevel::Warning, Some("chat"), json!({"n": 1})),
        ctx.log(LogLevel::Error, None, "failed"),
    ];
    Ok(format!("{sent:?}"))
}

/// A client that notes the log messages it gets.
fn noting() -> (oxmcp::ClientBuilder, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let notes = Arc::clone(&seen);
    let builder = Client::builder().on_log(move |message: LoggingMessageNotificationParams| {
        let logger = message.logger.unwrap_or_default();
        let line = format!("{} {logger} {}", message.level, message.data.get());
        notes.lock().unwrap().push(line);
    });
    (builder, seen)
}

#[tokio::test]
async fn log_messages_come_from_the_level_that_was_set() {
    let server = Server::new("test", "1.0").tool("chat", "Logs.", chat);
    for era in ERAS {
        let (builder, seen) = noting();
        let (client, _) = pair_with(&server, builder, era).await;
        client.set_logging_level(LogLevel::Warning).await.unwrap();
        assert_eq!(
            client.call_tool("chat", ()).await.unwrap().text(),
            "[false, true, true]"
        );
        assert_eq!(*seen.lock().unwrap(), ["warning chat {\"n\":1}", "error  \"failed\""]);
    }
}

#[tokio::test]
async fn before_a_level_is_set_all_come_with_a_handshake_and_none_without() {
    let server = Server::new("test", "1.0").tool("chat", "Logs.", chat);
    for (era, sent) in ERAS.into_iter().zip(["[true, true, true]", "[false, false, false]"]) {
        let client = pair(&server, era).await;
        assert_eq!(client.call_tool("chat", ()).await.unwrap().text(), sent);
    }
    let (builder, seen) = noting();
    let (client, _) = pair_with(&server, builder, ERAS[1]).await;
    let call = client.call_tool("chat", ()).log_level(LogLevel::Error);
    assert_eq!(call.await.unwrap().text(), "[false, false, true]");
    assert_eq!(*seen.lock().unwrap(), ["error  \"failed\""]);
}

#[tokio::test]
async fn a_server_that_does_not_log_says_so() {
    let server = Server::new("test", "1.0").logging(false).tool("chat", "Logs.", chat);
    for era in ERAS {
        let client = pair(&server, era).await;
        assert!(client.server_capabilities().logging.is_none());
        let error = client.set_logging_level(LogLevel::Info).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotNegotiated);
        assert_eq!(
            client.call_tool("chat", ()).await.unwrap().text(),
            "[false, false, false]"
        );
    }
}

#[tokio::test]
async fn a_server_can_notify_one_client_or_all() {
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("tell", "Tells.", |ctx: Context, _: NoArguments| async move {
        ctx.notify("acme/told", json!({"by": "handler"}))?;
        assert!(ctx.notify("acme/told", 5).is_err());
        Ok(())
    });
    let builder = || {
        let told = told.clone();
        Client::builder().on_notification(move |method, params| {
            told.send(format!("{method} {}", params.unwrap().get())).unwrap();
        })
    };
    let (client, handle) = pair_with(&server, builder(), Revision::V2025_06_18).await;
    let (_second, _) = pair_with(&server, builder(), Revision::V2025_06_18).await;
    client.call_tool("tell", ()).await.unwrap();
    assert_eq!(tells.recv().await.unwrap(), "acme/told {\"by\":\"handler\"}");
    handle.notify("acme/told", json!({"by": "handle"})).unwrap();
    assert_eq!(tells.recv().await.unwrap(), "acme/told {\"by\":\"handle\"}");
    server.offers().notify("acme/told", json!({"by": "all"})).unwrap();
    for _ in 0..2 {
        assert_eq!(tells.recv().await.unwrap(), "acme/told {\"by\":\"all\"}");
    }
    assert!(handle.notify("notifications/prompts/list_changed", ()).is_err());
}

#[tokio::test]
async fn a_server_that_answers_before_it_acknowledges_is_refused() {
    let (mut peer, transport) = support::peer();
    let serve = async {
        let discover = peer.receive().await;
        let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"});
        peer.answer(&discover, result).await;
        let listen = peer.receive().await;
        assert_eq!(listen["method"], "subscriptions/listen");
        peer.answer(&listen, json!({"resultType": "complete"})).await;
    };
    let listen = async {
        let client = Client::connect(transport).await.unwrap();
        assert_eq!(
            (&*client.server_info().name, client.peer().revision),
            ("", Revision::V2026_07_28)
        );
        client.listen(SubscriptionFilter::default()).await.unwrap_err()
    };
    let (error, ()) = tokio::join!(listen, serve);
    assert_eq!(error.kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn of_changes_that_nobody_takes_out_the_same_waits_once() {
    let (client, mut peer) = connect(Client::builder()).await;
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    // This peer declares nothing of the kind.
    let listening = client.listen(filter.clone()).await.unwrap();
    assert_eq!(listening.filter().tools_list_changed, None);
    drop(listening);

    let (mut peer2, transport) = support::peer();
    let capabilities = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true}});
    let (client, ()) = tokio::join!(Client::connect(transport), peer2.accept_with(capabilities));
    let client = client.unwrap();
    filter.prompts_list_changed = Some(true);
    let mut listening = client.listen(filter).await.unwrap();
    for _ in 0..1000 {
        peer2.notify("notifications/tools/list_changed", json!({})).await;
    }
    peer2.notify("notifications/prompts/list_changed", json!({})).await;
    peer2.expect_silence().await;
    let next = async |it: &mut oxmcp::Listening| it.next().await.map(|it: Notification| it.method);
    assert_eq!(next(&mut listening).await.unwrap(), "notifications/tools/list_changed");
    assert_eq!(
        next(&mut listening).await.unwrap(),
        "notifications/prompts/list_changed"
    );
    peer.expect_silence().await;
}

#[tokio::test]
async fn prompts_that_come_are_told_of_too() {
    for era in ERAS {
        let server = Server::new("test", "1.0").prompt("one", "P.", |_: Context, _: NoArguments| async { Ok("p") });
        let client = pair(&server, era).await;
        let mut filter = SubscriptionFilter::default();
        filter.prompts_list_changed = Some(true);
        let mut changes = client.listen(filter).await.unwrap();
        let two = PromptOffer::new("two", "P.", |_: Context, _: NoArguments| async { Ok("p") });
        let two = server.offers().add(two).unwrap();
        assert_eq!(
            changes.next().await.unwrap().method,
            "notifications/prompts/list_changed"
        );
        assert_eq!(client.list_prompts().await.unwrap().len(), 2);
        two.disable();
        assert_eq!(
            changes.next().await.unwrap().method,
            "notifications/prompts/list_changed"
        );
        assert_eq!(client.list_prompts().await.unwrap().len(), 1);
    }
}
