"""Servers written for ``mcp.server.fastmcp`` or for ``fastmcp`` run with only their imports changed:

| there | here |
| --- | --- |
| ``mcp.server.fastmcp``, ``fastmcp`` | `oxmcp.fastmcp` |
| ``….exceptions``, ``….prompts.base``, ``….tools``, ``….utilities.types`` and so on | the same under `oxmcp.fastmcp` |
| ``mcp.types`` | `oxmcp.types` |

What differs is listed in the documentation of the package.
"""

from typing import TYPE_CHECKING, Any

from ..types import Icon
from .context import Context
from .server import FastMCP
from .utilities.types import Audio, File, Image

MCPServer = FastMCP
"""The name of the same class in ``mcp.server.mcpserver``."""

__all__ = ["Audio", "Client", "Context", "FastMCP", "File", "Icon", "Image", "MCPServer"]

if TYPE_CHECKING:
    from .client import Client as Client


def __getattr__(name: str) -> Any:
    if name == "Client":
        from .client import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
