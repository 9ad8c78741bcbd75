//! Tools, resources and prompts that only give something.

use oxmcp::types::{BlobResourceContents, PromptMessage, ResourceContents, Role, TextResourceContents, content};
use oxmcp::{
    CallToolResult, Completing, Context, HandlerError, NoArguments, PromptOffer, ResourceOffer, Server, TemplateOffer,
    ToolError,
};

/// A picture of one pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89,
];
/// A sound without samples.
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0";

pub(crate) async fn simple_text(_: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    Ok("This is a simple text response for testing.")
}

pub(crate) async fn simple_prompt(_: Context, _: NoArguments) -> Result<&'static str, HandlerError> {
    Ok("This is a simple prompt for testing.")
}

fn text_at(uri: &str, mime_type: &str, text: &str) -> ResourceContents {
    let mut contents = TextResourceContents::new(uri, text);
    contents.mime_type = Some(mime_type.to_owned());
    contents.into()
}

async fn several(_: Context, _: NoArguments) -> Result<Vec<oxmcp::types::ContentBlock>, ToolError> {
    let mixed = text_at(
        "test://mixed-content-resource",
        "application/json",
        r#"{"test":"data","value":123}"#,
    );
    Ok(vec![
        content::text("Multiple content types test:"),
        content::image(PNG, "image/png"),
        content::resource(mixed),
    ])
}

#[derive(serde::Deserialize)]
struct Id {
    id: String,
}

async fn by_template(ctx: Context, Id { id }: Id) -> Result<ResourceContents, HandlerError> {
    let data = serde_json::json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    Ok(text_at(
        ctx.uri().unwrap_or_default(),
        "application/json",
        &data.to_string(),
    ))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Two {
    /// The first argument.
    arg1: String,
    /// The second argument.
    arg2: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Embedded {
    /// What to embed.
    #[serde(rename = "resourceUri")]
    resource_uri: String,
}

fn user(block: oxmcp::types::ContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, block)
}

async fn embedded(_: Context, Embedded { resource_uri }: Embedded) -> Result<Vec<PromptMessage>, HandlerError> {
    let resource = text_at(&resource_uri, "text/plain", "Embedded resource content for testing.");
    Ok(vec![
        user(content::resource(resource)),
        user(content::text("Please process the embedded resource above.")),
    ])
}

fn add_resources(server: Server) -> Server {
    let text = ResourceOffer::new("test://static-text", "static-text", |_: Context| async {
        Ok("This is the content of the static text resource.")
    });
    let binary = ResourceOffer::new("test://static-binary", "static-binary", |ctx: Context| async move {
        let mut contents = BlobResourceContents::new(ctx.uri().unwrap_or_default(), content::to_base64(PNG));
        contents.mime_type = Some("image/png".to_owned());
        Ok(ResourceContents::from(contents))
    });
    let watched = ResourceOffer::new("test://watched-resource", "watched-resource", |_: Context| async {
        Ok("Watched resource content.")
    });
    let template = TemplateOffer::new("test://template/{id}/data", "template", by_template);
    server
        .offer(text.description("Text that never changes.").mime_type("text/plain"))
        .offer(binary.description("A picture.").mime_type("image/png"))
        .offer(watched.description("Can be subscribed to.").mime_type("text/plain"))
        .offer(template.description("Data by its id.").mime_type("application/json"))
}

fn add_prompts(server: Server) -> Server {
    let arguments = |_: Context, Two { arg1, arg2 }: Two| async move {
        Ok(format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))
    };
    let picture = |_: Context, _: NoArguments| async {
        Ok(vec![
            user(content::image(PNG, "image/png")),
            user(content::text("Please analyze the image above.")),
        ])
    };
    let two = PromptOffer::new("test_prompt_with_arguments", "Has two arguments.", arguments);
    let two = two.complete("arg1", |_: Context, typed: Completing| async move {
        let known = ["hello", "help", "test"].into_iter();
        Ok(known.filter(|word| word.starts_with(&typed.value)).collect::<Vec<_>>())
    });
    server
        .prompt("test_simple_prompt", "Has no arguments.", simple_prompt)
        .offer(two)
        .prompt("test_prompt_with_embedded_resource", "Embeds a resource.", embedded)
        .prompt("test_prompt_with_image", "Has a picture.", picture)
}

/// The first tool of the list can be called without arguments.
pub(crate) fn add(server: Server) -> Server {
    let server = server
        .tool("test_simple_text", "Gives text.", simple_text)
        .tool(
            "test_image_content",
            "Gives a picture.",
            |_: Context, _: NoArguments| async { Ok(vec![content::image(PNG, "image/png")]) },
        )
        .tool(
            "test_audio_content",
            "Gives sound.",
            |_: Context, _: NoArguments| async { Ok(vec![content::audio(WAV, "audio/wav")]) },
        )
        .tool(
            "test_embedded_resource",
            "Gives a resource.",
            |_: Context, _: NoArguments| async {
                let text = "This is an embedded resource content.";
                Ok(vec![content::resource(text_at(
                    "test://embedded-resource",
                    "text/plain",
                    text,
                ))])
            },
        )
        .tool("test_multiple_content_types", "Gives several things.", several)
        .tool("test_error_handling", "Fails.", |_: Context, _: NoArguments| async {
            Ok(CallToolResult::error(
                "This tool intentionally returns an error for testing",
            ))
        });
    add_prompts(add_resources(server))
}
