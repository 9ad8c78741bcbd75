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

    It begins and ends in one task of its own, as what is inside may demand. Loops that serve at the same time have one
    each; ``app.state`` is then that of the last one to begin.
    """

    def __init__(self, app: Server) -> None:
        self._app = app
        self._lives: dict[asyncio.AbstractEventLoop, _LoopLife] = {}

    async def __aenter__(self) -> Any:
        loop = asyncio.get_running_loop()
        while (life := self._lives.get(loop)) is not None and life.is_ending and not life.task.done():
            await asyncio.wait([life.task])
        if life is None or life.task.done():
            life = self._lives[loop] = _LoopLife(self._app, self._lives, loop)
        await life.enter()
        return self._app.state

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        life = self._lives.get(asyncio.get_running_loop())
        if life is not None:
            life.leave()
            if life.is_ending:
                await life.task

    def leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Leaves that of a loop which may be another one, or closed."""
        if loop.is_closed():
            self._lives.pop(loop, None)
        elif (life := self._lives.get(loop)) is not None:
            loop.call_soon_threadsafe(life.leave)


class _LoopLife:
    """That of one loop."""

    def __init__(
        self, app: Server, lives: dict[asyncio.AbstractEventLoop, _LoopLife], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._app = app
        self._lives = lives
        self._users = 0
        self._begun: asyncio.Future[None] = loop.create_future()
        self._end = asyncio.Event()
        self.task = loop.create_task(self._run(loop, self._begun, self._end))

    @property
    def is_ending(self) -> bool:
        return self._users == 0 and self._end.is_set()

    async def enter(self) -> None:
        self._users += 1
        try:
            await asyncio.shield(self._begun)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._end.set()

    async def _run(self, loop: asyncio.AbstractEventLoop, begun: asyncio.Future[None], end: asyncio.Event) -> None:
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
            self._lives.pop(loop, None)
            if not self._lives:
                for app in apps:
                    app.state = None


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
