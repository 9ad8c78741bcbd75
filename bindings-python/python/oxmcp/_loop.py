"""A connection on an asyncio loop."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any, Callable, Protocol

from ._errors import report
from ._native import Connection

# How long a peer that does not read may hold up the end of a connection.
_LAST_WRITE = 2.0


def running_loop() -> asyncio.AbstractEventLoop:
    """The running event loop. Raises `RuntimeError` that says what to do where there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "there is no running event loop of asyncio (or uvloop), on which this package runs; a program on trio uses "
            "oxmcp.SyncClient by trio.to_thread.run_sync, or runs its server by app.run() on a thread"
        ) from None


class Reader(Protocol):
    """Feeds a connection from a descriptor."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...


def read(loop: asyncio.AbstractEventLoop, connection: Connection, fd: int) -> Reader:
    """Starts to read: on the loop where it can watch the descriptor, else by a thread (plain files,
    and every descriptor on Windows)."""
    try:
        return _LoopReader(loop, connection, fd)
    except (NotImplementedError, OSError, ValueError):
        return _ThreadReader(loop, connection, fd)


class _LoopReader:
    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection, fd: int) -> None:
        self._loop, self._connection, self._fd = loop, connection, fd
        self.resume()
        # Readable when the core has read by itself, as this loop was kept busy.
        self._guard = connection.guard()
        if self._guard is not None:
            loop.add_reader(self._guard, connection.come_back)

    def pause(self) -> None:
        self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        self._loop.add_reader(self._fd, self._connection.on_readable)

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
            if guard is not None:
                self._loop.remove_reader(guard)
        self._connection.unguard()


class _ThreadReader:
    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection, fd: int) -> None:
        self._loop, self._connection, self._fd = loop, connection, fd
        self._may_read = threading.Event()
        self._may_read.set()
        self._closed = False
        # A read that blocks in the operating system cannot be ended; it must not hold up the exit.
        threading.Thread(target=self._run, name="oxmcp-reader", daemon=True).start()

    def _run(self) -> None:
        chunk = b"."
        while chunk and not self._closed:
            self._may_read.wait()
            chunk = os.read(self._fd, 65536)
            try:
                self._loop.call_soon_threadsafe(self._feed, chunk)
            except RuntimeError:
                return  # the loop is closed

    def _feed(self, chunk: bytes) -> None:
        if not self._closed:
            self._connection.feed(chunk)

    def pause(self) -> None:
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def close(self) -> None:
        self._closed = True
        self._may_read.set()


class Served(Protocol):
    """The owner of a server's connection."""

    closed: Callable[[], None]
    pause_reading: Callable[[], None]
    resume_reading: Callable[[], None]


async def serve(connection: Connection, fd: int, owner: Served) -> None:
    """Serves a connection on the running loop until it is closed."""
    loop = running_loop()
    closed: asyncio.Future[None] = loop.create_future()

    def on_closed() -> None:
        if not closed.done():
            closed.set_result(None)

    owner.closed = on_closed
    reader = read(loop, connection, fd)
    owner.pause_reading, owner.resume_reading = reader.pause, reader.resume
    try:
        connection.attach(loop)
        await closed
    except asyncio.CancelledError:
        connection.close("the server is shutting down")
        raise
    finally:
        reader.close()
        connection.finish(_LAST_WRITE)
        connection.detach()


def run_callback(callback: Callable[..., Any], *arguments: Any) -> None:
    """Calls back into the program. What it returns may be awaited by a task of its own."""
    try:
        result = callback(*arguments)
    except Exception as error:
        report(error, getattr(callback, "__name__", None) or repr(callback))
        return
    if result is not None and asyncio.iscoroutine(result):
        task = asyncio.ensure_future(result)
        _callbacks.add(task)
        task.add_done_callback(_callback_done)


_callbacks: set[asyncio.Future[Any]] = set()


def _callback_done(task: asyncio.Future[Any]) -> None:
    _callbacks.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        report(error, "a callback")
