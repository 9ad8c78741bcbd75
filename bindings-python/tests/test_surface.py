"""Logging, methods of the program's own, tools with all that can be said of them, and what must not leak."""

from __future__ import annotations

import asyncio
import datetime
import enum
import gc
import json
import re
import socket
import weakref
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest
import typing_extensions
from peer import Peer, script, text

from oxmcp import (
    CallToolResult,
    CapabilityError,
    Client,
    McpError,
    ProtocolError,
    ResponseError,
    Server,
    TextContent,
    UsageError,
)
from oxmcp._describe import _read, check_output_schema
from oxmcp._errors import explain
from oxmcp._server import Source

SERVER = """
    import asyncio, dataclasses, enum
    from typing import Annotated, TypedDict
    from msgspec import Meta, Struct

    app = Server("surface")

    @app.tool
    async def logs(ctx: Context) -> str:
        await ctx.debug("d")
        await ctx.info({"n": 2**60 + 1}, "part")
        ctx.warning(["w"])
        ctx.error(None)
        ctx.log("emergency", "e", logger="x")
        return "logged"

    @app.tool
    def logs_from_thread(ctx: Context) -> str:
        ctx.info("from a thread")
        return "logged"

    @app.tool
    async def logs_badly(ctx: Context, level: str) -> str:
        ctx.log(level, object() if level == "info" else "x")
        return "logged"

    @app.tool
    async def tells(ctx: Context) -> str:
        ctx.notify("notifications/acme/done", {"a": 1})
        return "told"

    @app.tool
    async def last_words(ctx: Context) -> str:
        await ctx.report_progress(1, 1)
        ctx.info("done")
        return "over"

    @app.method("acme/do")
    async def do(x: int, ctx: Context, y: int = 2) -> dict:
        return {"sum": x + y, "version": ctx.protocol_version}

    @app.method("acme/nothing")
    def nothing() -> None: ...

    @app.method("acme/odd")
    async def odd(how: str):
        if how == "raise":
            raise McpError("odd", code=-7, data=[1])
        return [1]

    @app.method("acme/extended", extension="com.acme/x")
    async def extended() -> dict:
        return {"x": True}

    class Unit(enum.Enum):
        C = "C"
        F = "F"

    @dataclasses.dataclass
    class Weather:
        city: str
        degrees: float
        unit: Unit = Unit.C

    class Point(TypedDict):
        x: int

    class Tree(Struct):
        name: str
        children: "list[Tree]" = []

    @app.tool(annotations={"readOnlyHint": True}, icons=[{"src": "data:,"}], meta={"k": 1}, title="Weather")
    async def weather(city: str) -> Weather:
        return Weather(city, 1.5)

    @app.tool
    async def point() -> Point:
        return {"x": 2**60 + 1}

    @app.tool
    async def tree() -> Tree:
        return Tree("a", [Tree("b")])

    @app.tool
    async def counts() -> dict[str, int]:
        return {"a": 1}

    @app.tool
    async def lies() -> Point:
        return {"y": 1}

    @app.tool
    async def fails() -> Point:
        raise ToolError("no point")

    @app.tool(output_schema={"type": "object", "required": ["z"]})
    async def told() -> dict:
        return {"z": 1}

    @app.tool(output_schema=False)
    async def untold() -> Weather:
        return Weather("x", 1)

    @app.tool
    async def plain() -> list[int]:
        return [1]

    app.run()
"""
Mode = Literal["auto", "legacy"]
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SERVER)


@both_eras
def test_log_messages_reach_the_client_from_its_level_on(server: Path, mode: Mode) -> None:
    async def main() -> None:
        seen: list[Any] = []
        async with Client(server, mode=mode, on_log=lambda *it: seen.append(it)) as client:
            await client.set_logging_level("info")
            assert (await client.call_tool("logs")).text == "logged"
            assert seen == [
                ("info", {"n": 2**60 + 1}, "part"), ("warning", ["w"], None), ("error", None, None), ("emergency", "e", "x"),
            ]  # fmt: skip
            seen.clear()
            await client.call_tool("logs_from_thread")
            assert seen == [("info", "from a thread", None)]
            seen.clear()
            await client.set_logging_level("error")
            await client.call_tool("logs")
            assert [level for level, *_ in seen] == ["error", "emergency"]
            with pytest.raises(UsageError, match="the levels are debug, info"):
                await client.set_logging_level("loud")

    asyncio.run(main())


