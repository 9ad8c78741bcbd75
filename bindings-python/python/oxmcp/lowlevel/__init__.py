"""Servers written for ``mcp.server.Server`` run with only their imports changed:

| there | here |
| --- | --- |
| ``mcp.server``, ``mcp.server.lowlevel`` | `oxmcp.lowlevel` |
| ``mcp.server.stdio``, ``.models``, ``.session`` | `oxmcp.lowlevel.stdio`, ``.models``, ``.session`` |
| ``mcp.shared.exceptions`` | `oxmcp.lowlevel.exceptions` |
| ``mcp.types`` | `oxmcp.types` |
"""

from .exceptions import McpError, UrlElicitationRequiredError
from .helper_types import ReadResourceContents
from .models import InitializationOptions
from .server import NotificationOptions, Server, request_ctx
from .session import RequestContext, ServerSession
from .stdio import stdio_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..fastmcp import FastMCP as FastMCP, MCPServer as MCPServer


def __getattr__(name: str) -> object:
    if name in ("FastMCP", "MCPServer"):
        from ..fastmcp import FastMCP

        return FastMCP
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "InitializationOptions",
    "McpError",
    "NotificationOptions",
    "ReadResourceContents",
    "RequestContext",
    "Server",
    "ServerSession",
    "UrlElicitationRequiredError",
    "request_ctx",
    "stdio_server",
]
