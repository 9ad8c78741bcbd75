"""A Python client over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from http_peer import counts, under_uvicorn

from oxmcp import (
    Client,
    ConnectionClosedError,
    Context,
    HttpClientOptions,
    RequestTimeoutError,
    ResponseError,
    Server,
    ToolError,
    Unauthorized,
    UsageError,
    _hub,
)

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def served() -> Server:
    app = Server("test", version="1.2", instructions="Use it well.", subscriptions=True)

    @app.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @app.tool
    async def fails() -> str:
        raise ToolError("no")

    @app.tool
    async def works(ctx: Context) -> str:
        for step in (1, 2):
            await ctx.report_progress(step, 2, "step")
        await ctx.warning("careful")
        return "done"

    @app.tool
    async def asks(ctx: Context) -> str:
        answer = await ctx.elicit("Sure?")
        words = await ctx.sample("Say a word")
        roots = await ctx.list_roots()
        return f"{answer.action} {words.content.text} {len(roots)}"

    @app.tool
    async def waits() -> str:
        await asyncio.Event().wait()
        return "never"

    @app.resource("data://{name}")
    async def data(name: str) -> str:
        return name * 2

    @app.prompt
    async def greet(name: str) -> str:
        return f"Hello, {name}"

    @app.completion("greet", "name")
    async def names(value: str) -> list[str]:
        return [value + "a", value + "b"]

    return app


@MODES
def test_all_verbs(mode: Any) -> None:
    app = served()

    async def main() -> None:
        async with app.serve_http() as serving, Client(serving.url, mode=mode) as client:
            assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
            assert (client.server_info["name"], client.instructions) == ("test", "Use it well.")
            assert len(await client.list_tools()) == 5 and len(await client.list_prompts()) == 1
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            assert (await client.call_tool("fails")).is_error
            assert (await client.read_resource("data://x")).contents[0].text == "xx"
            assert (await client.get_prompt("greet", {"name": "Ann"})).messages[0].content.text == "Hello, Ann"
            assert (await client.complete("name", "x", prompt="greet")).values == ["xa", "xb"]
            with pytest.raises(ResponseError):
                await client.call_tool("no_such_tool")
            if mode == "legacy":
                await client.ping()
                await client.subscribe("data://x")
                assert app.notify_resource_updated("data://x")
                await client.unsubscribe("data://x")
                assert serving.sessions == 1
        assert _hub._loops == {}

    asyncio.run(main())


@MODES
def test_what_a_server_says_and_asks(mode: Any, tmp_path: Path) -> None:
    app = served()

    async def main() -> None:
        logs: list[Any] = []
        async with app.serve_http() as serving:
            options: Any = {"on_elicit": lambda _: "accept", "on_sample": lambda _: "word", "roots": [tmp_path]}
            async with Client(serving.url, mode=mode, on_log=lambda *log: logs.append(log), **options) as client:
                reported: list[Any] = []
                await client.set_logging_level("info")
                done = await client.call_tool("works", on_progress=lambda *progress: reported.append(progress))
                assert done.text == "done" and reported == [(1, 2, "step"), (2, 2, "step")]
                assert logs == [("warning", "careful", None)]
                assert (await client.call_tool("asks")).text == "accept word 1"
                assert client._connection is not None and client._connection.stats() == (0, 0, 0, 0, 0)

    asyncio.run(main())


@MODES
def test_cancelling_the_task_cancels_the_call(mode: Any) -> None:
    app = served()

    async def main() -> None:
        async with app.serve_http() as serving, Client(serving.url, mode=mode) as client:
            calls = [asyncio.create_task(client.call_tool("waits")) for _ in range(20)]
            while counts(app)[0] < 20:
                await asyncio.sleep(0.01)
            for call in calls:
                call.cancel()
            ended = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(error, asyncio.CancelledError) for error in ended)
            while counts(app) != (0, 0, 0):
                await asyncio.sleep(0.01)
            assert client._connection is not None and client._connection.stats() == (0, 0, 0, 0, 0)
            assert (await client.call_tool("add", {"a": 1, "b": 1})).text == "2"

    asyncio.run(main())


@MODES
def test_timeouts_are_told_to_the_server(mode: Any) -> None:
    app = served()

    async def main() -> None:
        async with app.serve_http() as serving, Client(serving.url, mode=mode) as client:
            with pytest.raises(RequestTimeoutError):
                await client.call_tool("waits", timeout=0.1)
            with pytest.raises(RequestTimeoutError):
                await client.call_tool("waits", timeout=60, max_total_timeout=0.1)
            while counts(app) != (0, 0, 0):
                await asyncio.sleep(0.01)

    asyncio.run(main())


@MODES
def test_changes_are_listened_to(mode: Any) -> None:
    app = served()

    async def main() -> None:
        told: asyncio.Queue[str] = asyncio.Queue()

        def on_notification(method: str, _: Any) -> None:
            told.put_nowait(method)

        async with app.serve_http() as serving:
            async with Client(serving.url, mode=mode, on_notification=on_notification) as client:
                if mode == "legacy":
                    while not await changed(app, told):
                        pass
                else:
                    async with client.listen(tools=True) as changes:
                        app.remove_tool("add")
                        async for method, _ in changes:
                            assert method == "notifications/tools/list_changed"
                            break

    async def changed(app: Server, told: asyncio.Queue[str]) -> bool:
        # The stream for it is opened after the handshake, and nobody tells when.
        app.remove_tool("extra")
        app.add_tool(extra)
        try:
            return await asyncio.wait_for(told.get(), 0.2) == "notifications/tools/list_changed"
        except asyncio.TimeoutError:
            return False

    async def extra() -> None: ...

    asyncio.run(main())


def test_closing_in_any_order() -> None:
    app = served()

    async def main() -> None:
        serving = await app.serve_http()
        clients = [Client(serving.url, mode=mode) for mode in ("auto", "legacy", "legacy")]  # type: ignore[arg-type]
        await asyncio.gather(*(client.connect() for client in clients))
        call = asyncio.create_task(clients[1].call_tool("waits"))
        while counts(app)[0] < 1:
            await asyncio.sleep(0.01)
        await asyncio.gather(clients[1].close(), clients[1].close(), clients[0].close())
        with pytest.raises(ConnectionClosedError):
            await call
        await clients[1].close()
        assert serving.sessions == 1
        await serving.close()
        with pytest.raises((ConnectionClosedError, ResponseError)):
            await clients[2].call_tool("add", {"a": 1, "b": 1})
        await clients[2].close()
        assert _hub._loops == {}

    asyncio.run(main())


def test_a_client_that_is_dropped_or_whose_loop_ends_lets_go() -> None:
    app = served()
    kept: list[Client] = []

    async def drop(url: str) -> None:
        client = Client(url, mode="legacy")
        await client.connect()

    async def keep(url: str) -> None:
        client = Client(url, mode="legacy")
        await client.connect()
        kept.append(client)

    async def main() -> None:
        async with app.serve_http() as serving:
            await drop(serving.url)
            gc.collect()
            while serving.sessions:
                await asyncio.sleep(0.01)
            thread = threading.Thread(target=asyncio.run, args=(keep(serving.url),))
            thread.start()
            await asyncio.to_thread(thread.join)
            while serving.sessions:
                await asyncio.sleep(0.01)
            await kept.pop().close()

    asyncio.run(main())
    assert _hub._loops == {}


def test_headers_and_configurations() -> None:
    seen: list[Any] = []

    async def main() -> None:
        app = served()
        mcp = app.asgi()

        async def asgi(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                seen.append(dict(scope["headers"]).get(b"authorization"))
            await mcp(scope, receive, send)

        async with under_uvicorn(asgi) as port:
            url = f"http://127.0.0.1:{port}/mcp"
            async with Client(url, headers={"Authorization": "one"}) as client:
                await client.list_tools()
            config = {"mcpServers": {"it": {"url": url, "headers": {"Authorization": "two"}}}}
            async with Client(config) as client:
                await client.list_tools()

    asyncio.run(main())
    assert set(seen) == {b"one", b"two"}


def test_what_is_wrong_is_said() -> None:
    async def main() -> None:
        app = served()
        with pytest.raises(ConnectionClosedError, match="127.0.0.1:1"):
            await Client("http://127.0.0.1:1/mcp").connect()
        with pytest.raises(UsageError, match="no URL"):
            await Client("http://").connect()
        with pytest.raises(UsageError, match="(?i)mcp-session-id"):
            await Client("http://127.0.0.1:1/mcp", headers={"Mcp-Session-Id": "x"}).connect()
        with pytest.raises(UsageError, match="no option 'verify'"):
            options: Any = {"verify": False}
            await Client("http://127.0.0.1:1/mcp", http=options).connect()
        with pytest.raises(UsageError, match="no URL"):
            Client(["python"], headers={})
        async with app.serve_http(path="/here") as serving:
            with pytest.raises(ResponseError) as caught:
                await Client(serving.url.replace("/here", "/there")).connect()
            assert caught.value.data["status"] == 404
        assert _hub._loops == {}

    asyncio.run(main())


def test_a_server_that_never_answers_the_end_of_a_session_holds_up_no_close() -> None:
    requests: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(EOFError, ConnectionError), contextlib.closing(writer):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                requests.append(head.split(" ")[0])
                size = next((line for line in head.split("\r\n") if line.startswith("content-length:")), ":0")
                message = json.loads(await reader.readexactly(int(size.partition(":")[2])) or b"{}")
                if message.get("method") == "initialize":
                    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
                    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": about}).encode()
                    fields = f"content-type: application/json\r\nmcp-session-id: s1\r\ncontent-length: {len(body)}"
                    writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode() + body)
                elif "method" in message:
                    writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
                # Nothing else is ever answered.

    async def main() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
            client = Client(url, mode="legacy", http={"close_timeout": 0.2})
            await client.connect()
            call = asyncio.ensure_future(client.ping(timeout=50))
            await asyncio.sleep(0)
            await client.close()
            with pytest.raises(ConnectionClosedError):
                await call
            await client.close()
            assert "delete" in requests
            server.close()

    asyncio.run(main())


def test_every_option_is_taken() -> None:
    app = served()
    certificate = Path(__file__).parents[2] / "core/tests/http_client/certs/root.pem"
    options: dict[str, Any] = {
        "no_proxy": True,
        "root_certificate": certificate.read_text(encoding="ascii"),
        "connect_timeout": 100.5,
        "close_timeout": 0.0005,
        "renew_sessions": False,
        "http_sse": "never",
        "listen": False,
        "redirects": {"hops": 3, "other_origins": False},
        "max_requests": 3,
    }
    assert options.keys() | {"proxy"} == HttpClientOptions.__optional_keys__

    async def main() -> None:
        async with app.serve_http() as serving:
            async with Client(serving.url, http=options) as client:  # type: ignore[arg-type]
                assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            # Through a proxy that the server itself is: it does not know what is asked of it.
            with pytest.raises((ConnectionClosedError, ResponseError)):
                await Client("http://example.invalid/mcp", http={"proxy": serving.url}).connect()

    asyncio.run(main())


class Guarded:
    """An app that takes one token, which may be changed, behind uvicorn."""

    def __init__(self, app: Server) -> None:
        self._asgi, self.token = app.asgi(), "first"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer " + self.token.encode():
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer realm=x")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._asgi(scope, receive, send)


@MODES
def test_other_header_fields_are_asked_for_when_those_sent_are_refused(mode: Any) -> None:
    async def main() -> None:
        guarded = Guarded(served())
        told: list[Unauthorized] = []

        async def renew(refused: Unauthorized) -> dict[str, str]:
            told.append(refused)
            await asyncio.sleep(0)
            return {"Authorization": f"Bearer {guarded.token}"}

        async with under_uvicorn(guarded) as port:
            async with Client(f"http://127.0.0.1:{port}/mcp", on_unauthorized=renew, mode=mode) as client:
                assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
                assert told == [Unauthorized(401, "Bearer realm=x")]
                guarded.token = "second"
                calls = (client.call_tool("add", {"a": n, "b": n}) for n in range(5))
                assert [result.text for result in await asyncio.gather(*calls)] == ["0", "2", "4", "6", "8"]
                assert told == [Unauthorized(401, "Bearer realm=x")] * 2

    asyncio.run(main())


def test_what_is_no_answer_to_a_refusal_fails_the_call_alone() -> None:
    async def main() -> None:
        guarded = Guarded(served())
        answers: list[Any] = [None, ValueError("the keyring is locked"), ["Authorization"], {"Accept": "x"}, {}]

        def renew(refused: Unauthorized) -> Any:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        whys = [
            "give it credentials",
            "there are no others: ValueError: the keyring is locked",
            "a mapping of str to str, or None, not list",
            'the header "Accept" cannot be set',
            "give it credentials",
        ]
        async with under_uvicorn(guarded) as port:
            headers = {"Authorization": "Bearer first"}
            async with Client(f"http://127.0.0.1:{port}/mcp", headers=headers, on_unauthorized=renew) as client:
                guarded.token = "second"
                for why in whys:
                    with pytest.raises(ResponseError, match="denied access with status 401") as caught:
                        await client.call_tool("add", {"a": 1, "b": 2})
                    assert why in str(caught.value)
                    assert caught.value.data == {"status": 401, "wwwAuthenticate": "Bearer realm=x"}
                guarded.token = "first"
                assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
        assert answers == []

    asyncio.run(main())


def test_a_client_that_closes_asks_no_further() -> None:
    async def main() -> None:
        guarded = Guarded(served())
        asked, ended = asyncio.Event(), asyncio.Event()

        async def renew(refused: Unauthorized) -> None:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with under_uvicorn(guarded) as port:
            headers = {"Authorization": "Bearer first"}
            client = Client(f"http://127.0.0.1:{port}/mcp", headers=headers, on_unauthorized=renew)
            async with client:
                guarded.token = "second"
                call = asyncio.create_task(client.call_tool("add", {"a": 1, "b": 2}))
                await asked.wait()
            with pytest.raises(ConnectionClosedError):
                await call
            await ended.wait()

    asyncio.run(main())


def test_header_fields_are_for_servers_over_http() -> None:
    with pytest.raises(UsageError, match="on_unauthorized= are for servers over HTTP"):
        Client(served(), on_unauthorized=lambda refused: None)
