"""Routes of the program's own on a port of the core's: each request is one of ASGI here, so that what answers it in an
app answers it on a port as well."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from ._errors import report
from ._requests import scope_of
from ._routes import find

if TYPE_CHECKING:
    from ._native import RouteReply
    from ._routes import Asgi
    from ._server import Server


class PortRoutes:
    """What is under way on one port."""

    def __init__(self, app: Server, patience: float) -> None:
        self._app, self._patience = app, patience
        self.server: tuple[str, int] | None = None
        """Where it listens."""
        self._under_way: dict[int, _Answering] = {}

    def on_event(self, kind: str, token: int | None, first: Any, second: Any) -> None:
        assert token is not None
        if kind == "route":
            self._begin(token, first, second)
            return
        answering = self._under_way.get(token)
        if answering is None:
            return
        if kind == "route_more":
            answering.was_taken()
        elif kind == "route_left":
            answering.was_left(self._patience)
        else:
            answering.was_left(0)

    def _begin(self, token: int, request: Any, reply: RouteReply) -> None:
        method, target, authority, fields, client, body = request
        scope = scope_of(method, target, authority, fields, client, self.server)
        asgi = self._find(scope)
        if asgi is None:
            reply.unknown()
            return
        answering = _Answering(reply, body)
        self._under_way[token] = answering
        answering.task = asyncio.ensure_future(answering.run(asgi, scope))
        answering.task.add_done_callback(lambda _: self._end(token))

    def _find(self, scope: Any) -> Asgi | None:
        if self._app._web is not None:
            web: Asgi = self._app._web
            return web
        found = find(self._app._routes, scope["path"], scope["method"])
        if not isinstance(found, tuple):
            return found
        route, variables = found
        return partial(route.serve, variables, limit=None)

    def _end(self, token: int) -> None:
        self._under_way.pop(token).end()

    async def end(self, last_words: float) -> None:
        """Ends those that are left after the port was closed."""
        for answering in self._under_way.values():
            answering.was_left(0)
        tasks = [answering.task for answering in self._under_way.values() if answering.task is not None]
        if tasks and (late := (await asyncio.wait(tasks, timeout=last_words))[1]):
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=last_words)


class _Answering:
    """One request and its response."""

    def __init__(self, reply: RouteReply, body: bytes) -> None:
        self._reply = reply
        self._body: bytes | None = body
        self._head: tuple[int, list[tuple[bytes, bytes]]] | None = None
        self._has_begun = self._is_over = self._has_left = False
        self._over = asyncio.Event()
        self._taken: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[None] | None = None

    async def run(self, asgi: Asgi, scope: Any) -> None:
        try:
            await asgi(scope, self._receive, self._send)
            if not self._is_over and not self._has_left:
                raise RuntimeError("it ended without a whole response")
        except (Exception, SystemExit) as error:
            if not self._has_left:
                report(error, f"the route {scope['path']}")
            if not self._has_begun:
                self._reply.answer(500, [(b"content-type", b"text/plain; charset=utf-8")], b"internal error")
        finally:
            self._reply.close()

    async def _receive(self) -> Any:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if self._has_left:
            # Nobody gets it, and nobody is to be held up by who does not notice.
            return await asyncio.sleep(0)
        if message["type"] == "http.response.start":
            self._head = (message["status"], list(message.get("headers", ())))
        elif message["type"] == "http.response.body":
            await self._send_body(bytes(message.get("body", b"")), message.get("more_body", False))

    async def _send_body(self, body: bytes, more: bool) -> None:
        if self._head is None or self._is_over:
            raise RuntimeError("the body of a response follows its head, and has one end")
        if not self._has_begun and not more:
            self._reply.answer(*self._head, body)
            self._has_begun = True
            return self._finish()
        if not self._has_begun:
            self._reply.begin(*self._head)
            self._has_begun = True
        if body:
            self._taken = asyncio.get_running_loop().create_future()
            if self._reply.chunk(body) and more:
                # Only as fast as its client reads.
                await self._taken
        if not more:
            self._reply.end()
            self._finish()

    def _finish(self) -> None:
        self._is_over = True
        self._over.set()

    def was_taken(self) -> None:
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)

    def was_left(self, patience: float) -> None:
        """The client is gone. Who answers may go on for so long."""
        if self._is_over:
            return
        self._has_left = True
        self._over.set()
        self.was_taken()
        if self.task is not None and patience == 0:
            self.task.cancel()
        elif self.task is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(patience, self.task.cancel)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
