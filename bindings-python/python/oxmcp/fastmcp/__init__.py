"""Servers written for ``mcp.server.fastmcp`` or for ``fastmcp`` run with only their imports changed:

| there | here |
| --- | --- |
| ``mcp.server.fastmcp``, ``fastmcp`` | `oxmcp.fastmcp` |
| ``….exceptions``, ``….prompts.base``, ``….tools``, ``….utilities.types`` and so on | the same under `oxmcp.fastmcp` |
| ``mcp.types`` | `oxmcp.types` |

What differs is listed in the documentation of the package.
"""

from ..types import Icon
from .context import Context
from .server import FastMCP
from .utilities.types import Audio, File, Image

MCPServer = FastMCP
"""The name of the same class in ``mcp.server.mcpserver``."""

__all__ = ["Audio", "Context", "FastMCP", "File", "Icon", "Image", "MCPServer"]
