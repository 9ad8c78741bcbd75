"""What programs written for other packages do, and count on, beyond the first look."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any, Optional, Union

import pytest
import typing_extensions
from http_peer import under_uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from oxmcp import Client
from oxmcp.fastmcp import Context, FastMCP
from oxmcp.fastmcp.tools import ToolResult
from oxmcp.lowlevel import Server, ServerSession
from oxmcp.lowlevel import session as session_module
from oxmcp.lowlevel.sse import SseServerTransport
from oxmcp.lowlevel.transport_security import TransportSecuritySettings
from oxmcp.types import CallToolResult, TextContent, Tool


def run(app: Any, use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with Client(app, **options) as client:
            return await use(client)

    return asyncio.run(main())


def test_a_result_that_does_not_fit_its_type_is_a_failure_of_the_tool() -> None:
    mcp = FastMCP("wrong")

    @mcp.tool()
    def rows() -> list[dict[str, Any]]:
        return {"error": "no connection"}  # type: ignore[return-value] # as programs do

    @mcp.tool(output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    def whole(kind: str) -> Any:
        text = [TextContent(type="text", text="x")]
        return {
            "good": ToolResult(text, {"n": 1}),
            "bad": ToolResult(text, {"n": "one"}),
            "none": ToolResult(text),
            "failed": CallToolResult(content=text, isError=True),
            "bare": CallToolResult(content=text),
        }[kind]

    async def use(client: Client) -> None:
        result = await client.call_tool("rows")
        assert result.is_error and "Error executing tool rows: Output validation error: at \"/result\"" in result.text
        for kind, said in [
            ("good", "x"),
            ("bad", 'Error executing tool whole: Output validation error: at "/n"'),
            ("none", "gave no structured content"),
            ("failed", "x"),
            ("bare", "gave no structured content"),
        ]:
            result = await client.call_tool("whole", {"kind": kind})
            assert said in result.text and result.is_error is (kind != "good"), kind

    run(mcp, use)


def test_the_messages_of_a_prompt_come_with_its_description() -> None:
    mcp = FastMCP("prompts")

    @mcp.prompt(description="Asks for a review.")
    def review(code: str) -> str:
        return f"Review {code}"

    @mcp.prompt()
    def bare() -> str:
        return "x"

    async def use(client: Client) -> None:
        assert (await client.get_prompt("review", {"code": "x"})).description == "Asks for a review."
        assert not (await client.get_prompt("bare")).description

    run(mcp, use)


def test_sessions_are_those_of_connections() -> None:
    server: Server[Any, Any] = Server("sessions")
    seen: set[ServerSession] = set()

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return []

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        session: Any = server.request_context.session
        seen.add(session)
        if name == "forget":
            del session.calls
        session.calls = getattr(session, "calls", 0) + 1
        return [TextContent(type="text", text=str(server.request_context.session.calls))]

    async def main() -> None:
        async with Client(server, mode="legacy") as one, Client(server, mode="legacy") as other:
            texts = [(await client.call_tool(name)).text for client in (one, other) for name in ("x", "x", "forget")]
            assert texts == ["1", "2", "1"] * 2
            assert len(seen) == 2 and len({hash(session) for session in seen}) == 2
            assert next(iter(seen)) != "a session"
            with pytest.raises(AttributeError, match="'ServerSession' object has no attribute 'name'"):
                next(iter(seen)).name  # noqa: B018
            with pytest.raises(AttributeError, match="name"):
                del next(iter(seen)).name

    asyncio.run(main())


def test_what_sessions_keep_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_MOST_KEPT", 3)
    mcp = FastMCP("kept")
    kept: list[Any] = []

    class Thing:
        pass

    @mcp.tool()
    def keep(ctx: Context) -> str:
        session: Any = ctx.session
        session.thing = Thing()
        kept.append(weakref.ref(session.thing))
        return "kept"

    for _ in range(5):
        run(mcp, lambda client: client.call_tool("keep"))
    gc.collect()
    assert [reference() is not None for reference in kept] == [False, False, True, True, True]


def low() -> Server[Any, Any]:
    server: Server[Any, Any] = Server("low")

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return [Tool(name="hello", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        return [TextContent(type="text", text="hello")]

    return server


def behind() -> Server[Any, Any]:
    mcp = FastMCP("behind")
    mcp.tool(name="hello")(lambda: "hello")
    return mcp._mcp_server


@pytest.mark.parametrize("make", [low, behind])
@pytest.mark.parametrize("root", ["", "/under"])
def test_a_program_that_serves_over_http_with_sse_by_itself(make: Callable[[], Server[Any, Any]], root: str) -> None:
    server, sse = make(), SseServerTransport("/messages/")

    async def handle(request: Request) -> Response:
        async with sse.connect_sse(request.scope, request.receive, request._send) as streams:
            await server.run(streams[0], streams[1], server.create_initialization_options())
        return Response()

    app = Starlette(
        routes=[Route("/sse", endpoint=handle, methods=["GET"]), Mount("/messages/", app=sse.handle_post_message)]
    )
    app = Starlette(routes=[Mount(root, app=app)]) if root else app

    async def main() -> None:
        async with under_uvicorn(app) as port:
            url = f"http://127.0.0.1:{port}{root}/sse"
            options: Any = {"mode": "legacy", "http": {"http_sse": "only"}}
            async with Client(url, **options) as one, Client(url, **options) as other:
                assert [tool.name for tool in await one.list_tools()] == ["hello"]
                assert (await one.call_tool("hello")).text == (await other.call_tool("hello")).text == "hello"
            async with Client(url, **options) as again:
                assert (await again.call_tool("hello")).text == "hello"

    asyncio.run(main())


def test_who_may_connect_over_http_with_sse() -> None:
    server = low()
    sse = SseServerTransport("messages", TransportSecuritySettings(allowed_hosts=["example.com"]))
    sent: list[Any] = []
    bodies = [{"type": "http.request", "body": b""}]

    async def receive() -> Any:
        return bodies.pop() if bodies else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def main() -> None:
        scope = {"type": "http", "method": "POST", "path": "/messages", "headers": [(b"host", b"other.example")]}
        # Nobody is connected yet.
        await sse.handle_post_message(scope, receive, send)
        assert sent[0]["status"] == 404
        sent.clear()
        scope = {**scope, "method": "GET", "path": "/sse"}
        async with sse.connect_sse(scope, receive, send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        assert sent[0]["status"] == 421
        with pytest.raises(ValueError, match="HTTP"):
            async with sse.connect_sse({"type": "websocket"}, receive, send):
                pass

    asyncio.run(main())
    for bad in ("http://x/messages", "/messages?x=1", 5):
        with pytest.raises(ValueError, match="endpoint is a path"):
            SseServerTransport(bad)  # type: ignore[arg-type]


def test_what_is_shown_follows_from_rules() -> None:
    mcp = FastMCP("rules")
    mcp.tool(name="read", tags={"safe"})(lambda: "read")
    mcp.tool(name="write", tags={"unsafe"})(lambda: "written")
    mcp.resource("data://x", name="x")(lambda: "x")

    async def names(client: Client) -> list[str]:
        listed = [*await client.list_tools(), *await client.list_resources(), *await client.list_prompts()]
        return [item.name for item in listed]

    async def use(client: Client) -> None:
        assert await names(client) == ["read", "write", "x"]
        assert mcp.disable(tags={"unsafe"}) is mcp
        assert await names(client) == ["read", "x"]
        # Also what comes later.
        mcp.tool(name="delete", tags={"unsafe"})(lambda: "deleted")
        mcp.tool(name="never", enabled=False)(lambda: "never")
        assert await names(client) == ["read", "x"]
        mcp.enable(names={"delete"}).enable(keys={"tool:write"}, components={"tool"})
        assert await names(client) == ["read", "write", "delete", "x"]
        mcp.enable(components=["resource"], only=True)
        assert await names(client) == ["x"]
        mcp.prompt(name="p")(lambda: "p")
        mcp.enable(names={"p"}, version="1")
        assert await names(client) == ["x"]
        mcp.enable()
        assert await names(client) == ["read", "write", "delete", "never", "x", "p"]

    run(mcp, use)
    with pytest.raises(TypeError, match="names is a set of strings"):
        mcp.disable(names="read")
    with pytest.raises(ValueError, match="components are tool, resource"):
        mcp.disable(components={"tools"})


class Found(BaseModel):
    title: str
    year: Optional[int] = None


class Row(typing_extensions.TypedDict):
    id: int


def test_objects_are_structured_content_whatever_was_said_of_them() -> None:
    mcp = FastMCP("objects")

    def add(name: str, value: Any, **hints: Any) -> None:
        def function() -> Any:
            return value

        function.__annotations__.clear()
        function.__annotations__.update(hints)
        mcp.tool(name=name)(function)

    add("nothing said", {"a": 1})
    add("any", Found(title="x"), **{"return": Any})
    add("bare", {"a": 1}, **{"return": dict})
    add("row", {"id": 1}, **{"return": Row})
    add("union", "none", **{"return": Union[Found, str]})
    add("list", [{"a": 1}])
    add("text", "x")
    add("content", TextContent(type="text", text="x"))

    async def use(client: Client) -> None:
        schemas = {tool.name: tool.output_schema for tool in await client.list_tools()}
        assert schemas["row"] == {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
        assert {"type": "string"} in schemas["union"]["properties"]["result"]["anyOf"]
        assert {name for name, schema in schemas.items() if schema} == {"row", "union"}
        structured = {name: (await client.call_tool(name)).structured_content for name in schemas}
        assert {name: value for name, value in structured.items() if value} == {
            "nothing said": {"a": 1},
            "any": {"title": "x", "year": None},
            "bare": {"a": 1},
            "row": {"id": 1},
            "union": {"result": "none"},
        }

    run(mcp, use)
