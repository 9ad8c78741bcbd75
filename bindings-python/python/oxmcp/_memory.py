"""A server in the process of its client."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from ._server import Server

# How long handlers may finish what they were asked for, once the client has left.
_GRACE = 2.0


class MemoryServer:
    """A server that a task of this event loop runs, at the other end of a pair of sockets."""

    def __init__(self, app: Server) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        self._ours = ours
        self.input = self.output = ours.fileno()
        self.release: Callable[[], None] = ours.close
        """Closes our end: the server sees that its client left."""
        self._task = asyncio.get_running_loop().create_task(_serve(app, theirs))

    async def exited(self, timeout: float) -> bool:
        """Waits for the server to end, `timeout` seconds at most."""
        await asyncio.wait([self._task], timeout=timeout)
        return self._task.done()

    def describe_exit(self) -> str:
        """How the server ended, for an error message."""
        error = None if not self._task.done() or self._task.cancelled() else self._task.exception()
        return "the server ended" if error is None else f"the server ended: {type(error).__name__}: {error}"

    async def close(self) -> None:
        """Leaves the server, and waits for it to end."""
        self.release()
        try:
            if not await self.exited(_GRACE):
                self._task.cancel()
                await asyncio.wait([self._task])
        except BaseException:
            self.kill()
            raise
        if not self._task.cancelled():
            self._task.exception()

    def kill(self) -> None:
        """Has the server end at once."""
        self._task.cancel()


class _Ends:
    def __init__(self, end: socket.socket) -> None:
        self.input = self.output = end.fileno()


async def _serve(app: Server, end: socket.socket) -> None:
    from ._served import serve_ends

    try:
        await serve_ends(app, _Ends(end))
    finally:
        end.close()
