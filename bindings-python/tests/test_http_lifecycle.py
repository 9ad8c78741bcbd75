"""How a server over HTTP begins and ends: handles, signals, loops, forks and the end of the interpreter."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from http_peer import LEGACY, close_all, peer_of

from oxmcp import Client, ConnectionClosedError, Server, UsageError, _hub

PROGRAM = """
    import asyncio, sys
    from oxmcp import Server

    app = Server("test")

    @app.tool
    async def waits() -> str:
        print("started", file=sys.stderr, flush=True)
        await asyncio.sleep(0.2)
        return "answered"

    begun, all_began = [], asyncio.Event()

    @app.tool
    async def hangs() -> str:
        print("started", file=sys.stderr, flush=True)
        begun.append("one")
        if len(begun) == 5:
            all_began.set()
        await asyncio.Event().wait()
        return "never"
"""


def start(folder: Path, source: str) -> tuple[subprocess.Popen[str], int]:
    """Starts a program that serves over HTTP; gives it and its port."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(PROGRAM) + textwrap.dedent(source), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(path)], stderr=subprocess.PIPE, text=True)
    line = read_line(process)
    return process, int(line.rsplit(":", 1)[1].split("/")[0])


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stderr is not None
    with process.stderr as stderr:
        rest = stderr.read()
    return process.wait(), rest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_calls_finish_and_ends_the_program(tmp_path: Path, number: signal.Signals) -> None:
    process, port = start(tmp_path, 'app.run("http", port=0)')

    async def main() -> str:
        peer = await peer_of(port, LEGACY)
        stream = await peer.stream()
        call = await peer.begin("tools/call", name="waits", arguments={})
        assert await asyncio.to_thread(read_line, process) == "started\n"
        process.send_signal(number)
        text = (await (await call.begin()).answer())["result"]["content"][0]["text"]
        assert [message async for message in stream.messages()] == []
        await close_all()
        return str(text)

    assert asyncio.run(main()) == "answered"
    assert ended(process) == (0, "")


def test_a_second_signal_ends_a_program_whose_calls_do_not_finish(tmp_path: Path) -> None:
    process, port = start(tmp_path, 'app.run("http", port=0)')

    async def main() -> None:
        peer = await peer_of(port, LEGACY)
        await peer.begin("tools/call", name="hangs", arguments={})
        assert await asyncio.to_thread(read_line, process) == "started\n"
        process.send_signal(signal.SIGTERM)
        # It takes no more connections once it has seen the signal.
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionError:
                break
        process.send_signal(signal.SIGTERM)
        await close_all()

    asyncio.run(main())
    assert ended(process)[0] in (0, -signal.SIGTERM)


@pytest.mark.parametrize(
    ("source", "end"),
    [
        # The loop ends and nobody closed the server.
        (
            """
            async def main():
                serving = await app.serve_http()
                print(serving.url, file=sys.stderr, flush=True)
                await all_began.wait()
            asyncio.run(main())
            """,
            "",
        ),
        # The loop is not even told that it ends.
        (
            """
            loop = asyncio.new_event_loop()
            serving = loop.run_until_complete(app.serve_http()._open())
            print(serving.url, file=sys.stderr, flush=True)
            loop.run_until_complete(all_began.wait())
            loop.close()
            """,
            "",
        ),
        # The interpreter ends in the middle of it all.
        (
            """
            async def main():
                serving = await app.serve_http()
                print(serving.url, file=sys.stderr, flush=True)
                await all_began.wait()
                sys.stderr.flush()
                import os; os._exit(0)
            asyncio.run(main())
            """,
            "",
        ),
    ],
)
def test_a_program_ends_while_its_server_is_at_work(tmp_path: Path, source: str, end: str) -> None:
    process, port = start(tmp_path, source)

    async def main() -> None:
        peer = await peer_of(port, LEGACY)
        for _ in range(5):
            await peer.begin("tools/call", name="hangs", arguments={})
            assert await asyncio.to_thread(read_line, process) == "started\n"
        assert await asyncio.to_thread(ended, process) == (0, end)
        await close_all()

    asyncio.run(main())


def test_closing_by_several_tasks_and_more_than_once() -> None:
    app = Server("test")

    async def main() -> None:
        started = asyncio.Event()

        @app.tool
        async def waits() -> str:
            started.set()
            await asyncio.sleep(0.1)
            return "answered"

        serving = await app.serve_http()
        peer = await peer_of(serving.address[1], LEGACY)
        call = await peer.begin("tools/call", name="waits", arguments={})
        await started.wait()
        waiting = asyncio.create_task(serving.wait_closed())
        await asyncio.gather(*(serving.close() for _ in range(3)))
        await waiting
        assert (await (await call.begin()).answer())["result"]["content"][0]["text"] == "answered"
        await serving.close()
        await close_all()
        assert serving.sessions == 0 and _hub._loops == {}

    asyncio.run(main())


