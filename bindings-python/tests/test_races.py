"""What comes together: answers and cancels, answers and the end, awaitables that nobody waits for any more."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peer import Peer, script, text

from oxmcp import Client, ConnectionClosedError, Context, Server

MODE = pytest.mark.parametrize("mode", ["auto", "legacy"])


def shop() -> Server:
    app = Server("shop", subscriptions=True)

    @app.tool
    async def echo(value: str) -> str:
        return value

    @app.tool
    async def waits(ctx: Context) -> None:
        ticks[0] += 1
        try:
            await asyncio.Event().wait()
        finally:
            ticks[0] -= 1

    @app.tool
    async def changes(count: int) -> None:
        for number in range(count):
            app.notify_resource_updated(f"stock://{number}")
            await asyncio.sleep(0)

    @app.resource("stock://{item}")
    async def stock(item: str) -> str:
        return item

    ticks = [0]
    app.ticks = ticks  # type: ignore[attr-defined]
    return app


@MODE
def test_a_cancel_in_the_turn_of_the_answer(mode: Any) -> None:
    # Over the descriptors of the loop's own thread; over HTTP this is tested elsewhere.
    app, said = shop(), []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: said.append(about))
        async with Client(app, mode=mode) as client:
            outcomes = set()
            for turns in range(3000):
                call = asyncio.create_task(client.call_tool("echo", {"value": "x"}))
                for _ in range(turns % 12):
                    await asyncio.sleep(0)
                call.cancel()
                try:
                    assert (await call).text == "x"
                    outcomes.add("answered")
                except asyncio.CancelledError:
                    outcomes.add("cancelled")
            assert outcomes == {"answered", "cancelled"}
            await client.ping()
            assert client._live().stats() == (0, 0, 0, 0, 0)

    asyncio.run(main())
    assert said == []


@MODE
def test_a_close_in_the_turn_of_the_answer(mode: Any) -> None:
    app, said = shop(), []

    async def one(turns: int) -> str:
        client = Client(app, mode=mode)
        await client.connect()
        calls = [asyncio.ensure_future(client.call_tool("echo", {"value": "x"})) for _ in range(2)]
        for _ in range(turns):
            await asyncio.sleep(0)
        await client.close()
        ends = await asyncio.gather(*calls, return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                assert type(end) is ConnectionClosedError
            else:
                assert end.text == "x"
        return "answered" if not any(isinstance(end, BaseException) for end in ends) else "closed"

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: said.append(about))
        assert {await one(number % 12) for number in range(240)} == {"answered", "closed"}

    asyncio.run(main())
    assert said == []


@MODE
@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_an_awaitable_that_is_given_up_counts_as_cancelled(how: str, mode: Any) -> None:
    app = shop()

    async def main() -> None:
        async with Client(app, mode=mode) as client:
            call: Any = client.call_tool("waits")
            # Begun by hand, as a program does that runs coroutines of its own.
            call.send(None)
            while not app.ticks[0]:  # type: ignore[attr-defined]
                await asyncio.sleep(0)
            if how == "closed":
                call.close()
            del call
            gc.collect()
            while app.ticks[0]:  # type: ignore[attr-defined]
                await asyncio.sleep(0)
            await client.ping()
            assert client._live().stats() == (0, 0, 0, 0, 0)

    asyncio.run(main())


def test_loops_that_end_before_the_answers_come_are_quiet(tmp_path: Path) -> None:
    # Calls are on their way when `asyncio.run` returns, each time at another moment.
    source = """
    import asyncio, gc, sys, warnings
    from oxmcp import Client, Server
    warnings.simplefilter("error")
    app = Server("late")
    @app.tool
    async def soon() -> None:
        await asyncio.sleep(0.001)
    async def main(turns):
        client = Client(app)
        await client.connect()
        calls = [asyncio.ensure_future(client.call_tool("soon")) for _ in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
    for number in range(300):
        asyncio.run(main(number % 30))
    gc.collect()
    print("quiet")
    """
    done = subprocess.run([sys.executable, str(script(tmp_path, source))], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "quiet\n", "")


def test_a_reader_that_is_cancelled_loses_nothing_of_a_stream() -> None:
    app = shop()

    async def main() -> None:
        uris = [f"stock://{number}" for number in range(500)]
        async with Client(app) as client, client.listen(updates=uris) as stream:
            call = asyncio.create_task(client.call_tool("changes", {"count": len(uris)}))
            call.add_done_callback(lambda call: call.result().is_error and reading.cancel())
            reading = asyncio.current_task()
            assert reading is not None
            seen: list[str] = []
            given_up = 0
            while len(seen) < len(uris):
                step = asyncio.ensure_future(stream.__anext__())
                for _ in range((len(seen) + given_up) % 4):
                    await asyncio.sleep(0)
                step.cancel()
                try:
                    seen.append((await step)[1]["uri"])
                except asyncio.CancelledError:
                    given_up += 1
            assert seen == uris and given_up > 0
            await call

    asyncio.run(main())


def test_a_second_request_with_the_id_of_one_under_way_is_refused(tmp_path: Path) -> None:
    source = """
    import asyncio
    app = Server("ids")
    event = asyncio.Event()
    @app.tool
    async def waits() -> str:
        await event.wait()
        return "first"
    @app.tool
    async def go_on() -> str:
        event.set()
        return "gone on"
    app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        call = {"id": 3, "method": "tools/call"}
        peer.send({**call, "params": {"name": "waits"}}, {**call, "params": {"name": "go_on"}})
        refusal = peer.receive()
        assert (refusal["id"], refusal["error"]["code"]) == (3, -32600)
        # The first was left alone, and its id is free when it is answered.
        peer.send({"id": 4, "method": "tools/call", "params": {"name": "go_on"}})
        answers = {answer["id"]: text(answer["result"]) for answer in (peer.receive(), peer.receive())}
        assert answers == {3: "first", 4: "gone on"}
        peer.send({**call, "params": {"name": "go_on"}})
        assert text(peer.receive()["result"]) == "gone on"
