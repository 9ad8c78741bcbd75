"""A server as an ASGI app: for uvicorn, and to be mounted in FastAPI or Starlette."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any, Awaitable, Callable
from urllib.parse import quote

from ._http import Endpoint, check_path, settings

if TYPE_CHECKING:
    from ._native import Exchange
    from ._server import Server

Scope = Any
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

_NOT_FOUND = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"there is no such path"}}'
# A host server that wants to stop waits for its responses to end, and tells nobody of it. Streams look whether
# it does so this often.
_GLANCE = 0.5
_LEFT: Any = object()


class AsgiApp:
    """The ASGI app of a server, from `Server.asgi`. It may serve on several event loops, one after the other."""

    def __init__(self, app: Server, path: str, options: Any) -> None:
        self._app, self._path = app, check_path(path)
        self._settings = settings(options, listens=False)
        self._here: _Here | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._serve(scope, receive, send)
        elif kind == "lifespan":
            await self._live(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000, "reason": "MCP is served over HTTP"})
        else:
            raise ValueError(f"this app serves HTTP, not {kind!r}")

    def lifespan(self, _: Any = None) -> Any:
        """The lifespan of an app that this one is mounted in: ``FastAPI(lifespan=mcp.lifespan)``. Apps hand theirs to
        what is mounted only if told so. Without it, all begins with the first request and ends with the loop."""
        return _Lifespan(self)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        try:
            await self._begin()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()  # lifespan.shutdown
        try:
            await self._end()
        except Exception as error:
            await send({"type": "lifespan.shutdown.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})

    async def _begin(self) -> _Here:
        here = self._here
        if here is None or here.is_over:
            if here is not None:
                here.forget()
            here = self._here = _Here(self._app, self._settings)
        await here.begin()
        return here

    async def _end(self) -> None:
        here, self._here = self._here, None
        if here is not None:
            await here.end()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _path(scope)
        if (path.rstrip("/") or "/") != (self._path.rstrip("/") or "/"):
            return await self._elsewhere(path, scope, receive, send)
        await self.serve(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request of the protocol, whatever its path."""
        here = self._here
        if here is None or not here.is_ready:
            here = await self._begin()
        conversation = _Conversation(receive, send)
        await conversation.run(here, scope)

    async def _elsewhere(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves what is not for the protocol."""
        if self._app._routes:
            from ._routes import find

            found = find(self._app._routes, path, scope["method"])
            if isinstance(found, tuple):
                route, variables = found
                return await route.serve(variables, scope, receive, send)
            if found is not None:
                return await found(scope, receive, send)
        await _respond(send, 404, [(b"content-type", b"application/json")], _NOT_FOUND)


def _path(scope: Scope) -> str:
    root, path = scope.get("root_path", ""), scope["path"]
    # Where an app is mounted, its path was or was not taken off before: the specification came to say so late.
    own: str = path[len(root) :] if root and path.startswith(root) else path
    return own


class _Lifespan:
    def __init__(self, asgi: AsgiApp) -> None:
        self._asgi = asgi

    async def __aenter__(self) -> None:
        await self._asgi._begin()

    async def __aexit__(self, *_: object) -> None:
        await self._asgi._end()


class _Here:
    """An app on one event loop."""

    def __init__(self, app: Server, settings: dict[str, Any]) -> None:
        self._app, self._settings = app, settings
        self._loop = asyncio.get_running_loop()
        self._life = app._living()
        self._begun: asyncio.Task[Endpoint] | None = None
        self._glance: asyncio.TimerHandle | None = None
        self.endpoint: Endpoint | None = None
        self.streams = 0

    @property
    def is_ready(self) -> bool:
        return self.endpoint is not None and not self.endpoint.is_closed and not self.is_over

    @property
    def is_over(self) -> bool:
        return self._loop.is_closed() or self._loop is not asyncio.get_running_loop()

    async def begin(self) -> None:
        if self._begun is None:
            self._begun = asyncio.ensure_future(self._begin())
        self.endpoint = await asyncio.shield(self._begun)

    async def _begin(self) -> Endpoint:
        try:
            await self._life.__aenter__()
            try:
                return Endpoint(self._app, self._settings)
            except BaseException:
                await self._life.__aexit__(None, None, None)
                raise
        except BaseException:
            self._begun = None
            raise

    async def end(self) -> None:
        if self.endpoint is not None and not self._loop.is_closed():
            await self.endpoint.close()
            await self._life.__aexit__(None, None, None)

    def forget(self) -> None:
        """Its loop is gone, or another one serves now."""
        if self.endpoint is not None:
            self._life.leave(self._loop)

    def begin_stream(self) -> None:
        self.streams += 1
        if self._glance is None:
            self._glance = self._loop.call_later(_GLANCE, self._look)

    def end_stream(self) -> None:
        self.streams -= 1
        if self.streams == 0 and self._glance is not None:
            self._glance.cancel()
            self._glance = None

    def _look(self) -> None:
        assert self.endpoint is not None
        if _host_stops():
            self.endpoint.native.end_streams()
            self._glance = None
        else:
            self._glance = self._loop.call_later(_GLANCE, self._look)


def _host_stops() -> bool:
    """Whether uvicorn was told to stop: its handler of signals is a method of the server."""
    for number in (signal.SIGINT, signal.SIGTERM):
        server = getattr(signal.getsignal(number), "__self__", None)
        if getattr(server, "should_exit", False) is True:
            return True
    return False


class _Conversation:
    """One request and its response."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._next: asyncio.Future[Any] | None = None
        self._has_left = False

    async def run(self, here: _Here, scope: Scope) -> None:
        assert here.endpoint is not None
        target = scope.get("raw_path") or quote(scope["path"]).encode()
        if scope.get("query_string"):
            target += b"?" + scope["query_string"]
        native, method = here.endpoint.native, scope["method"]
        exchange, head = native.exchange(method, target.decode("latin-1"), scope["headers"], scope)
        self._next = head
        reading = asyncio.ensure_future(self._read(exchange))
        try:
            answer = await head
            if answer is _LEFT:
                return
            status, headers, body = answer
            if body is None:
                await self._stream(here, exchange, status, headers)
            else:
                await _respond(self._send, status, headers, body)
        finally:
            exchange.close()
            reading.cancel()

    async def _read(self, exchange: Exchange) -> None:
        """Hands the body on, then waits for the client to leave."""
        wanted = True
        while (message := await self._receive())["type"] != "http.disconnect":
            if wanted:
                body, more = message.get("body", b""), message.get("more_body", False)
                wanted = (not body or exchange.body(body)) and more
                if not more:
                    exchange.end_body()
        exchange.close()
        self._has_left = True
        if self._next is not None and not self._next.done():
            self._next.set_result(_LEFT)

    async def _stream(self, here: _Here, exchange: Exchange, status: int, headers: Any) -> None:
        here.begin_stream()
        try:
            await self._send({"type": "http.response.start", "status": status, "headers": headers})
            while not self._has_left:
                self._next = exchange.more()
                chunk = await self._next
                if chunk is None or chunk is _LEFT:
                    break
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            here.end_stream()


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    if status not in (204, 304) and not any(name == b"content-length" for name, _ in headers):
        headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
