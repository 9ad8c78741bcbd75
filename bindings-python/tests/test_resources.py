"""Resources, templates and completions: from functions to the wire, and to a client."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from peer import Peer, script

from oxmcp import (
    BlobResourceContents,
    Client,
    Completion,
    Context,
    ResourceResult,
    ResponseError,
    Server,
    TextResourceContents,
)
from oxmcp import _contents
from oxmcp._describe import _read
from oxmcp._server import Source

SERVER = """
    import asyncio, sys

    app = Server("library")

    class Shelf:
        async def count(self) -> int:
            return 3

    @app.resource("config://app", title="Config", icons=[{"src": "data:,"}], annotations={"priority": 1}, meta={"k": 1})
    def config() -> dict:
        "The settings."
        return {"b": 1, "a": None}

    @app.resource("bytes://all", name="all", mime_type="image/png", size=256)
    async def all_bytes() -> bytes:
        return bytes(range(256))

    app.resource("shelf://count", name="count")(Shelf().count)

    @app.resource("book://{shelf}/{number}{?format,tags*}", mime_type="text/markdown")
    async def book(number: int, shelf: str, ctx: Context, format: str = "short", tags: list[str] = []) -> str:
        "A book."
        return f"{shelf!r} {number!r} {format} {tags} {ctx.client_info['name']}"

    @app.resource("wrong://{a}")
    async def wrong(a: str, b: str) -> str: ...

    @app.resource("fails://{how}")
    async def fails(how: str) -> str:
        if how == "tool":
            raise ToolError("no such shelf")
        if how == "mcp":
            raise McpError("gone", code=-32002, data={"uri": "x"})
        raise ValueError("a secret of the server")

    @app.completion("book://{shelf}/{number}{?format,tags*}", "shelf")
    async def shelves(value: str) -> list[str]:
        return [name for name in ("novels", "nature", "poems") if name.startswith(value)]

    @app.completion(book, "number")
    def numbers(value: str, given: dict, ctx: Context) -> list[str]:
        return [f"{given['shelf']}-{number}" for number in range(150)]

    @app.completion(fails, "how")
    def bad(value: str) -> str:
        return "tool"

    app.run()
