"""What functions may ask for outside of their parameters: ``fastmcp.server.dependencies``."""

from __future__ import annotations

from typing import Any

from ..context import get_context

__all__ = ["get_context", "get_http_headers", "get_http_request"]


def get_http_headers(include_all: bool = False) -> dict[str, str]:
    """The headers of the HTTP request: none, over standard input and output."""
    return {}


def get_http_request() -> Any:
    """The HTTP request. Raises `RuntimeError` where there is none."""
    raise RuntimeError("there is no HTTP request")
