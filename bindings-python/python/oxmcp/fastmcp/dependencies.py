"""What fills parameters in place of arguments: ``fastmcp.dependencies``."""

from __future__ import annotations

from typing import Any

from .._depends import Depends
from .context import get_context

__all__ = ["CurrentContext", "CurrentFastMCP", "Depends"]


def CurrentContext() -> Any:
    """The context of the request: ``ctx: Context = CurrentContext()``."""
    return Depends(get_context)


def CurrentFastMCP() -> Any:
    """The server: ``server: FastMCP = CurrentFastMCP()``."""
    return Depends(_server)


def _server() -> Any:
    return get_context().fastmcp
