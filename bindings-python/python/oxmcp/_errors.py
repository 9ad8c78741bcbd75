"""The exceptions of this package: one tree, each with the JSON-RPC code, message and data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class McpError(Exception):
    """A failure of the protocol or of the connection.

    Raised by a client's calls, and by what a handler asks of its caller. A handler may raise it too, to answer
    with a JSON-RPC error instead of a result: ``raise McpError("no such city", code=-32602)``.
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


class HandlerError(McpError):
    """A handler of this side failed, on whose answer the call rested."""


class CallCancelledError(McpError):
    """The call that a plain handler asked something for is over, or is made again with the answer."""


class UrlElicitationRequiredError(ResponseError):
    """The user must visit URLs before the call can be served. A handler raises it; so do the calls of a client whose
    server answered so (code -32042).

    :param elicitations: ``[{"mode": "url", "url": ..., "message": ..., "elicitationId": ...}]``. A client of
        2026-07-28 is asked to have them visited, and makes the call again.
    """

    def __init__(self, elicitations: list[dict[str, Any]], message: str = "a URL must be visited first") -> None:
        super().__init__(message, _URL_REQUIRED, {"elicitations": elicitations})

    @property
    def elicitations(self) -> list[dict[str, Any]]:
        """The URLs, as the server sent them."""
        found: list[dict[str, Any]] = self.data["elicitations"]
        return found


class ToolError(Exception):
    """Raise it in a tool to report a failure to the model, which may then correct itself.

    The caller gets a result with ``isError`` and the text of this exception; from a resource or a prompt,
    which have no such results, an error with this text.
    """


class ArgumentsRefused(Exception):
    """Arguments that do not fit, where that is found after the decoder: the native module answers with what
    the revision has for them."""


_URL_REQUIRED = -32042

_KINDS: dict[str, type[McpError]] = {
    "response": ResponseError,
    "timeout": RequestTimeoutError,
    "cancelled": CallCancelledError,
    "closed": ConnectionClosedError,
    "not_negotiated": CapabilityError,
    "usage": UsageError,
    "protocol": ProtocolError,
    "handler": HandlerError,
}


def from_native(
    kind: str, code: int | None, message: str, data: str | None, fault: str, retryable: bool
) -> McpError:
    """The exception for a failure of the core. Called by the native module; raises nothing."""
    decoded: Any = None
    if data is not None:
        from ._json import decode

        try:
            decoded = decode(data)
        except (ValueError, RecursionError):
            decoded = data
    error = _KINDS.get(kind, McpError)(message, code, decoded, fault=fault, retryable=retryable)
    if kind == "response" and code == _URL_REQUIRED and isinstance(decoded, dict):
        elicitations = decoded.get("elicitations")
        if isinstance(elicitations, list) and all(isinstance(item, dict) for item in elicitations):
            required = UrlElicitationRequiredError(elicitations, message)
            required.__dict__.update(error.__dict__)
            return required
    return error


# What a client has to know to make the call as it must be made: a capability that it lacks, a URL to visit.
_PASSED_ON = (-32021, _URL_REQUIRED)


def explain(error: BaseException, name: str, kind: str = "tool") -> tuple[int | None, str, str | None]:
    """How a handler's exception is answered: code, message and data; no code means a result with
    ``isError``, which tools have. Called by the native module; raises nothing."""
    if isinstance(error, McpError) and (type(error).__module__ != __name__ or type(error) is McpError):
        return _explain_mcp_error(error, kind)
    if isinstance(error, McpError) and error.code in _PASSED_ON:
        return _explain_mcp_error(error, kind)
    if isinstance(error, ToolError):
        return (None if kind == "tool" else -32603), text_of(error), None
    _log().error("%s %r failed", kind, name, exc_info=error)
    if kind == "tool":
        what = printable(error.message) if isinstance(error, McpError) else text_of(error)
        return None, f"Error executing tool {name} (-32603): {what}", None
    # What went wrong inside is nobody's business but the log's.
    return -32603, f"Internal error: {kind} {name} failed", None


def _explain_mcp_error(error: McpError, kind: str) -> tuple[int, str, str | None]:
    # An exception's members are the program's to set, and a subclass may not have set them.
    code, data = getattr(error, "code", None), getattr(error, "data", None)
    message = getattr(error, "message", None)
    message = printable(message) if isinstance(message, str) else text_of(error)
    if code is None:
        code = -32603
    elif not isinstance(code, int) or not -(2**63) <= code < 2**63:
        _log().error("a %s raised an McpError whose code is no integer of 64 bits: %r", kind, code)
        message, code = f"{message} (the {kind} gave a code that is no integer)", -32603
    text = None
    if data is not None:
        from ._json import encode

        try:
            text = encode(data).decode()
        except Exception as failure:
            _log().error("a %s raised an McpError whose data is no JSON", kind, exc_info=failure)
            message, code = f"{message} (the {kind} gave data that is no JSON)", -32603
    return int(code), message, text


def text_of(error: BaseException) -> str:
    """What an exception says. One whose own text says nothing is shown with its type, a group with its causes."""
    try:
        text = printable(str(error))
    except Exception:
        return f"{type(error).__name__}, which cannot be shown as text"
    causes = getattr(error, "exceptions", None)
    if isinstance(causes, tuple) and all(isinstance(cause, BaseException) for cause in causes):
        return f"{text}: {'; '.join(text_of(cause) for cause in causes)}"
    if isinstance(error, KeyError) and len(error.args) == 1:
        return f"{type(error).__name__}: {text}"
    return text or type(error).__name__


def printable(text: str) -> str:
    """The text as one that UTF-8 can hold: half of a surrogate pair becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def report(error: BaseException, what: str) -> None:
    """Logs an exception of a hook of the program, which must not end the connection."""
    _log().error("%s failed", what, exc_info=error)


def unknown_option(what: str, name: str, known: Iterable[str]) -> str:
    """The message for an option that there is not: which one may be meant, and which ones there are."""
    from difflib import get_close_matches

    options = sorted(known)
    plain = {option.replace("_", "").lower(): option for option in options}
    meant = plain.get(name.replace("_", "").lower()) or next(iter(get_close_matches(name, options, 1)), None)
    hint = "" if meant is None else f"; did you mean {meant!r}?"
    return f"{what} has no option {name!r}{hint or ';'} {'Its' if hint else 'its'} options are {', '.join(options)}"


def _log() -> Any:
    import logging

    return logging.getLogger("oxmcp")
