//! What handlers ask their client for, in revisions with a handshake and without: one handler for both.

mod support;

use std::future::IntoFuture;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use oxmcp::types::{
    BooleanSchema, CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
    ElicitRequestURLParams, ElicitResult, Map, RequestedSchema, Role, Root, SamplingMessageContentBlock, TextContent,
    content,
};
use oxmcp::{
    Client, ClientBuilder, ClientContext, Context, Elicited, ErrorKind, HandlerError, InputRequired, NoArguments,
    Revision, Server, Stats, ToolError, ToolOffer,
};
use serde_json::{Value, json};
use support::{ERAS, Problems, pair, pair_with};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Booking {
    /// How many will come.
    seats: u32,
    #[serde(default)]
    window: bool,
}

async fn book(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    Ok(match ctx.elicit::<Booking>("A table for how many?").await? {
        Elicited::Accepted(Booking { seats, window }) => format!("{seats} {window}"),
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    })
}

/// Answers every form with this.
fn answering(answer: Elicited<Value>) -> ClientBuilder {
    Client::builder().on_elicitation(move |_: ClientContext, _: ElicitRequestFormParams| {
        let answer = match &answer {
            Elicited::Accepted(value) => Elicited::Accepted(value.clone()),
            Elicited::Declined => Elicited::Declined,
            Elicited::Cancelled => Elicited::Cancelled,
        };
        async { Ok(answer) }
    })
}

#[tokio::test]
async fn a_form_is_filled_in_declined_or_cancelled() {
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    for era in ERAS {
        for (answer, text) in [
            (Elicited::Accepted(json!({"seats": 2, "window": true})), "2 true"),
            (Elicited::Accepted(json!({"seats": 3})), "3 false"),
            (Elicited::Declined, "declined"),
            (Elicited::Cancelled, "cancelled"),
        ] {
            let (client, handle) = pair_with(&server, answering(answer), era).await;
            assert_eq!(client.call_tool("book", ()).await.unwrap().text(), text);
            assert_eq!(client.stats(), Stats::default());
            assert_eq!(handle.stats(), Stats::default());
        }
    }
}

