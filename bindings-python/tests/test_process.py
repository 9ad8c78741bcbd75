"""The server's process: its end, its children, and clients that nobody closes."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from oxmcp import Client, ConnectionClosedError, UsageError
from oxmcp import _process as process_module

# Does as little as a server may. What it does at the end of its input, or before, is for each test.
SERVER = """
import json, os, signal, subprocess, sys, time
BEFORE
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}}), flush=True)
    elif message.get("method") == "die":
        DIE
    elif message.get("method") == "server/discover":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
AFTER
"""
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
# A child of the server that ends by nothing but a signal, and says so on standard error.
CHILD = "import signal, sys, time; print('child', flush=True, file=sys.stderr); time.sleep(600)"


def command(before: str = "", after: str = "", die: str = "os._exit(3)") -> list[str]:
    code = SERVER.replace("BEFORE", before).replace("AFTER", after).replace("DIE", die)
    return [sys.executable, "-c", code]


def start_child(code: str) -> str:
    return f"subprocess.Popen([sys.executable, '-c', {code!r}], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)"


class Watched:
    """A pipe as standard error: it ends when no process holds it any more."""

    def __init__(self) -> None:
        read, self.fd = os.pipe()
        self._file = os.fdopen(read)

    async def line(self) -> str:
        return (await asyncio.to_thread(self._file.readline)).rstrip("\n")

    def all_are_gone(self) -> bool:
        """Waits until all processes that held the pipe are gone; the test's time limit is the limit."""
        os.close(self.fd)
        self._file.read()
        self._file.close()
        return True


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("stubborn", [False, True], ids=["by SIGTERM", "by SIGKILL"])
def test_what_the_server_started_ends_with_it(stubborn: bool) -> None:
    watched = Watched()
    child = f"import signal; {STUBBORN}; {CHILD}" if stubborn else CHILD

    async def main() -> None:
        async with Client(command(start_child(child)), stderr=watched.fd):
            assert await watched.line() == "child"

    asyncio.run(main())
    assert watched.all_are_gone()


def test_what_a_server_left_behind_ends_without_a_close() -> None:
    watched = Watched()

    async def main() -> None:
        client = Client(command(start_child(CHILD)), stderr=watched.fd)
        await client.connect()
        assert await watched.line() == "child"
        with pytest.raises(ConnectionClosedError, match="status 3"):
            await client.request("die")
        assert await asyncio.to_thread(watched.all_are_gone)
        await client.close()

    asyncio.run(main())


def test_a_close_that_is_cancelled_kills() -> None:
    async def main() -> None:
        client = Client(command(STUBBORN, "time.sleep(600)"))
        await client.connect()
        assert client._process is not None
        pid = client._process.pid
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.close(), 0.05)
        await client.close()
        assert not is_running(pid)
        assert client._process.describe_exit().endswith("SIGKILL")

    asyncio.run(main())


def test_a_loop_that_ends_during_a_close_kills() -> None:
    pids: list[int] = []

    async def main() -> None:
        client = Client(command(STUBBORN, "time.sleep(600)"))
        await client.connect()
        assert client._process is not None
        pids.append(client._process.pid)
        asyncio.ensure_future(client.close())
        await asyncio.sleep(0)

    asyncio.run(main())
    assert not is_running(pids[0])


def test_waiting_for_an_exit_holds_up_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without pidfds a thread waits, which must not be one that the loop joins.
    monkeypatch.delattr(os, "pidfd_open", raising=False)

    async def main() -> None:
        process = process_module.ServerProcess([sys.executable, "-c", "input()"], None, None, None)
        assert not await process.exited(0.01)
        waiting = asyncio.ensure_future(process.exited(600))
        await asyncio.sleep(0)
        kept.append(process)
        assert not waiting.done()

    kept: list[Any] = []
    asyncio.run(main())
    assert kept[0]._process.poll() is None
    kept[0].kill()

    async def end() -> None:
        await kept[0].close()

    asyncio.run(end())