def test_without_a_level_a_client_of_2026_07_28_gets_no_log_messages(server: Path) -> None:
    async def main() -> None:
        seen: list[Any] = []
        async with Client(server, on_log=lambda *it: seen.append(it)) as client:
            await client.call_tool("logs")
        assert seen == []

    asyncio.run(main())


def test_log_messages_without_a_hook_are_notifications(server: Path) -> None:
    async def main() -> None:
        seen: list[Any] = []
        async with Client(server, mode="legacy", on_notification=lambda *it: seen.append(it)) as client:
            await client.call_tool("logs_from_thread")
            await client.call_tool("tells")
        assert seen == [
            ("notifications/message", {"level": "info", "data": "from a thread"}),
            ("notifications/acme/done", {"a": 1}),
        ]

    asyncio.run(main())


def test_what_a_handler_emits_comes_before_its_answer(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize()
        for _ in range(100):
            peer.request("tools/call", {"name": "last_words", "_meta": {"progressToken": "t"}})
            seen = [peer.receive() for _ in range(3)]
            assert [message.get("method") for message in seen] == ["notifications/progress", "notifications/message", None]


def test_a_log_message_that_is_none(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize()
        for level, what in (("loud", "the levels are debug"), ("info", "has no JSON form")):
            failed = peer.tool("logs_badly", {"level": level})
            assert failed["isError"] is True and what in text(failed)


def test_a_server_without_logging_says_so(tmp_path: Path) -> None:
    with Peer(script(tmp_path, SERVER.replace('Server("surface")', 'Server("surface", logging=False)'))) as peer:
        peer.initialize()
        assert peer.call("logging/setLevel", {"level": "info"})["error"]["code"] == -32601
        failed = peer.tool("logs")
        assert failed["isError"] is True and 'capability "logging"' in text(failed)


@both_eras
def test_methods_of_the_programs_own(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, stderr=-3) as client:
            result = await client.request("acme/do", {"x": 1, "unknown": True})
            assert (result["sum"], result["version"]) == (3, client.protocol_version)
            assert "sum" not in await client.request("acme/nothing")
            for params, code, what in (
                ({"x": "1"}, -32602, "Invalid params for method acme/do"),
                ({}, -32602, "missing required field `x`"),
            ):
                with pytest.raises(ResponseError) as error:
                    await client.request("acme/do", params)
                assert error.value.code == code and what in error.value.message
            with pytest.raises(ResponseError) as error:
                await client.request("acme/odd", {"how": "raise"})
            assert (error.value.code, error.value.data) == (-7, [1])
            with pytest.raises(ResponseError, match="method acme/odd failed"):
                await client.request("acme/odd", {"how": "list"})
            with pytest.raises(ResponseError) as error:
                await client.request("acme/extended")
            assert error.value.code == (-32601 if mode == "legacy" else -32021)
        extensions = {"extensions": {"com.acme/x": {}}}
        async with Client(server, mode=mode, capabilities=extensions) as client:
            assert (await client.request("acme/extended"))["x"] is True

    asyncio.run(main())


def test_a_method_of_the_protocol_cannot_be_taken() -> None:
    app = Server("methods")
    for name in ("tools/list", "ping", "initialize", ""):
        with pytest.raises(ValueError, match="is taken"):
            app.method(name)(lambda: None)
    app.method("acme/x")(lambda: None)
    with pytest.raises(ValueError, match="is taken"):
        app.method("acme/x")(lambda: None)


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_server_hears_what_clients_send_unasked(tmp_path: Path, kind: str) -> None:
    source = f"""
        heard = []
        {kind} hear(method, params):
            heard.append([method, params])
        app = Server("hears", on_notification=hear)
        @app.tool
        async def said() -> list: return heard
        app.run()
    """

    async def main() -> None:
        async with Client(script(tmp_path, source), mode="legacy", roots=[]) as client:
            client.set_roots(["/tmp"])
            client.notify("notifications/acme/x", {"a": 1})
            for _ in range(2):  # an async hook has a task of its own
                said = json.loads((await client.call_tool("said")).text)
            assert said == [["notifications/roots/list_changed", None], ["notifications/acme/x", {"a": 1}]]

    asyncio.run(main())


def test_methods_unknown_and_params_that_do_not_fit(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize()
        for method, params, code in (
            ("no/such", {}, -32601),
            ("tools/call", {"name": 5}, -32602),
            ("prompts/get", {"name": "x"}, -32601),
            ("resources/read", {"uri": "x:"}, -32601),
            ("completion/complete", {}, -32601),
        ):
            assert peer.call(method, params)["error"]["code"] == code, method


@both_eras
def test_all_that_is_said_of_a_tool(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            weather = tools["weather"]
            assert (weather.title, weather.annotations, weather.icons, weather.meta) == (
                "Weather", {"readOnlyHint": True}, [{"src": "data:,"}], {"k": 1},
            )  # fmt: skip
            assert weather.output_schema == {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "degrees": {"type": "number"},
                    "unit": {"$ref": "#/$defs/Unit", "default": "C"},
                },
                "required": ["city", "degrees"],
                "$defs": {"Unit": {"title": "Unit", "enum": ["C", "F"]}},
            }
            assert tools["told"].output_schema == {"type": "object", "required": ["z"]}
            assert isinstance(tools["tree"].output_schema, dict) and "Tree" in tools["tree"].output_schema["$defs"]
            for name in ("untold", "plain", "logs"):
                assert not isinstance(tools[name].output_schema, dict), name

    asyncio.run(main())


@both_eras
def test_results_are_checked_against_the_output_schema(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            await client.list_tools()  # from here on the client checks as well
            for name, arguments, content in (
                ("weather", {"city": "Bonn"}, {"city": "Bonn", "degrees": 1.5, "unit": "C"}),
                ("point", {}, {"x": 2**60 + 1}),
                ("tree", {}, {"name": "a", "children": [{"name": "b", "children": []}]}),
                ("counts", {}, {"a": 1}),
                ("told", {}, {"z": 1}),
            ):
                result = await client.call_tool(name, arguments)
                assert (result.structured_content, json.loads(result.text)) == (content, content)
            with pytest.raises(ResponseError, match="does not fit its output schema"):
                await client.call_tool("lies")
            assert (await client.call_tool("fails")).text == "no point"

    asyncio.run(main())


class Typed(TypedDict):
    x: int


class OtherTyped(typing_extensions.TypedDict):
    x: int


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Model(pydantic.BaseModel):
    made: datetime.date = pydantic.Field(alias="on")


@pytest.mark.parametrize(
    ("result", "has_schema"),
    [
        (Typed, True),
        (OtherTyped, True),
        (Model, True),
        (Annotated[Typed, "x"], True),
        (dict[str, int], True),
        (dict, False),
        (str, False),
        (int, False),
        (list[Typed], False),
        (Optional[Typed], False),
        (dict[str, Level], True),
        (Union[Typed, Model], True),
        (Annotated[Union[Typed, Model], "x"], True),
        (Union[Typed, int], False),
        (Any, False),
        (None, False),
        (CallToolResult, False),
        (TextContent, False),
        (socket.socket, False),
    ],
)
def test_which_return_types_are_output_schemas(result: Any, has_schema: bool) -> None:
    async def tool() -> Any: ...

    tool.__annotations__["return"] = result
    described = _read(Source("tool", "tool", tool, {}))
    assert ("outputSchema" in described.descriptor, described.has_output) == (has_schema, has_schema)
    if has_schema:
        check_output_schema(described.descriptor["outputSchema"])
        assert described.descriptor["outputSchema"]["type"] == "object"
    if result is Model:
        assert described.descriptor["outputSchema"]["properties"]["on"]["format"] == "date"


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"type": 5}, "5"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/X"}}}, "X"),
        ({"type": "object", "default": float("nan")}, "nan"),
    ],
)
def test_a_bad_output_schema_is_refused_where_it_is_written(schema: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=f"the output schema of a tool: .*{re.escape(what)}"):
        Server("bad").tool(lambda: {}, name="x", output_schema=schema)


def test_a_bad_descriptor_spoils_one_tool(tmp_path: Path) -> None:
    source = """
        app = Server("bad")
        @app.tool(meta={'a': object()})
        async def icons() -> str: return "x"
        @app.tool
        async def good(x: int) -> int: return x
        app.run()
    """

    async def main() -> None:
        async with Client(script(tmp_path, source), stderr=-3) as client:
            assert [tool.name for tool in await client.list_tools()] == ["icons", "good"]
            assert (await client.call_tool("good", {"x": 1})).text == "1"
            try:
                assert (await client.call_tool("icons")).is_error
            except (ResponseError, ProtocolError):
                pass
            assert (await client.call_tool("good", {"x": 2})).text == "2"

    asyncio.run(main())


# A server that lists as the test says, one page after the other.
PAGES = """
import json, sys
pages = PAGES
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "server/discover" and MODERN:
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
    elif method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    elif method == "tools/list":
        print(params.get("cursor"), file=sys.stderr, flush=True)
        result = pages.pop(0) if len(pages) > 1 else pages[0]
        result.update(resultType="complete", ttlMs=0, cacheScope="private")
    elif id is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"""


@both_eras
def test_an_empty_cursor_is_the_end_before_2026_07_28_and_a_cursor_since(tmp_path: Path, mode: Mode) -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    pages = [{"tools": [tool], "nextCursor": ""}, {"tools": [{**tool, "name": "u"}]}]

    async def main(pages: list[Any]) -> list[str]:
        import sys

        code = PAGES.replace("PAGES", repr(pages)).replace("MODERN", str(mode == "auto"))
        async with Client([sys.executable, "-c", code, mode], mode=mode, stderr=-3) as client:
            return [tool.name for tool in await client.list_tools()]

    assert asyncio.run(main(pages)) == (["t"] if mode == "legacy" else ["t", "u"])
    # A list without an end is an error, never a part of a list.
    endless = pages[:1] if mode == "auto" else [{"tools": [tool], "nextCursor": "x"}]
    with pytest.raises(ProtocolError, match="1000"):
        asyncio.run(main(endless))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CapabilityError("m", -32021, {"requiredCapabilities": {}}), -32021),
        (ResponseError("m", -32042, {"elicitations": []}), -32042),
        (McpError("m", -5), -5),
        (CapabilityError("m", -32601), None),
        (ResponseError("m", -32603), None),
        (ResponseError("m", -5), None),
    ],
)
def test_an_error_of_the_core_that_nobody_caught(error: McpError, code: int | None) -> None:
    found, message, _ = explain(error, "t")
    assert found == code
    if code is None:
        assert message == "Error executing tool t (-32603): m"
    # A resource has no result that says that it failed.
    assert explain(error, "r", "resource")[0] == (code or -32603)


