"""A server as an ASGI app: called by hand, and mounted in Starlette under uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from http_peer import LEGACY, MODERN, NAMESPACE, HttpPeer, close_all, counts, peer_of, under_uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from oxmcp import Client, Context, Server, _hub


class Call:
    """One request to an ASGI app, without a server."""

    def __init__(self, asgi: Any, message: dict[str, Any], path: str = "/mcp", root: str = "") -> None:
        about = {"protocolVersion": MODERN, "clientInfo": {"name": "p", "version": "1"}, "clientCapabilities": {}}
        params = message.get("params", {})
        params["_meta"] = {**params.get("_meta", {}), **{f"{NAMESPACE}/{key}": value for key, value in about.items()}}
        self.body = json.dumps({"jsonrpc": "2.0", "id": 1, **message, "params": params}).encode()
        fields = {
            "host": "localhost",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": message["method"],
        }
        if "name" in params:
            fields["mcp-name"] = params["name"]
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "root_path": root,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
        }
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.may_send = asyncio.Event()
        self.may_send.set()
        self.task = asyncio.ensure_future(asgi(self.scope, self.received.get, self._send))

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.put_nowait(message)
        await self.may_send.wait()

    def give(self, body: bytes, more: bool = False) -> None:
        self.received.put_nowait({"type": "http.request", "body": body, "more_body": more})

    async def whole(self) -> tuple[int, bytes]:
        """The status and the body of a response that comes to its end."""
        self.give(self.body)
        await self.task
        start, *bodies = [self.sent.get_nowait() for _ in range(self.sent.qsize())]
        return start["status"], b"".join(message["body"] for message in bodies)


def tool(name: str, **params: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": {}, **params}}


def simple() -> Server:
    app = Server("test")

    @app.tool
    async def hello() -> str:
        return "hello"

    return app


@pytest.mark.parametrize(
    ("path", "root", "own", "status"),
    [
        ("/mcp", "", "/mcp", 200),
        ("/mcp/", "", "/mcp", 200),
        ("/other", "", "/mcp", 404),
        ("/api/mcp", "/api", "/mcp", 200),
        ("/mcp", "/api", "/mcp", 200),
        ("/api/", "/api", "/", 200),
        ("/api", "/api", "/", 200),
        ("/api/mcp", "/api", "/", 404),
    ],
)
def test_the_path_is_below_the_root_path(path: str, root: str, own: str, status: int) -> None:
    async def main() -> None:
        got, body = await Call(simple().asgi(path=own), tool("hello"), path, root).whole()
        assert got == status, body

    asyncio.run(main())


def test_without_a_lifespan_all_begins_with_the_first_request_and_ends_with_the_loop() -> None:
    story: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Server) -> AsyncIterator[None]:
        story.append("begin")
        try:
            yield
        finally:
            story.append("end")

    app = Server("test", lifespan=lifespan)
    app.add_tool(hello)
    asgi = app.asgi()

    async def main() -> None:
        calls = [Call(asgi, tool("hello")).whole() for _ in range(5)]
        assert {status for status, _ in await asyncio.gather(*calls)} == {200}

    for _ in range(2):
        asyncio.run(main())
        assert _hub._loops == {} and app._endpoints == set()
    assert story == ["begin", "end"] * 2


async def hello() -> str:
    return "hello"


def test_a_lifespan_that_fails_is_reported() -> None:
    async def lifespan(_: Server) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    app = Server("test", lifespan=lifespan)

    async def main() -> None:
        received: asyncio.Queue[Any] = asyncio.Queue()
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        received.put_nowait({"type": "lifespan.startup"})
        await app.asgi()({"type": "lifespan"}, received.get, send)
        assert sent == [{"type": "lifespan.startup.failed", "message": "no database"}]

    asyncio.run(main())


def test_a_body_in_parts() -> None:
    async def main() -> None:
        call = Call(simple().asgi(), tool("hello"))
        for at in range(len(call.body)):
            call.give(call.body[at : at + 1], True)
        call.give(b"")
        await call.task
        assert (await call.sent.get())["status"] == 200

    asyncio.run(main())


def test_a_client_that_leaves_before_its_answer_cancels_the_handler() -> None:
    app = Server("test")

    async def main() -> None:
        started, cancelled = asyncio.Event(), asyncio.Event()

        @app.tool
        async def waits() -> str:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return "never"

        asgi = app.asgi()
        for how in ("leaves", "is cancelled"):
            call = Call(asgi, tool("waits"))
            call.give(call.body)
            await started.wait()
            if how == "leaves":
                call.received.put_nowait({"type": "http.disconnect"})
                await call.task
            else:
                call.task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call.task
            await cancelled.wait()
            started.clear(), cancelled.clear()
            assert call.sent.empty() and counts(app)[2] == 0

    asyncio.run(main())


def test_a_client_that_leaves_amid_a_stream() -> None:
    app = Server("test")

    @app.tool
    async def counts_up(ctx: Context) -> str:
        for number in range(1_000_000):
            await ctx.report_progress(number)
            await asyncio.sleep(0)
        return "never"

    async def main() -> None:
        call = Call(app.asgi(), tool("counts_up", _meta={"progressToken": 1}))
        call.give(call.body)
        for _ in range(5):
            await call.sent.get()
        call.received.put_nowait({"type": "http.disconnect"})
        await call.task
        while counts(app) != (0, 0, 0):
            await asyncio.sleep(0)

    asyncio.run(main())


def test_no_more_is_taken_of_a_stream_than_the_server_sends() -> None:
    app = Server("test")

    async def main() -> None:
        reported = asyncio.Event()

        @app.tool
        async def reports(ctx: Context) -> str:
            for number in range(100):
                await ctx.report_progress(number + 1, message="x" * 1000)
            reported.set()
            return "done"

        call = Call(app.asgi(), tool("reports", _meta={"progressToken": 1}))
        call.may_send.clear()
        call.give(call.body)
        await reported.wait()
        assert (await call.sent.get())["type"] == "http.response.start"
        for _ in range(10):
            await asyncio.sleep(0)
        # Nothing of the body is on its way while the start has not been taken.
        assert call.sent.empty()
        call.may_send.set()
        await call.task
        body = b"".join([(await call.sent.get())["body"] for _ in range(call.sent.qsize())])
        assert body.count(b"notifications/progress") == 100 and b"done" in body

    asyncio.run(main())


def test_a_websocket_is_closed() -> None:
    async def main() -> None:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message["type"])

        await simple().asgi()({"type": "websocket", "path": "/mcp"}, receive, send)
        assert sent == ["websocket.close"]

    asyncio.run(main())


@pytest.mark.parametrize("how", ["mounted", "mounted below", "a route"])
def test_in_starlette_under_uvicorn(how: str) -> None:
    app = simple()
    asgi = app.asgi(path="/" if how == "mounted below" else "/mcp")
    routes: list[Any] = {
        "mounted": [Mount("/", asgi)],
        "mounted below": [Mount("/mcp", asgi)],
        "a route": [Route("/mcp", asgi)],
    }[how]

    async def main() -> None:
        async with under_uvicorn(Starlette(routes=routes, lifespan=asgi.lifespan)) as port:
            assert app._endpoints != set()
            peer = HttpPeer(port, LEGACY, "/mcp/" if how == "mounted below" else "/mcp")
            await peer.initialize()
            assert await peer.tool("hello") == "hello"
        assert app._endpoints == set()

    asyncio.run(main())


def test_a_stream_does_not_keep_uvicorn_from_stopping(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    source = """
    import socket, sys, uvicorn
    from oxmcp import Server

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], file=sys.stderr, flush=True)
    server = uvicorn.Server(uvicorn.Config(Server("test", subscriptions=True).asgi(), log_level="error"))
    server.run([listening])
    """
    program.write_text(textwrap.dedent(source), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(program)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = int(process.stderr.readline())

    async def main() -> None:
        legacy = await (await peer_of(port, LEGACY)).stream()
        wanted = {"resourceSubscriptions": ["data://x"]}
        modern = await (await HttpPeer(port, MODERN).begin("subscriptions/listen", notifications=wanted)).begin()
        await modern.message()
        os.kill(process.pid, signal.SIGINT)
        for stream in (legacy, modern):
            assert [message async for message in stream.messages() if "id" not in message] == []
        await close_all()

    asyncio.run(main())
    with process.stderr as stderr:
        assert stderr.read() == "" or process.wait() in (0, -signal.SIGINT)
    assert process.wait() in (0, -signal.SIGINT, 130)


def test_processes_that_share_nothing_serve_without_sessions() -> None:
    app = Server("test")

    @app.tool
    async def who(ctx: Context) -> str:
        return str(ctx.session_id)

    # As several workers of a server would: each request is another one's.
    workers, turns = [app.asgi(stateless=True) for _ in range(3)], itertools.count()

    async def any_of_them(scope: Any, receive: Any, send: Any) -> None:
        worker = workers[next(turns) % 3] if scope["type"] == "http" else workers[0]
        await worker(scope, receive, send)

    async def main() -> None:
        async with under_uvicorn(any_of_them) as port:
            for mode in ("auto", "legacy"):
                problems: list[str] = []
                options: Any = {"mode": mode, "on_problem": lambda kind, text, seen=problems: seen.append(text)}
                async with Client(f"http://127.0.0.1:{port}/mcp", **options) as client:
                    assert [(await client.call_tool("who")).text for _ in range(7)] == ["None"] * 7
                assert problems == []

    asyncio.run(main())
