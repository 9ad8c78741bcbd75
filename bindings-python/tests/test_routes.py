"""Routes of the program's own beside the protocol's."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from http_peer import LEGACY, HttpPeer, Reply, serving
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from oxmcp import Client, HttpRequest, HttpResponse, Server, UsageError

HOW = pytest.mark.parametrize("how", ["port", "uvicorn"])


def make() -> Server:
    app = Server("routes")

    @app.tool
    async def echo(text: str) -> str:
        return text

    @app.custom_route("/health")
    async def health(request: HttpRequest) -> str:
        return "fine"

    @app.custom_route("/notes/{id}", methods=["GET", "PUT"])
    def note(request: HttpRequest) -> Any:
        return {"id": request.path_params["id"], "query": dict(request.query), "agent": request.headers.get("user-agent")}

    @app.custom_route("/twice", methods=["POST"])
    async def twice(request: HttpRequest) -> Any:
        return HttpResponse((await request.body()) * 2, status=201, media_type="text/x", headers={"X-A": "b"})

    @app.custom_route("/parsed", methods=["POST"])
    async def parsed(request: HttpRequest) -> Any:
        return (await request.json())["a"]

    @app.custom_route("/nothing", methods=["DELETE"])
    async def nothing(request: HttpRequest) -> None:
        return None

    @app.custom_route("/starlette")
    async def starlette(request: HttpRequest) -> Any:
        given = Request(request.scope)
        return PlainTextResponse(f"from {given.url.path}")

    @app.custom_route("/fails")
    async def fails(request: HttpRequest) -> Any:
        raise ValueError("a secret")

    return app


async def ask(port: int, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[Reply, bytes]:
    peer = HttpPeer(port, LEGACY, path)
    reply = await (await peer.open(method, {name.replace("_", "-"): value for name, value in headers.items()}, body)).begin()
    return reply, b"" if method == "HEAD" else await reply.chunk()


@HOW
def test_routes_are_served_beside_the_protocol(how: str, caplog: pytest.LogCaptureFixture) -> None:
    app = make()

    async def main() -> None:
        async with serving(app, how) as port:
            reply, body = await ask(port, "GET", "/health")
            assert (reply.status, reply.headers["content-type"], body) == (200, "text/plain; charset=utf-8", b"fine")
            reply, body = await ask(port, "GET", "/notes/7?a=1&a=2&b=", user_agent="test")
            assert json.loads(body) == {"id": "7", "query": {"a": "1", "b": ""}, "agent": "test"}
            assert reply.headers["content-type"] == "application/json"
            assert (await ask(port, "PUT", "/notes/x"))[0].status == 200
            reply, body = await ask(port, "HEAD", "/health")
            assert (reply.status, reply.headers["content-length"]) == (200, "4")
            reply, body = await ask(port, "POST", "/twice", b"ab")
            assert (reply.status, reply.headers["content-type"], reply.headers["x-a"], body) == (201, "text/x", "b", b"abab")
            assert (await ask(port, "POST", "/parsed", b'{"a": [1]}'))[1] == b"[1]"
            reply, body = await ask(port, "DELETE", "/nothing")
            assert (reply.status, body) == (204, b"")
            assert (await ask(port, "GET", "/starlette"))[1] == b"from /starlette"
            reply, _ = await ask(port, "POST", "/notes/7")
            assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, PUT")
            assert (await ask(port, "GET", "/notes/7/8"))[0].status == 404
            reply, body = await ask(port, "GET", "/fails")
            assert reply.status == 500 and b"secret" not in body and "a secret" in caplog.text
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                assert (await client.call_tool("echo", {"text": "on"})).text == "on"

    asyncio.run(main())


def test_a_server_with_routes_is_closed_while_it_is_at_work() -> None:
    app = Server("routes")
    called = asyncio.Event()

    @app.tool
    async def never() -> str:
        called.set()
        await asyncio.Event().wait()
        return ""

    app.custom_route("/health")(lambda request: "fine")

    async def main() -> None:
        async with app.serve_http() as handle:
            assert handle.url.endswith("/mcp")
            async with Client(handle.url, mode="legacy") as client:
                call = asyncio.ensure_future(client.call_tool("never"))
                await called.wait()
                assert handle.sessions == 1
                call.cancel()
        await handle.wait_closed()
        assert handle.sessions == 0
        assert not app._endpoints

    asyncio.run(main())


@pytest.mark.parametrize(
    ("register", "what"),
    [
        (lambda app: app.custom_route("health")(print), "begins with '/'"),
        (lambda app: app.custom_route("/x?y")(print), "begins with '/'"),
        (lambda app: app.custom_route("/x", methods="GET")(print), r'is a list of names such as \["GET", "POST"\]'),
        (lambda app: app.custom_route("/x", methods=["get"])(print), "is a list of names"),
        (lambda app: app.custom_route("/x", methods=[])(print), "is a list of names"),
        (lambda app: app.custom_route("/x")(7), "takes a function"),
        (lambda app: HttpResponse(status=99), "a number from 200 to 599"),
    ],
)
def test_what_is_wrong_with_a_route_is_said(register: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        register(Server("routes"))


def test_options_that_uvicorn_does_not_have_are_refused() -> None:
    app = make()

    async def main() -> None:
        with pytest.raises(UsageError, match="max_connections= is not there for a server with custom_route"):
            await app.serve_http(max_connections=3)

    asyncio.run(main())
