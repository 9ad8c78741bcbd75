"""Nothing is left of calls, whatever became of them: entries, tasks, futures, handles, threads and objects are counted.

A hundred thousand calls take some minutes, so fewer are made unless `OXMCP_LEAK_CALLS` says how many.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from http_peer import counts
from peer import script

from oxmcp import Client, Context, McpError, ResponseError, Server, ToolError

CALLS = int(os.environ.get("OXMCP_LEAK_CALLS", "4000"))
TOGETHER = 64
# Every second call fails, or is cancelled.
KINDS = ("works", "waits", "fails", "refuses", "works", "plain", "is cancelled", "times out")

pytestmark = pytest.mark.timeout(max(300, CALLS // 10))


def make() -> Server:
    app = Server("leaks")

    @app.tool
    async def works(text: str, ctx: Context) -> str:
        await ctx.report_progress(1, 1)
        return text

    @app.tool
    async def waits(text: str) -> str:
        await asyncio.sleep(0)
        return text

    @app.tool
    async def fails(text: str) -> str:
        raise ToolError(text)

    @app.tool
    async def refuses(text: str) -> str:
        raise McpError(text, code=-32000)

    @app.tool
    def plain(text: str) -> str:
        return text

    @app.tool
    async def never(text: str, ctx: Context) -> str:
        await ctx.report_progress(1)
        await asyncio.Event().wait()
        return text

    @app.method("test/stats")
    async def stats() -> dict[str, Any]:
        if app._served is not None:
            open_calls = app._served.connection.stats()[:2]
            return {"calls": open_calls, "tasks": len(asyncio.all_tasks()), "handles": handles(), "objects": objects()}
        return {}

    return app


async def call(client: Client, number: int, begun: bool) -> None:
    """Makes one call. `begun`: what is given up has begun before."""
    kind, text = KINDS[number % len(KINDS)], f"{number}"
    if kind in ("is cancelled", "times out"):
        begins = asyncio.Event()
        call = asyncio.ensure_future(
            client.call_tool("never", {"text": text}, on_progress=(lambda *_: begins.set()) if begun else None)
        )
        await (begins.wait() if begun else asyncio.sleep(0))
        if kind == "is cancelled":
            call.cancel()
            await asyncio.wait([call])
            assert call.cancelled()
        else:
            with pytest.raises((TimeoutError, asyncio.TimeoutError)):
                await asyncio.wait_for(call, 0.001)
    elif kind == "refuses":
        with pytest.raises(ResponseError, match=text):
            await client.call_tool("refuses", {"text": text})
    else:
        result = await client.call_tool(kind, {"text": text}, on_progress=lambda *_: None)
        assert (result.is_error, text in result.text) == (kind == "fails", True)


async def calls(client: Client, total: int, begun: bool = False) -> None:
    numbers = iter(range(total))

    async def worker() -> None:
        for number in numbers:
            await call(client, number, begun)

    await asyncio.gather(*(worker() for _ in range(TOGETHER)))


def handles() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def objects() -> dict[str, int]:
    """How many there are of what each call makes."""
    gc.collect()
    names = {"Handler", "Context", "Shell", "Task", "Future", "Entry", "coroutine", "CallToolResult", "Exchange"}
    found = Counter(type(each).__name__ for each in gc.get_objects())
    return {name: found[name] for name in names if found[name]}


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What there is far more of than before."""
    return {name: count for name, count in after.items() if count > before.get(name, 0) + 40}


async def settled(look: Any, wanted: Any) -> None:
    """Waits until what is counted is as it should be: cancels are on their way for a moment."""
    for _ in range(2000):
        if look() == wanted:
            return
        await asyncio.sleep(0.005)
    assert look() == wanted


async def rested(client: Client, before: dict[str, int] | None = None) -> Any:
    """What the server counts once what was cancelled has ended: that takes some turns of its loop."""
    for _ in range(400):
        stats = await client.request("test/stats")
        if stats["tasks"] <= 3 and (before is None or not grown(before, stats["objects"])):
            break
        await asyncio.sleep(0.005)
    return stats


@asynccontextmanager
async def memory() -> AsyncIterator[tuple[Server, Any]]:
    app = make()
    yield app, app


@asynccontextmanager
async def http() -> AsyncIterator[tuple[Server, Any]]:
    app = make()
    async with app.serve_http() as serving:
        yield app, serving.url


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("where", [memory, http])
def test_nothing_is_left_of_calls_in_this_process(where: Any, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with where() as (app, target), Client(target, mode=mode) as client:

            def open_calls() -> Any:
                assert client._connection is not None
                ours = client._connection.stats()
                if where is http:
                    return ours[0], ours[1], ours[4], counts(app)
                (served,) = app._connections
                theirs = served.connection.stats()
                return ours[0], ours[1], ours[4], theirs[0], theirs[1], theirs[3], theirs[4]

            # Over HTTP with sessions a cancel may overtake its call, and means nothing then.
            begun = where is http and mode == "legacy"
            # What is made once is made now: threads of plain tools, connections of HTTP.
            await calls(client, 8 * TOGETHER, begun)
            at_rest = (0, 0, 0, (0, 0, 0)) if where is http else (0,) * 7
            await settled(open_calls, at_rest)
            await asyncio.sleep(0.05)
            gc.collect()
            tasks, before = len(asyncio.all_tasks()), objects()
            await calls(client, CALLS, begun)
            await settled(open_calls, at_rest)
            await settled(lambda: len(asyncio.all_tasks()) <= tasks, True)
            # A few come and go with the timing of cancels; what grows with the calls is far more.
            await settled(lambda: grown(before, objects()), {})
            assert not client._progress

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_nothing_is_left_of_calls_over_stdio(tmp_path: Path, mode: Literal["auto", "legacy"]) -> None:
    source = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_leaks import make
        make().run()
    """
    path = script(tmp_path, source)

    async def main() -> None:
        async with Client([sys.executable, str(path)], mode=mode) as client:
            await calls(client, 8 * TOGETHER)
            before = await rested(client)
            ours, tasks, descriptors = objects(), len(asyncio.all_tasks()), handles()
            await calls(client, CALLS)
            assert client._connection is not None
            await settled(lambda: client._connection.stats()[:2], (0, 0))  # type: ignore[union-attr]
            after = await rested(client, before["objects"])
            assert after["calls"] == [1, 0]  # this one
            assert max(before["tasks"], after["tasks"]) <= 3 and after["handles"] == before["handles"]
            assert grown(before["objects"], after["objects"]) == {}
            await settled(lambda: grown(ours, objects()), {})
            assert len(asyncio.all_tasks()) <= tasks and handles() <= descriptors

    asyncio.run(main())


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc")
def test_nothing_is_left_of_connections() -> None:
    async def main() -> None:
        async with http() as (app, url):
            for target in (make(), url):
                for _ in range(3):
                    async with Client(target) as client:
                        await client.call_tool("works", {"text": "x"})
                await asyncio.sleep(0)
                before, threads = handles(), threading.active_count()
                for _ in range(max(20, CALLS // 100)):
                    async with Client(target) as client:
                        await client.call_tool("works", {"text": "x"})
                assert threading.active_count() == threads
                # The other end of a closed connection over HTTP is closed a moment later.
                await settled(lambda: handles() <= before + 2, True)

    asyncio.run(main())
