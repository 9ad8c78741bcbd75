"""What a handler says to its client, and asks of it."""

from __future__ import annotations

import contextvars
import enum
import hashlib
import os
import typing
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .. import _forms
from .._dialog import ElicitResult, Root, SampleResult
from .._native import Context as NativeContext
from ..lowlevel.helper_types import ReadResourceContents
from ..lowlevel.session import RequestContext, ServerSession, context_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .server import FastMCP

__all__ = ["AcceptedElicitation", "CancelledElicitation", "Context", "DeclinedElicitation"]

SessionT = TypeVar("SessionT")
LifespanT = TypeVar("LifespanT")
RequestT = TypeVar("RequestT")


class AcceptedElicitation(NamedTuple):
    """The user filled in the form."""

    data: Any
    action: typing.Literal["accept"] = "accept"


class DeclinedElicitation(NamedTuple):
    """The user declined."""

    action: typing.Literal["decline"] = "decline"
    data: None = None


class CancelledElicitation(NamedTuple):
    """The user did not answer."""

    action: typing.Literal["cancel"] = "cancel"
    data: None = None


class Context(Generic[SessionT, LifespanT, RequestT]):
    """The request that a handler serves; it gets it by a parameter with this type."""

    __oxmcp_context__ = True

    def __init__(self, native: NativeContext | None = None, fastmcp: FastMCP[Any] | None = None) -> None:
        self._native, self._fastmcp = native, fastmcp
        self._state: dict[str, Any] = {}

    def _live(self) -> NativeContext:
        if self._native is None:
            raise ValueError("Context is not available outside of a request")
        return self._native

    @property
    def fastmcp(self) -> FastMCP[Any]:
        """The server."""
        if self._fastmcp is None:
            raise ValueError("Context is not available outside of a server")
        return self._fastmcp

    @property
    def request_context(self) -> RequestContext[ServerSession, Any, Any]:
        """The request: `session`, `lifespan_context`, `request_id`, `meta`."""
        return context_of(self._live(), self.fastmcp._server)

    @property
    def lifespan_context(self) -> Any:
        """What the lifespan gave."""
        return self.request_context.lifespan_context

    @property
    def session(self) -> ServerSession:
        """The connection."""
        return ServerSession(self._live(), self.fastmcp._server)

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return str(self._live().request_id)

    @property
    def session_id(self) -> str:
        """The id of the client's session over HTTP; elsewhere one that stands for the connection."""
        context = self._live()
        return context.session_id or _name_of(context._connection)

    @property
    def client_id(self) -> str | None:
        """The ``client_id`` of the request's ``_meta``, where there is one."""
        client_id: str | None = (self._live().meta or {}).get("client_id")
        return client_id

    def log(
        self,
        level: str,
        message: str,
        logger_name: str | None = None,
        extra: dict[str, Any] | None = None,
        **more: Any,
    ) -> Awaitable[None]:
        """Sends a log message to the client. It goes out also where it is not awaited."""
        logger_name = more.pop("logger", logger_name)
        extra = {**(extra or {}), **more}
        data: Any = {"message": message, **extra} if extra else message
        return self._live().log(level.lower(), data, logger_name)

    def debug(self, message: str, **extra: Any) -> Awaitable[None]:
        """`log` of the level "debug"."""
        return self.log("debug", message, **extra)

    def info(self, message: str, **extra: Any) -> Awaitable[None]:
        """`log` of the level "info"."""
        return self.log("info", message, **extra)

    def warning(self, message: str, **extra: Any) -> Awaitable[None]:
        """`log` of the level "warning"."""
        return self.log("warning", message, **extra)

    def error(self, message: str, **extra: Any) -> Awaitable[None]:
        """`log` of the level "error"."""
        return self.log("error", message, **extra)

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Reports progress, to callers that asked for it."""
        return self._live().report_progress(progress, total, message)

    async def read_resource(self, uri: Any) -> list[ReadResourceContents]:
        """Reads a resource of this server."""
        return list(await self.fastmcp.read_resource(uri))

    async def list_resources(self) -> list[Any]:
        """The resources of this server."""
        return list(await self.fastmcp.list_resources())

    async def list_prompts(self) -> list[Any]:
        """The prompts of this server."""
        return list(await self.fastmcp.list_prompts())

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Gets the messages of a prompt of this server."""
        return await self.fastmcp.get_prompt(name, arguments)

    async def elicit(self, message: str, schema: Any = None, *, response_type: Any = None) -> Any:
        """Asks the user to fill in a form: a model, a dataclass, or a plain type for a single value. Gives a result
        with `action` and `data`."""
        kind = schema if schema is not None else response_type
        form, read = _form(kind)
        answer: ElicitResult[Any] = await self._live().elicit(message, form)
        if answer.action == "accept":
            return AcceptedElicitation(read(answer.content))
        return DeclinedElicitation() if answer.action == "decline" else CancelledElicitation()

    async def elicit_url(self, message: str, url: str, elicitation_id: str) -> Any:
        """Asks the user to visit a URL."""
        answer = await self._live().elicit_url(message, url, elicitation_id=elicitation_id)
        if answer.action == "accept":
            return AcceptedElicitation(None)
        return DeclinedElicitation() if answer.action == "decline" else CancelledElicitation()

    async def sample(
        self,
        messages: Any,
        system_prompt: str | None = None,
        include_context: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        model_preferences: Any = None,
    ) -> SampleResult:
        """Asks the client's model. The result has `text`."""
        if isinstance(model_preferences, str):
            model_preferences = {"hints": [{"name": model_preferences}]}
        elif isinstance(model_preferences, list):
            model_preferences = {"hints": [{"name": name} for name in model_preferences]}
        return await self._live().sample(
            _messages(messages),
            max_tokens=max_tokens or 512,
            system_prompt=system_prompt,
            temperature=temperature,
            include_context=include_context,
            model_preferences=model_preferences,
        )

    async def list_roots(self) -> list[Root]:
        """Asks for the client's roots."""
        return await self._live().list_roots()

    def set_state(self, key: str, value: Any) -> None:
        """Keeps something for the rest of the request."""
        self._state[key] = value

    def get_state(self, key: str) -> Any:
        """What `set_state` kept."""
        return self._state.get(key)

    async def close_sse_stream(self) -> None:
        """Gives up the stream of the request over HTTP; its client comes back for the rest."""
        self._live().end_stream()


