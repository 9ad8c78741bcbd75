"""The HTTP request that brought a call, as its handler sees it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from http_peer import LEGACY, HttpPeer, counts, serving, under_uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request as StarletteRequest
from starlette.routing import Mount

from oxmcp import Client, Context, HttpRequest, Server, _requests
from oxmcp.fastmcp import Context as FastContext
from oxmcp.fastmcp import FastMCP
from oxmcp.fastmcp.dependencies import CurrentAccessToken, CurrentHeaders, CurrentRequest
from oxmcp.fastmcp.server.dependencies import get_access_token, get_http_headers, get_http_request
from oxmcp.lowlevel import Server as LowLevelServer
from oxmcp.types import TextContent, Tool

HOW = pytest.mark.parametrize("how", ["port", "uvicorn"])
MODE = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Token:
    def __init__(self, name: str) -> None:
        self.access_token = f"token of {name}"
        self.name = name


class LetIn:
    """Middleware that knows its users by a field of theirs."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            name = dict(scope["headers"]).get(b"x-who", b"nobody").decode()
            scope["user"] = Token(name)
            StarletteRequest(scope).state.who = name
        await self.app(scope, receive, send)


def mounted(app: Any) -> Starlette:
    mcp = app.asgi()
    return Starlette(routes=[Mount("/", mcp)], lifespan=mcp.lifespan, middleware=[Middleware(LetIn)])


@HOW
@MODE
def test_a_handler_sees_the_request_that_brought_its_call(how: str, mode: Any) -> None:
    seen: list[Any] = []

    async def middleware(request: Any, call_next: Any) -> Any:
        seen.append(request.context.http_request.headers["X-Who"])
        return await call_next(request)

    app = Server("seen", middleware=[middleware])

    @app.tool
    async def look(ctx: Context) -> dict[str, Any]:
        request = ctx.http_request
        assert isinstance(request, HttpRequest) and request is ctx.http_request
        assert await request.body() == b""
        return {
            "method": request.method,
            "path": request.path,
            "url": request.url,
            "who": [request.headers["x-who"], request.headers["X-WHO"], request.headers.getlist("X-Who")],
            "session": ctx.session_id == request.headers.get("Mcp-Session-Id"),
            "has_session": ctx.session_id is not None,
            "query": dict(request.query),
        }

    @app.tool
    def plain(ctx: Context) -> str:
        assert ctx.http_request is not None
        return ctx.http_request.headers["x-who"]

    @app.resource("who://am/i")
    def who(ctx: Context) -> str:
        assert ctx.http_request is not None
        return ctx.http_request.headers["x-who"]

    async def main() -> None:
        async with serving(app, how) as port:
            url = f"http://127.0.0.1:{port}/mcp"
            async with Client(url, headers={"X-Who": "ann"}, mode=mode) as ann, Client(
                url, headers={"X-Who": "bob"}, mode=mode
            ) as bob:
                for name, client in (("ann", ann), ("bob", bob)):
                    assert (await client.call_tool("look")).structured_content == {
                        "method": "POST",
                        "path": "/mcp",
                        "url": url,
                        "who": [name, name, [name]],
                        "session": True,
                        "has_session": mode == "legacy",
                        "query": {},
                    }
                    assert (await client.call_tool("plain")).text == name
                    assert (await client.read_resource("who://am/i")).text == name
            while counts(app) != (0, 0, 0):
                await asyncio.sleep(0)

    asyncio.run(main())
    assert seen[:3] == ["ann"] * 3 and seen[-1] == "bob"


@MODE
def test_what_middleware_of_an_asgi_app_found_out_reaches_the_handler(mode: Any) -> None:
    app = Server("let in")

    @app.tool
    async def who(ctx: Context) -> str:
        assert ctx.http_request is not None
        return f"{ctx.http_request.scope['user'].name} {ctx.http_request.state['who']}"

    async def main() -> None:
        async with under_uvicorn(mounted(app)) as port:
            url = f"http://127.0.0.1:{port}/mcp"
            async with Client(url, headers={"X-Who": "ann"}, mode=mode) as client:
                assert (await client.call_tool("who")).text == "ann ann"

    asyncio.run(main())


