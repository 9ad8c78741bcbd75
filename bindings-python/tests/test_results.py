"""From what tools return or raise to what goes over the wire, and what a client takes and refuses."""

from __future__ import annotations

import asyncio
import enum
import json
import logging
import math
import sys
from pathlib import Path
from typing import Any, Union

import msgspec
import pydantic
import pytest
from peer import Peer, script, text

from oxmcp import (
    CallToolResult,
    Client,
    ImageContent,
    McpError,
    ProtocolError,
    ResponseError,
    Server,
    SyncClient,
    TextContent,
    ToolError,
    UnknownContent,
    UsageError,
)
from oxmcp._errors import explain, from_native
from oxmcp._results import encode


class Shade(str, enum.Enum):
    DARK = "dark"


class Measure(pydantic.BaseModel):
    value: float


def wire(value: Any) -> Any:
    return json.loads(encode(value))


def block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (CallToolResult(), {"content": []}),
        (CallToolResult(is_error=True), {"content": [], "isError": True}),
        (CallToolResult(["plain", TextContent(text="block")]), {"content": [block("plain"), block("block")]}),
        (CallToolResult([{"type": "hologram", "depth": 1}]), {"content": [{"type": "hologram", "depth": 1}]}),
        (UnknownContent("hologram", {"type": "hologram", "depth": None}), {"content": [{"type": "hologram", "depth": None}]}),
        ([UnknownContent("h", {"type": "h"}), 5], {"content": [{"type": "h"}, block("5")]}),
        (Shade.DARK, {"content": [block("dark")]}),
        ([Shade.DARK, TextContent(text="b")], {"content": [block("dark"), block("b")]}),
        ({"a": None}, {"content": [block('{"a":null}')], "structuredContent": {"a": None}}),
        ({"a": msgspec.Raw(b"null")}, {"content": [block('{"a":null}')], "structuredContent": {"a": None}}),
        (ImageContent(data=b"ab", mime_type="x"), {"content": [{"type": "image", "data": "YWI=", "mimeType": "x"}]}),
    ],
)
def test_what_goes_out(value: Any, result: Any) -> None:
    assert wire(value) == result


