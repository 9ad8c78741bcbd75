"""A low-level server over HTTP: the module ``mcp.server.streamable_http_manager``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .server import Server

__all__ = ["StreamableHTTPSessionManager"]


class StreamableHTTPSessionManager:
    """An ASGI application for a server: `handle_request`, while `run` is entered.

    :param json_response: answer by JSON, never by event streams.
    :param stateless: keep no sessions.
    :param security_settings: a `TransportSecuritySettings`; without one requests for any host are served.
    """

    def __init__(
        self,
        app: Server[Any, Any],
        event_store: Any = None,
        json_response: bool = False,
        stateless: bool = False,
        security_settings: Any = None,
        **_: Any,
    ) -> None:
        from ..fastmcp._http import allowed

        options = {**allowed(security_settings, None), "json_only": json_response, "stateless": stateless}
        self._asgi = app.native().asgi(path="/", **options)

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Goes on as long as the application serves."""
        async with self._asgi.lifespan():
            yield

    async def handle_request(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves a request."""
        await self._asgi(scope, receive, send)
