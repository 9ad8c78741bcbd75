"""Serving over HTTP under uvicorn: what a server with routes of its own is served by."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._asgi import AsgiApp
from ._errors import UsageError
from ._http import HttpOptions

if TYPE_CHECKING:
    from ._server import Server

# How long calls under way may take to finish at the end.
_GRACE = 5


class Hosted:
    """A server on a port of uvicorn's, on the running loop."""

    def __init__(self, app: Server, path: str, options: Any) -> None:
        try:
            import uvicorn
        except ImportError:
            raise UsageError(
                'a server with custom_route needs uvicorn for run("http"): pip install uvicorn, or serve asgi() by '
                "what you have"
            ) from None
        refused = sorted(options.keys() - HttpOptions.__optional_keys__)
        if refused:
            raise UsageError(f"{refused[0]}= is not there for a server with custom_route, which uvicorn serves")
        self._asgi = AsgiApp(app, path, options)
        config = uvicorn.Config(
            self._asgi, lifespan="off", log_level="warning", access_log=False, timeout_graceful_shutdown=_GRACE
        )
        self._server = _told_when_begun(uvicorn.Server)(config)
        self._serving: asyncio.Task[None] | None = None

    async def listen(self, address: str, port: int) -> tuple[str, int]:
        """Begins; gives the address and the port."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, port), family=family, backlog=1024)
        try:
            await self._asgi._begin()
            self._serving = asyncio.ensure_future(self._server.serve(sockets=[listener]))
            await self._server.has_begun.wait()
        except BaseException:
            listener.close()
            raise
        bound: tuple[str, int] = listener.getsockname()[:2]
        return bound

    def sessions(self) -> int:
        """How many sessions there are."""
        here = self._asgi._here
        return 0 if here is None or here.endpoint is None else here.endpoint.native.sessions()

    async def close(self) -> None:
        """Ends streams, lets calls under way finish for some seconds, then ends the rest."""
        here = self._asgi._here
        if here is not None and here.endpoint is not None:
            here.endpoint.native.end_streams()
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
        await self._asgi._end()


def _told_when_begun(kind: Any) -> Any:
    class Begun(kind):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.has_begun = asyncio.Event()

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            self.has_begun.set()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            # They are for whoever runs the loop.
            yield

    return Begun
