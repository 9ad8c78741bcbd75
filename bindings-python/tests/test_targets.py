"""What clients can be pointed at, clients without an event loop, other event loops, and tests of one's own."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from peer import script

from oxmcp import (
    Client,
    ConnectionClosedError,
    Context,
    HandlerError,
    RequestTimeoutError,
    ResponseError,
    Server,
    SyncClient,
    UsageError,
)
from oxmcp._targets import Resolved, resolve
from oxmcp._threads import Threads
from oxmcp.testing import Difference, Transcript, advance

SOURCE = """
    import os, sys, time
    app = Server("target", subscriptions=True)
    @app.tool
    def add(a: int, b: int) -> int: return a + b
    @app.tool
    def env(name: str) -> str: return os.environ.get(name, "none") + " " + os.getcwd()
    @app.tool
    async def slow() -> None:
        import asyncio
        print("slow", file=sys.stderr, flush=True)
        try: await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("cancelled", file=sys.stderr, flush=True)
            raise
    @app.tool
    async def ask(ctx: Context) -> str: return (await ctx.elicit("Sure?")).action
    @app.tool
    def more() -> None: app.tool(lambda: "new", name="new")
    app.run()
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SOURCE)


def demo() -> Server:
    app = Server("memory", subscriptions=True)

    @app.tool
    def add(a: int, b: int) -> int:
        return a + b

    @app.tool
    async def forever() -> None:
        await asyncio.Event().wait()

    return app


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("server.py", Resolved(command=[sys.executable, "server.py"], script="server.py")),
        (Path("/a/server.py"), Resolved(command=[sys.executable, "/a/server.py"], script="/a/server.py")),
        ("server.mjs", Resolved(command=["node", "server.mjs"], script="server.mjs")),
        ("server-binary", Resolved(command=["server-binary"])),
        (["npx", Path("x")], Resolved(command=["npx", "x"])),
        ("https://a.example/mcp", Resolved(url="https://a.example/mcp")),
        ({"command": "x", "args": ["-y"], "env": {"K": "v"}}, Resolved(command=["x", "-y"], env={"K": "v"})),
        ({"mcpServers": {"one": {"command": "x", "cwd": "/", "disabled": False}}}, Resolved(command=["x"], cwd="/")),
        (
            {"mcpServers": {"one": {"url": "http://h/", "headers": {"A": "b"}}}},
            Resolved(url="http://h/", headers={"A": "b"}),
        ),
    ],
)
def test_targets(target: Any, expected: Resolved) -> None:
    assert resolve(target) == expected


@pytest.mark.parametrize(
    ("target", "server", "what"),
    [
        ([], None, "a command needs at least the program's name"),
        ("", None, "a command needs at least the program's name"),
        (["a", 5], None, "a command is a list of strings and paths; 5 is neither"),
        (5, None, "a client is pointed at a command"),
        (b"x".__class__, None, "a client is pointed at a command"),
        ("a.py", "x", "server= names one of a configuration"),
        ({}, None, 'a configuration is {"mcpServers"'),
        ({"mcpServers": {}}, None, 'a configuration is {"mcpServers"'),
        ({"mcpServers": {"a": {"command": "x"}, "b": {}}}, None, "name one by server=: 'a', 'b'"),
        ({"mcpServers": {"a": {"command": "x"}}}, "c", "has no server 'c'; it has 'a'"),
        ({"mcpServers": {"a": []}}, None, "the server 'a' of the configuration is a dict"),
        ({"mcpServers": {"a": {"args": []}}}, None, "the server 'a' of the configuration needs \"command\""),
        ({"mcpServers": {"a": {"command": "x", "args": "-y"}}}, None, "\"args\", a list of strings"),
        ({"mcpServers": {"a": {"command": "x", "env": {"K": 1}}}}, None, "env.K of the server 'a'"),
        ({"mcpServers": {"a": {"url": 5}}}, None, "url of the server 'a'"),
    ],
)
def test_targets_that_are_none(target: Any, server: Any, what: str) -> None:
    with pytest.raises(UsageError) as error:
        resolve(target, server)
    assert what in str(error.value)


def test_a_configuration_names_command_environment_and_folder(server: Path, tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [str(server)], "env": {"A": "1", "B": "2"}, "cwd": str(tmp_path)}
    config = {"mcpServers": {"other": {"command": "nothing"}, "mine": entry}}

    async def main() -> None:
        async with Client(config, server="mine", env={"B": "3"}) as client:
            assert (await client.call_tool("env", {"name": "A"})).text == f"1 {tmp_path}"
            assert (await client.call_tool("env", {"name": "B"})).text == f"3 {tmp_path}"

    asyncio.run(main())


