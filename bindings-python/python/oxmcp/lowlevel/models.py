"""What a server says of itself: the module ``mcp.server.models``."""

from __future__ import annotations

from typing import Optional

from ..types import Icon, ServerCapabilities
from ..types._model import Model

__all__ = ["InitializationOptions"]


class InitializationOptions(Model):
    """What a server says of itself when a client connects."""

    server_name: str
    server_version: str
    capabilities: ServerCapabilities
    instructions: Optional[str] = None
    website_url: Optional[str] = None
    icons: Optional[list[Icon]] = None
