"""Serving over HTTP: the endpoint that both ways share, and the one with a port of its own."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from . import _hub
from ._errors import UsageError, unknown_option
from ._native import HttpServer
from ._served import KINDS, LAST_WORDS, Events, identity, to_json

if TYPE_CHECKING:
    from ._port_routes import PortRoutes
    from ._server import Server

# The core's, in milliseconds.
_ROUTE_TIMEOUT = 60_000


class HttpOptions(TypedDict, total=False):
    """How a server behaves over HTTP. Times are in seconds."""

    hosts: Sequence[str]
    """Names under which the server is reached, whatever the port. Requests for other hosts are refused, as a web
    page can let any name point to this machine. Those of this machine itself need not be listed."""
    any_host: bool
    """Serve requests for any host, where something before this server checks them."""
    origins: Sequence[str]
    """Web pages that may call the server, such as ``https://app.example.com``, beside those of its own hosts."""
    stateless: bool
    """Keep no sessions: handlers cannot ask clients of revisions with a handshake for anything."""
    json_only: bool
    """Answer by JSON, never by event streams: progress and log messages go on the session's stream, if there is one."""
    http_sse: bool
    """Also serve clients that know only the HTTP+SSE transport of 2024-11-05, on the same path."""
    max_sessions: int
    """How many sessions there may be; 10,000 by default."""
    session_idle: float
    """How long a session may be without a request or a stream before it ends; 1800 by default."""
    resumable: bool
    """Whether streams that broke can be resumed; true by default."""
    retry: float
    """How long clients are told to wait before they resume a stream; 1 by default."""
    keep_alive: float
    """After how long a silence a stream gets a comment; 15 by default."""
    body_limit: int
    """The largest body of a request, in bytes; 16 MiB by default."""
    body_timeout: float
    """How long the body of a request may take to come; 30 by default."""


class ListenOptions(HttpOptions, total=False):
    """The same for a server with a port of its own."""

    max_connections: int
    """How many connections are served at the same time; 16,384 by default. Others wait."""
    head_timeout: float
    """How long the head of a request may take to come, and a connection may be idle; 60 by default."""
    write_timeout: float
    """How long a client may take nothing of what is written to it; 60 by default."""
    route_timeout: float
    """How long the answer of a `Server.custom_route` may take to begin; 60 by default."""


_TIMES = {"session_idle", "retry", "keep_alive", "body_timeout", "head_timeout", "write_timeout", "route_timeout"}
_LISTEN = ListenOptions.__required_keys__ | ListenOptions.__optional_keys__
_ASGI = HttpOptions.__required_keys__ | HttpOptions.__optional_keys__


def settings(options: Any, *, listens: bool) -> dict[str, Any]:
    """The options as the core takes them. Raises `TypeError` for one that there is not."""
    known = _LISTEN if listens else _ASGI
    unknown = options.keys() - known
    if unknown:
        places = ("host", "port", "path") if listens else ("path",)
        raise TypeError(unknown_option("HTTP", min(unknown), {*known, *places}))
    given: dict[str, Any] = {}
    for name, value in options.items():
        if name in _TIMES:
            if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise ValueError(f"{name} is a number of seconds from 0 up, not {value!r}")
            value = round(value * 1000)
        elif name in ("hosts", "origins"):
            if isinstance(value, str):
                raise TypeError(f"{name} is a list of strings, not the string {value!r}")
            value = list(value)
        first, *rest = name.split("_")
        given[first + "".join(part.capitalize() for part in rest)] = value
    return given


class Endpoint(Events):
    """A server over HTTP on the running loop. `close` ends it; so does the end of the loop."""

    def __init__(self, app: Server, settings: dict[str, Any], routes: PortRoutes | None = None) -> None:
        super().__init__(app)
        self._routes = routes
        self.loop = asyncio.get_running_loop()
        hub = _hub.acquire(self, self._end_with_loop)
        try:
            told = (routes is not None, self.sessions is not None)
            self.native = HttpServer(hub, *identity(app), to_json(settings), *told, self.on_event)
        except BaseException:
            _hub.release(self.loop, self)
            raise
        self._has_shut_down: asyncio.Future[None] = self.loop.create_future()
        self._closing: asyncio.Task[None] | None = None
        app._endpoints.add(self)
        for kind in KINDS:
            # Then lists never wait for the loop, which a handler may keep busy.
            self.describe(kind)

    def listen(self, port: int) -> tuple[str, int]:
        """Listens on a port of the address that the settings name; gives both."""
        address = self.native.bind(port)
        if self._routes is not None:
            self._routes.server = address
        return address

    @property
    def is_closed(self) -> bool:
        return self._closing is not None or self.loop.is_closed()

    async def close(self) -> None:
        """Ends streams, lets calls under way finish for some seconds, then cancels the rest. May be called by
        any task, more than once."""
        if self.loop.is_closed():
            return
        if self.loop is not asyncio.get_running_loop():
            raise UsageError("the server runs on another event loop; close it there")
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            self.native.shut_down()
            await self._has_shut_down
            if self._routes is not None:
                await self._routes.end(LAST_WORDS)
            if tasks := self.native.tasks():
                await asyncio.wait(tasks, timeout=LAST_WORDS)
            if self.sessions is not None:
                await self.sessions.ended(LAST_WORDS)
        finally:
            self._let_go()
            _hub.release(self.loop, self)

    def _end_with_loop(self) -> None:
        self.native.shut_down()
        self._let_go()

    def _let_go(self) -> None:
        self.app._endpoints.discard(self)
        self.native.close()

    def on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "shut_down":
            if not self._has_shut_down.done():
                self._has_shut_down.set_result(None)
        elif self._routes is not None and kind.startswith("route"):
            self._routes.on_event(kind, id, first, second)
        elif self.sessions is not None and id is not None and kind.startswith("session"):
            if kind == "session":
                self.sessions.begin(id, second, first)
            elif kind == "session_begun":
                self.sessions.begun(id)
            else:
                self.sessions.end(id)
        else:
            super().on_event(kind, id, first, second)