def test_a_server_in_memory() -> None:
    app, changes = demo(), []

    async def main() -> None:
        async with Client(app) as client, Client(app, mode="legacy", on_notification=changes.append) as other:
            assert (client.protocol_version, other.protocol_version) == ("2026-07-28", "2025-11-25")
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            waiting = asyncio.ensure_future(client.call_tool("forever"))
            await client.ping()
            other._on_notification = lambda method, params: changes.append(method)
            async with client.listen(tools=True) as stream:
                app.tool(lambda: "n", name="new")
                assert (await stream.__anext__())[0] == "notifications/tools/list_changed"
            await other.ping()
            assert changes == ["notifications/tools/list_changed"]
            await client.close()
            with pytest.raises(ConnectionClosedError):
                await waiting
        assert not app._connections

    asyncio.run(main())


def test_thousands_of_calls_in_memory_leave_nothing_behind() -> None:
    app = demo()

    async def main() -> None:
        async with Client(app) as client:
            (served,) = app._connections
            for _ in range(20):
                calls = [asyncio.ensure_future(client.call_tool("add", {"a": 1, "b": n})) for n in range(50)]
                stuck = [asyncio.ensure_future(client.call_tool("forever")) for _ in range(50)]
                await asyncio.gather(*calls)
                for task in stuck:
                    task.cancel()
                await asyncio.wait(stuck)
            await client.ping()
            assert served.connection.stats() == client._live().stats() == (0, 0, 0, 0, 0)

    asyncio.run(main())


def test_a_client_without_an_event_loop(server: Path) -> None:
    seen: list[Any] = []
    with SyncClient(server, on_elicit=lambda request: seen.append(threading.current_thread().name) or {}) as client:
        assert [tool.name for tool in client.list_tools()] == ["add", "env", "slow", "ask", "more"]
        assert client.call_tool("add", {"a": 1, "b": 2}).text == "3"
        assert client.server_info["name"] == "target" and client.protocol_version == "2026-07-28"
        assert client.list_resources() == [] if "resources" in client.server_capabilities else True
        with pytest.raises(ResponseError, match="Unknown tool: no"):
            client.call_tool("no")
        with pytest.raises(RequestTimeoutError):
            client.call_tool("slow", timeout=0.05)
        assert client.call_tool("ask").text == "accept" and seen != [threading.current_thread().name]
        with client.listen(tools=True) as changes:
            client.call_tool("more")
            assert next(iter(changes))[0] == "notifications/tools/list_changed"
        client.ping()
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda n: client.call_tool("add", {"a": n, "b": 1}).text, range(50)))
        assert results == [str(n + 1) for n in range(50)]
    client.close()
    with pytest.raises(UsageError, match="not connected"):
        client.ping()
    assert not [thread for thread in threading.enumerate() if thread.name == "oxmcp-sync"]


def test_a_client_without_an_event_loop_inside_of_one(server: Path) -> None:
    async def main() -> None:
        with SyncClient(demo()) as client:
            # Also from the thread of another loop, which it blocks as any plain call does.
            assert client.call_tool("add", {"a": 1, "b": 2}).text == "3"
            assert (await asyncio.to_thread(client.call_tool, "add", {"a": 2, "b": 2})).text == "4"

    asyncio.run(main())


def test_a_client_without_an_event_loop_closes_from_anywhere() -> None:
    client = SyncClient(demo())
    client.connect()
    started = threading.Event()
    failures: list[BaseException] = []

    def stuck() -> None:
        started.set()
        try:
            client.call_tool("forever")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=stuck) for _ in range(3)]
    for thread in threads:
        thread.start()
    started.wait()
    client.ping()
    closers = [threading.Thread(target=client.close) for _ in range(3)]
    for thread in closers:
        thread.start()
    for thread in threads + closers:
        thread.join()
    assert len(failures) == 3
    client.close()


def test_a_dropped_client_leaves_no_thread() -> None:
    client = SyncClient(demo())
    client.connect()
    assert client._worker is not None
    thread, gone = client._worker._thread, weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None
    thread.join()


