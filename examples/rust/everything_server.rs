//! A server with one of everything: tools that ask the person and the model, a long one that reports its progress
//! and logs, resources that can be watched, a family of them, a prompt with completion.
//! Start it from a client: `cargo run --example everything_client`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use oxmcp::types::{CreateMessageRequestParams, PromptMessage, Role, content};
use oxmcp::{
    Completing, Context, Elicited, HandlerError, Json, LogLevel, NoArguments, PromptOffer, ResourceOffer, Server,
    TemplateOffer, ToolError,
};

/// What a person fills in.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Booking {
    /// How many people will come.
    seats: u32,
    /// Where they want to sit.
    place: Place,
    /// Anything the kitchen should know.
    wishes: Option<String>,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Place {
    Inside,
    Garden,
}

async fn book(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    Ok(match ctx.elicit::<Booking>("A table for how many?").await? {
        Elicited::Accepted(Booking { seats, place, wishes }) => {
            let wishes = wishes.unwrap_or_else(|| "no wishes".to_owned());
            format!("booked {seats} seats, {place:?}, {wishes}")
        }
        Elicited::Declined | Elicited::Cancelled => "nothing was booked".to_owned(),
    })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    /// What to make shorter.
    text: String,
}

async fn summarize(ctx: Context, Text { text }: Text) -> Result<String, ToolError> {
    let messages = vec![content::said(Role::User, format!("In one sentence: {text}"))];
    let answer = ctx.sample(CreateMessageRequestParams::new(100, messages)).await?;
    Ok(format!("{} says: {}", answer.model, content::sampled_text(&answer)))
}

async fn folders(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    let roots = ctx.list_roots().await?;
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(uris.join(", "))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Work {
    /// How many steps there are.
    steps: u32,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Done {
    steps: u32,
    client: String,
}

async fn work(ctx: Context, Work { steps }: Work) -> Result<Json<Done>, ToolError> {
    ctx.log(LogLevel::Info, Some("work"), "starting");
    for step in 1..=steps {
        ctx.report_progress(step, Some(steps.into()), Some("working"));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    ctx.log(LogLevel::Notice, Some("work"), serde_json::json!({"steps": steps}));
    let client = ctx.caller().and_then(|caller| caller.client_info);
    Ok(Json(Done {
        steps,
        client: client.map_or_else(|| "somebody".to_owned(), |info| info.name),
    }))
}

#[derive(serde::Deserialize)]
struct Note {
    id: u32,
}

async fn note(ctx: Context, Note { id }: Note) -> Result<String, HandlerError> {
    match id {
        1..=3 => Ok(format!("This is note {id}.")),
        _ => Err(HandlerError::not_found(ctx.uri().unwrap_or_default())),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Review {
    /// The language of the code.
    language: String,
    /// How strict to be, from 1 to 5.
    strictness: Option<u8>,
}

async fn review(_: Context, Review { language, strictness }: Review) -> Result<Vec<PromptMessage>, HandlerError> {
    let strictness = strictness.unwrap_or(3);
    let asked = format!("Review this {language} code, with strictness {strictness}.");
    Ok(vec![
        PromptMessage::new(Role::User, content::text(asked)),
        PromptMessage::new(Role::Assistant, content::text("Show me the code.")),
    ])
}

async fn languages(_: Context, typed: Completing) -> Result<Vec<&'static str>, HandlerError> {
    let known = ["python", "rust", "ruby"].into_iter();
    Ok(known.filter(|language| language.starts_with(&typed.value)).collect())
}

fn main() -> Result<(), oxmcp::Error> {
    let count = Arc::new(AtomicU32::new(0));
    let read = Arc::clone(&count);
    let counter = ResourceOffer::new("app://counter", "counter", move |_: Context| {
        let count = read.load(Ordering::Relaxed);
        async move { Ok(count.to_string()) }
    });
    let notes = TemplateOffer::new("note://{id}", "note", note)
        .description("The notes 1 to 3.")
        .mime_type("text/plain")
        .complete("id", |_: Context, _: Completing| async { Ok(["1", "2", "3"]) });
    let server = Server::new("everything", "1.0")
        .instructions("One of everything, to try things out.")
        .subscriptions(true)
        .tool("book", "Asks the person, and books a table.", book)
        .tool("summarize", "Asks the model for a summary.", summarize)
        .tool("folders", "Names the folders it may work on.", folders)
        .tool("work", "Takes a while, and says how far it is.", work)
        .offer(
            counter
                .mime_type("text/plain")
                .title("How often the counter was raised"),
        )
        .offer(notes)
        .offer(PromptOffer::new("review", "Reviews code.", review).complete("language", languages))
        .on_problem(|problem| eprintln!("server: {}", problem.message));
    // A handler that changes what is offered needs the server that it belongs to.
    let offers = server.offers();
    let raise = move |_: Context, _: NoArguments| {
        let raised = count.fetch_add(1, Ordering::Relaxed) + 1;
        offers.resource_updated("app://counter");
        async move { Ok(raised.to_string()) }
    };
    server.tool("raise", "Raises the counter by one.", raise).run_stdio()
}