def test_what_middleware_found_out_stays_when_the_connection_breaks() -> None:
    app, seen = Server("broken"), []
    asked, left, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @app.tool
    async def who(ctx: Context) -> str:
        asked.set()
        await left.wait()
        assert ctx.http_request is not None
        seen.append(ctx.http_request.scope["user"].name)
        done.set()
        return "seen"

    async def main() -> None:
        async with under_uvicorn(mounted(app)) as port:
            peer = await HttpPeer(port, LEGACY).initialize()
            reply = await peer.begin("tools/call", name="who", arguments={})
            await asked.wait()
            reply.leave()
            while counts(app)[2]:
                await asyncio.sleep(0.001)
            left.set()
            await done.wait()

    asyncio.run(main())
    assert seen == ["nobody"]


def test_without_http_there_is_no_request() -> None:
    app = Server("none")

    @app.tool
    async def look(ctx: Context) -> list[Any]:
        return [ctx.http_request, ctx.session_id]

    program = "from oxmcp import *\napp = Server('s')\n@app.tool\ndef look(ctx: Context) -> list: return [ctx.http_request, ctx.session_id]\napp.run()"

    async def main() -> None:
        for target in (app, [sys.executable, "-c", program]):
            async with Client(target) as client:
                assert (await client.call_tool("look")).text == "[null,null]"

    asyncio.run(main())


def test_a_request_outlives_its_call_where_it_was_asked_for() -> None:
    app, kept = Server("late"), []

    @app.tool
    async def keep(look: bool, ctx: Context) -> None:
        if look:
            assert ctx.http_request is not None
        kept.append(ctx)

    async def main() -> None:
        async with serving(app, "port") as port, Client(f"http://127.0.0.1:{port}/mcp") as client:
            await client.call_tool("keep", {"look": True})
            await client.call_tool("keep", {"look": False})
            assert kept[0].http_request.method == "POST"
            assert kept[1].http_request is None

    asyncio.run(main())


@HOW
@MODE
def test_programs_for_fastmcp_find_the_request_where_they_look_for_it(how: str, mode: Any) -> None:
    mcp = FastMCP("fast")

    @mcp.tool
    async def look(ctx: FastContext) -> dict[str, Any]:
        request = ctx.request_context.request
        assert isinstance(request, StarletteRequest) and isinstance(get_http_request(), StarletteRequest)
        headers = get_http_headers()
        assert "authorization" not in headers and "host" not in headers
        assert get_http_headers(include={"Authorization"})["authorization"] == "Bearer x"
        assert get_http_headers(include_all=True)["host"] == request.headers["host"]
        assert get_access_token() is None
        return {"path": request.url.path, "who": headers["x-who"], "again": request.headers["X-Who"]}

    @mcp.tool
    async def given(headers: dict = CurrentHeaders(), request: Any = CurrentRequest()) -> list[str]:
        return [headers["authorization"], request.method]

    @mcp.tool
    async def token(token: Any = CurrentAccessToken()) -> str:
        return str(token)

    @mcp.tool
    async def session(ctx: FastContext) -> str:
        return ctx.session_id

    async def main() -> None:
        app = mcp.__oxmcp_server__()
        async with serving(app, how) as port:
            fields = {"X-Who": "ann", "Authorization": "Bearer x"}
            async with Client(f"http://127.0.0.1:{port}/mcp", headers=fields, mode=mode) as client:
                answer = (await client.call_tool("look")).structured_content
                assert answer == {"path": "/mcp", "who": "ann", "again": "ann"}
                assert "Bearer x" in (await client.call_tool("given")).text
                assert "there is no access token" in (await client.call_tool("token")).text
                names = {(await client.call_tool("session")).text for _ in range(3)}
                assert len(names) == (1 if mode == "legacy" else 3)

    asyncio.run(main())


