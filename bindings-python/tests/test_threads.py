"""Plain tools on threads: they starve nobody and hold up no end."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import signal
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from peer import Peer, script, text

from oxmcp._threads import Threads

STUCK = """
    import sys, threading
    app = Server("stuck")
    @app.tool
    def stuck() -> str:
        print("stuck", file=sys.stderr, flush=True)
        threading.Event().wait()
        return "never"
    @app.tool
    def quick() -> str: return "quick"
    app.run()
"""


def test_the_end_of_the_input_does_not_wait_for_a_plain_tool_for_ever(tmp_path: Path) -> None:
    with Peer(script(tmp_path, STUCK)) as peer:
        peer.initialize()
        peer.request("tools/call", {"name": "stuck"})
        assert peer.error_line() == "stuck"
        assert peer.leave() == (b"", "")
        assert peer.process.returncode == 0


def test_ctrl_c_does_not_wait_for_a_plain_tool(tmp_path: Path) -> None:
    with Peer(script(tmp_path, STUCK)) as peer:
        peer.initialize()
        peer.request("tools/call", {"name": "stuck"})
        assert peer.error_line() == "stuck"
        peer.process.send_signal(signal.SIGINT)
        assert peer.process.wait() == 0
        assert "Traceback" not in peer.stderr()


def test_plain_tools_do_not_starve_each_other(tmp_path: Path) -> None:
    with Peer(script(tmp_path, STUCK)) as peer:
        peer.initialize()
        for _ in range(50):
            peer.request("tools/call", {"name": "stuck"})
        assert text(peer.tool("quick")) == "quick"


def test_stop_iteration_out_of_a_plain_tool(tmp_path: Path) -> None:
    source = """
        app = Server("stop")
        @app.tool
        def stop() -> str: return next(iter([]))
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        result = peer.initialize().tool("stop")
        assert result["isError"] is True and "StopIteration" in text(result)


def test_the_pool_grows_to_its_limit_and_keeps_few() -> None:
    async def main() -> None:
        threads = Threads(limit=3, kept=1)
        gates = [threading.Event() for _ in range(5)]
        started: list[int] = []

        def work(index: int) -> int:
            started.append(index)
            gates[index].wait()
            return index

        futures = [threads.run(work, index) for index in range(5)]
        futures[4].cancel()
        # The first three end only when told to, so the fourth can start only then.
        for gate in gates[:3]:
            gate.set()
        assert await asyncio.gather(*futures[:3]) == [0, 1, 2]
        gates[3].set()
        assert await futures[3] == 3
        # It was cancelled before a thread was free.
        assert await threads.run(lambda: sorted(started)) == [0, 1, 2, 3]
        assert threads._running <= 3

    asyncio.run(main())


def test_what_a_thread_takes_and_gives() -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    async def main() -> None:
        threads = Threads()
        variable.set("inside")

        def fail() -> None:
            raise LookupError("gone")

        assert await threads.run(variable.get) == "inside"
        assert await threads.run(lambda *a, **k: (a, k), 1, b=2) == ((1,), {"b": 2})
        with pytest.raises(LookupError, match="gone"):
            await threads.run(fail)
        assert await threads.run(lambda: threading.current_thread().daemon)

    asyncio.run(main())


def test_a_result_nobody_waits_for_is_dropped_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    threads = Threads(limit=1)
    gate = threading.Event()
    entered = threading.Event()

    def work() -> None:
        entered.set()
        gate.wait()

    async def start() -> None:
        threads.run(work)

    async def after() -> Any:
        return await threads.run(lambda: "after")

    asyncio.run(start())
    entered.wait()
    gate.set()
    # The same thread has given its result to a closed loop before.
    assert asyncio.run(after()) == "after"
    assert capfd.readouterr() == ("", "")


def test_a_cancelled_call_may_end_later() -> None:
    async def main() -> None:
        threads = Threads(limit=1)
        gate, entered = threading.Event(), threading.Event()

        def work() -> None:
            entered.set()
            gate.wait()

        future = threads.run(work)
        await asyncio.to_thread(entered.wait)
        future.cancel()
        gate.set()
        assert await threads.run(lambda: "next") == "next"

    asyncio.run(main())


def test_an_idle_thread_holds_nothing_of_its_last_job() -> None:
    class Thing:
        pass

    async def main() -> None:
        threads = Threads(limit=1)
        thing = Thing()
        reference = weakref.ref(thing)
        assert await threads.run(id, thing) == id(thing)
        del thing
        # The thread is at its second job, so it has let go of the first.
        await threads.run(lambda: None)
        gc.collect()
        assert reference() is None

    asyncio.run(main())
