"""A client's stream of notifications: `subscriptions/listen` (2026-07-28)."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._errors import UsageError

if TYPE_CHECKING:
    from ._client import Client

# A program that reads slower than this many different changes come loses the later ones.
_LIMIT = 1024
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class Notifications:
    """What a server tells of, as long as it is entered; made by `Client.listen`.

    ::

        async with client.listen(tools=True, resources=["notes://1"]) as changes:
            async for method, params in changes:
                ...

    A notification that waits already is not added twice. The loop ends when the server ends the stream.
    """

    def __init__(self, client: Client, wanted: dict[str, Any]) -> None:
        self._client, self._wanted = client, wanted
        self._id = -1
        self._call: asyncio.Future[bytes] | None = None
        self._waiting: deque[tuple[str, Any]] = deque()
        self._changed = asyncio.Event()
        self._acknowledged = False
        self.honoured: dict[str, Any] = {}
        """The part of what was asked for that the server tells of."""

    async def __aenter__(self) -> Notifications:
        if self._call is not None:
            raise UsageError("a stream is entered once; ask for a new one by listen()")
        self._id, self._call = self._client._begin_stream(self, {"notifications": self._wanted})
        self._call.add_done_callback(self._end)
        try:
            while not self._acknowledged and not self._call.done():
                await self._wait()
        except BaseException:
            self._close()
            raise
        if not self._acknowledged:
            self._close()
            self._call.result()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def __aiter__(self) -> Notifications:
        return self

    async def __anext__(self) -> tuple[str, Any]:
        assert self._call is not None, "a stream is entered before it is read"
        while not self._waiting:
            if self._call.done():
                if not self._call.cancelled():
                    self._call.result()
                raise StopAsyncIteration
            await self._wait()
        return self._waiting.popleft()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _end(self, call: asyncio.Future[bytes]) -> None:
        if not call.cancelled():
            call.exception()  # who reads on is told; a stream that nobody reads may end as it likes
        self._changed.set()

    def _receive(self, method: str, params: Any) -> None:
        if method == _ACKNOWLEDGED and not self._acknowledged:
            self._acknowledged = True
            self.honoured = (params or {}).get("notifications", {})
        elif (method, params) in self._waiting:
            return
        elif len(self._waiting) >= _LIMIT:
            what = f"{method} was dropped: {_LIMIT} notifications of its stream wait to be read already"
            self._client._problem("too_large", what)
        else:
            self._waiting.append((method, params))
        self._changed.set()

    def _close(self) -> None:
        self._client._end_stream(self._id)
        if self._call is not None and not self._call.done():
            self._call.cancel()
