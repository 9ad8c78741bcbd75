"""For the tests of your own servers and clients::

    async def test_add() -> None:
        async with Client(app) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"

A client of a server in memory needs nothing from here. What is here: time that passes at once (`advance`), and
transcripts of what goes over the wire (`Transcript`).
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Union

from ._errors import UsageError

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Difference", "Transcript", "advance"]

# How long a server may take for a message while a transcript is replayed.
_PATIENCE = 60.0


def advance(client: Client, seconds: float) -> None:
    """Lets time pass at once for a client, and for its server in memory: timeouts that are due by then come now.

    Only the clocks of the protocol jump. ``asyncio.sleep`` of a handler takes its time as ever.
    """
    connection = client._live()
    app = client._target.app
    for served in () if app is None else list(app._connections):
        served.connection.advance(seconds)
    connection.advance(seconds)


class Difference(AssertionError):
    """A server answers otherwise than it did."""


class Transcript:
    """What went over the wire, in order, as a client saw it::

        transcript = Transcript()
        async with Client(app, on_trace=transcript) as client:
            await client.call_tool("add", {"a": 1, "b": 2})
        transcript.save("add.jsonl")

        await Transcript.load("add.jsonl").replay(app)  # raises Difference if the server answers otherwise now
    """

    def __init__(self, messages: Any = ()) -> None:
        self.messages: list[tuple[str, Any]] = list(messages)
        """``("sent", message)`` and ``("received", message)``; a message is a dict."""

    def __call__(self, direction: str, text: str) -> None:
        from ._json import decode

        self.messages.append((direction, decode(text)))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def sent(self, method: str | None = None) -> list[Any]:
        """What the client sent, or those messages of a method."""
        return [it for way, it in self.messages if way == "sent" and (method is None or it.get("method") == method)]

    def received(self, method: str | None = None) -> list[Any]:
        """What the server sent, or those messages of a method."""
        return [it for way, it in self.messages if way == "received" and (method is None or it.get("method") == method)]

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes it as JSON lines: ``{"sent": {...}}`` and ``{"received": {...}}``."""
        from ._json import encode

        with open(path, "wb") as file:
            for direction, message in self.messages:
                file.write(encode({direction: message}) + b"\n")

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Transcript:
        """Reads what `save` wrote."""
        from ._json import decode

        messages: list[tuple[str, Any]] = []
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                entry = decode(line)
                if not isinstance(entry, dict) or len(entry) != 1 or not entry.keys() <= {"sent", "received"}:
                    raise UsageError(f'{os.fspath(path)}:{number}: a line is {{"sent": …}} or {{"received": …}}')
                messages.extend(entry.items())
        return cls(messages)

    async def replay(self, app: Any, *, same: Callable[[Any, Any], bool] | None = None) -> None:
        """Sends a server what the client sent, and compares what it answers.

        :param same: whether a message is as expected, called with what was recorded and what came; by default they
            are equal. What differs each time (times, sealed state) is for this function to leave out.

        Raises `Difference` that shows the first one.
        """
        from ._memory import _serve

        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        serving = asyncio.ensure_future(_serve(app.__oxmcp_server__(), theirs))
        reader, writer = await asyncio.open_connection(sock=ours, limit=2**24)
        try:
            await self._play(reader, writer, same or _equal)
        finally:
            writer.close()
            serving.cancel()
            await asyncio.wait([serving])

    async def _play(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, same: Callable[[Any, Any], bool]
    ) -> None:
        from ._json import decode, encode

        for number, (direction, message) in enumerate(self.messages, 1):
            if direction == "sent":
                writer.write(encode(message) + b"\n")
                continue
            try:
                line = await asyncio.wait_for(reader.readline(), _PATIENCE)
            except asyncio.TimeoutError:
                silence = f"message {number}: the server was silent for {_PATIENCE:g} s, where it had sent {message}"
                raise Difference(silence) from None
            if not line:
                raise Difference(f"message {number}: the server left, where it had sent {message}")
            found = decode(line)
            if not same(message, found):
                raise Difference(f"message {number}: the server had sent {message}, and now sends {found}")


def _equal(expected: Any, found: Any) -> bool:
    return bool(expected == found)