def test_the_thread_that_waits_for_an_exit_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)

    async def main() -> None:
        process = process_module.ServerProcess([sys.executable, "-c", "raise SystemExit(4)"], None, None, None)
        assert await process.exited(60)
        assert process.describe_exit() == "the server process exited with status 4"
        await process.close()

    asyncio.run(main())


@pytest.mark.parametrize("number", [signal.SIGRTMIN + 1, signal.SIGTERM])
def test_any_signal_has_a_name(number: int) -> None:
    async def main() -> None:
        async with Client(command(die=f"os.kill(os.getpid(), {int(number)})")) as client:
            with pytest.raises(ConnectionClosedError, match="by signal SIGTERM|by signal 35"):
                await client.request("die")

    asyncio.run(main())


def test_clients_that_are_dropped_leave_nothing() -> None:
    async def main() -> None:
        gc.collect()
        before = descriptors()
        clients = [Client(command()) for _ in range(8)]
        await asyncio.gather(*(client.connect() for client in clients))
        pids = [client._process.pid for client in clients if client._process is not None]
        references = [weakref.ref(client) for client in clients]
        assert len(pids) == 8 and all(map(is_running, pids))
        clients.clear()
        gc.collect()
        assert [reference() for reference in references] == [None] * 8
        assert not any(map(is_running, pids))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert descriptors() == before

    asyncio.run(main())
    gc.collect()


def test_a_client_that_is_dropped_after_its_loop() -> None:
    async def main() -> None:
        client = Client(command())
        await client.connect()
        kept.append(client)

    gc.collect()
    before = descriptors()
    kept: list[Client] = []
    asyncio.run(main())
    process = kept[0]._process
    assert process is not None
    pid = process.pid
    del process
    kept.clear()
    gc.collect()
    assert not is_running(pid) and descriptors() == before


def test_a_client_belongs_to_its_loop() -> None:
    async def connect() -> None:
        await client.connect()

    async def use(how: Callable[[], Any]) -> None:
        with pytest.raises(UsageError, match="another event loop"):
            result = how()
            if result is not None:
                await result

    client = Client(command())
    asyncio.run(connect())
    for how in (client.ping, client.list_tools, lambda: client.notify("x")):
        asyncio.run(use(how))
    assert client._process is not None
    pid = client._process.pid
    asyncio.run(client.close())
    asyncio.run(client.close())
    assert not is_running(pid)


def test_a_client_is_closed_on_its_own_loop_while_that_runs() -> None:
    connected, done = threading.Event(), threading.Event()
    client = Client(command())

    async def main() -> None:
        async with client:
            connected.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    connected.wait()
    try:
        with pytest.raises(UsageError, match="another event loop"):
            asyncio.run(client.close())
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_cannot_be_copied(how: Callable[[Client], object]) -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        how(Client(["x"]))


@pytest.mark.parametrize("bad", ["", [], [""], ["a\0b"]])
def test_commands_that_are_none(bad: Any) -> None:
    async def main() -> None:
        with pytest.raises(UsageError):
            await Client(bad).connect()

    asyncio.run(main())


def test_a_connect_that_is_cancelled_leaves_no_process() -> None:
    watched = Watched()

    async def main() -> None:
        code = "import sys; print('up', file=sys.stderr, flush=True); sys.stdin.read()"
        task = asyncio.ensure_future(Client([sys.executable, "-c", code], stderr=watched.fd).connect())
        assert await watched.line() == "up"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert watched.all_are_gone()


def test_a_connect_that_cannot_begin_leaves_no_process() -> None:
    async def main() -> None:
        client = Client(command(), timeout=-1)
        with pytest.raises(ValueError, match="number of seconds"):
            await client.connect()
        assert client._process is not None and not is_running(client._process.pid)
        await client.close()

    asyncio.run(main())
