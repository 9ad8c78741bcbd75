"""FastMCP programs over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from .._errors import UsageError

if TYPE_CHECKING:
    from .._server import Server
    from .server import FastMCP

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NEEDS_STARLETTE = "custom_route needs starlette, and it is not installed"


class Place:
    """Where and how a FastMCP server is served, from its settings and from what `run` was given."""

    def __init__(self, server: FastMCP[Any], transport: str | None, given: dict[str, Any]) -> None:
        if transport not in ("http", "streamable-http", "sse"):
            raise ValueError(f"Unknown transport: {transport}")
        if server._auth is not None:
            raise UsageError("authorization of FastMCP programs is not supported; put a proxy that checks it in front")
        settings = server.settings

        def chosen(name: str, default: Any) -> Any:
            return default if given.get(name) is None else given[name]

        self.host: str = chosen("host", settings.host)
        self.port: int = chosen("port", settings.port)
        self.path: str = chosen("path", settings.sse_path if transport == "sse" else settings.streamable_http_path)
        self.options: dict[str, Any] = {
            **allowed(settings.transport_security, self.host),
            "json_only": bool(chosen("json_response", settings.json_response)),
            "stateless": bool(chosen("stateless_http", settings.stateless_http)),
            "http_sse": transport == "sse",
        }


def allowed(security: Any, host: str | None) -> dict[str, Any]:
    """For which hosts and web pages requests are served. As there, a server that listens to others and says nothing of
    it serves them all."""
    if security is None:
        return {} if host in _LOOPBACK else {"any_host": True}
    if not security.enable_dns_rebinding_protection:
        return {"any_host": True}
    hosts = {_without_port(name) for name in security.allowed_hosts}
    origins = {origin for origin in security.allowed_origins if not origin.endswith(":*")}
    return {"hosts": sorted(hosts), "origins": sorted(origins)}


def _without_port(name: str) -> str:
    """``host:8000`` and ``host:*`` as ``host``, also of an address with colons."""
    head, found, port = name.rpartition(":")
    return head if found and (port == "*" or port.isdigit()) and not name.endswith("]") else name


def application(server: FastMCP[Any], place: Place) -> Any:
    """The server as an ASGI app. With Starlette installed it is one of Starlette's, with the program's own routes."""
    asgi = server.__oxmcp_server__().asgi(path=place.path, **place.options)
    try:
        from starlette.applications import Starlette
        from starlette.routing import Mount
    except ImportError:
        if server._custom_starlette_routes:
            raise UsageError(_NEEDS_STARLETTE) from None
        return asgi

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with asgi.lifespan():
            yield

    return Starlette(routes=[*_routes(server), Mount("/", app=asgi)], lifespan=lifespan)


def with_port(server: FastMCP[Any]) -> Server:
    """The server as one that listens by itself, and has Starlette answer the program's own routes."""
    native = server.__oxmcp_server__()
    if server._custom_starlette_routes:
        try:
            from starlette.applications import Starlette
        except ImportError:
            raise UsageError(_NEEDS_STARLETTE) from None
        native._web = Starlette(routes=_routes(server))
    return native


def _routes(server: FastMCP[Any]) -> list[Any]:
    from starlette.routing import Route

    return [
        Route(path, endpoint=endpoint, methods=methods, name=name)
        for path, methods, endpoint, name in server._custom_starlette_routes
    ]
