"""Routes of the program's own beside the protocol's: on a port of the core's, and in an ASGI app."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from http_peer import LEGACY, HttpPeer, Reply, close_all, serving
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse

import oxmcp._http
from oxmcp import Client, HttpRequest, HttpResponse, Server

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


# On a port of the core's


def test_what_a_port_hands_over_is_what_came() -> None:
    app = Server("routes")
    sent = bytes(range(256))

    @app.custom_route("/a b/{name}", methods=["POST"])
    async def seen(request: HttpRequest) -> Any:
        assert await request.body() == sent and await request.body() == sent
        assert request.headers.getlist("x-a") == ["1", "\xc3\xa4"] and request.headers["X-A"] == "1"
        assert request.path_params == {"name": "\xe9?"} and request.query == {"c": "/", "d": ""}
        assert request.url == f"http://localhost:{request.scope['server'][1]}/a%20b/%C3%A9%3F?c=%2F&d"
        assert request.scope["client"][0] == "127.0.0.1"
        given = Request(request.scope)
        assert given.method == "POST" and given.query_params["c"] == "/"
        answer = PlainTextResponse(sent, status_code=207, media_type="application/x")
        answer.set_cookie("a", "1")
        answer.set_cookie("b", "2")
        return answer

    async def main() -> None:
        async with serving(app, "port") as port:
            peer = HttpPeer(port, LEGACY, "/a%20b/%C3%A9%3F?c=%2F&d")
            reply = await (await peer.open("POST", {"x-a": "1\r\nX-A: \xe4"}, sent)).begin()
            assert (reply.status, await reply.chunk()) == (207, sent)
            assert [value[:3] for name, value in reply.fields if name == "set-cookie"] == ["a=1", "b=2"]

    asyncio.run(main())


def test_a_port_checks_who_asks_and_how_much() -> None:
    app = make()
    seen: list[str] = []
    app.custom_route("/seen", methods=["GET", "POST", "OPTIONS"])(lambda request: seen.append(request.method))

    async def main() -> None:
        async with serving(app, "port", body_limit=8, origins=["https://app.example.com"], max_connections=16) as port:
            assert (await ask(port, "GET", "/seen", host="evil.test"))[0].status == 421
            assert (await ask(port, "GET", "/seen", origin="https://evil.test"))[0].status == 403
            assert (await ask(port, "POST", "/seen", b"123456789"))[0].status == 413
            page = {"origin": "https://app.example.com"}
            reply, _ = await ask(port, "OPTIONS", "/seen", access_control_request_method="POST", **page)
            assert (reply.status, reply.headers["access-control-allow-methods"]) == (204, "POST")
            assert seen == []
            reply, _ = await ask(port, "POST", "/seen", b"12345678", **page)
            assert (reply.status, reply.headers["access-control-allow-origin"]) == (204, page["origin"])
            assert (await ask(port, "OPTIONS", "/seen"))[0].status == 204
            assert seen == ["POST", "OPTIONS"]
            reply, body = await ask(port, "GET", "/nowhere")
            assert reply.status == 404 and b"the endpoint is /mcp" in body

    asyncio.run(main())


def test_a_body_may_be_as_large_as_the_option_says() -> None:
    app = make()

    async def main() -> None:
        async with serving(app, "port", body_limit=18 * 1024 * 1024) as port:
            sent = b"x" * (17 * 1024 * 1024)
            reply, body = await ask(port, "POST", "/twice", sent)
            assert (reply.status, len(body)) == (201, 2 * len(sent))

    asyncio.run(main())


def test_routes_and_calls_go_on_beside_each_other() -> None:
    app = Server("routes")
    asked, called = asyncio.Event(), asyncio.Event()

    @app.custom_route("/wait")
    async def wait(request: HttpRequest) -> str:
        asked.set()
        await called.wait()
        return "called"

    @app.tool
    async def call() -> str:
        called.set()
        return "done"

    async def main() -> None:
        async with serving(app, "port") as port, Client(f"http://127.0.0.1:{port}/mcp") as client:
            waiting = [asyncio.ensure_future(ask(port, "GET", "/wait")) for _ in range(20)]
            await asked.wait()
            assert (await client.call_tool("call")).text == "done"
            assert [body for _, body in await asyncio.gather(*waiting)] == [b"called"] * 20

    asyncio.run(main())


def test_what_goes_wrong_in_a_route_ends_with_it(caplog: pytest.LogCaptureFixture) -> None:
    app = make()

    @app.custom_route("/exits")
    async def exits(request: HttpRequest) -> str:
        raise SystemExit("so long")

    @app.custom_route("/splits")
    async def splits(request: HttpRequest) -> HttpResponse:
        return HttpResponse("x", headers={"x-a": "b\r\nc: d"})

    @app.custom_route("/silent")
    async def silent(request: HttpRequest) -> Any:
        async def nothing(scope: Any, receive: Any, send: Any) -> None: ...

        return nothing

    @app.custom_route("/breaks")
    async def breaks(request: HttpRequest) -> Any:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            raise ValueError("in the middle")

        return StreamingResponse(parts())

    async def main() -> None:
        async with serving(app, "port") as port:
            for path, logged in [
                ("/fails", "a secret"),
                ("/exits", "so long"),
                ("/splits", "control characters"),
                ("/silent", "without a whole response"),
            ]:
                reply, body = await ask(port, "GET", path)
                assert (reply.status, body, reply.headers["content-type"]) == (
                    500,
                    b"internal error",
                    "text/plain; charset=utf-8",
                )
                assert logged in caplog.text, path
            reply, body = await ask(port, "GET", "/breaks")
            assert (reply.status, body) == (200, b"first")
            with pytest.raises((asyncio.IncompleteReadError, ValueError, ConnectionError)):
                await reply.chunk()
            assert "in the middle" in caplog.text
            assert (await ask(port, "GET", "/health"))[1] == b"fine"

    asyncio.run(main())


def test_a_route_that_never_answers_is_ended() -> None:
    app = Server("routes")
    begun, ended = asyncio.Event(), asyncio.Event()

    @app.custom_route("/never")
    async def never(request: HttpRequest) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async def main() -> None:
        async with serving(app, "port", route_timeout=0.05) as port:
            # A slow machine may not even begin with it in time.
            while not begun.is_set():
                reply, body = await ask(port, "GET", "/never")
                assert (reply.status, body) == (503, b"no answer came in time")
            await ended.wait()

    asyncio.run(main())


def test_a_client_that_leaves_does_not_keep_a_route() -> None:
    async def ends_after_it_was_left(seconds: float) -> bool:
        app = Server("routes")
        asked, ended = asyncio.Event(), asyncio.Event()
        goes_on = False

        @app.custom_route("/notices")
        async def notices(request: HttpRequest) -> str:
            nonlocal goes_on
            asked.set()
            given = Request(request.scope, request._receive)
            try:
                while not await given.is_disconnected():
                    await asyncio.sleep(0)
                goes_on = True
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

        async with serving(app, "port", route_timeout=seconds) as port:
            reply = await HttpPeer(port, LEGACY, "/notices").open("GET", {})
            refused = asyncio.ensure_future(reply.begin())
            begins = asyncio.ensure_future(asked.wait())
            await asyncio.wait([refused, begins], return_when=asyncio.FIRST_COMPLETED)
            reply.leave()
            await asyncio.wait([refused])
            refused.exception()
            if asked.is_set():
                await ended.wait()
            begins.cancel()
        return goes_on

    # Where a machine is so slow that its time is over before the client has left, there has to be more of it.
    seconds = 0.05
    while not asyncio.run(ends_after_it_was_left(seconds)):
        seconds *= 2


def test_a_stream_is_given_as_it_is_taken_and_ends_with_its_client() -> None:
    app = Server("routes")
    go_on, ended = asyncio.Event(), asyncio.Event()

    @app.custom_route("/large")
    async def large(request: HttpRequest) -> Any:
        async def parts() -> AsyncIterator[bytes]:
            for number in range(40):
                yield bytes([number]) * 100_000

        return StreamingResponse(parts(), media_type="application/x")

    @app.custom_route("/news")
    async def news(request: HttpRequest) -> Any:
        async def events() -> AsyncIterator[str]:
            yield "data: 1\n\n"
            await go_on.wait()
            yield "data: 2\n\n"
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        return StreamingResponse(events(), media_type="text/event-stream")

    async def main() -> None:
        async with serving(app, "port") as port:
            reply, body = await ask(port, "GET", "/large")
            while chunk := await reply.chunk():
                body += chunk
            assert body == b"".join(bytes([number]) * 100_000 for number in range(40))
            reply, body = await ask(port, "GET", "/news")
            assert (reply.headers["content-type"].partition(";")[0], body) == ("text/event-stream", b"data: 1\n\n")
            go_on.set()
            assert await reply.chunk() == b"data: 2\n\n"
            reply.leave()
            await ended.wait()

    asyncio.run(main())


def test_closing_waits_for_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oxmcp._http, "LAST_WORDS", 0.02)
    app = Server("routes")
    asked, go_on, began = asyncio.Event(), asyncio.Event(), asyncio.Event()
    ends: list[str] = []

    @app.custom_route("/slow")
    async def slow(request: HttpRequest) -> str:
        asked.set()
        await go_on.wait()
        return "in time"

    async def afterwards() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")

    @app.custom_route("/later")
    async def later(request: HttpRequest) -> Any:
        return PlainTextResponse("fine", background=BackgroundTask(afterwards))

    async def main() -> None:
        async with app.serve_http() as handle:
            port = handle.address[1]
            assert (await ask(port, "GET", "/later"))[1] == b"fine"
            asking = asyncio.ensure_future(ask(port, "GET", "/slow"))
            await asked.wait()
            await began.wait()
            closing = asyncio.ensure_future(handle.close())
            await asyncio.sleep(0)
            go_on.set()
            assert (await asking)[1] == b"in time"
            await closing
            assert ends == ["cancelled"]
            await close_all()

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["oxmcp", "oxmcp.fastmcp"])
def test_a_program_with_routes_needs_no_other_server(tmp_path: Path, kind: str) -> None:
    program = """
        import sys
        sys.modules["uvicorn"] = None
        from KIND import SERVER
        from starlette.responses import PlainTextResponse

        app = SERVER("program")

        @app.custom_route("/slow", methods=["GET"])
        async def slow(request):
            import asyncio
            print("asked", file=sys.stderr, flush=True)
            await asyncio.sleep(0.2)
            return PlainTextResponse("in time")

        app.run("http", port=0)
    """
    name = {"oxmcp": "Server", "oxmcp.fastmcp": "FastMCP"}[kind]
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program).replace("KIND", kind).replace("SERVER", name), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(path)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = int(process.stderr.readline().rsplit(":", 1)[1].split("/")[0])

    async def main() -> bytes:
        reply = await HttpPeer(port, LEGACY, "/slow").open("GET", {})
        assert process.stderr is not None
        assert await asyncio.to_thread(process.stderr.readline) == "asked\n"
        process.send_signal(signal.SIGTERM)
        body = await (await reply.begin()).chunk()
        await close_all()
        return body

    assert asyncio.run(main()) == b"in time"
    with process.stderr as stderr:
        assert (stderr.read(), process.wait()) == ("", 0)
