"""What ties a client's connection to its loop and its process."""

from __future__ import annotations

import asyncio
import weakref
from typing import Callable

from ._loop import Reader
from ._memory import MemoryServer
from ._native import Connection
from ._process import ServerProcess


class Link:
    """What ties a connection to a loop and a process. It knows nothing of the client: the loop holds
    the connection, and a client that the program has dropped must be collected all the same."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: Connection,
        reader: Reader | None,
        process: ServerProcess | MemoryServer,
        unwatch: Callable[[], None] | None,
    ) -> None:
        self._loop, self._connection, self._reader, self._unwatch = loop, connection, reader, unwatch
        self._output, self._release = process.output, process.release

    def end(self, why: str) -> None:
        """Ends the connection, on its loop. What waits for it fails with `why`."""
        self._connection.close(why)
        if self._unwatch is not None:
            self._unwatch()
        if self._reader is not None:
            self._reader.close()
        # From here on nobody touches the descriptors, whose numbers will soon be others'.
        self._connection.detach()
        self.unwatch_output()

    def unwatch_output(self) -> None:
        """Has the loop watch no more whether the process takes what is written."""
        try:
            self._loop.remove_writer(self._output)
        except NotImplementedError:
            pass

    def end_soon(self) -> None:
        """The same for a client that is gone, from any thread. Its process ends by itself."""
        try:
            self._loop.call_soon_threadsafe(self._end_forgotten)
        except RuntimeError:  # the loop is closed
            if self._unwatch is not None:
                self._unwatch()
            self._connection.detach()
            self._release()

    def _end_forgotten(self) -> None:
        self.end("the client was dropped")
        self._release()


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call of a method that does not keep its object."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        alive = reference()
        if alive is not None:
            alive()

    return call
