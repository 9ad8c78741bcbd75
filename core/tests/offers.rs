//! What a server offers beside plain tools: resources, templates, prompts, completions, methods, raw tools.

mod support;

use std::num::NonZeroUsize;

use oxmcp::types::{
    BlobResourceContents, CallToolResult, ContentBlock, Icon, JsonObject, Number, PromptMessage, ReadResourceResult,
    ResourceContents, Role, TextResourceContents, Tool, ToolAnnotations, content,
};
use oxmcp::{
    Completing, Context, ErrorKind, HandlerError, Json, NoArguments, ProblemKind, PromptOffer, ResourceOffer, Server,
    TemplateOffer, ToolError, ToolOffer,
};
use serde_json::{Value, json};
use support::{ERAS, Problems, pair};

#[derive(serde::Deserialize)]
struct Note {
    id: u32,
}

async fn note(ctx: Context, Note { id }: Note) -> Result<String, HandlerError> {
    if id > 100 {
        return Err(HandlerError::not_found(ctx.uri().unwrap()));
    }
    Ok(format!("{} is note {id}", ctx.uri().unwrap()))
}

fn resources() -> Server {
    #[derive(serde::Serialize)]
    struct Config {
        depth: u64,
    }
    let bytes = ResourceOffer::new("app://bytes", "bytes", |_: Context| async {
        Ok((0..=255).collect::<Vec<u8>>())
    });
    Server::new("test", "1.0")
        .resource("app://text", "text", |_: Context| async { Ok("hello") })
        .offer(
            bytes
                .mime_type("image/png")
                .title("Bytes")
                .description("All of them.")
                .size(256),
        )
        .resource("app://json", "json", |_: Context| async {
            Ok(Json(Config {
                depth: 9_007_199_254_740_993,
            }))
        })
        .resource("app://two", "two", |_: Context| async {
            let text: ResourceContents = TextResourceContents::new("app://two/1", "a").into();
            Ok(vec![text, BlobResourceContents::new("app://two/2", "/+8=").into()])
        })
        .resource_template("note://{id}", "note", note)
}

fn texts(result: &ReadResourceResult) -> Vec<(String, Option<String>, String)> {
    let text = |contents: &ResourceContents| match contents {
        ResourceContents::Text(it) => (it.uri.clone(), it.mime_type.clone(), it.text.clone()),
        ResourceContents::Blob(it) => (it.uri.clone(), it.mime_type.clone(), it.blob.clone()),
        other => panic!("{other:?}"),
    };
    result.contents.iter().map(text).collect()
}

#[tokio::test]
async fn resources_are_listed_and_read_as_text_bytes_and_json() {
    for era in ERAS {
        let client = pair(&resources(), era).await;
        let listed = client.list_resources().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|it| &*it.uri).collect();
        assert_eq!(uris, ["app://text", "app://bytes", "app://json", "app://two"]);
        assert_eq!(listed[1].title.as_deref(), Some("Bytes"));
        assert_eq!(listed[1].size.as_ref().and_then(Number::as_i64), Some(256));

        let read = client.read_resource("app://text").await.unwrap();
        assert_eq!(texts(&read), [("app://text".into(), None, "hello".into())]);
        let read = client.read_resource("app://bytes").await.unwrap();
        let (_, mime_type, data) = texts(&read).remove(0);
        assert_eq!(mime_type.as_deref(), Some("image/png"));
        assert_eq!(content::from_base64(&data).unwrap(), (0..=255).collect::<Vec<u8>>());
        let read = client.read_resource("app://json").await.unwrap();
        let json = "{\"depth\":9007199254740993}".to_owned();
        assert_eq!(
            texts(&read),
            [("app://json".into(), Some("application/json".into()), json)]
        );
        assert_eq!(texts(&client.read_resource("app://two").await.unwrap()).len(), 2);
    }
}

