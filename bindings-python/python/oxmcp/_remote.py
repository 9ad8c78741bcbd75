"""A server over HTTP, as a client sees it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any, Callable, TypedDict, Union

from . import _hub, _json
from ._errors import UsageError, unknown_option
from ._native import Connection, Registry


class Redirects(TypedDict, total=False):
    """Which redirects are followed."""

    hops: int
    """How many in a row; 5 by default."""
    other_origins: bool
    """Whether to other origins too, without the headers that were set; not by default."""


class HttpClientOptions(TypedDict, total=False):
    """How a client reaches a server over HTTP. Times are in seconds."""

    proxy: str
    """The URL of a proxy. By default those of the system are used, but never for this machine."""
    no_proxy: bool
    """Use none, whatever the system says."""
    root_certificate: str
    """PEM text of certificates that are trusted too."""
    connect_timeout: float
    """How long opening a connection may take; 30 by default. The time of calls is `Client.timeout`."""
    close_timeout: float
    """How long the end may take, for what is to be sent and for ending the session, each; 2 by default."""
    renew_sessions: bool
    """Whether a session that the server no longer knows is begun anew; true by default."""
    http_sse: str
    """The transport of 2024-11-05: ``"auto"`` (the default), ``"never"`` or ``"only"``."""
    listen: bool
    """Whether a stream is held open for what a server tells unasked, in revisions with a handshake; true by default."""
    redirects: Redirects
    max_requests: int
    """How many requests may be under way at once; 256 by default. More calls wait."""


_KNOWN = HttpClientOptions.__optional_keys__
_TIMES = ("connect_timeout", "close_timeout")


class RemoteServer:
    """The connection to a server over HTTP, which threads of the core drive. It knows nothing of the client: a client
    that the program has dropped must be collected all the same."""

    def __init__(self, url: str, headers: Mapping[str, str] | None, options: Mapping[str, Any] | None) -> None:
        self._url, self._settings = url, _settings(headers, options)
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._connection: Connection | None = None
        self._hook: Callable[..., None] | None = None
        self._process = os.getpid()

    def open(
        self,
        who: tuple[str, str, Union[str, None], float, str],
        probe: bool,
        registry: Registry,
        timeout: float | None,
        hook: Callable[[str, Union[int, None], Any, Any], None],
    ) -> Connection:
        """Begins to connect. `who` is the name, version and title of the client, its timeout and its settings."""
        self._hook = hook
        hub = _hub.acquire(self, self._loop_ended)
        try:
            self._connection = Connection.http_client(
                hub, *who, probe, registry, self._url, self._settings, timeout, self._on_event
            )
        except BaseException:
            _hub.release(self._loop, self)
            raise
        return self._connection

    def _on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind != "closed":
            assert self._hook is not None
            self._hook(kind, id, first, second)
        elif not self._over.done():
            self._over.set_result(None)

    def end(self, why: str) -> None:
        """Ends the connection. What waits for it fails with `why`."""
        if self._connection is not None:
            self._connection.close(why)

    async def close(self) -> None:
        """Waits until the server was told, and lets go of everything."""
        if self._connection is None or self._loop is not asyncio.get_running_loop():
            return self.kill()
        try:
            await asyncio.shield(self._over)
        finally:
            self._let_go()

    def kill(self) -> None:
        """Ends it and waits for nothing."""
        self.end("the client was closed in a hurry")
        self._let_go()

    def end_soon(self) -> None:
        """Ends the connection of a client that is gone, from any thread."""
        if self._process != os.getpid():
            return  # it is the parent's
        try:
            self._loop.call_soon_threadsafe(self._end_forgotten)
        except RuntimeError:  # the loop is closed
            self.kill()

    def _end_forgotten(self) -> None:
        self.end("the client was dropped")
        self._over.add_done_callback(lambda _: self._let_go())

    def _loop_ended(self) -> None:
        self.end("the event loop of the client has ended")
        self._let_go()

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.detach()
        if not self._loop.is_closed():
            _hub.release(self._loop, self)


def _settings(headers: Mapping[str, str] | None, options: Mapping[str, Any] | None) -> str:
    """The text of the settings as the core takes them."""
    given: dict[str, Any] = {"headers": dict(headers or {})}
    for name, value in (options or {}).items():
        if name not in _KNOWN:
            raise UsageError(unknown_option("http=", name, _KNOWN))
        if name in _TIMES:
            if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise UsageError(f"{name} is a number of seconds from 0 up, not {value!r}")
            given[_camel(name)] = round(value * 1000)
        elif name == "redirects":
            given[name] = {_camel(key): each for key, each in value.items()}
        else:
            given[_camel(name)] = value
    try:
        return _json.encode(given).decode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"headers= and http= have no JSON form: {error}") from error


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