_SECRET = os.urandom(16)


def _name_of(connection: tuple[int, int]) -> str:
    """A name for a connection that nobody can guess."""
    return hashlib.blake2b(repr(connection).encode(), key=_SECRET, digest_size=16).hexdigest()


def _form(kind: Any) -> tuple[Any, Any]:
    """A form, and how its content is read. A plain type is a form with one member ``value``."""
    if kind is None or isinstance(kind, dict):
        return kind, lambda content: content
    if isinstance(kind, list):
        choices = {"type": "string", "enum": list(kind)}
        return _single(choices), _value
    if kind in (str, int, float, bool) or typing.get_origin(kind) is typing.Literal or _is_enum(kind):
        import msgspec

        form = _forms.read(msgspec.defstruct("Value", [("value", kind)]))
        return form.schema, lambda content: form.read(content).value
    form = _forms.read(kind)
    return form.schema, form.read


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and not typing.get_origin(kind) and issubclass(kind, enum.Enum)


def _single(member: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"value": member}, "required": ["value"]}


def _value(content: Any) -> Any:
    return content["value"]


def _messages(messages: Any) -> Any:
    """Messages of `oxmcp.types` as the core takes them."""
    if isinstance(messages, (list, tuple)):
        return [_messages(message) for message in messages]
    dump = getattr(messages, "model_dump", None)
    return messages if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


current: contextvars.ContextVar[Context[Any, Any, Any]] = contextvars.ContextVar("oxmcp_context")


def get_context() -> Context[Any, Any, Any]:
    """The context of the request that is served. Raises `RuntimeError` outside of one."""
    try:
        return current.get()
    except LookupError:
        raise RuntimeError("there is no context outside of a request") from None
