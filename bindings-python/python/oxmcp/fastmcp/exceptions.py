"""The exceptions of the module ``mcp.server.fastmcp.exceptions``, and of ``fastmcp.exceptions``."""

from .. import _errors

__all__ = [
    "ClientError",
    "DisabledError",
    "FastMCPError",
    "InvalidSignature",
    "NotFoundError",
    "PromptError",
    "ResourceError",
    "ToolError",
    "ValidationError",
]


class FastMCPError(Exception):
    """What the others have in common."""


class ValidationError(FastMCPError):
    """Arguments or results that do not fit."""


class ToolError(FastMCPError, _errors.ToolError):
    """A tool failed. The model gets to see the text."""


class ResourceError(FastMCPError, _errors.ToolError):
    """A resource cannot be read."""


class PromptError(FastMCPError, _errors.ToolError):
    """A prompt cannot be made."""


class ClientError(FastMCPError):
    """A client failed."""


class DisabledError(FastMCPError):
    """It is there and hidden."""


class NotFoundError(FastMCPError):
    """There is no such thing."""


class InvalidSignature(FastMCPError):
    """A function that cannot be called by a client."""
