"""The lifespan of a server, and of those mounted in it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._server import Server


class Life:
    """Runs a server's lifespan as long as anyone is in this context, of any number of tasks.

    It begins and ends in one task of its own, as what is inside may demand.
    """

    def __init__(self, app: Server) -> None:
        self._app = app
        self._users = 0
        self._task: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[None] | None = None
        self._end: asyncio.Event | None = None

    async def __aenter__(self) -> Any:
        if self._users == 0:
            if self._task is not None:
                await asyncio.wait([self._task])  # the one before is not over yet
            loop = asyncio.get_running_loop()
            self._begun, self._end = loop.create_future(), asyncio.Event()
            self._task = loop.create_task(self._run(self._begun, self._end))
        self._users += 1
        assert self._begun is not None
        try:
            await asyncio.shield(self._begun)
        except BaseException:
            self._leave()
            raise
        return self._app.state

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task = self._task
        self._leave()
        if self._users == 0 and task is not None:
            await task

    def _leave(self) -> None:
        self._users -= 1
        if self._users == 0 and self._end is not None:
            self._end.set()

    async def _run(self, begun: asyncio.Future[None], end: asyncio.Event) -> None:
        apps = _all(self._app)
        try:
            async with contextlib.AsyncExitStack() as stack:
                for app in apps:
                    if app._lifespan is not None:
                        app.state = await stack.enter_async_context(_manager(app._lifespan, app))
                begun.set_result(None)
                await end.wait()
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)
        finally:
            for app in apps:
                app.state = None
            self._task = None


def _all(app: Server) -> list[Server]:
    """A server and those mounted in it, each once."""
    found = [app]
    for child, _ in app._mounted:
        found += [one for one in _all(child) if one not in found]
    return found


def _manager(lifespan: Any, app: Server) -> Any:
    if inspect.isasyncgenfunction(lifespan):
        lifespan = contextlib.asynccontextmanager(lifespan)
    manager = lifespan(app)
    if not hasattr(manager, "__aenter__"):
        raise TypeError(
            f"lifespan gives {manager!r}, which is no async context manager; decorate it with "
            "contextlib.asynccontextmanager"
        )
    return manager