def test_programs_for_fastmcp_get_the_token_of_the_user_whom_middleware_let_in() -> None:
    mcp = FastMCP("fast")

    @mcp.tool
    async def token(token: Any = CurrentAccessToken()) -> str:
        assert token == get_access_token()
        return str(token)

    async def main() -> None:
        async with under_uvicorn(mounted(mcp.__oxmcp_server__())) as port:
            async with Client(f"http://127.0.0.1:{port}/mcp", headers={"X-Who": "ann"}) as client:
                assert (await client.call_tool("token")).text == "token of ann"

    asyncio.run(main())


def test_programs_for_fastmcp_have_a_session_id_also_without_http() -> None:
    mcp = FastMCP("fast")

    @mcp.tool
    async def look(ctx: FastContext) -> str:
        assert ctx.request_context.request is None and get_http_headers() == {} and get_access_token() is None
        with pytest.raises(RuntimeError, match="there is no HTTP request"):
            get_http_request()
        return ctx.session_id

    async def main() -> None:
        names = []
        for _ in range(2):
            async with Client(mcp) as client:
                names.append({(await client.call_tool("look")).text for _ in range(2)})
        assert [len(name) for name in names] == [1, 1] and names[0] != names[1]

    asyncio.run(main())
    with pytest.raises(RuntimeError, match="there is no HTTP request"):
        get_http_request()


@MODE
def test_programs_of_the_low_level_find_the_request_where_they_look_for_it(mode: Any) -> None:
    server: Any = LowLevelServer("low")

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return [Tool(name="look", inputSchema={"type": "object"})]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> list[TextContent]:
        context = server.request_context
        await context.close_sse_stream()  # the client comes back for the rest
        return [TextContent(type="text", text=f"{context.request.method} {context.request.headers['x-who']}")]

    async def main() -> None:
        async with serving(server.native(), "port") as port:
            async with Client(f"http://127.0.0.1:{port}/mcp", headers={"X-Who": "ann"}, mode=mode) as client:
                assert (await client.call_tool("look")).text == "POST ann"

    asyncio.run(main())


def test_a_request_is_read_as_it_was_sent() -> None:
    fields = [(b"x-a", b"1"), (b"x-a", b"2"), (b"x-secret", b"s\xe9same")]
    request = _requests.of_head("POST", "/a%20b/%C3%A9?q=1&q=2&e=", "example.com:8443", fields)
    assert request.url == "http://example.com:8443/a%20b/%C3%A9?q=1&q=2&e="
    assert (request.path, dict(request.query), request.state) == ("/a b/é", {"q": "1", "e": ""}, {})
    assert (request.headers["X-A"], request.headers.getlist("x-A"), request.headers["host"]) == ("1", ["1", "2"], "example.com:8443")
    assert request.headers["x-secret"] == "sésame" and "sésame" not in repr(request.headers) + repr(request)
    assert list(request.headers) == ["x-secret", "x-a", "host"] and len(request.headers) == 3
    assert "X-Secret" in request.headers and "x-b" not in request.headers and request.headers.get("x-b") is None
    assert StarletteRequest(request.scope).url.path == "/a b/é"


@HOW
def test_the_oldest_transport_of_http_has_requests_too(how: str) -> None:
    app = Server("sse")

    @app.tool
    async def look(ctx: Context) -> list[Any]:
        assert ctx.http_request is not None
        return [ctx.http_request.path, ctx.http_request.headers["X-Who"], ctx.session_id]

    async def main() -> None:
        async with serving(app, how, http_sse=True) as port:
            url = f"http://127.0.0.1:{port}/mcp"
            async with Client(url, headers={"X-Who": "ann"}, mode="legacy", http={"http_sse": "only"}) as client:
                assert (await client.call_tool("look")).text == '["/mcp","ann",null]'

    asyncio.run(main())
