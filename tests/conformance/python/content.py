"""Tools, resources and prompts that only give something."""

from __future__ import annotations

from typing import Any

from oxmcp import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    Message,
    Server,
    TextContent,
)

# A picture of one pixel, and a sound without samples.
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0"


def text_at(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource={"uri": uri, "mimeType": mime_type, "text": text})


def simple_text() -> str:
    "Gives text."
    return "This is a simple text response for testing."


def simple_prompt() -> str:
    "Has no arguments."
    return "This is a simple prompt for testing."


def image_content() -> ImageContent:
    "Gives a picture."
    return ImageContent(data=PNG, mime_type="image/png")


def audio_content() -> AudioContent:
    "Gives sound."
    return AudioContent(data=WAV, mime_type="audio/wav")


def embedded_resource() -> EmbeddedResource:
    "Gives a resource."
    return text_at("test://embedded-resource", "text/plain", "This is an embedded resource content.")


def multiple_content_types() -> list[Any]:
    "Gives several things."
    mixed = text_at("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [TextContent(text="Multiple content types test:"), image_content(), mixed]


def error_handling() -> CallToolResult:
    "Fails."
    return CallToolResult([TextContent(text="This tool intentionally returns an error for testing")], is_error=True)


def add_resources(app: Server) -> None:
    @app.resource("test://static-text", mime_type="text/plain", description="Text that never changes.")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @app.resource("test://static-binary", mime_type="image/png", description="A picture.")
    def static_binary() -> bytes:
        return PNG

    @app.resource("test://watched-resource", mime_type="text/plain", description="Can be subscribed to.")
    def watched_resource() -> str:
        return "Watched resource content."

    @app.resource("test://template/{id}/data", mime_type="application/json", description="Data by its id.")
    def template(id: str) -> dict[str, Any]:
        return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


def add_prompts(app: Server) -> None:
    app.add_prompt(simple_prompt, name="test_simple_prompt")

    @app.prompt(name="test_prompt_with_arguments", description="Has two arguments.")
    def with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @app.completion("test_prompt_with_arguments", "arg1")
    def known(value: str) -> list[str]:
        return [word for word in ("hello", "help", "test") if word.startswith(value)]

    @app.prompt(name="test_prompt_with_embedded_resource", description="Embeds a resource.")
    def with_embedded_resource(resourceUri: str) -> list[Message]:
        resource = text_at(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [Message(resource), Message(TextContent(text="Please process the embedded resource above."))]

    @app.prompt(name="test_prompt_with_image", description="Has a picture.")
    def with_image() -> list[Message]:
        return [Message(image_content()), Message(TextContent(text="Please analyze the image above."))]


def add(app: Server) -> None:
    """The first tool of the list can be called without arguments."""
    for function in (
        simple_text,
        image_content,
        audio_content,
        embedded_resource,
        multiple_content_types,
        error_handling,
    ):
        app.add_tool(function, name=f"test_{function.__name__}")
    add_resources(app)
    add_prompts(app)
