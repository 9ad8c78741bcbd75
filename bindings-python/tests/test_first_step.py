"""Handlers that return before they wait share a task, and none of them can tell."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import weakref
from typing import Any

import pytest

from oxmcp import Client, Server

VARIABLE = contextvars.ContextVar("VARIABLE", default="unset")


def run(app: Server, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The texts of calls that are made one after the other, after some that warm up."""

    async def main() -> list[str]:
        async with Client(app) as client:
            for _ in range(4):
                await client.call_tool("warm_up")
            return [(await client.call_tool(name, arguments)).text for name, arguments in calls]

    @app.tool
    async def warm_up() -> str:
        return "warm"

    return asyncio.run(main())


def test_each_has_a_task_and_a_context_of_its_own() -> None:
    app = Server("steps")
    tasks: list[weakref.ref[Any]] = []
    told: list[str] = []

    @app.tool
    async def sets(value: str) -> str:
        before = VARIABLE.get()
        VARIABLE.set(value)
        return before

    @app.tool
    async def named(value: str) -> str:
        task = asyncio.current_task()
        assert task is not None and task in asyncio.all_tasks()
        before = task.get_name()
        task.set_name(value)
        return before

    @app.tool
    async def told_when_done(value: str) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.add_done_callback(lambda task: told.append(f"{value} {task.cancelled()}"))
        tasks.append(weakref.ref(task))
        return value

    calls = [(tool, {"value": f"{tool} {n}"}) for tool in ("sets", "named", "told_when_done") for n in range(6)]
    seen = run(app, *calls)
    assert seen[:6] == ["unset"] * 6
    assert not any(name.startswith("named") for name in seen[6:12])
    assert told == [f"told_when_done {n} False" for n in range(6)]
    gc.collect()
    assert [task() for task in tasks] == [None] * 6


def test_one_that_waits_goes_on_in_the_task_and_the_context_that_it_began_in() -> None:
    app = Server("steps")

    @app.tool
    async def waits(how: str) -> str:
        task = asyncio.current_task()
        VARIABLE.set(how)
        if how == "sleep":
            await asyncio.sleep(0)
        elif how == "future":
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(future.set_result, None)
            await future
        elif how == "done":
            await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0))])
        elif how == "group" and sys.version_info >= (3, 11):
            async with asyncio.timeout(20), asyncio.TaskGroup() as group:
                child = group.create_task(asyncio.sleep(0, VARIABLE.get()))
            assert child.result() == "group"
        assert asyncio.current_task() is task
        return VARIABLE.get()

    @app.tool
    async def quick() -> str:
        return VARIABLE.get()

    calls: list[tuple[str, dict[str, Any]]] = []
    for how in ("sleep", "future", "done", "group"):
        # One that waited is taken to wait again for a while.
        calls += [("waits", {"how": how})] + [("quick", {})] * 3 + [("waits", {"how": how})] * 66
    seen = run(app, *calls)
    assert seen == [arguments.get("how", "unset") for _, arguments in calls]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no asyncio.timeout")
def test_timeouts_and_cancels_from_inside() -> None:
    app = Server("steps")

    @app.tool
    async def late(value: str) -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(10)
        except TimeoutError:
            return "late"
        return "never"

    @app.tool
    async def cancels_itself(value: str) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if value == "returns":
            return "all the same"
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            task.uncancel()
        await asyncio.sleep(0)
        return "went on"

    @app.tool
    async def cancels_what_it_waits_for(value: str) -> str:
        inner = asyncio.ensure_future(asyncio.sleep(10))
        asyncio.get_running_loop().call_soon(inner.cancel)
        try:
            await inner
        except asyncio.CancelledError:
            return "cancelled"
        return "never"

    calls = []
    for _ in range(3):
        calls += [
            ("late", {"value": ""}),
            ("cancels_itself", {"value": "returns"}),
            ("cancels_itself", {"value": "waits"}),
            ("cancels_what_it_waits_for", {"value": ""}),
            ("warm_up", {}),
        ]
    assert run(app, *calls) == ["late", "all the same", "went on", "cancelled", "warm"] * 3


def test_a_cancel_that_comes_before_the_second_step() -> None:
    app = Server("steps")
    seen: list[str] = []

    @app.tool
    async def slow(kind: str) -> str:
        try:
            if kind == "task":
                inner = asyncio.ensure_future(asyncio.sleep(10))
                inner.add_done_callback(lambda inner: seen.append(f"inner {inner.cancelled()}"))
                await inner
            else:
                await asyncio.sleep(10 if kind == "long" else 0)
                await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append(kind)
            raise
        return "never"

    @app.tool
    async def quick() -> str:
        return "quick"

    async def main() -> None:
        async with Client(app) as client:
            for kind in ("long", "short", "task"):
                for _ in range(3):
                    await client.call_tool("quick")
                call = asyncio.ensure_future(client.call_tool("slow", {"kind": kind}))
                await asyncio.sleep(0)
                call.cancel()
                # Call and cancel are read together, so the cancel may come before the handler began.
                await asyncio.wait([call])
                assert (await client.call_tool("quick")).text == "quick"
            (served,) = app._connections
            for _ in range(100):
                await asyncio.sleep(0)
            assert served.connection.stats() == (0, 0, 0, 0, 0)
            # No task is left, but those of the two ends.
            assert len(asyncio.all_tasks()) == 2

    asyncio.run(main())
    assert set(seen) <= {"long", "short", "task", "inner True"}


def test_a_tool_that_calls_its_own_server_while_it_runs() -> None:
    app = Server("steps")
    clients: list[Client] = []

    @app.tool
    async def inner(depth: int) -> str:
        return f"depth {depth}"

    @app.tool
    async def outer(depth: int) -> str:
        if depth == 0:
            return (await clients[0].call_tool("inner", {"depth": depth})).text
        return (await clients[0].call_tool("outer", {"depth": depth - 1})).text

    async def main() -> None:
        async with Client(app) as client:
            clients.append(client)
            for depth in (0, 1, 3, 0):
                assert (await client.call_tool("outer", {"depth": depth})).text == "depth 0"
            assert await asyncio.gather(*(client.call_tool("inner", {"depth": n}) for n in range(200)))

    asyncio.run(main())


def test_a_loop_that_ends_leaves_no_word_of_the_task_that_was_kept(capfd: pytest.CaptureFixture[str]) -> None:
    app = Server("steps")
    run(app, ("warm_up", {}))
    gc.collect()
    assert capfd.readouterr() == ("", "")
