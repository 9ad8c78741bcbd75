"""Loggers: ``mcp.server.fastmcp.utilities.logging``."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["configure_logging", "get_logger"]


def get_logger(name: str) -> logging.Logger:
    """The logger of this name."""
    return logging.getLogger(name)


def configure_logging(level: Any = "INFO", **_: Any) -> None:
    """Has log messages from this level on go to standard error, unless the program configured that already."""
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
