"""The exceptions of this package: one tree, each with the JSON-RPC code, message and data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class McpError(Exception):
    """A failure of the protocol or of the connection.

    Raised by a client's calls. A tool may raise it too, to answer with a JSON-RPC error instead of
    a result: ``raise McpError("no such city", code=-32602)``.
    """

    code: int | None
    """The JSON-RPC error code: the peer's for a `ResponseError`, ours otherwise."""
    data: Any
    """What the peer sent along, decoded."""
    fault: str
    """Whose fault it was: ``"local"``, ``"peer"`` or ``"transport"``."""
    retryable: bool
    """Whether the same call may succeed if made again."""

    def __init__(
        self,
        message: str,
        code: int | None = -32603,
        data: Any = None,
        *,
        fault: str = "local",
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data
        self.fault = fault
        self.retryable = retryable

    def __str__(self) -> str:
        return self.message if self.code is None else f"{self.message} ({self.code})"


class ResponseError(McpError):
    """The peer answered with an error; code, message and data are the peer's."""


class RequestTimeoutError(McpError, TimeoutError):
    """No answer came within the time allowed. The peer was told to stop."""


class ConnectionClosedError(McpError, ConnectionError):
    """The connection ended before the answer came, or could not be opened."""


class CapabilityError(McpError):
    """The peer does not declare what the call needs. Nothing was sent."""


class ProtocolError(McpError):
    """The peer broke the protocol."""


class UsageError(McpError, ValueError):
    """The call could not be made as asked. Nothing was sent."""


class CallCancelledError(McpError):
    """The call was cancelled on this side by other means than its task."""


class ToolError(Exception):
    """Raise it in a tool to report a failure to the model, which may then correct itself.

    The caller gets a result with ``isError`` and the text of this exception.
    """


_KINDS: dict[str, type[McpError]] = {
    "response": ResponseError,
    "timeout": RequestTimeoutError,
    "cancelled": CallCancelledError,
    "closed": ConnectionClosedError,
    "not_negotiated": CapabilityError,
    "usage": UsageError,
    "protocol": ProtocolError,
}


def from_native(
    kind: str, code: int | None, message: str, data: str | None, fault: str, retryable: bool
) -> McpError:
    """The exception for a failure of the core. Called by the native module."""
    decoded = None
    if data is not None:
        import msgspec

        decoded = msgspec.json.decode(data)
    return _KINDS[kind](message, code, decoded, fault=fault, retryable=retryable)


def explain(error: BaseException, tool: str) -> tuple[int | None, str, str | None]:
    """How a tool's exception is answered: code, message and data; no code means a result with
    ``isError``. Called by the native module."""
    if isinstance(error, ToolError):
        return None, str(error), None
    if isinstance(error, McpError):
        data = None
        if error.data is not None:
            import msgspec

            data = msgspec.json.encode(error.data).decode()
        return error.code if error.code is not None else -32603, error.message, data
    import logging

    logging.getLogger("oxmcp").error("tool %r failed", tool, exc_info=error)
    return None, f"Error executing tool {tool} (-32603): {error or type(error).__name__}", None
