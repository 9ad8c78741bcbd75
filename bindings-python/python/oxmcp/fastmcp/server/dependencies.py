"""What functions may ask for outside of their parameters: ``fastmcp.server.dependencies``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..._depends import Depends
from ..context import current, get_context

__all__ = [
    "CurrentAccessToken",
    "CurrentContext",
    "CurrentFastMCP",
    "CurrentHeaders",
    "CurrentRequest",
    "get_access_token",
    "get_context",
    "get_http_headers",
    "get_http_request",
    "get_server",
]

# What is about one connection or for one server, and must not be passed on to others unasked.
_PRIVATE = {
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "mcp-session-id",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
}


def get_http_headers(include_all: bool = False, include: Collection[str] | None = None) -> dict[str, str]:
    """The header fields of the HTTP request that brought the call; none where there is no such request.

    Without `include_all`, credentials and what is about the connection are left out, but for those in `include`.
    """
    try:
        headers = get_http_request().headers
    except RuntimeError:
        return {}
    left_out = set() if include_all else _PRIVATE - {name.lower() for name in include or ()}
    return {name: value for name, value in headers.items() if name not in left_out}


def get_http_request() -> Any:
    """The HTTP request that brought the call, one of Starlette's where that is installed. Raises `RuntimeError` where
    there is none."""
    context = current.get(None)
    request = None if context is None or context._native is None else context.request_context.request
    if request is None:
        raise RuntimeError("there is no HTTP request")
    return request


def get_access_token() -> Any:
    """The token of the user whom middleware of the ASGI app has let in, or None."""
    try:
        user = get_http_request().scope.get("user")
    except RuntimeError:
        return None
    return getattr(user, "access_token", None)


def get_server() -> Any:
    """The server whose request is served. Raises `RuntimeError` outside of one."""
    return get_context().fastmcp


def CurrentContext() -> Any:
    """The context of the request: ``ctx: Context = CurrentContext()``."""
    return Depends(get_context)


def CurrentFastMCP() -> Any:
    """The server: ``server: FastMCP = CurrentFastMCP()``."""
    return Depends(get_server)


def CurrentRequest() -> Any:
    """The HTTP request: ``request: Request = CurrentRequest()``."""
    return Depends(get_http_request)


def CurrentHeaders() -> Any:
    """Its header fields, with the credentials among them; none where there is no request."""
    return Depends(_headers)


def CurrentAccessToken() -> Any:
    """The token of its user; an error where there is none."""
    return Depends(_access_token)


def _headers() -> dict[str, str]:
    return get_http_headers(include=("authorization", "cookie"))


def _access_token() -> Any:
    token = get_access_token()
    if token is None:
        raise RuntimeError("there is no access token")
    return token