"""
BOOK = "book://{shelf}/{number}{?format,tags*}"


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SERVER)


both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


@both_eras
def test_what_lists_say(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            config, image, count = await client.list_resources()
            assert (config.uri, config.name, config.title, config.description) == (
                "config://app", "config", "Config", "The settings.",
            )  # fmt: skip
            assert (config.icons, config.annotations, config.meta) == ([{"src": "data:,"}], {"priority": 1}, {"k": 1})
            assert (image.name, image.mime_type, image.size) == ("all", "image/png", 256)
            assert count.uri == "shelf://count"
            book, wrong, _ = await client.list_resource_templates()
            assert (book.uri_template, book.name, book.mime_type) == (BOOK, "book", "text/markdown")
            assert "parameter 'b'" in str(wrong.description)

    asyncio.run(main())


@both_eras
def test_reading(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, name="reader") as client:
            # Before any list: a handler is prepared when it is first needed.
            config = (await client.read_resource("config://app")).contents
            assert config == [
                TextResourceContents(text='{"b":1,"a":null}', uri="config://app", mime_type="application/json")
            ]
            image = (await client.read_resource("bytes://all")).contents
            assert image == [BlobResourceContents(blob=bytes(range(256)), uri="bytes://all", mime_type="image/png")]
            assert (await client.read_resource("shelf://count")).text == "3"
            for uri, text in (
                ("book://novels/7", "'novels' 7 short [] reader"),
                ("book://a%20b/1?format=long", "'a b' 1 long [] reader"),
                ("book://00123/1?tags=x&tags=y", "'00123' 1 short ['x', 'y'] reader"),
            ):
                assert (await client.read_resource(uri)).text == text

    asyncio.run(main())


@both_eras
def test_what_cannot_be_read(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, stderr=-3) as client:
            not_found = -32002 if mode == "legacy" else -32602
            for uri, code, what in (
                ("nobody://x", not_found, "Resource not found"),
                ("book://novels/seven", -32602, "Expected `int`, got `str`"),
                ("wrong://x", -32603, "'b'"),
                ("fails://tool", -32603, "no such shelf"),
                ("fails://mcp", not_found, "gone"),
                ("fails://else", -32603, "Internal error: resource fails://{how} failed"),
            ):
                with pytest.raises(ResponseError) as error:
                    await client.read_resource(uri)
                assert error.value.code == code and what in error.value.message, uri
                assert "secret" not in error.value.message
            assert (await client.read_resource("shelf://count")).text == "3"

    asyncio.run(main())


@both_eras
def test_completions(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, stderr=-3) as client:
            assert (await client.complete("shelf", "n", template=BOOK)).values == ["novels", "nature"]
            many = await client.complete("number", template=BOOK, arguments={"shelf": "poems"})
            # The core keeps what one completion may have.
            assert (many.values[0], len(many.values), many.total, many.has_more) == ("poems-0", 100, 150, True)
            assert await client.complete("format", "x", template=BOOK) == Completion([])
            assert await client.complete("a", "x", template="wrong://{a}") == Completion([])
            with pytest.raises(ResponseError, match="there is no template"):
                await client.complete("a", template="nobody://{a}")
            with pytest.raises(ResponseError, match="completion .* failed"):
                await client.complete("how", template="fails://{how}")

    asyncio.run(main())


TEXT = {"uri": "x:1", "mimeType": "text/plain", "text": "t"}


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("t", [TEXT]),
        (b"\xfb\xff", [{"uri": "x:1", "mimeType": "application/octet-stream", "blob": "+/8="}]),
        (bytearray(b"a"), [{"uri": "x:1", "mimeType": "application/octet-stream", "blob": "YQ=="}]),
        (["a"], [{"uri": "x:1", "mimeType": "application/json", "text": '["a"]'}]),
        ([], [{"uri": "x:1", "mimeType": "application/json", "text": "[]"}]),
        (None, [{"uri": "x:1", "mimeType": "application/json", "text": "null"}]),
        ({"n": 2**60 + 1}, [{"uri": "x:1", "mimeType": "application/json", "text": '{"n":1152921504606846977}'}]),
        (TextResourceContents(text="t"), [{"uri": "x:1", "text": "t"}]),
        (
            ["t", b"a", TextResourceContents(text="u", uri="x:2", mime_type="text/html", meta={"k": 1})],
            [
                TEXT,
                {"uri": "x:1", "mimeType": "application/octet-stream", "blob": "YQ=="},
                {"uri": "x:2", "mimeType": "text/html", "text": "u", "_meta": {"k": 1}},
            ],
        ),
        (ResourceResult([BlobResourceContents(blob=b"a")]), [{"uri": "x:1", "blob": "YQ=="}]),
        ({"contents": [{"uri": "x:3", "text": "raw", "x-new": 1}]}, [{"uri": "x:3", "text": "raw", "x-new": 1}]),
    ],
)
def test_what_a_resource_may_return(value: Any, contents: Any) -> None:
    assert json.loads(_contents.resource(value, "x:1", None)) == {"contents": contents}


def test_the_type_of_a_resource_is_that_of_its_contents() -> None:
    for value in ("t", b"t", {"t": 1}, TextResourceContents(text="t")):
        (contents,) = json.loads(_contents.resource(value, "x:1", "a/b"))["contents"]
        assert contents["mimeType"] == "a/b"


def test_a_function_has_to_fit_its_template() -> None:
    def described(uri: str, function: Any) -> str:
        return str(_read(Source("template", uri, function, {})).descriptor.get("description"))

    def one(a: str) -> str: ...
    def more(a: str, b: int = 1) -> str: ...
    def star(**a: str) -> str: ...

    assert "Out of order" not in described("x://{a}", more)
    assert "Out of order" not in described("x://{a:3}{/b*}", more)
    assert "no variable of this name" in described("x://{c}", one)
    assert "the variable 'b', for which" in described("x://{a}/{b}", one)
    assert "named parameters only" in described("x://{a}", star)


def test_what_is_no_resource_is_refused_where_it_is_registered() -> None:
    app = Server("refuses")

    with pytest.raises(TypeError, match="takes the URI first"):
        app.resource(lambda: "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="name="):
        app.resource("x:1")(lambda: "x")
    with pytest.raises(ValueError, match="URI template"):
        app.resource("x:{", name="x")(lambda: "x")
    app.resource("x:1", name="x")(lambda: "x")
    with pytest.raises(ValueError, match="exists already"):
        app.resource("x:1", name="y")(lambda: "x")
    with pytest.raises(ValueError, match="no prompt and no resource template"):
        app.completion("x:1", "a")
    app.resource("x:{a}", name="z")(lambda a: a)
    app.completion("x:{a}", "a")(lambda value: [])
    with pytest.raises(ValueError, match="has a completion already"):
        app.completion("x:{a}", "a")(lambda value: [])


def test_a_uri_template_and_a_resource_of_a_servers_are_told_apart(tmp_path: Path) -> None:
    source = """
        app = Server("order")
        @app.resource("x://{a}")
        def family(a: str) -> str: return "family " + a
        @app.resource("x://one")
        def one() -> str: return "one"
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        for uri, text in (("x://one", "one"), ("x://two", "family two")):
            (contents,) = peer.call("resources/read", {"uri": uri})["result"]["contents"]
            assert (contents["text"], contents["uri"]) == (text, uri)


def test_contents_of_another_server_are_taken_as_they_come() -> None:
    from oxmcp import ProtocolError
    from oxmcp._offers import decode_resource

    result = decode_resource(b'{"contents":[{"uri":"a:","text":"t","x":1},{"uri":"b:","blob":"AA\\/+"}],"more":1}')
    assert (result.text, result.blob) == ("t", b"\x00\x0f\xfe")
    for broken in (b"[]", b'{"contents":{}}', b'{"contents":[{"text":"t"}]}', b'{"contents":[{"uri":"a:","blob":"*"}]}'):
        with pytest.raises(ProtocolError, match="resources/read is broken"):
            decode_resource(broken)


def test_the_context_of_a_resource_is_that_of_its_request(tmp_path: Path) -> None:
    source = """
        app = Server("context")
        @app.resource("me:")
        async def me(ctx: Context) -> dict:
            return {"version": ctx.protocol_version, "info": ctx.client_info, "caps": ctx.client_capabilities, "meta": ctx.meta}
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize("2025-06-18")
        answer = peer.call("resources/read", {"uri": "me:", "_meta": {"k": [1]}})
        (contents,) = answer["result"]["contents"]
        assert json.loads(contents["text"]) == {
            "version": "2025-06-18", "info": {"name": "peer", "version": "1"}, "caps": {}, "meta": {"k": [1]},
        }  # fmt: skip


def test_a_context_is_a_parameter_and_no_variable() -> None:
    async def book(ctx: Context, number: int) -> str: ...

    plan = _read(Source("template", "book:{number}", book, {})).plan
    assert plan.decode is not None
    decoded = plan.decode(b'{"uri":"book:7","variables":{"number":"7"}}')
    assert decoded.second.number == 7
    with pytest.raises(msgspec.ValidationError):
        plan.decode(b'{"uri":"book:x","variables":{"number":"x"}}')