def test_content_is_written_also_by_msgspec_alone() -> None:
    assert msgspec.json.encode(CallToolResult()) == b'{"content":[]}'


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (CallToolResult("text"), "is a list of blocks and strings, not str"),  # type: ignore[arg-type]
        (CallToolResult([5]), r"content\[0\] is of type int"),
        (CallToolResult(["a", TextContent(text=5)]), r"content\[1\].*Expected `str`, got `int`.*text"),  # type: ignore[arg-type]
        (CallToolResult([{"type": "text"}]), "missing required field `text`"),
        (CallToolResult(is_error=1), "is_error"),  # type: ignore[arg-type]
        (CallToolResult(meta=1), "meta"),  # type: ignore[arg-type]
        (UnknownContent("h", 5), "of type int"),  # type: ignore[arg-type]
        (UnknownContent("h", {}), "type"),
        (math.nan, "JSON has no nan"),
        ({"a": [None, math.inf]}, r"JSON has no inf, which stands at \$\.a\[1\]"),
        (Measure(value=-math.inf), r"JSON has no -inf, which stands at \$\.value"),
        (CallToolResult(structured_content={"a": math.nan}), "JSON has no nan"),
        (object(), "type object has no JSON form; return str"),
    ],
)
def test_what_is_refused(value: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        encode(value)


def test_a_bad_result_is_the_tools_fault(tmp_path: Path) -> None:
    source = """
        from oxmcp import CallToolResult
        app = Server("bad")
        @app.tool
        async def bad() -> CallToolResult: return CallToolResult(content="text")
        @app.tool
        async def nan() -> float: return float("nan")
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        bad = peer.tool("bad")
        assert bad["isError"] is True and "list of blocks" in text(bad)
        nan = peer.tool("nan")
        assert nan["isError"] is True and "JSON has no nan" in text(nan)
        assert "list of blocks" in peer.leave()[1]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Bare(McpError):
    def __init__(self) -> None: ...


@pytest.mark.parametrize(
    ("error", "code", "what"),
    [
        (ValueError("kaputt"), None, "Error executing tool t (-32603): kaputt"),
        (ValueError(), None, "Error executing tool t (-32603): ValueError"),
        (ValueError("a\udcffb"), None, "a\ufffdb"),
        (Unprintable(), None, "Unprintable, which cannot be shown"),
        (ToolError("a\udcffb"), None, "a\ufffdb"),
        (McpError("odd", code="abc"), -32603, "code that is no integer"),  # type: ignore[arg-type]
        (McpError("odd", code=2**63), -32603, "code that is no integer"),
        (McpError("odd", code=None), -32603, "odd"),
        (McpError("odd", -7, data=object()), -32603, "data that is no JSON"),
        (McpError("odd", -7, data=math.nan), -32603, "data that is no JSON"),
        (McpError(5, -7), -7, "5"),  # type: ignore[arg-type]
        (McpError("\udcff", -7), -7, "\ufffd"),
        (Bare(), -32603, "Bare"),
    ],
)
def test_whatever_is_raised_can_be_told(error: BaseException, code: int | None, what: str) -> None:
    found, message, data = explain(error, "t")
    message.encode()
    assert (found, data) == (code, None) and what in message


def test_an_error_of_the_core_always_becomes_an_exception() -> None:
    assert from_native("response", -1, "m", '{"a":"\\ud800"}', "peer", False).data == {"a": "\ufffd"}
    assert from_native("response", -1, "m", "{", "peer", False).data == "{"
    assert type(from_native("unheard_of", -1, "m", None, "peer", False)) is McpError


# A server that answers in bytes, as no JSON library would write them.
WIRE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = INITIALIZE
    elif "id" in message:
        print('{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\\\\ud800"}}')
        result = '{"a":"\\\\udfff"}'
        if message["method"] == "tools/call":
            result = '{"content":[{"type":"text","text":"a\\\\ud83d\\\\ud83d\\\\ude00\\\\\\\\ud83d"}]}'
        if message["method"] == "fail":
            print('{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"m","data":"\\\\ud800"}}' % message["id"], flush=True)
            continue
    else:
        continue
    print('{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], result), flush=True)
"""
HANDSHAKE = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1","x":"\\ud800"}}'


def server(handshake: str = HANDSHAKE) -> list[str]:
    return [sys.executable, "-c", WIRE.replace("INITIALIZE", repr(handshake))]


def test_lone_surrogates_from_a_server_do_no_harm() -> None:
    async def main() -> None:
        seen: list[Any] = []
        async with Client(server(), mode="legacy", on_notification=lambda *it: seen.append(it)) as client:
            assert client.server_info["x"] == "\ufffd"
            assert await client.request("x") == {"a": "\ufffd"}
            assert seen == [("notifications/x", {"a": "\ufffd"})]
            with pytest.raises(ResponseError) as error:
                await client.request("fail")
            assert error.value.data == "\ufffd"
            assert (await client.call_tool("x")).text == "a\ufffd\U0001f600\\ud83d"

    asyncio.run(main())


def test_what_cannot_be_sent_is_refused_before_anything_is_sent() -> None:
    async def main() -> None:
        sent: list[str] = []
        async with Client(server(), on_trace=lambda direction, _: sent.append(direction)) as client:
            sent.clear()
            for arguments in ({"a": math.nan}, {"a": "\ud800"}, {"a": object()}, {"a": [math.inf]}):
                with pytest.raises(UsageError, match="the arguments of 'x' have no JSON form"):
                    await client.call_tool("x", arguments)
                with pytest.raises(UsageError, match="the params of 'x'"):
                    await client.request("x", arguments)
                with pytest.raises(UsageError, match="the params of 'x'"):
                    client.notify("x", arguments)
            for call in (client.call_tool("\ud800"), client.request("\ud800")):
                with pytest.raises(UsageError, match="surrogate"):
                    await call
            with pytest.raises(UsageError, match="surrogate"):
                client.notify("\ud800")
            assert sent == []

    asyncio.run(main())


def test_what_a_server_says_of_itself_must_be_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    from oxmcp import _json

    def fail(text: object) -> Any:
        raise ValueError("unreadable")

    async def main() -> None:
        monkeypatch.setattr(_json, "decode", fail)
        with pytest.raises(ProtocolError, match="cannot be decoded: unreadable"):
            async with Client(server()):
                pass

    asyncio.run(main())


def test_a_notification_that_cannot_be_decoded_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from oxmcp import _json

    def fail(text: object) -> Any:
        raise ValueError("unreadable")

    async def main() -> None:
        async with Client(server(), on_notification=print) as client:
            with monkeypatch.context() as patch:
                patch.setattr(_json, "decode", fail)
                with pytest.raises(ProtocolError, match="result of x is broken"):
                    await client.request("x")

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert "the params of notifications/x cannot be decoded" in caplog.text


def test_a_union_of_objects_and_a_dict_of_choices_are_output_schemas() -> None:
    class Found(msgspec.Struct, tag=True):
        title: str

    class Lost(msgspec.Struct, tag=True):
        since: int

    class Color(enum.Enum):
        RED = "red"
        BLUE = "blue"

    app = Server("unions")

    # The types are known to this function only.
    async def look(found: bool) -> Any:
        return Found("x") if found else Lost(1)

    async def colors(wrong: bool) -> Any:
        return {"a": "green"} if wrong else {"a": Color.BLUE}

    look.__annotations__["return"], colors.__annotations__["return"] = Union[Found, Lost], dict[str, Color]
    app.tool(look)
    app.tool(colors)

    async def main() -> None:
        async with Client(app) as client:
            schemas = {tool.name: tool.output_schema for tool in await client.list_tools()}
            assert schemas["look"]["type"] == "object"
            assert [choice["required"] for choice in schemas["look"]["anyOf"]] == [["type", "title"], ["type", "since"]]
            assert schemas["colors"]["$defs"]["Color"]["enum"] == ["red", "blue"]
            assert (await client.call_tool("look", {"found": True})).structured_content == {"type": "Found", "title": "x"}
            assert (await client.call_tool("look", {"found": False})).structured_content == {"type": "Lost", "since": 1}
            assert (await client.call_tool("colors", {"wrong": False})).structured_content == {"a": "blue"}
            with pytest.raises(ResponseError, match="output schema"):
                await client.call_tool("colors", {"wrong": True})

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_lists_are_given_whole_or_by_page(mode: Any) -> None:
    app = Server("pages", page_size=2)
    for number in range(5):
        app.tool(lambda: None, name=f"t{number}")
        app.resource(f"r://{number}", name=f"r{number}")(lambda: "r")
        app.resource(f"s://{number}/{{x}}", name=f"s{number}")(lambda x: "s")
        app.prompt(name=f"p{number}")(lambda: "p")

    async def main() -> None:
        async with Client(app, mode=mode) as client:
            kinds: list[tuple[str, Any, Any]] = [
                ("t", client.list_tools, client.list_tools_page),
                ("r", client.list_resources, client.list_resources_page),
                ("s", client.list_resource_templates, client.list_resource_templates_page),
                ("p", client.list_prompts, client.list_prompts_page),
            ]
            for letter, whole, by_page in kinds:
                names = [f"{letter}{number}" for number in range(5)]
                assert [item.name for item in await whole()] == names
                pages = [await by_page()]
                while pages[-1].next_cursor is not None:
                    pages.append(await by_page(pages[-1].next_cursor))
                assert [[item.name for item in page.items] for page in pages] == [names[:2], names[2:4], names[4:]]
            with pytest.raises(ResponseError, match="cursor"):
                await client.list_tools_page("nowhere")

    asyncio.run(main())
    with SyncClient(app, mode=mode) as client:
        first = client.list_tools_page()
        assert [tool.name for tool in client.list_tools_page(first.next_cursor).items] == ["t2", "t3"]
        assert len(client.list_resources_page().items) == len(client.list_resource_templates_page().items) == 2
        assert client.list_prompts_page().items[0].name == "p0"
