"""The types of the protocol under the names that programs know."""

from __future__ import annotations

import enum
from typing import Any, Union

import pydantic
import pytest

from oxmcp import types
from oxmcp.types import (
    AnyUrl,
    BlobResourceContents,
    CallToolRequest,
    CallToolResult,
    CompleteRequest,
    EmbeddedResource,
    ImageContent,
    Resource,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)


def test_members_are_camel_case_and_unknown_ones_are_kept() -> None:
    tool = Tool(name="add", inputSchema={"type": "object"}, annotations={"readOnlyHint": True}, _meta={"a": 1}, xOwn=5)  # type: ignore[arg-type,call-arg]
    assert (tool.inputSchema, tool.title, tool.meta) == ({"type": "object"}, None, {"a": 1})
    assert isinstance(tool.annotations, ToolAnnotations) and tool.annotations.readOnlyHint is True
    assert tool.xOwn == 5 and tool.model_extra == {"xOwn": 5}
    assert tool.model_dump(exclude_none=True, by_alias=True) == {
        "name": "add", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}, "_meta": {"a": 1}, "xOwn": 5
    }
    assert tool.model_dump()["meta"] == {"a": 1} and tool.model_dump()["title"] is None
    assert tool.model_dump(include={"name"}) == {"name": "add"}
    assert tool.model_dump(exclude_unset=True).keys() == {"name", "inputSchema", "annotations", "meta", "xOwn"}
    assert Tool.model_validate_json(tool.model_dump_json(by_alias=True)) == tool
    with pytest.raises(AttributeError, match="Tool has no 'colour'"):
        tool.colour


def test_snake_case_works_too() -> None:
    tool = Tool(name="add", input_schema={"type": "object"})  # type: ignore[call-arg]
    assert tool.input_schema == tool.inputSchema == {"type": "object"}
    assert ImageContent(data="a", mime_type="image/png").mime_type == "image/png"  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Tool(name="x"), "Tool needs 'inputSchema'"),
        (lambda: TextContent(text=5), "text: expected a string, got 5"),
        (lambda: TextContent(type="image", text="x"), "type: expected 'text', got 'image'"),
        (lambda: CallToolResult(content="x"), "content: expected a list, got 'x'"),
        (lambda: CallToolResult(content=[{"type": "text"}]), "needs 'text'"),
        (lambda: ToolAnnotations(readOnlyHint="yes"), "readOnlyHint: expected a bool, got 'yes'"),
        (lambda: types.ErrorData(code="x", message="m"), "code: expected an integer, got 'x'"),
        (lambda: types.Annotations(priority=[]), "priority: expected a number"),
        (lambda: Resource(name="r", uri=""), "uri: expected a URI"),
        (lambda: Tool.model_validate(5), "expected a Tool, got 5"),
        (lambda: CallToolRequest(method="tools/list", params={"name": "x"}), "the method of CallToolRequest is 'tools/call'"),
    ],
)
def test_what_does_not_fit_is_told(make: Any, what: str) -> None:
    with pytest.raises(ValueError) as error:
        make()
    assert what in str(error.value)


def test_a_block_is_what_its_type_says() -> None:
    result = CallToolResult.model_validate(
        {
            "content": [
                {"type": "text", "text": "x"},
                {"type": "image", "data": "a", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a://b", "blob": "aa"}},
                {"type": "resource_link", "uri": "a://b", "name": "n"},
            ]
        }
    )
    kinds = [type(block) for block in result.content]
    assert kinds == [TextContent, ImageContent, EmbeddedResource, types.ResourceLink] and result.isError is False
    resource = result.content[2].resource  # type: ignore[union-attr]
    assert isinstance(resource, BlobResourceContents) and isinstance(resource.uri, AnyUrl)
    assert isinstance(CompleteRequest(params={"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}).params.ref, types.PromptReference)  # type: ignore[arg-type]
    message = SamplingMessage(role="user", content=[TextContent(text="a")])
    assert [block.text for block in message.content_as_list] == ["a"]  # type: ignore[union-attr]


def test_a_uri_is_text_with_parts() -> None:
    uri = Resource(name="r", uri=AnyUrl("http://h.example:80/a/b?c=d#e")).uri
    assert (uri.scheme, uri.host, uri.port, uri.path, uri.query, uri.fragment) == ("http", "h.example", 80, "/a/b", "c=d", "e")
    assert str(uri) == "http://h.example:80/a/b?c=d#e" == uri.unicode_string() and uri.startswith("http")
    assert Resource(name="r", uri=pydantic.AnyUrl("a://b/c")).uri == "a://b/c"  # type: ignore[arg-type]


def test_enums_are_their_text() -> None:
    class Name(str, enum.Enum):
        ADD = "add"

    assert type(Tool(name=Name.ADD, inputSchema={}).name) is str


def test_they_fit_into_models_of_pydantic() -> None:
    class Page(pydantic.BaseModel):
        blocks: list[Union[TextContent, ImageContent]]
        uri: AnyUrl

    page = Page.model_validate({"blocks": [{"type": "text", "text": "x"}], "uri": "a://b"})
    assert isinstance(page.blocks[0], TextContent) and page.uri.scheme == "a"
    assert page.model_dump(mode="json", exclude_none=True) == {"blocks": [{"type": "text", "text": "x"}], "uri": "a://b"}
    # And models of pydantic, such as those of `mcp.types`, where ours are expected.
    class Foreign(pydantic.BaseModel):
        type: str = "text"
        text: str

    assert CallToolResult(content=[Foreign(text="x")]).content == [TextContent(text="x")]  # type: ignore[list-item]


def test_copies_and_old_names() -> None:
    text = TextContent(text="a")
    copy = text.model_copy(update={"text": "b"})
    assert (copy.text, text.text) == ("b", "a") and copy != text
    assert text.dict() == text.model_dump() and text.json() == text.model_dump_json()
    assert TextContent.model_construct(text=5).text == 5  # type: ignore[comparison-overlap]
    assert repr(text) == "TextContent(type='text', text='a', annotations=None, meta=None)"
    assert dict(text)["text"] == "a"
    contents = TextResourceContents(uri="a://b", text="t")  # type: ignore[arg-type]
    assert types.ServerResult(contents).model_dump(exclude_none=True) == {"uri": "a://b", "text": "t"}


def test_base64_with_escaped_slashes_is_decoded() -> None:
    from oxmcp._types import decode_call_result

    text = b'{"content":[{"type":"image","data":"\\/\\/79\\/A==","mimeType":"image/png"}]}'
    (image,) = decode_call_result(text).content
    assert image.data == b"\xff\xfe\xfd\xfc"  # type: ignore[union-attr]
