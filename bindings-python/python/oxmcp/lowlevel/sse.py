"""A low-level server over HTTP+SSE, the older form of HTTP: the module ``mcp.server.sse``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._asgi import AsgiApp
    from .models import InitializationOptions
    from .server import Server

__all__ = ["SseServerTransport"]


class SseServerTransport:
    """Both ends of HTTP+SSE in an ASGI application of the program's own::

        sse = SseServerTransport("/messages/")

        async def handle_sse(request):
            async with sse.connect_sse(request.scope, request.receive, request._send) as (read, write):
                await server.run(read, write, server.create_initialization_options())
            return Response()

        app = Starlette(routes=[
            Route("/sse", endpoint=handle_sse),
            Mount("/messages/", app=sse.handle_post_message),
        ])

    :param endpoint: the path to which clients post their messages.
    :param security_settings: a `TransportSecuritySettings`; without one requests for any host are served.
    """

    def __init__(self, endpoint: str, security_settings: Any = None) -> None:
        if not isinstance(endpoint, str) or "://" in endpoint or "?" in endpoint or "#" in endpoint:
            raise ValueError(f"endpoint is a path, such as '/messages/', and not {endpoint!r}")
        self._endpoint = endpoint if endpoint.startswith("/") else f"/{endpoint}"
        self._security = security_settings
        self._asgi: AsgiApp | None = None

    @contextlib.asynccontextmanager
    async def connect_sse(self, scope: Any, receive: Any, send: Any) -> AsyncIterator[tuple[SseStream, SseStream]]:
        """The two ends of the connection that a GET request asks for; `Server.run` takes them."""
        if scope["type"] != "http":
            raise ValueError("connect_sse can only handle HTTP requests")
        # What the client is told to post to is where the stream seems to be asked for.
        path = scope.get("root_path", "").rstrip("/") + self._endpoint
        stream = SseStream(self, {**scope, "path": path}, receive, send)
        yield stream, stream

    async def handle_post_message(self, scope: Any, receive: Any, send: Any) -> None:
        """An ASGI application: takes the messages of clients."""
        if self._asgi is None:
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._asgi.serve(scope, receive, send)

    def _app_of(self, server: Server[Any, Any], options: InitializationOptions) -> AsgiApp:
        """All connections have one application, which knows of each other's messages by their session."""
        if self._asgi is None:
            from ..fastmcp._http import allowed

            self._asgi = server.native(options).asgi(path="/", http_sse=True, **allowed(self._security, None))
        return self._asgi


class SseStream:
    """One end of a connection."""

    def __init__(self, transport: SseServerTransport, scope: Any, receive: Any, send: Any) -> None:
        self._transport = transport
        self._request = {**scope, "raw_path": None, "query_string": b""}, receive, send

    async def serve(self, server: Server[Any, Any], options: InitializationOptions) -> None:
        """Serves the client until it leaves."""
        await self._transport._app_of(server, options).serve(*self._request)
