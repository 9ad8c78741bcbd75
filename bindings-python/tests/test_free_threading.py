"""Many threads at once. Where Python has no lock of its own they really run at the same time; elsewhere these are races
as well, and rarer ones."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import pytest

from oxmcp import Client, ConnectionClosedError, Context, McpError, Server, SyncClient, UsageError
from oxmcp._sync import _Worker

THREADS = 8
CALLS = 200


def together(work: Callable[[int], None], count: int = THREADS) -> None:
    """Runs it on so many threads, which begin at once. Raises what the first one raised that failed."""
    failures: list[BaseException] = []
    begin = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            begin.wait()
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def shop() -> Server:
    app = Server("shop")

    @app.tool
    async def echo(value: str) -> str:
        return value

    @app.tool
    def plain(value: str, ctx: Context) -> str:
        ctx.report_progress(1)
        ctx.info(value)
        return value

    @app.tool
    async def later(value: str) -> str:
        await asyncio.sleep(0)
        return value

    return app


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has its lock")
def test_the_package_leaves_the_lock_off() -> None:
    # In a process of its own, as something else that is imported here may have turned it on.
    code = """
import sys, warnings
warnings.simplefilter("error")
import asyncio, oxmcp, oxmcp.testing, oxmcp.fastmcp, oxmcp.lowlevel
app = oxmcp.Server("free")
@app.tool
def add(a: int, b: int) -> int: return a + b
with oxmcp.SyncClient(app) as client:
    assert client.call_tool("add", {"a": 1, "b": 2}).text == "3"
print(sys._is_gil_enabled())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_threads_share_a_client() -> None:
    with SyncClient(shop()) as client:

        def work(number: int) -> None:
            for call in range(CALLS):
                tool = ("echo", "later", "plain")[call % 3]
                value = f"{number}/{call}"
                seen: list[float] = []
                result = client.call_tool(tool, {"value": value}, on_progress=lambda done, *_: seen.append(done))
                assert result.text == value
                assert len(seen) == (tool == "plain")

        together(work)