#[tokio::test]
async fn the_variables_of_a_template_are_typed() {
    for era in ERAS {
        let client = pair(&resources(), era).await;
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "note://{id}");
        let read = client.read_resource("note://007").await.unwrap();
        assert_eq!(texts(&read)[0].2, "note://007 is note 7");
        let error = client.read_resource("note://seven").await.unwrap_err();
        assert_eq!(error.code().unwrap().0, -32602);
        assert!(error.message().contains("`id`: expected a whole number"), "{error}");
    }
}

#[tokio::test]
async fn a_resource_that_is_not_there_says_which() {
    for era in ERAS {
        let client = pair(&resources(), era).await;
        for uri in ["app://nothing", "note://101"] {
            let error = client.read_resource(uri).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Response);
            let data: Value = serde_json::from_str(error.data().unwrap()).unwrap();
            assert_eq!(data["uri"], uri);
        }
    }
}

#[tokio::test]
async fn what_fails_inside_a_handler_stays_with_the_program() {
    let problems = Problems::default();
    let server =
        Server::new("test", "1.0")
            .on_problem(problems.hook())
            .resource("app://broken", "broken", |_: Context| async {
                let text = std::fs::read_to_string("/nowhere/secret")?;
                Ok(text)
            });
    for era in ERAS {
        let client = pair(&server, era).await;
        let error = client.read_resource("app://broken").await.unwrap_err();
        assert_eq!(error.code().unwrap().0, -32603);
        assert!(
            error.message().contains("app://broken") && !error.message().contains("No such"),
            "{error}"
        );
        let problem = problems.take().remove(0);
        assert_eq!(problem.kind, ProblemKind::HandlerFailed);
        assert!(problem.message.contains("No such file"), "{problem:?}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Poem {
    /// What it is about.
    about: String,
    lines: Option<u8>,
}

async fn poem(_: Context, Poem { about, lines }: Poem) -> Result<Vec<PromptMessage>, HandlerError> {
    let asked = format!("{} lines about {about}", lines.unwrap_or(4));
    Ok(vec![
        PromptMessage::new(Role::User, content::text(asked)),
        PromptMessage::new(Role::Assistant, content::image([1, 2], "image/png")),
    ])
}

async fn topics(_: Context, typed: Completing) -> Result<Vec<String>, HandlerError> {
    let lines = typed.known.get("lines").map_or("any", String::as_str);
    let topics = ["rain", "rust", "sun"].into_iter();
    Ok(topics
        .filter(|topic| topic.starts_with(&typed.value))
        .map(|topic| format!("{topic}/{lines}"))
        .collect())
}

fn prompts() -> Server {
    let poem = PromptOffer::new("poem", "Writes a poem.", poem)
        .title("Poem")
        .complete("about", topics);
    Server::new("test", "1.0")
        .offer(poem)
        .prompt("hello", "Greets.", |_: Context, _: NoArguments| async {
            Ok("Say hello.")
        })
        .resource_template("city://{name}", "city", |_: Context, _: Value| async { Ok("a city") })
        .completion("city://{name}", "name", |_: Context, _: Completing| async {
            Ok((0..250).map(|it| it.to_string()).collect::<Vec<_>>())
        })
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments_and_filled_in() {
    for era in ERAS {
        let client = pair(&prompts(), era).await;
        let listed = client.list_prompts().await.unwrap();
        let arguments = serde_json::to_value(&listed[0].arguments).unwrap();
        let about = json!({"name": "about", "description": "What it is about.", "required": true});
        assert_eq!(arguments, json!([about, {"name": "lines"}]));
        assert_eq!(
            (listed[0].title.as_deref(), &listed[1].arguments.is_none()),
            (Some("Poem"), &true)
        );

        let prompt = client
            .get_prompt("poem", json!({"about": "rust", "lines": "7"}))
            .await
            .unwrap();
        assert_eq!(
            content::as_text(&prompt.messages[0].content),
            Some("7 lines about rust")
        );
        assert!(matches!(prompt.messages[1].content, ContentBlock::Image(_)));
        let hello = client.get_prompt("hello", ()).await.unwrap();
        assert_eq!((hello.messages.len(), &hello.messages[0].role), (1, &Role::User));

        for (arguments, part) in [
            (json!({}), "\"about\" is missing"),
            (
                json!({"about": "x", "lines": "many"}),
                "`lines`: expected a whole number from 0 to 255",
            ),
        ] {
            let error = client.get_prompt("poem", arguments).await.unwrap_err();
            assert_eq!(error.code().unwrap().0, -32602);
            assert!(error.message().contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn arguments_and_variables_are_completed_and_bounded() {
    for era in ERAS {
        let client = pair(&prompts(), era).await;
        let completion = client.complete_prompt("poem", "about", "r").await.unwrap();
        assert_eq!(completion.values, ["rain/any", "rust/any"]);
        let nothing = client.complete_prompt("poem", "lines", "1").await.unwrap();
        assert!(nothing.values.is_empty());
        let bounded = client.complete_resource("city://{name}", "name", "").await.unwrap();
        assert_eq!((bounded.values.len(), bounded.has_more), (100, Some(true)));
        assert_eq!(bounded.total.unwrap().as_i64(), Some(250));

        use oxmcp::types::{CompleteRequestParams, CompletionArgument, CompletionContext, PromptReference};
        let mut params = CompleteRequestParams::new(
            CompletionArgument::new("about", "s"),
            PromptReference::new("poem").into(),
        );
        let mut context = CompletionContext::default();
        context.arguments = Some(FromIterator::from_iter([("lines", "2".to_owned())]));
        params.context = Some(context);
        assert_eq!(client.complete(&params).await.unwrap().values, ["sun/2"]);
    }
}

fn raw_tool(output: Option<&str>) -> Tool {
    let input = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}"#;
    let mut tool = Tool::new("raw", JsonObject::parse(input).unwrap());
    tool.output_schema = output.map(|schema| JsonObject::parse(schema).unwrap());
    tool
}

#[tokio::test]
async fn the_arguments_of_a_raw_tool_are_checked_and_come_as_they_are() {
    let server = Server::new("test", "1.0").offer(ToolOffer::raw(
        raw_tool(None),
        |_: Context, arguments: JsonObject| async move { Ok(arguments.get().to_owned()) },
    ));
    for era in ERAS {
        let client = pair(&server, era).await;
        let result = client
            .call_tool("raw", json!({"n": 9_007_199_254_740_993_u64}))
            .await
            .unwrap();
        assert_eq!(result.text(), "{\"n\":9007199254740993}");
        for arguments in [json!({}), json!({"n": 0}), json!({"n": "1"})] {
            let result = client.call_tool("raw", arguments).await.unwrap();
            assert!(result.is_error, "{}", result.text());
            assert!(result.text().contains("raw"), "{}", result.text());
        }
    }
}

#[tokio::test]
async fn structured_content_that_does_not_fit_its_schema_is_not_sent() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let server = Server::new("test", "1.0").offer(ToolOffer::raw(
        raw_tool(Some(schema)),
        |_: Context, arguments: JsonObject| async move {
            let n: Value = arguments.decode()?;
            let structured = if n["n"] == 1 {
                json!({"n": 5})
            } else {
                json!({"n": "five"})
            };
            Ok(CallToolResult {
                structured_content: serde_json::value::to_raw_value(&structured).ok(),
                ..CallToolResult::default()
            })
        },
    ));
    for era in ERAS {
        let client = pair(&server, era).await;
        let result = client.call_tool("raw", json!({"n": 1})).await.unwrap();
        assert_eq!(result.structured::<Value>().unwrap().unwrap(), json!({"n": 5}));
        let error = client.call_tool("raw", json!({"n": 2})).await.unwrap_err();
        assert_eq!(error.code().unwrap().0, -32603);
        assert!(error.message().contains("output schema"), "{error}");
    }
}

#[tokio::test]
async fn all_that_is_said_of_a_tool_reaches_the_client() {
    let mut hints = ToolAnnotations::default();
    hints.destructive_hint = Some(false);
    let offer = ToolOffer::new("t", "Does.", |_: Context, _: NoArguments| async { Ok(()) })
        .title("T")
        .annotations(hints)
        .read_only()
        .icons(vec![Icon::new("https://example.com/i.png")])
        .meta("com.example/cost", 5);
    let client = pair(&Server::new("test", "1.0").offer(offer), ERAS[1]).await;
    let tool = serde_json::to_value(client.list_tools().await.unwrap().remove(0)).unwrap();
    assert_eq!(tool["title"], "T");
    assert_eq!(
        tool["annotations"],
        json!({"destructiveHint": false, "readOnlyHint": true})
    );
    assert_eq!(tool["icons"], json!([{"src": "https://example.com/i.png"}]));
    assert_eq!(tool["_meta"], json!({"com.example/cost": 5}));
}

#[tokio::test]
async fn every_kind_of_content_passes_unknown_ones_too() {
    let server = Server::new("test", "1.0").tool("all", "Says all.", |_: Context, _: NoArguments| async {
        let unknown: ContentBlock = serde_json::from_str(r#"{"type":"hologram","x":1.50}"#)?;
        Ok(vec![
            content::text("a"),
            content::image([0xff, 0xef], "image/png"),
            content::audio([1], "audio/wav"),
            content::link("n", "app://n"),
            content::resource(TextResourceContents::new("app://n", "text")),
            unknown,
        ])
    });
    for era in ERAS {
        let client = pair(&server, era).await;
        let result = client.call_tool("all", ()).await.unwrap();
        use ContentBlock::{Audio, EmbeddedResource, Image, ResourceLink, Text, Unknown};
        assert!(
            matches!(
                &result.content[..],
                [
                    Text(_),
                    Image(_),
                    Audio(_),
                    ResourceLink(_),
                    EmbeddedResource(_),
                    Unknown(_)
                ]
            ),
            "{result:?}"
        );
        assert_eq!(
            serde_json::to_string(&result.content[5]).unwrap(),
            r#"{"type":"hologram","x":1.50}"#
        );
    }
}

#[tokio::test]
async fn methods_of_users_are_called_and_those_of_extensions_need_them() {
    #[derive(serde::Deserialize)]
    struct Add {
        a: i64,
        b: i64,
    }
    let server = Server::new("test", "1.0")
        .capabilities(json!({"extensions": {"com.example/x": {}}}))
        .method("acme/add", |_: Context, Add { a, b }: Add| async move {
            Ok(json!({"sum": a + b}))
        })
        .extension_method("com.example/x", "x/do", |_: Context, _: NoArguments| async {
            Ok(json!({"did": true}))
        });
    for era in ERAS {
        let client = pair(&server, era).await;
        assert!(
            client
                .server_capabilities()
                .extensions
                .unwrap()
                .get("com.example/x")
                .is_some()
        );
        let sum = client.request("acme/add", json!({"a": 1, "b": 2})).await.unwrap();
        let sum: Value = serde_json::from_str(sum.get()).unwrap();
        assert_eq!(sum["sum"], 3);
        let error = client
            .request("acme/add", json!({"a": 1, "b": "two"}))
            .await
            .unwrap_err();
        assert_eq!(error.code().unwrap().0, -32602);
        assert!(error.message().contains("`b`: invalid type"), "{error}");
        client.request("x/do", ()).await.unwrap_err();

        let builder = oxmcp::Client::builder().capabilities(json!({"extensions": {"com.example/x": {}}}));
        let (client, _) = support::pair_with(&server, builder, era).await;
        assert!(client.request("x/do", ()).await.unwrap().get().contains("\"did\":true"));
    }
}

#[tokio::test]
async fn offers_come_go_and_change_while_they_are_served() {
    let tool = |name: &str, says: &'static str| {
        ToolOffer::new(name, "Says.", move |_: Context, _: NoArguments| async move { Ok(says) })
    };
    for era in ERAS {
        let server = Server::new("test", "1.0").offer(tool("first", "one"));
        let client = pair(&server, era).await;
        let names = async || {
            let tools = client.list_tools().fresh().await.unwrap();
            tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
        };
        let offers = server.offers();
        let second = offers.add(tool("second", "two")).unwrap();
        assert_eq!(names().await, ["first", "second"]);
        assert!(second.disable() && !second.disable());
        assert_eq!(names().await, ["first"]);
        assert_eq!(
            client.call_tool("second", ()).await.unwrap_err().code().unwrap().0,
            -32602
        );
        assert!(offers.tool("second").unwrap().enable());
        assert_eq!(client.call_tool("second", ()).await.unwrap().text(), "two");
        second.replace(tool("second", "deux")).unwrap();
        assert_eq!(client.call_tool("second", ()).await.unwrap().text(), "deux");
        assert!(
            second
                .replace(tool("other", "x"))
                .unwrap_err()
                .message()
                .contains("second")
        );
        let prompt = PromptOffer::new("second", "P.", |_: Context, _: NoArguments| async { Ok("p") });
        assert!(second.replace(prompt).unwrap_err().message().contains("place"));
        assert!(
            offers
                .add(tool("second", "again"))
                .unwrap_err()
                .message()
                .contains("exists already")
        );
        assert!(second.remove() && !second.remove());
        assert!(offers.tool("second").is_none() && offers.prompt("second").is_none());
        assert_eq!(names().await, ["first"]);
        assert!(second.replace(tool("second", "late")).is_err());
        offers.add(tool("second", "anew")).unwrap();
        assert_eq!(client.call_tool("second", ()).await.unwrap().text(), "anew");
    }
}

#[tokio::test]
async fn a_removed_tool_whose_call_runs_still_answers() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let waiter = std::sync::Arc::clone(&go);
    let server = Server::new("test", "1.0").tool("slow", "Waits.", move |_: Context, _: NoArguments| {
        let (go, started) = (std::sync::Arc::clone(&waiter), started.clone());
        async move {
            started.send(())?;
            go.notified().await;
            Ok("still")
        }
    });
    let client = pair(&server, ERAS[0]).await;
    let call = tokio::spawn(std::future::IntoFuture::into_future(client.call_tool("slow", ())));
    starts.recv().await.unwrap();
    assert!(server.offers().tool("slow").unwrap().remove());
    go.notify_one();
    assert_eq!(call.await.unwrap().unwrap().text(), "still");
}

#[tokio::test]
async fn lists_come_in_pages_or_whole() {
    let mut server = Server::new("test", "1.0").page_size(NonZeroUsize::new(2).unwrap());
    for number in 0..5 {
        let name = format!("t{number}");
        server = server.tool(name.clone(), "Does.", |_: Context, _: NoArguments| async { Ok(()) });
        server = server.resource(format!("app://{number}"), name.clone(), |_: Context| async { Ok("x") });
        let template = TemplateOffer::new(format!("{name}://{{x}}"), &*name, |_: Context, _: Value| async {
            Ok("x")
        });
        server = server.offer(template);
        server = server.prompt(name, "Prompts.", |_: Context, _: NoArguments| async { Ok("x") });
    }
    for era in ERAS {
        let client = pair(&server, era).await;
        assert_eq!(client.list_tools().await.unwrap().len(), 5);
        assert_eq!(client.list_resources().await.unwrap().len(), 5);
        assert_eq!(client.list_resource_templates().await.unwrap().len(), 5);
        assert_eq!(client.list_prompts().await.unwrap().len(), 5);
        let (mut cursor, mut sizes) = (None, Vec::new());
        loop {
            let page = client.list_tools_page(cursor.as_deref()).await.unwrap();
            sizes.push(page.tools.len());
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(sizes, [2, 2, 1]);
        assert_eq!(client.list_resources_page(None).await.unwrap().resources.len(), 2);
        assert_eq!(
            client
                .list_resource_templates_page(None)
                .await
                .unwrap()
                .resource_templates
                .len(),
            2
        );
        assert_eq!(client.list_prompts_page(None).await.unwrap().prompts.len(), 2);
        assert!(
            client
                .list_tools_page(Some("made up"))
                .await
                .unwrap_err()
                .message()
                .contains("cursor")
        );
    }
}

#[tokio::test]
async fn a_tool_can_ask_the_client_to_visit_a_page_first() {
    use oxmcp::types::{ElicitAction, ElicitRequestURLParams};

    let visited = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&visited);
    let server = Server::new("test", "1.0").tool("paid", "Costs.", move |_: Context, _: NoArguments| {
        let paid = seen.load(std::sync::atomic::Ordering::SeqCst);
        async move {
            if paid {
                return Ok("served");
            }
            let mut page = ElicitRequestURLParams::new("Pay first.", "https://pay.example.com");
            page.elicitation_id = Some("1".into());
            Err(ToolError::url_elicitation_required("payment required", vec![page]))
        }
    });
    let client = pair(&server, ERAS[0]).await;
    let error = client.call_tool("paid", ()).await.unwrap_err();
    assert_eq!((error.code().unwrap().0, error.message()), (-32042, "payment required"));
    let pages: Value = serde_json::from_str(error.url_elicitations().unwrap()).unwrap();
    assert_eq!(pages[0]["url"], "https://pay.example.com");

    let visit = std::sync::Arc::clone(&visited);
    let builder =
        oxmcp::Client::builder().on_url_elicitation(move |_: oxmcp::ClientContext, page: ElicitRequestURLParams| {
            assert_eq!(page.url, "https://pay.example.com");
            visit.store(true, std::sync::atomic::Ordering::SeqCst);
            async { Ok(ElicitAction::Accept) }
        });
    let (client, _) = support::pair_with(&server, builder, ERAS[1]).await;
    assert_eq!(client.call_tool("paid", ()).await.unwrap().text(), "served");
}

#[tokio::test]
async fn every_revision_serves_tools_resources_prompts_and_completions() {
    for revision in oxmcp::Revision::ALL {
        let server = prompts()
            .tool("t", "T.", |_: Context, _: NoArguments| async { Ok("t") })
            .resource("app://r", "r", |_: Context| async { Ok("r") });
        let client = pair(&server, revision).await;
        assert_eq!(client.call_tool("t", ()).await.unwrap().text(), "t");
        assert_eq!(texts(&client.read_resource("app://r").await.unwrap())[0].2, "r");
        assert_eq!(client.get_prompt("hello", ()).await.unwrap().messages.len(), 1);
        assert_eq!(
            client.complete_prompt("poem", "about", "su").await.unwrap().values,
            ["sun/any"]
        );
        client.ping().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_lists_after_each_change_ends_with_all_there_is() {
    use oxmcp::types::SubscriptionFilter;

    const ALL: usize = 300;
    for era in ERAS {
        let server = Server::new("test", "1.0").tool("t", "T.", |_: Context, _: NoArguments| async { Ok(()) });
        let client = pair(&server, era).await;
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut changes = client.listen(filter).await.unwrap();
        let offers = server.offers();
        let adding = tokio::task::spawn_blocking(move || {
            for number in 1..ALL {
                let name = format!("t{number}");
                let tool = ToolOffer::new(name, "T.", |_: Context, _: NoArguments| async { Ok(()) });
                offers.add(tool).unwrap();
            }
        });
        while client.list_tools().await.unwrap().len() < ALL {
            assert!(changes.next().await.is_some());
        }
        adding.await.unwrap();
        assert_eq!(client.call_tool("t299", ()).await.unwrap().content.len(), 0);
    }
}
