"""The event loops of this process that connections of the runtime speak to, and how these end with them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator
from typing import Any, Callable

from ._native import Hub


class _Loop:
    """One event loop, as long as anything uses it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.hub = Hub(loop)
        self.users: dict[object, Callable[[], None]] = {}
        self._loop = loop
        self._fd = self._watch()
        self._ending = self._until_the_end()
        # The loop closes the generators that were begun on it when it ends, in its last moments.
        _step(self._ending.__anext__())

    def _watch(self) -> int | None:
        fd = self.hub.fileno()
        if fd is not None:
            try:
                self._loop.add_reader(fd, self.hub.turn)
            except (NotImplementedError, OSError):
                pass
            else:
                return fd
        # A wait that blocks in native code cannot be ended from outside; it must not hold up the exit.
        threading.Thread(target=self._wait, name="oxmcp-hub", daemon=True).start()
        return None

    def _wait(self) -> None:
        while self.hub.wait():
            try:
                self._loop.call_soon_threadsafe(self.hub.turn)
            except RuntimeError:
                return  # the loop is closed

    async def _until_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            _loops.pop(self._loop, None)
            self.end()

    def end(self) -> None:
        """Nothing is handed to the loop any more."""
        users, self.users = self.users, {}
        if self._fd is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
            self._fd = None
        for on_end in users.values():
            on_end()
        self.hub.close()

    def close(self) -> None:
        """The same when nothing uses it any more and the loop goes on."""
        _step(self._ending.aclose())


_loops: dict[asyncio.AbstractEventLoop, _Loop] = {}


def acquire(user: object, on_end: Callable[[], None]) -> Hub:
    """The hub of the running loop. `on_end` is called if the loop ends before `release` is called."""
    running = asyncio.get_running_loop()
    for loop in list(_loops):
        # Its end was not announced: it was closed without `shutdown_asyncgens`.
        if loop.is_closed() and (gone := _loops.pop(loop, None)) is not None:
            gone.end()
    known = _loops.get(running)
    if known is None:
        known = _loops[running] = _Loop(running)
    known.users[user] = on_end
    return known.hub


def release(loop: asyncio.AbstractEventLoop, user: object) -> None:
    """Ends what `acquire` began. The last one to leave closes the hub."""
    known = _loops.get(loop)
    if known is not None and known.users.pop(user, None) is not None and not known.users:
        known.close()


def _step(awaitable: Any) -> None:
    """Runs what waits for nothing."""
    try:
        awaitable.send(None)
    except (StopIteration, StopAsyncIteration):
        pass


_inherited: list[Any] = []


def _forget() -> None:
    """In a process that was forked off: the loops are the parent's, and the threads that spoke to them are not here.
    What was the parent's is kept, for its end would speak to them."""
    _inherited.append(dict(_loops))
    _loops.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