def test_a_handler_cannot_wait_for_its_own_client() -> None:
    with SyncClient(demo(), on_trace=lambda *_: None) as client:
        assert client._worker is not None
        seen: list[str] = []

        async def inside() -> None:
            try:
                client.ping()
            except UsageError as error:
                seen.append(str(error))

        client._worker.run(inside())
        assert "cannot wait for its own client" in seen[0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_cancels_the_call_that_waits(server: Path) -> None:
    code = """
        import sys
        from oxmcp import SyncClient
        with SyncClient(sys.argv[1]) as client:
            try:
                client.call_tool("slow")
            except KeyboardInterrupt:
                print("interrupted", client.call_tool("add", {"a": 1, "b": 2}).text, flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(server)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
    )
    assert process.stderr is not None and process.stderr.readline() == "slow\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output) == (0, "interrupted 3\n"), errors
    assert "cancelled" in errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_client_does_not_pass_a_fork() -> None:
    code = """
        import os
        from oxmcp import Server, SyncClient
        app = Server("fork")
        app.tool(lambda: "x", name="x")
        client = SyncClient(app)
        client.connect()
        child = os.fork()
        if child == 0:
            try:
                client.ping()
            except Exception as error:
                print(type(error).__name__, error, flush=True)
            with SyncClient(app) as fresh:
                print(fresh.call_tool("x").text, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(client.call_tool("x").text, flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30
    )
    assert done.stdout.splitlines() == [
        "UsageError the client was connected before a fork; make a new one in the child (-32603)", "x", "x",
    ] or "before a fork" in done.stdout and done.stdout.endswith("x\nx\n"), done


def test_a_program_that_ends_without_closing_ends(server: Path) -> None:
    code = "import sys, oxmcp; c = oxmcp.SyncClient(sys.argv[1]); c.connect(); print(c.call_tool('add', {'a': 1, 'b': 1}).text)"
    done = subprocess.run([sys.executable, "-c", code, str(server)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


# Event loops


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is for POSIX")
def test_uvloop(server: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
        async with Client(server, on_elicit=lambda request: {}) as client, Client(demo()) as memory:
            calls = [client.call_tool("add", {"a": n, "b": 1}) for n in range(100)]
            assert [result.text for result in await asyncio.gather(*calls)] == [str(n + 1) for n in range(100)]
            assert (await client.call_tool("ask")).text == "accept"
            assert (await memory.call_tool("add", {"a": 1, "b": 2})).text == "3"
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.call_tool("slow"), 0.05)
            await client.ping()

    loop = uvloop.new_event_loop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def test_a_server_on_uvloop(tmp_path: Path) -> None:
    pytest.importorskip("uvloop")
    source = SOURCE.replace("app.run()", "import uvloop, asyncio; uvloop.install(); asyncio.run(app.run_async())")
    path = script(tmp_path, source)

    async def main() -> None:
        async with Client([sys.executable, "-W", "ignore", str(path)], stderr=subprocess.DEVNULL) as client:
            calls = [client.call_tool("add", {"a": n, "b": 1}) for n in range(100)]
            assert [result.text for result in await asyncio.gather(*calls)] == [str(n + 1) for n in range(100)]

    asyncio.run(main())


def test_trio_is_told_what_to_do() -> None:
    trio = pytest.importorskip("trio")
    app = demo()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="asyncio.*trio.*SyncClient"):
            await Client(app).connect()
        with pytest.raises(RuntimeError, match="asyncio.*trio"):
            await app.run_async()
        client = SyncClient(app)
        await trio.to_thread.run_sync(client.connect)
        assert (await trio.to_thread.run_sync(client.call_tool, "add", {"a": 1, "b": 2})).text == "3"
        await trio.to_thread.run_sync(client.close)

    trio.run(main)


def test_many_loops_one_after_the_other_and_at_once() -> None:
    app = demo()

    def one(n: int) -> str:
        async def main() -> str:
            async with Client(app) as client:
                return (await client.call_tool("add", {"a": n, "b": 1})).text

        return asyncio.run(main())

    assert [one(n) for n in range(5)] == ["1", "2", "3", "4", "5"]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(8))) == [str(n + 1) for n in range(8)]
    assert not app._connections


# For tests of one's own


def test_time_passes_at_once() -> None:
    app = demo()

    async def main() -> None:
        async with Client(app) as client:
            call = asyncio.ensure_future(client.call_tool("forever", timeout=3600))
            await client.ping()
            advance(client, 3000)
            await client.ping()
            assert not call.done()
            advance(client, 700)
            with pytest.raises(RequestTimeoutError):
                await call
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"

    asyncio.run(main())


def test_a_transcript_is_recorded_saved_and_replayed(tmp_path: Path) -> None:
    app = demo()

    async def main() -> None:
        transcript = Transcript()
        async with Client(app, mode="legacy", on_trace=transcript) as client:
            await client.call_tool("add", {"a": 1, "b": 2})
        assert [it["method"] for it in transcript.sent()] == ["initialize", "notifications/initialized", "tools/call"]
        assert len(transcript.received()) == 2 and len(transcript.sent("tools/call")) == 1
        transcript.save(tmp_path / "add.jsonl")
        loaded = Transcript.load(tmp_path / "add.jsonl")
        assert list(loaded) == list(transcript) and len(loaded) == 5
        await loaded.replay(app)
        other = Server("memory", subscriptions=True)
        other.tool(lambda a, b: a * b, name="add")
        with pytest.raises(Difference, match="message 5: the server had sent .*'3'.* and now sends .*'2'"):
            await loaded.replay(other)
        await loaded.replay(other, same=lambda expected, found: expected.get("id") == found.get("id"))

    asyncio.run(main())
    (tmp_path / "bad.jsonl").write_text('{"heard": {}}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="bad.jsonl:1: a line is"):
        Transcript.load(tmp_path / "bad.jsonl")


def test_a_replay_waits_for_each_message_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    passed, passes, answers = 0.0, 45, True
    app = Server("slow")

    @app.tool
    async def slow() -> str:
        nonlocal passed
        passed += passes
        if not answers:
            await asyncio.Event().wait()
        return "x"

    async def main() -> None:
        nonlocal passes, answers
        loop = asyncio.get_running_loop()
        time = loop.time
        transcript = Transcript()
        async with Client(app, mode="legacy", on_trace=transcript) as client:
            for _ in range(4):
                await client.call_tool("slow")
        with monkeypatch.context() as patch:
            patch.setattr(loop, "time", lambda: time() + passed)
            await transcript.replay(app)
            passes, answers = 61, False
            with pytest.raises(Difference, match="message 5: the server was silent for 60 s, where it had sent"):
                await transcript.replay(app)

    asyncio.run(main())


# What failed on this side is told


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_cause_of_a_handler_that_failed(mode: Any) -> None:
    app = Server("asks")

    @app.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    def fails(request: Any) -> Any:
        raise ZeroDivisionError("in the handler")

    async def main() -> None:
        async with Client(app, mode=mode, on_elicit=fails) as client:
            if mode == "legacy":
                assert (await client.call_tool("ask")).is_error
                return
            with pytest.raises(HandlerError) as error:
                await client.call_tool("ask")
            assert isinstance(error.value.__cause__, ZeroDivisionError)

    asyncio.run(main())


def test_plain_tools_that_wait_for_users_do_not_starve_others() -> None:
    threads = Threads(limit=2, kept=1)
    open_ = threading.Event()

    def waits() -> str:
        with threads.waiting():
            open_.wait()
        return "waited"

    async def main() -> None:
        waiting = [threads.run(waits) for _ in range(5)]
        assert await threads.run(lambda: "through") == "through"
        open_.set()
        assert await asyncio.gather(*waiting) == ["waited"] * 5
        assert threads._limit == 2

    asyncio.run(main())


def test_a_hundred_plain_tools_may_wait_for_users() -> None:
    app = Server("patient")

    @app.tool
    def ask(ctx: Context) -> str:
        return ctx.wait(ctx.elicit("Sure?")).action

    app.tool(lambda: "through", name="plain")

    async def main() -> None:
        answer, asked = asyncio.Event(), []

        async def on_elicit(request: Any) -> Any:
            asked.append(request)
            await answer.wait()
            return {}

        async with Client(app, mode="legacy", on_elicit=on_elicit) as client:
            waiting = [asyncio.ensure_future(client.call_tool("ask")) for _ in range(100)]
            assert (await client.call_tool("plain")).text == "through"
            while len(asked) < 100:
                await client.ping()
            answer.set()
            assert {result.text for result in await asyncio.gather(*waiting)} == {"accept"}

    asyncio.run(main())


def test_a_stream_left_open_at_the_end_is_no_failure(server: Path) -> None:
    code = """
        import asyncio, gc, sys
        from oxmcp import Client
        async def main():
            client = Client(sys.argv[1])
            await client.connect()
            stream = client.listen(tools=True)
            await stream.__aenter__()
            await client.close()
            del stream, client
            gc.collect()
        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(server)], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