@pytest.mark.parametrize("over", ["memory", "http"])
def test_loops_of_many_threads_serve_and_call(over: str) -> None:
    app = shop()

    def work(number: int) -> None:
        async def calls(client: Client, of: int) -> None:
            for call in range(CALLS // 8):
                tool = ("echo", "later", "plain")[call % 3]
                value = f"{number}/{of}/{call}"
                assert (await client.call_tool(tool, {"value": value})).text == value
            assert len(await client.list_tools()) == 3

        async def main() -> None:
            if over == "memory":
                async with Client(app) as client:
                    await asyncio.gather(*(calls(client, of) for of in range(4)))
                return
            async with app.serve_http() as serving, Client(serving.url) as client, Client(app, mode="legacy") as other:
                await asyncio.gather(*(calls(client, of) for of in range(4)), calls(other, 4))

        asyncio.run(main())

    together(work)
    assert app._endpoints == set() and app._connections == set()


def test_loops_of_many_threads_call_one_server() -> None:
    app = shop()
    url: list[str] = []
    begun, done = threading.Event(), threading.Event()

    async def serve() -> None:
        async with app.serve_http() as serving:
            url.append(serving.url)
            begun.set()
            await asyncio.get_running_loop().run_in_executor(None, done.wait)

    server = threading.Thread(target=lambda: asyncio.run(serve()))
    server.start()
    begun.wait()

    def work(number: int) -> None:
        async def main() -> None:
            mode: Any = ("auto", "legacy")[number % 2]
            async with Client(url[0], mode=mode) as client:
                for call in range(CALLS // 4):
                    value = f"{number}/{call}"
                    assert (await client.call_tool("plain", {"value": value})).text == value

        asyncio.run(main())

    try:
        together(work)
    finally:
        done.set()
        server.join()


def test_what_is_offered_changes_while_it_is_called() -> None:
    app = shop()
    child = Server("child")
    app.mount(child, prefix="child")

    def function(number: int) -> Callable[..., Any]:
        async def made(value: int = number) -> int:
            return value

        return made

    with SyncClient(app) as client:

        def work(number: int) -> None:
            if number % 2:
                for round in range(CALLS // 4):
                    name = f"made_{number}_{round}"
                    owner, shown = (app, name) if round % 2 else (child, f"child_{name}")
                    owner.add_tool(function(number), name=name)
                    # It is there for everybody as soon as that returns.
                    assert client.call_tool(shown).text == str(number)
                    owner.disable(tool=name)
                    owner.enable(tool=name)
                    app.add_prompt(lambda: "hi", name=name)
                    assert owner.remove_tool(name) and not owner.remove_tool(name)
                    assert app.remove_prompt(name)
            else:
                for call in range(CALLS):
                    assert client.call_tool("echo", {"value": str(call)}).text == str(call)
                    if call % 8 == 0:
                        listed = {tool.name for tool in client.list_tools()}
                        assert {"echo", "plain", "later"} <= listed

        together(work)
        assert {tool.name for tool in client.list_tools()} == {"echo", "plain", "later"}
    assert child._entries == {}


def test_a_call_comes_while_its_tool_is_being_added() -> None:
    # The core knows a tool before anybody knows its handler, if nobody waits for the other.
    app = Server("races")
    app.add_tool(lambda: "first", name="first")
    names = [f"tool_{number}" for number in range(CALLS)]
    with SyncClient(app) as client:
        client.ping()

        def work(number: int) -> None:
            for name in names:
                if number == 0:
                    app.add_tool(lambda: "there", name=name)
                    continue
                while True:
                    try:
                        assert client.call_tool(name).text == "there"
                        break
                    except McpError as error:
                        assert "Unknown tool" in str(error), error

        together(work, 3)


def test_a_server_is_described_once_and_whole_for_all_loops() -> None:
    app = Server("many")
    for number in range(50):

        def function(value: int = 0) -> int:
            return value

        function.__name__ = f"tool_{number}"
        app.add_tool(function)

    def work(number: int) -> None:
        async def main() -> None:
            async with Client(app) as client:
                tools = await client.list_tools()
                assert [tool.name for tool in tools] == [f"tool_{index}" for index in range(50)]
                assert all(tool.input_schema["properties"]["value"]["type"] == "integer" for tool in tools)

        asyncio.run(main())

    together(work)


def test_a_call_that_is_done_in_the_last_turn_of_its_loop() -> None:
    async def last() -> str:
        asyncio.get_running_loop().stop()
        return "told"

    assert _Worker().run(last()) == "told"


def test_a_client_is_closed_by_several_threads_while_others_call() -> None:
    for _ in range(10):
        client = SyncClient(shop())
        client.connect()
        served = threading.Semaphore(0)

        def work(number: int, client: SyncClient = client, served: threading.Semaphore = served) -> None:
            if number < 3:
                served.acquire()
                client.close()
                with pytest.raises(UsageError):
                    client.ping()
                return
            try:
                while True:
                    assert client.call_tool("later", {"value": "x"}).text == "x"
                    served.release()
            except (ConnectionClosedError, UsageError):
                served.release(THREADS)

        together(work)
        client.close()


def test_reports_of_many_threads_come_whole_and_in_order() -> None:
    app = Server("reports")

    @app.tool
    def reports(ctx: Context) -> str:
        def work(number: int) -> None:
            for step in range(CALLS):
                ctx.info(f"{number}/{step}")

        together(work, 4)
        return "done"

    said: list[str] = []
    with SyncClient(app, on_log=lambda level, data, logger: said.append(data)) as client:
        client.set_logging_level("info")
        assert client.call_tool("reports").text == "done"
    assert len(said) == 4 * CALLS
    for number in range(4):
        assert [one for one in said if one.startswith(f"{number}/")] == [f"{number}/{step}" for step in range(CALLS)]
