"""``fastmcp.server.context``."""

from ..context import Context

__all__ = ["Context"]