#[tokio::test]
async fn a_person_sees_the_message_and_the_fields() {
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    for era in ERAS {
        let seen = Arc::<Mutex<Vec<Value>>>::default();
        let questions = Arc::clone(&seen);
        let builder = Client::builder().on_elicitation(move |_: ClientContext, question: ElicitRequestFormParams| {
            questions.lock().unwrap().push(serde_json::to_value(&question).unwrap());
            async { Ok(ElicitResult::new(ElicitAction::Decline)) }
        });
        let (client, _) = pair_with(&server, builder, era).await;
        client.call_tool("book", ()).await.unwrap();
        let question = seen.lock().unwrap().remove(0);
        assert_eq!(question["message"], "A table for how many?");
        let fields = json!({
            "seats": {"type": "integer", "minimum": 0, "description": "How many will come."},
            "window": {"type": "boolean", "default": false},
        });
        assert_eq!(question["requestedSchema"]["properties"], fields);
        assert_eq!(question["requestedSchema"]["required"], json!(["seats"]));
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_the_form_is_an_error() {
    let server = Server::new("test", "1.0").tool("book", "Books.", |ctx: Context, _: NoArguments| async move {
        match ctx.elicit::<Booking>("How many?").await {
            Ok(_) => Ok("accepted".to_owned()),
            Err(error) => Ok(format!("{:?}: {}", error.kind(), error.message())),
        }
    });
    let (client, _) = pair_with(&server, answering(Elicited::Accepted(json!({"seats": "two"}))), ERAS[0]).await;
    let text = client.call_tool("book", ()).await.unwrap().text();
    assert!(text.starts_with("Protocol") && text.contains("/seats"), "{text}");
}

#[tokio::test]
async fn a_form_can_be_made_at_run_time_and_a_page_be_opened() {
    let server = Server::new("test", "1.0")
        .tool("sure", "Asks.", |ctx: Context, _: NoArguments| async move {
            let fields = Map::from_iter([("sure", BooleanSchema::default().into())]);
            let answer = ctx.elicit_form("Sure?", RequestedSchema::new(fields)).await?;
            let sure = answer
                .content
                .as_ref()
                .and_then(|it| it.get("sure"))
                .map(|it| it.get().to_owned());
            Ok(format!("{} {}", answer.action, sure.unwrap_or_default()))
        })
        .tool("pay", "Asks.", |ctx: Context, _: NoArguments| async move {
            let action = ctx.elicit_url("Pay.", "https://pay.example.com", "order-7").await?;
            Ok(action.to_string())
        });
    for era in ERAS {
        let builder = answering(Elicited::Accepted(json!({"sure": true}))).on_url_elicitation(
            move |_: ClientContext, page: ElicitRequestURLParams| {
                let id = page.elicitation_id.as_deref();
                assert_eq!(id, era.has_handshake().then_some("order-7"));
                assert_eq!((&*page.message, &*page.url), ("Pay.", "https://pay.example.com"));
                async { Ok(ElicitAction::Accept) }
            },
        );
        let (client, _) = pair_with(&server, builder, era).await;
        assert_eq!(client.call_tool("sure", ()).await.unwrap().text(), "accept true");
        assert_eq!(client.call_tool("pay", ()).await.unwrap().text(), "accept");
    }
}

fn model() -> ClientBuilder {
    Client::builder().on_sampling(|_: ClientContext, asked: CreateMessageRequestParams| async move {
        let asked = serde_json::to_value(&asked).map_err(HandlerError::from)?;
        let text = format!("{} / {}", asked["messages"][0]["content"]["text"], asked["maxTokens"]);
        let block = SamplingMessageContentBlock::from(TextContent::new(text));
        Ok(CreateMessageResult::new(Role::Assistant, block, "a-model"))
    })
}

#[tokio::test]
async fn a_model_and_the_roots_can_be_asked_for() {
    let server = Server::new("test", "1.0")
        .tool("sample", "Samples.", |ctx: Context, _: NoArguments| async move {
            let messages = vec![content::said(Role::User, "Hi")];
            let answer = ctx.sample(CreateMessageRequestParams::new(100, messages)).await?;
            Ok(content::sampled_text(&answer))
        })
        .prompt("roots", "Names the roots.", |ctx: Context, _: NoArguments| async move {
            let roots = ctx.list_roots().await?;
            Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(" "))
        });
    for era in ERAS {
        let builder = model().roots(vec![Root::new("file:///a")]);
        let (client, handle) = pair_with(&server, builder, era).await;
        assert_eq!(client.call_tool("sample", ()).await.unwrap().text(), "\"Hi\" / 100");
        let roots = async || {
            let prompt = client.get_prompt("roots", ()).await.unwrap();
            content::as_text(&prompt.messages[0].content).unwrap().to_owned()
        };
        assert_eq!(roots().await, "file:///a");
        client
            .set_roots(vec![Root::new("file:///b"), Root::new("file:///c")])
            .unwrap();
        assert_eq!(roots().await, "file:///b file:///c");
        assert_eq!(handle.stats(), Stats::default());
    }
}

#[tokio::test]
async fn several_questions_are_asked_in_order_or_at_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let server = Server::new("test", "1.0").tool("many", "Asks.", move |ctx: Context, _: NoArguments| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let first = ctx.elicit::<Booking>("first").await?.accepted();
            let (second, third) = tokio::join!(
                ctx.elicit::<Booking>("second").key("two").into_future(),
                ctx.elicit::<Booking>("third").key("three").into_future(),
            );
            let seats = [first, second?.accepted(), third?.accepted()].map(|it| it.unwrap().seats);
            Ok(format!("{seats:?}"))
        }
    });
    for (era, expected) in ERAS.into_iter().zip([1, 3]) {
        runs.store(0, Ordering::SeqCst);
        let builder =
            Client::builder().on_elicitation(|_: ClientContext, question: ElicitRequestFormParams| async move {
                let seats = question.message.len();
                Ok(Elicited::Accepted(json!({"seats": seats})))
            });
        let (client, handle) = pair_with(&server, builder, era).await;
        assert_eq!(client.call_tool("many", ()).await.unwrap().text(), "[5, 6, 5]");
        assert_eq!(runs.load(Ordering::SeqCst), expected, "{era}");
        assert_eq!(handle.stats(), Stats::default());
    }
}