def test_a_server_that_is_dropped_is_collected() -> None:
    def made() -> weakref.ref[Server]:
        app = Server("dropped")

        @app.tool
        async def tool() -> str:
            return app.name

        @app.prompt
        def prompt() -> str:
            return app.name

        @app.completion(prompt, "x")
        def complete(value: str) -> list[str]:
            return [app.name]

        app.method("acme/x")(lambda: {"name": app.name})
        return weakref.ref(app)

    app = made()
    gc.collect()
    assert app() is None


def test_a_client_that_is_dropped_is_collected_though_its_handlers_know_it(server: Path) -> None:
    async def main() -> None:
        class Owner:
            def __init__(self) -> None:
                self.client = Client(server, on_elicit=self.on_elicit, on_log=self.on_log, roots=self.roots)

            def on_elicit(self, _: Any) -> Any: ...
            def on_log(self, *_: Any) -> Any: ...
            def roots(self) -> Any: ...

        owner = Owner()
        await owner.client.connect()
        await owner.client.call_tool("plain")
        client = weakref.ref(owner.client)
        del owner
        gc.collect()
        assert client() is None
        await asyncio.sleep(0)

    asyncio.run(main())


def test_ten_thousand_calls_of_each_kind_leave_nothing_behind(tmp_path: Path) -> None:
    source = """
        app = Server("leaks")
        @app.resource("x://{a}")
        async def x(a: int) -> str: return str(a)
        @app.prompt
        async def p(a: int) -> str: return str(a)
        @app.completion(p, "a")
        async def c(value: str) -> list[str]: return [value]
        @app.method("acme/x")
        async def m(a: int) -> dict: return {"a": a}
        @app.method("acme/stats")
        async def stats() -> dict: return {"stats": app._served.connection.stats()}
        app.run()
    """
    calls = (
        ("resources/read", {"uri": "x://1"}, {"uri": "x://a"}),
        ("prompts/get", {"name": "p", "arguments": {"a": "1"}}, {"name": "p", "arguments": {"a": "a"}}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}, {}),
        ("acme/x", {"a": 1}, {"a": "a"}),
    )
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        for method, good, bad in calls:
            for _ in range(100):
                peer.send(*({"id": f"c{n}", "method": method, "params": bad if n % 2 else good} for n in range(100)))
                seen = {message["id"]: "result" in message for message in (peer.receive() for _ in range(100))}
                assert len(seen) == 100 and all(seen[f"c{n}"] == (n % 2 == 0) for n in range(100))
        assert peer.call("acme/stats")["result"]["stats"] in ([1, 0, 0, 1, 0], [1, 0, 0, 0, 0])
