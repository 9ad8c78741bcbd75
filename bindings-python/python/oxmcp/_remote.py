"""A server over HTTP, as a client sees it."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
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


@dataclasses.dataclass(frozen=True)
class Unauthorized:
    """A server refused a request for want of authorization (``basic/authorization`` of the specification)."""

    status: int
    """401, or 403 with a challenge: the credentials do not allow enough."""
    www_authenticate: Union[str, None]
    """The values of the header field ``WWW-Authenticate``, joined with commas, if there is one."""


OnUnauthorized = Callable[[Unauthorized], Any]
"""Gives the header fields to send from now on, or `None` when there are no others; may be async."""

_KNOWN = HttpClientOptions.__optional_keys__
_TIMES = ("connect_timeout", "close_timeout")


class RemoteServer:
    """The connection to a server over HTTP, which threads of the core drive. It knows nothing of the client: a client
    that the program has dropped must be collected all the same."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None,
        options: Mapping[str, Any] | None,
        on_unauthorized: OnUnauthorized | None = None,
    ) -> None:
        self._url, self._settings = url, _settings(headers, options)
        self._on_unauthorized = on_unauthorized
        self._asking: set[asyncio.Task[None]] = set()
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
                hub,
                *who,
                probe,
                registry,
                self._url,
                self._settings,
                self._on_unauthorized is not None,
                timeout,
                self._on_event,
            )
        except BaseException:
            _hub.release(self._loop, self)
            raise
        return self._connection

    def _on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "unauthorized":
            task = self._loop.create_task(self._renew(Unauthorized(first, second)))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        elif kind != "closed":
            assert self._hook is not None
            self._hook(kind, id, first, second)
        elif not self._over.done():
            self._over.set_result(None)

    async def _renew(self, refused: Unauthorized) -> None:
        """Gives the connection what the program has in place of what was refused."""
        assert self._connection is not None and self._on_unauthorized is not None
        fields: list[tuple[str, str]] = []
        why_not = None
        try:
            given = self._on_unauthorized(refused)
            if inspect.isawaitable(given):
                given = await given
            fields = _fields(given)
        except Exception as error:
            why_not = f"{type(error).__name__}: {error}"
        except BaseException:
            self._connection.give_headers([], None)
            raise
        self._connection.give_headers(fields, why_not)

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
        for task in self._asking:
            task.cancel()
        if self._connection is not None:
            self._connection.detach()
        if not self._loop.is_closed():
            _hub.release(self._loop, self)


def _fields(given: Any) -> list[tuple[str, str]]:
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for field in given.items() for text in field):
        # Never shown: it may be secret.
        raise UsageError(f"on_unauthorized gives header fields, a mapping of str to str, or None, not {type(given).__name__}")
    return list(given.items())


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