def test_a_cancelled_close_goes_on() -> None:
    app = Server("test")

    async def main() -> None:
        async with app.serve_http() as serving:
            closing = asyncio.create_task(serving.close())
            await asyncio.sleep(0)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
            await serving.wait_closed()
        assert app._endpoints == set()

    asyncio.run(main())


def test_one_app_on_many_loops_at_once_and_one_after_the_other() -> None:
    app = Server("test")
    meet = threading.Barrier(4)

    @app.tool
    async def where() -> str:
        return str(threading.get_ident())

    async def serve_and_call(meets: bool) -> None:
        async with app.serve_http() as one, app.serve_http() as other:
            if meets:
                await asyncio.to_thread(meet.wait)
            for serving in (one, other):
                async with Client(serving.url) as client:
                    assert (await client.call_tool("where")).text == str(threading.get_ident())

    for _ in range(3):
        asyncio.run(serve_and_call(False))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: asyncio.run(serve_and_call(True)), range(4))) == [None] * 4
    assert _hub._loops == {} and app._endpoints == set()


def test_loops_that_serve_at_the_same_time_have_a_lifespan_each() -> None:
    lives: list[tuple[str, int]] = []

    @asynccontextmanager
    async def lifespan(_: Server) -> AsyncIterator[str]:
        lives.append(("began", threading.get_ident()))
        yield "state"
        lives.append(("ended", threading.get_ident()))

    app = Server("test", lifespan=lifespan)
    both_serve, first_is_over = threading.Barrier(2), threading.Event()

    async def first() -> int:
        async with app.serve_http():
            await asyncio.to_thread(both_serve.wait, 30)
        first_is_over.set()
        return threading.get_ident()

    async def second() -> int:
        async with app.serve_http():
            await asyncio.to_thread(both_serve.wait, 30)
            assert await asyncio.to_thread(first_is_over.wait, 30)
            assert app.state == "state"
        return threading.get_ident()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, other = (pool.submit(asyncio.run, main()) for main in (first, second))
        threads = one.result(), other.result()
    assert lives[-2:] == [("ended", thread) for thread in threads]
    assert sorted(lives[:2]) == sorted(("began", thread) for thread in threads)
    assert app.state is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_serves_by_itself_and_leaves_its_parent_alone(tmp_path: Path) -> None:
    # From 3.12 on Python warns of any fork with threads about, and ours are.
    source = """
    import os, warnings
    from oxmcp import Client

    warnings.simplefilter("ignore", DeprecationWarning)

    async def call():
        async with app.serve_http() as serving, Client(serving.url) as client:
            return (await client.call_tool("waits")).text

    async def main():
        async with app.serve_http() as serving, Client(serving.url) as client:
            print(serving.url, file=sys.stderr, flush=True)
            child = os.fork()
            if child == 0:
                asyncio._set_running_loop(None)
                try:
                    text = asyncio.new_event_loop().run_until_complete(call())
                    os._exit(0 if text == "answered" else 3)
                except BaseException as error:
                    print(repr(error), file=sys.stderr, flush=True)
                    os._exit(4)
            _, status = await asyncio.to_thread(os.waitpid, child, 0)
            assert os.waitstatus_to_exitcode(status) == 0, status
            assert (await client.call_tool("waits")).text == "answered"
    asyncio.run(main())
    """
    process, _ = start(tmp_path, source)
    assert ended(process) == (0, "started\nstarted\n")


def test_what_is_wrong_is_said() -> None:
    app = Server("test")

    async def main() -> None:
        async with app.serve_http() as serving:
            with pytest.raises(ConnectionClosedError, match="port in use"):
                await app.serve_http(port=serving.address[1])
            with pytest.raises(RuntimeError, match="await app.run_async"):
                app.run("http")
        with pytest.raises(UsageError, match="list the host names"):
            await app.serve_http(host="0.0.0.0")
        with pytest.raises(UsageError, match="no host name"):
            await app.serve_http(hosts=["http://example.com"])

    asyncio.run(main())
    bad: Any
    for bad, message in [
        ({"host": "no such host"}, "an address of this machine"),
        ({"port": 70000}, "from 0 to 65535"),
        ({"path": "mcp"}, "begins with '/'"),
        ({"json": True}, "no option 'json'; did you mean 'json_only'. Its options are .*json_only"),
        ({"hosts": "example.com"}, "hosts is a list of strings"),
        ({"retry": -1}, "retry is a number of seconds"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            app.serve_http(**bad)
    with pytest.raises(TypeError, match="no option 'write_timeout'"):
        app.asgi(**{"write_timeout": 5})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'stdio' or 'http'"):
        app.run("sse")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="port= is for HTTP"):
        app.run("stdio", port=80)  # type: ignore[call-overload]
    assert _hub._loops == {} and app._endpoints == set()
