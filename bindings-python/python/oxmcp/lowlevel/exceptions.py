"""Errors in the form of the module ``mcp.shared.exceptions``."""

from __future__ import annotations

from typing import Any

from .. import _errors
from ..types import ElicitRequestURLParams, ErrorData

__all__ = ["McpError", "UrlElicitationRequiredError"]


class McpError(_errors.McpError):
    """An error of JSON-RPC: ``McpError(ErrorData(code=INVALID_PARAMS, message="no such city"))``."""

    error: ErrorData

    def __init__(self, error: ErrorData) -> None:
        super().__init__(error.message, error.code, error.data)
        self.error = error

    def __str__(self) -> str:
        return self.message


class UrlElicitationRequiredError(McpError):
    """The user must visit URLs before the call can be served."""

    def __init__(self, elicitations: list[ElicitRequestURLParams], message: str | None = None) -> None:
        shown: list[Any] = [one.model_dump(by_alias=True, exclude_none=True) for one in elicitations]
        message = message or "a URL must be visited first"
        super().__init__(ErrorData(code=-32042, message=message, data={"elicitations": shown}))
        self.elicitations = elicitations
