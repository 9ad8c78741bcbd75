"""What a client takes of what a server sends, what it refuses, and how it says so; and its limits."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from oxmcp import (
    Client,
    ConnectionClosedError,
    Context,
    ProtocolError,
    ResponseError,
    Root,
    Server,
    UrlElicitationRequiredError,
    UsageError,
)
from oxmcp._errors import from_native

# A server that answers as the test says, by the method.
WIRE = """
import json, sys
answers = json.loads(sys.argv[1])
answers["initialize"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = answers[message["method"]]
        kind = "error" if isinstance(answer, dict) and "code" in answer else "result"
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], kind: answer}), flush=True)
"""


def client(answers: dict[str, Any], **options: Any) -> Client:
    return Client([sys.executable, "-c", WIRE, json.dumps(answers)], mode="legacy", **options)


TOOL = {"name": "good", "inputSchema": {"type": "object"}}
CALL = "tools/call"


def test_null_is_absent() -> None:
    nulls = dict.fromkeys(("title", "description", "annotations", "icons", "outputSchema", "_meta"))
    block = {"type": "text", "text": "a", "annotations": None, "_meta": None}
    link = {"type": "resource_link", "uri": "x://a", "name": "a", "mimeType": None, "size": None}
    answers = {
        "tools/list": {"tools": [{**TOOL, **nulls}], "_meta": None},
        "resources/list": {"resources": [{"uri": "x://a", "name": "a", "mimeType": None, "size": None}]},
        "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": None}], "title": None}]},
        CALL: {"content": [block, link], "isError": None, "structuredContent": {"a": None}, "_meta": None},
        "resources/read": {"contents": [{"uri": "x://a", "text": "a", "mimeType": None, "blob": None}]},
        "prompts/get": {"description": None, "messages": [{"role": "user", "content": block}]},
    }

    async def main() -> None:
        problems: list[Any] = []
        async with client(answers, on_problem=lambda *problem: problems.append(problem)) as it:
            (tool,) = await it.list_tools()
            assert tool.description is msgspec.UNSET and tool.input_schema == {"type": "object"}
            (resource,) = await it.list_resources()
            assert resource.mime_type is msgspec.UNSET and resource.uri == "x://a"
            (prompt,) = await it.list_prompts()
            assert prompt.arguments[0].required is False
            result = await it.call_tool("good")
            assert (result.text, result.is_error, result.structured_content) == ("a", False, {"a": None})
            assert result.content[1].mime_type is msgspec.UNSET
            assert (await it.read_resource("x://a")).text == "a"
            assert (await it.get_prompt("p")).text == "a"
            assert problems == []

    asyncio.run(main())


def test_a_broken_entry_does_not_take_its_list_along() -> None:
    answers = {
        "tools/list": {"tools": [TOOL, {"name": "bad", "inputSchema": 5}, {"inputSchema": {}}, 5, {**TOOL, "name": "b"}]},
        "resources/list": {"resources": 5},
    }

    async def main() -> None:
        problems: list[Any] = []
        async with client(answers, on_problem=lambda *problem: problems.append(problem)) as it:
            assert [tool.name for tool in await it.list_tools()] == ["good", "b"]
            assert [kind for kind, _ in problems] == ["broken_entry"] * 3
            first, second, third = (message for _, message in problems)
            assert "tools/list, tools[1] ('bad') is left out: Expected `object`, got `int` - at `$.inputSchema`" in first
            assert "tools[2] is left out" in second and "`name`" in second and "tools[3] is left out" in third
            with pytest.raises(ProtocolError):
                await it.list_resources()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("method", "answer", "where"),
    [
        (CALL, {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": 5}]}, "$.content[1].data"),
        (CALL, {"content": [5]}, "$.content[0]"),
        ("prompts/get", {"messages": [{"role": "user", "content": {"type": "text", "text": 5}}]}, "$.messages[0].content.text"),
        ("prompts/get", {"messages": [{"role": "user", "content": [{"type": 5}]}]}, "$.messages[0].content[0].type"),
        ("prompts/get", {"messages": [{"role": "user", "content": []}, {"role": "x", "content": []}]}, "$.messages[1].role"),
    ],
)
def test_what_is_broken_is_named_in_terms_of_the_whole(method: str, answer: Any, where: str) -> None:
    async def main() -> None:
        async with client({method: answer}) as it:
            with pytest.raises(ProtocolError) as error:
                await (it.call_tool("x") if method == CALL else it.get_prompt("x"))
            assert f"`{where}`" in error.value.message

    asyncio.run(main())


def test_urls_that_must_be_visited_have_an_error_of_their_own() -> None:
    urls = [{"mode": "url", "url": "https://example.com", "message": "m", "elicitationId": "1"}]

    async def main() -> None:
        async with client({CALL: {"code": -32042, "message": "visit", "data": {"elicitations": urls}}}) as it:
            with pytest.raises(UrlElicitationRequiredError) as error:
                await it.call_tool("x")
            assert isinstance(error.value, ResponseError) and error.value.fault == "peer"
            assert (error.value.elicitations, error.value.message, error.value.code) == (urls, "visit", -32042)

    asyncio.run(main())
    for data in (None, "5", '{"elicitations": 5}', '{"elicitations": [5]}'):
        assert type(from_native("response", -32042, "m", data, "peer", False)) is ResponseError


def test_the_largest_message_is_the_programs_to_say() -> None:
    answers = {CALL: {"content": [{"type": "text", "text": "x" * 5000}]}}

    async def main() -> None:
        async with client(answers) as it:
            assert len((await it.call_tool("x")).text) == 5000
        problems: list[str] = []
        async with client(answers, limits={"message": 4000}, on_problem=lambda kind, text: problems.append(text)) as it:
            with pytest.raises(ProtocolError, match="dropped; the limit is 4000"):
                await it.call_tool("x")
            assert "4000" in problems[0]

        app = Server("small", limits={"message": 4000, "depth": 8, "in_flight": 5, "drain": 0.5, "subscriptions": 1})
        app.tool(lambda text: text, name="echo")
        async with Client(app, mode="legacy") as it:
            assert (await it.call_tool("echo", {"text": "a"})).text == "a"
            with pytest.raises(ResponseError, match="deep|nest"):
                await it.call_tool("echo", {"text": [[[[[[[[[[]]]]]]]]]]})

    asyncio.run(main())


def test_the_most_pages_are_the_programs_to_say() -> None:
    app = Server("pages", page_size=1)
    for number in range(4):
        app.tool(lambda: None, name=f"t{number}")

    async def main() -> None:
        async with Client(app, list_max_pages=4) as it:
            assert len(await it.list_tools()) == 4
        async with Client(app, list_max_pages=3) as it:
            with pytest.raises(ProtocolError, match="3"):
                await it.list_tools()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"limits": {"mesage": 1}}, "limits= has no option 'mesage'; did you mean 'message'"),
        ({"limits": {"message": 0}}, "limits= has message, which is a whole number from 1 up, not 0"),
        ({"limits": {"depth": True}}, "not True"),
        ({"limits": 5}, "limits= is a dict"),
        ({"list_max_pages": "many"}, "list_max_pages is a whole number from 1 up, not 'many'"),
        ({"roots": ["http://x/y"]}, "begins with file://, which 'http://x/y' does not"),
        ({"roots": "ftp://x"}, "begins with file://"),
        ({"roots": [Root("git://x")]}, "begins with file://"),
        ({"roots": [5]}, "a root is a path, a file:// URI or a Root, not 5"),
        ({"roots": [""]}, "a root is a path"),
        ({"roots": 5}, "roots are a list"),
    ],
)
def test_what_a_client_cannot_be_made_with(options: Any, what: str) -> None:
    with pytest.raises(UsageError) as error:
        Client(["x"], **options)
    assert what in error.value.message


@pytest.mark.parametrize("limits", [{"drain": -1}, {"drain": "1"}, {"pages": 1}, {"in_flight": 1.5}])
def test_limits_that_a_server_has_not(limits: Any) -> None:
    with pytest.raises(UsageError, match="limits= has"):
        Server("x", limits=limits)


@pytest.mark.parametrize("kind", [str, Path])
def test_one_root_needs_no_list(kind: Any, tmp_path: Path) -> None:
    app = Server("roots")

    @app.tool
    async def roots(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.list_roots()]

    async def main() -> None:
        root = tmp_path if kind is Path else tmp_path.as_uri()
        for given in (root, lambda: root):
            async with Client(app, roots=given) as it:
                assert json.loads((await it.call_tool("roots")).text) == [tmp_path.as_uri()]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("ws://example.com/mcp", "by http:// or https://, not by ws://"),
        ("file:///a/b.py", "not by file://"),
        ("http:/example.com", "is no URL"),
        ("https:example.com", "is no URL"),
        ("http://", "is no URL"),
        ("http:///mcp", "is no URL"),
        ({"mcpServers": {"a": {"url": "ws://x"}}}, "not by ws://"),
    ],
)
def test_what_is_no_url_of_a_server(target: Any, what: str) -> None:
    with pytest.raises(UsageError) as error:
        Client(target)
    assert what in error.value.message


def test_the_case_of_a_scheme_does_not_matter() -> None:
    async def main() -> None:
        with pytest.raises(ConnectionClosedError, match="http://127.0.0.1:9"):
            await Client("HTTP://127.0.0.1:9/mcp").connect()

    asyncio.run(main())