#[tokio::test]
async fn a_handler_that_ends_for_a_round_does_not_go_on_from_its_question() {
    let went_on = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&went_on);
    let server = Server::new("test", "1.0").tool("book", "Books.", move |ctx: Context, _: NoArguments| {
        let counted = Arc::clone(&counted);
        async move {
            // A fallback for failures must not run because of a round.
            let answer = ctx.elicit::<Booking>("How many?").await;
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(answer.map_or("fallback", |_| "answered"))
        }
    });
    for era in ERAS {
        went_on.store(0, Ordering::SeqCst);
        let (client, _) = pair_with(&server, answering(Elicited::Declined), era).await;
        assert_eq!(client.call_tool("book", ()).await.unwrap().text(), "answered");
        assert_eq!(went_on.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_task_that_asked_is_told_that_the_call_is_over() {
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("spawn", "Spawns.", move |ctx: Context, _: NoArguments| {
        let told = told.clone();
        async move {
            let asked = ctx.clone();
            tokio::spawn(async move {
                let answer = asked.elicit::<Booking>("How many?").await;
                told.send(answer.map(|_| ()).map_err(|error| error.kind())).unwrap();
            });
            ctx.cancelled().await;
            std::future::pending::<()>().await;
            Ok(())
        }
    });
    let (client, _) = pair_with(&server, answering(Elicited::Declined), ERAS[1]).await;
    let call = tokio::spawn(client.call_tool("spawn", ()).into_future());
    assert_eq!(tells.recv().await.unwrap(), Err(ErrorKind::Cancelled));
    call.abort();
}

#[tokio::test]
async fn a_client_that_cannot_answer_is_not_asked() {
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    let client = pair(&server, ERAS[0]).await;
    let result = client.call_tool("book", ()).await.unwrap();
    assert!(
        result.is_error && result.text().contains("elicitation"),
        "{}",
        result.text()
    );

    let client = pair(&server, ERAS[1]).await;
    let error = client.call_tool("book", ()).await.unwrap_err();
    assert_eq!(error.code().unwrap().0, -32021);
    assert!(error.data().unwrap().contains("elicitation"), "{error}");
}

#[tokio::test]
async fn a_handler_of_the_client_that_fails_fails_the_call_and_is_reported() {
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    for era in ERAS {
        let problems = Problems::default();
        let builder = Client::builder().on_problem(problems.hook()).on_elicitation(
            |_: ClientContext, _: ElicitRequestFormParams| async {
                if true {
                    panic!("in the handler");
                }
                Ok(Elicited::<Value>::Declined)
            },
        );
        let (client, handle) = pair_with(&server, builder, era).await;
        match client.call_tool("book", ()).await {
            Ok(result) => assert!(era.has_handshake() && result.is_error, "{}", result.text()),
            Err(error) => assert_eq!((era.has_handshake(), error.kind()), (false, ErrorKind::Handler)),
        }
        assert!(problems.take()[0].message.contains("in the handler"));
        assert_eq!(client.stats(), Stats::default());
        assert_eq!(handle.stats(), Stats::default());
    }
}

#[tokio::test]
async fn a_cancelled_call_cancels_the_question_it_asked() {
    let (events, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    for era in ERAS {
        let events = events.clone();
        let builder = Client::builder().on_elicitation(move |ctx: ClientContext, _: ElicitRequestFormParams| {
            let events = events.clone();
            async move {
                events.send("asked").unwrap();
                ctx.cancelled().await;
                events.send("cancelled").unwrap();
                Ok(Elicited::<Value>::Cancelled)
            }
        });
        let (client, handle) = pair_with(&server, builder, era).await;
        let call = tokio::spawn(client.call_tool("book", ()).into_future());
        assert_eq!(seen.recv().await.unwrap(), "asked");
        call.abort();
        assert_eq!(seen.recv().await.unwrap(), "cancelled");
        client.ping().await.unwrap();
        tokio::task::yield_now().await;
        client.ping().await.unwrap();
        assert_eq!(client.stats(), Stats::default());
        assert_eq!(handle.stats(), Stats::default());
    }
}

#[tokio::test]
async fn a_handler_may_make_the_rounds_itself() {
    let server = Server::new("test", "1.0").tool("rounds", "Asks.", |ctx: Context, _: NoArguments| async move {
        let Some(answers) = ctx.input_responses() else {
            assert!(ctx.request_state().is_none());
            let fields = Map::from_iter([("sure", BooleanSchema::default().into())]);
            let form = ElicitRequestFormParams::new("Sure?", RequestedSchema::new(fields));
            return Err(InputRequired::new()
                .elicit("sure", form)
                .roots("where")
                .state("round 1")
                .into());
        };
        let part = |key: &str| answers.get(key).map(|it| it.get().to_owned()).unwrap_or_default();
        Ok(format!(
            "{} | {} | {}",
            ctx.request_state().unwrap(),
            part("sure"),
            part("where")
        ))
    });
    let builder = || answering(Elicited::Accepted(json!({"sure": true}))).roots(vec![Root::new("file:///a")]);
    let (client, _) = pair_with(&server, builder(), ERAS[1]).await;
    let text = client.call_tool("rounds", ()).await.unwrap().text();
    assert!(text.starts_with("round 1 | {\"action\":\"accept\""), "{text}");
    assert!(text.contains("file:///a"), "{text}");

    let (client, _) = pair_with(&server, builder(), ERAS[0]).await;
    assert_eq!(
        client.call_tool("rounds", ()).await.unwrap_err().code().unwrap().0,
        -32603
    );
}

#[tokio::test]
async fn a_method_of_the_client_is_called_where_there_is_a_handshake() {
    #[derive(serde::Deserialize)]
    struct Theme {
        dark: bool,
    }
    let server = Server::new("test", "1.0").tool("theme", "Asks.", |ctx: Context, _: NoArguments| async move {
        match ctx.ask::<Theme>("acme/theme", json!({"for": "me"})).await {
            Ok(theme) => Ok(theme.dark.to_string()),
            Err(error) => Ok(format!("{:?}", error.kind())),
        }
    });
    for (era, text) in ERAS.into_iter().zip(["true", "Usage"]) {
        let builder = Client::builder().method("acme/theme", |_: ClientContext, params: Value| async move {
            assert_eq!(params["for"], "me");
            Ok(json!({"dark": true}))
        });
        let (client, _) = pair_with(&server, builder, era).await;
        assert_eq!(client.call_tool("theme", ()).await.unwrap().text(), text);
    }
}

#[tokio::test]
async fn what_was_built_wrong_in_a_client_is_told_when_it_connects() {
    let connect = async |builder: ClientBuilder| builder.connect(support::peer().1).await.unwrap_err();
    let taken = Client::builder().method("ping", |_: ClientContext, _: NoArguments| async { Ok(()) });
    assert!(connect(taken).await.message().contains("ping"));
    let error = connect(Client::builder().capabilities(5)).await;
    assert_eq!(error.kind(), ErrorKind::Usage);
    let client = pair(&Server::new("test", "1.0"), ERAS[1]).await;
    assert_eq!(client.set_roots(Vec::new()).unwrap_err().kind(), ErrorKind::Usage);
}

#[tokio::test]
async fn a_form_that_no_client_can_show_is_refused_with_the_field() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Deep {
        inner: Booking,
    }
    let tool = ToolOffer::new("deep", "Asks.", |ctx: Context, _: NoArguments| async move {
        Ok(ctx.elicit::<Deep>("?").await.err().unwrap().to_string())
    });
    let server = Server::new("test", "1.0").offer(tool);
    let (client, _) = pair_with(&server, answering(Elicited::Declined), Revision::V2025_06_18).await;
    let text = client.call_tool("deep", ()).await.unwrap().text();
    assert!(text.contains("`inner`"), "{text}");
}

#[tokio::test]
async fn a_blocking_tool_can_ask_as_well() {
    let server = Server::new("test", "1.0").blocking_tool("book", "Books.", |ctx: Context, _: NoArguments| {
        let runtime = tokio::runtime::Handle::current();
        let answer = runtime.block_on(ctx.elicit::<Booking>("How many?").into_future())?;
        Ok(answer.accepted().map_or(0, |booking| booking.seats).to_string())
    });
    for era in ERAS {
        let (client, handle) = pair_with(&server, answering(Elicited::Accepted(json!({"seats": 4}))), era).await;
        assert_eq!(client.call_tool("book", ()).await.unwrap().text(), "4");
        assert_eq!(handle.stats().inbound, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_questions_on_several_threads_leave_nothing_behind() {
    let server = Server::new("test", "1.0").tool("book", "Books.", book);
    for era in ERAS {
        let (client, handle) = pair_with(&server, answering(Elicited::Accepted(json!({"seats": 2}))), era).await;
        for _ in 0..25 {
            let calls: Vec<_> = (0..40)
                .map(|_| tokio::spawn(client.call_tool("book", ()).into_future()))
                .collect();
            for call in calls {
                assert_eq!(call.await.unwrap().unwrap().text(), "2 false");
            }
        }
        assert_eq!(client.stats(), Stats::default());
        // Dropped handlers are gone once their tasks had a turn.
        while handle.stats() != Stats::default() {
            client.ping().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_round_that_cannot_be_asked_for_says_what_is_wrong() {
    let server = Server::new("test", "1.0").tool("rounds", "Asks.", |_: Context, _: NoArguments| async {
        Err::<(), _>(InputRequired::new().request("odd", "roots/list", [1, 2]).into())
    });
    let client = pair(&server, ERAS[1]).await;
    let error = client.call_tool("rounds", ()).await.unwrap_err();
    assert!(
        error.message().contains("roots/list") && error.message().contains("[1,2]"),
        "{error}"
    );
}
