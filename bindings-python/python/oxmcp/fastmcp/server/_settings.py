"""The settings of a FastMCP server, which programs read and assign."""

from __future__ import annotations

import logging
from typing import Any

_DEFAULTS: dict[str, Any] = {
    "debug": False,
    "log_level": "INFO",
    "host": "127.0.0.1",
    "port": 8000,
    "mount_path": "/",
    "sse_path": "/sse",
    "message_path": "/messages/",
    "streamable_http_path": "/mcp",
    "json_response": False,
    "stateless_http": False,
    "warn_on_duplicate_resources": True,
    "warn_on_duplicate_tools": True,
    "warn_on_duplicate_prompts": True,
    "dependencies": [],
    "lifespan": None,
    "auth": None,
    "transport_security": None,
}
# Of other versions; they have no meaning here.
_TAKEN = {
    "description",
    "include_fastmcp_meta",
    "include_tags",
    "exclude_tags",
    "mask_error_details",
    "on_duplicate_prompts",
    "on_duplicate_resources",
    "on_duplicate_tools",
    "resource_prefix_format",
    "sampling_handler",
    "strict_input_validation",
    "tags",
    "tasks",
    "tool_serializer",
    "tool_transformations",
}


class Settings:
    """The settings of a server."""

    def __init__(self, **settings: Any) -> None:
        for name in settings:
            if name not in _DEFAULTS and name not in _TAKEN:
                logging.getLogger("oxmcp").warning("FastMCP has no setting %r, which is kept and not used", name)
        self.__dict__.update({**_DEFAULTS, **settings})

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"FastMCP has no setting {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def model_dump(self) -> dict[str, Any]:
        """All settings."""
        return dict(self.__dict__)
