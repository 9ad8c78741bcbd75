"""Faults that others had: over HTTP, with native code on threads beside the interpreter."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from http_peer import MODERN, HttpPeer, close_all, counts, under_uvicorn

from oxmcp import Client, ConnectionClosedError, Context, RequestTimeoutError, Server, _hub

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def echoing() -> Server:
    app = Server("test")

    @app.tool
    async def echo(value: Any, ctx: Context) -> Any:
        await ctx.report_progress(1, message=str(value))
        return value

    @app.tool
    async def waits() -> str:
        await asyncio.Event().wait()
        return "never"

    return app


@MODES
def test_a_server_that_was_started_anew_is_gone_on_with(mode: Any) -> None:
    app = echoing()

    async def main() -> None:
        serving = await app.serve_http()
        port = serving.address[1]
        async with Client(serving.url, mode=mode) as client:
            assert (await client.call_tool("echo", {"value": "one"})).text == "one"
            await serving.close()
            async with app.serve_http(port=port) as again:
                # A connection that its server has closed may look open for a moment yet: that is an error that
                # says that the call may be made again.
                while True:
                    try:
                        assert (await client.call_tool("echo", {"value": "two"})).text == "two"
                        break
                    except ConnectionClosedError as error:
                        assert error.retryable
                assert again.sessions == (1 if mode == "legacy" else 0)

    asyncio.run(main())


@MODES
def test_what_is_for_one_client_goes_to_no_other(mode: Any) -> None:
    app = echoing()

    async def call_often(url: str, name: str) -> None:
        told: list[Any] = []
        async with Client(url, mode=mode) as client:
            for number in range(20):
                value = f"{name} {number}"
                result = await client.call_tool(
                    "echo", {"value": value}, on_progress=lambda progress, total, message: told.append(message)
                )
                assert result.text == value
            assert told == [f"{name} {number}" for number in range(20)]

    async def main() -> None:
        async with app.serve_http() as serving:
            await asyncio.gather(*(call_often(serving.url, name) for name in "abcdefgh"))

    asyncio.run(main())


@MODES
def test_digits_and_the_order_of_members_survive(mode: Any) -> None:
    app = Server("test")

    @app.tool
    async def same(value: dict[str, Any]) -> dict[str, Any]:
        return value

    async def main() -> None:
        async with app.serve_http() as serving, Client(serving.url, mode=mode) as client:
            value = {"z": 9007199254740993, "a": 2**80, "é": "\U0001f600"}
            result = await client.call_tool("same", {"value": value})
            assert list(result.structured_content.items()) == list(value.items())

    asyncio.run(main())


@MODES
def test_a_cancel_and_an_answer_that_come_together(mode: Any) -> None:
    app = echoing()

    async def main() -> None:
        async with app.serve_http() as serving, Client(serving.url, mode=mode) as client:
            for turns in range(200):
                call = asyncio.create_task(client.call_tool("echo", {"value": "x"}))
                for _ in range(turns % 20):
                    await asyncio.sleep(0)
                call.cancel()
                try:
                    assert (await call).text == "x"
                except asyncio.CancelledError:
                    pass
            assert client._connection is not None and client._connection.stats() == (0, 0, 0, 0, 0)
            while counts(app) != (0, 0, 0):
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_calls_that_wait_when_the_loop_ends() -> None:
    app = echoing()

    async def main(turns: int) -> None:
        serving = await app.serve_http()
        client = Client(serving.url)
        await client.connect()
        for _ in range(5):
            asyncio.ensure_future(client.call_tool("waits"))
        for _ in range(turns):
            await asyncio.sleep(0)

    for turns in range(20):
        asyncio.run(main(turns))
    gc.collect()
    assert _hub._loops == {} and app._endpoints == set()


def test_a_call_times_out_while_the_interpreter_is_busy(tmp_path: Path) -> None:
    source = """
    import asyncio, sys
    from oxmcp import Context, Server

    app = Server("test")

    @app.tool
    async def waits(ctx: Context) -> str:
        await ctx.report_progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            print("cancelled", flush=True)
        return "never"

    async def main():
        async with app.serve_http() as serving:
            print(serving.url, flush=True)
            await serving.wait_closed()

    asyncio.run(main())
    """
    program = tmp_path / "server.py"
    program.write_text(textwrap.dedent(source), encoding="utf-8")
    server = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    cancelled = threading.Event()
    url = server.stdout.readline().strip()

    def read() -> None:
        assert server.stdout is not None and server.stdout.readline() == "cancelled\n"
        cancelled.set()

    reader = threading.Thread(target=read)
    reader.start()

    async def main() -> None:
        async with Client(url) as client:
            seconds = 0.25
            while True:
                # A call that a slow machine has not begun when its time is over shows nothing.
                begun, seconds = asyncio.Event(), seconds * 2
                call = asyncio.ensure_future(
                    client.call_tool("waits", timeout=seconds, on_progress=lambda *_: begun.set())
                )
                begins = asyncio.ensure_future(begun.wait())
                await asyncio.wait([call, begins], return_when=asyncio.FIRST_COMPLETED)
                if begins.done():
                    break
                begins.cancel()
            while not cancelled.is_set():
                pass
            with pytest.raises(RequestTimeoutError):
                await call

    try:
        asyncio.run(main())
    finally:
        server.terminate()
        reader.join()
        server.stdout.close()
        server.wait()


def test_one_connection_serves_many_calls() -> None:
    app = echoing()
    connections: set[Any] = set()

    async def main() -> None:
        mcp = app.asgi()

        async def asgi(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                connections.add(scope["client"])
            await mcp(scope, receive, send)

        async with under_uvicorn(asgi) as port, Client(f"http://127.0.0.1:{port}/mcp") as client:
            for number in range(50):
                assert (await client.call_tool("echo", {"value": number})).text == str(number)

    asyncio.run(main())
    # A call may begin before the connection of the one before is free again.
    assert len(connections) <= 5


def test_many_handlers_at_once_share_the_loop_with_the_program() -> None:
    app = echoing()

    async def main() -> None:
        turns = 0

        async def program() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ours = asyncio.ensure_future(program())
        async with app.serve_http() as serving:
            peers = [HttpPeer(serving.address[1], MODERN) for _ in range(100)]
            assert await asyncio.gather(*(peer.tool("echo", value="x") for peer in peers)) == ["x"] * 100
            await close_all()
        ours.cancel()
        assert turns > 10

    asyncio.run(main())