class HttpServing:
    """A server that listens on a port, from `Server.serve_http`: a context, or awaited, the thing itself.

    ::

        async with app.serve_http(port=8000) as serving:
            print(serving.url)
            await serving.wait_closed()
    """

    def __init__(self, app: Server, host: str, port: int, path: str, options: Any) -> None:
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise ValueError(f"a port is a number from 0 to 65535, not {port!r}")
        self._app, self._port, self._path = app, port, check_path(path)
        self._host = _address(host)
        self._settings = {**settings(options, listens=True), "path": self._path, "address": self._host}
        self._endpoint: Endpoint | None = None
        self._life: Any = None
        self._address: tuple[str, int] = ("", 0)
        self._closed: asyncio.Future[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """The address and the port that it listens on."""
        return self._address

    @property
    def url(self) -> str:
        """What clients connect to."""
        host, port = self._address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._path}"

    @property
    def sessions(self) -> int:
        """How many sessions there are, of revisions with a handshake."""
        return 0 if self._endpoint is None else self._endpoint.native.sessions()

    def __await__(self) -> Generator[Any, Any, HttpServing]:
        return self._open().__await__()

    async def __aenter__(self) -> HttpServing:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self) -> HttpServing:
        if self._closed is not None:
            return self
        self._closed = asyncio.get_running_loop().create_future()
        self._life = self._app._living()
        await self._life.__aenter__()
        try:
            endpoint = self._endpoint = Endpoint(self._app, self._settings, self._routes())
            try:
                self._address = endpoint.listen(self._port)
            except BaseException:
                await endpoint.close()
                raise
        except BaseException:
            await self._life.__aexit__(None, None, None)
            raise
        return self

    def _routes(self) -> PortRoutes | None:
        if not self._app._routes and self._app._web is None:
            return None
        from ._port_routes import PortRoutes

        return PortRoutes(self._app, self._settings.get("routeTimeout", _ROUTE_TIMEOUT) / 1000)

    async def close(self) -> None:
        """Takes no more connections, ends streams, lets calls under way finish for some seconds, then cancels the
        rest. May be called by any task, at any time, more than once: each call returns when all is done."""
        if self._endpoint is None or self._closed is None:
            return
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close(self._endpoint, self._closed))
        await asyncio.shield(self._closing)

    async def _close(self, endpoint: Endpoint, closed: asyncio.Future[None]) -> None:
        try:
            await endpoint.close()
        finally:
            await self._life.__aexit__(None, None, None)
            if not closed.done():
                closed.set_result(None)

    async def wait_closed(self) -> None:
        """Returns when it was closed."""
        if self._closed is not None:
            await asyncio.shield(self._closed)


def run(app: Server, serving: HttpServing) -> None:
    """Serves until SIGINT or SIGTERM comes, on a loop of its own."""
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("run() was called inside a running event loop; there it is 'await app.run_async(\"http\")'")
    try:
        asyncio.run(_until_signal(app, serving))
    except KeyboardInterrupt:
        pass


async def _until_signal(app: Server, serving: HttpServing) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    caught = []
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except (NotImplementedError, ValueError, RuntimeError):
            continue  # not on this platform, or not on this thread
        caught.append(number)
    try:
        async with serving:
            print(f"{app.name} is served on {serving.url}", file=sys.stderr, flush=True)
            await stop.wait()
            # A second signal does what it always does.
            while caught:
                loop.remove_signal_handler(caught.pop())
    finally:
        while caught:
            loop.remove_signal_handler(caught.pop())


def check_path(path: str) -> str:
    if not isinstance(path, str) or not path.startswith("/") or "?" in path or "#" in path:
        raise ValueError(f"a path begins with '/' and has no query, such as '/mcp'; not {path!r}")
    return path


def _address(host: str) -> str:
    """The address of this machine that a name stands for."""
    try:
        # Anything but bytes has Python load the tables of international names.
        name = host.encode() if host.isascii() else host
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"host= is an address of this machine, such as '127.0.0.1', not {host!r}: {error}") from error
    addresses = sorted((family != socket.AF_INET, address[0]) for family, _, _, _, address in found)
    return str(addresses[0][1])
