"""What a handler of the low level says to its client: the module ``mcp.server.session``."""

from __future__ import annotations

import contextvars
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import _asking, _json, types
from .._errors import UsageError
from .._native import Context as NativeContext
from .._requests import for_starlette

if TYPE_CHECKING:
    from .._server import Server as NativeServer

__all__ = ["RequestContext", "ServerSession"]

SessionT = TypeVar("SessionT")
LifespanT = TypeVar("LifespanT")
RequestT = TypeVar("RequestT")
Answer = TypeVar("Answer", bound=types.Result)

# What programs set as attributes of sessions, by connection. Nobody tells when one of HTTP has ended.
_MOST_KEPT = 1024
_kept: OrderedDict[tuple[int, int], dict[str, Any]] = OrderedDict()
_lock = threading.Lock()
_NOTHING: Any = object()


class ServerSession:
    """The connection, as the handler of a request sees it.

    Those of one connection are equal, and what a program sets as an attribute of one the others have, too: for as many
    connections as `_MOST_KEPT`, those that were used last.
    """

    _context: NativeContext
    _native: NativeServer

    def __init__(self, context: NativeContext, native: NativeServer) -> None:
        self.__dict__.update(_context=context, _native=native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ServerSession) and self._context._connection == other._context._connection

    def __hash__(self) -> int:
        return hash(self._context._connection)

    def __getattr__(self, name: str) -> Any:
        with _lock:
            kept = _kept.get(self._context._connection, {})
            if name in kept:
                _kept.move_to_end(self._context._connection)
                return kept[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        with _lock:
            _kept.setdefault(self._context._connection, {})[name] = value
            _kept.move_to_end(self._context._connection)
            dropped = _kept.popitem(last=False) if len(_kept) > _MOST_KEPT else None
        del dropped  # what ends with it ends without the lock

    def __delattr__(self, name: str) -> None:
        with _lock:
            if _kept.get(self._context._connection, {}).pop(name, _NOTHING) is _NOTHING:
                raise AttributeError(name)

    @property
    def client_params(self) -> types.InitializeRequestParams | None:
        """Who the client says it is, and what it can do."""
        info = self._context.client_info or {"name": "", "version": ""}
        return types.InitializeRequestParams(
            protocolVersion=self._context.protocol_version,
            capabilities=types.ClientCapabilities.model_validate(self._context.client_capabilities),
            clientInfo=types.Implementation.model_validate(info),
        )

    def check_client_capability(self, capability: types.ClientCapabilities) -> bool:
        """Whether the client declares at least this."""
        return _covers(self._context.client_capabilities, _dump(capability))

    async def _ask(self, method: str, params: Any, kind: type[Answer]) -> Answer:
        result = await _asking._ask(self._context, method, params, None, None)
        return kind.model_validate(_json.decode(result))

    async def send_request(self, request: Any, result_type: type[Answer], *_: Any, **__: Any) -> Answer:
        """Makes a request to the client."""
        message = _dump(request)
        return await self._ask(message["method"], message.get("params"), result_type)

    async def send_notification(self, notification: Any, related_request_id: Any = None) -> None:
        """Sends a notification to the client."""
        message = _dump(notification)
        _asking.notify(self._context, message["method"], message.get("params"))

    async def send_log_message(
        self, level: types.LoggingLevel, data: Any, logger: str | None = None, related_request_id: Any = None
    ) -> None:
        """Sends a log message."""
        self._context.log(level, data, logger)

    async def send_progress_notification(
        self,
        progress_token: types.ProgressToken,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: Any = None,
    ) -> None:
        """Reports progress of the request that is served."""
        token = (self._context.meta or {}).get("progressToken")
        if progress_token != token:
            raise UsageError(f"the progress token of this request is {token!r}, not {progress_token!r}")
        await self._context.report_progress(progress, total, message)

    async def list_roots(self) -> types.ListRootsResult:
        """Asks for the client's roots."""
        return await self._ask("roots/list", None, types.ListRootsResult)

    async def elicit(
        self, message: str, requestedSchema: dict[str, Any], related_request_id: Any = None
    ) -> types.ElicitResult:
        """Asks the user to fill in a form."""
        params = {"message": message, "requestedSchema": requestedSchema}
        return await self._ask("elicitation/create", params, types.ElicitResult)

    elicit_form = elicit

    async def elicit_url(
        self, message: str, url: str, elicitation_id: str, related_request_id: Any = None
    ) -> types.ElicitResult:
        """Asks the user to visit a URL."""
        params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
        return await self._ask("elicitation/create", params, types.ElicitResult)

    async def create_message(
        self,
        messages: list[types.SamplingMessage],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        include_context: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        model_preferences: types.ModelPreferences | None = None,
        tools: list[types.Tool] | None = None,
        tool_choice: types.ToolChoice | None = None,
        related_request_id: Any = None,
    ) -> Any:
        """Asks the client's model."""
        params = {
            "messages": messages,
            "maxTokens": max_tokens,
            "systemPrompt": system_prompt,
            "includeContext": include_context,
            "temperature": temperature,
            "stopSequences": stop_sequences,
            "metadata": metadata,
            "modelPreferences": model_preferences,
            "tools": tools,
            "toolChoice": tool_choice,
        }
        given = {name: _dump(value) for name, value in params.items() if value is not None}
        kind = types.CreateMessageResult if tools is None else types.CreateMessageResultWithTools
        return await self._ask("sampling/createMessage", given, kind)

    async def send_ping(self) -> types.EmptyResult:
        """Asks for a sign of life."""
        return await self._ask("ping", None, types.EmptyResult)

    async def send_resource_updated(self, uri: Any) -> None:
        """Tells clients that subscribed to a resource that it changed."""
        self._native.notify_resource_updated(str(uri))

    async def send_tool_list_changed(self) -> None:
        """Tells the client that there are other tools."""
        _asking.notify(self._context, "notifications/tools/list_changed", None)

    async def send_resource_list_changed(self) -> None:
        """Tells the client that there are other resources."""
        _asking.notify(self._context, "notifications/resources/list_changed", None)

    async def send_prompt_list_changed(self) -> None:
        """Tells the client that there are other prompts."""
        _asking.notify(self._context, "notifications/prompts/list_changed", None)


class RequestContext(Generic[SessionT, LifespanT, RequestT]):
    """The request that a handler serves."""

    def __init__(
        self,
        request_id: types.RequestId,
        meta: types.RequestParams.Meta | None,
        session: SessionT,
        lifespan_context: LifespanT,
        request: Any = None,
        experimental: Any = None,
    ) -> None:
        self.request_id, self.meta = request_id, meta
        self.session, self.lifespan_context = session, lifespan_context
        self.experimental = experimental
        self._request = request

    @property
    def request(self) -> RequestT | None:
        """The HTTP request that brought the call, one of Starlette's where that is installed."""
        if isinstance(self._request, NativeContext):
            self._request = for_starlette(self._request.http_request)
        request: RequestT | None = self._request
        return request

    async def close_sse_stream(self) -> None:
        """Gives up the stream of the request over HTTP; its client comes back for the rest."""
        session: Any = self.session
        session._context.end_stream()


current: contextvars.ContextVar[RequestContext[ServerSession, Any, Any]] = contextvars.ContextVar("oxmcp_request")


def context_of(context: NativeContext, native: NativeServer) -> RequestContext[ServerSession, Any, Any]:
    """What a handler is told of the request it serves."""
    meta = context.meta
    return RequestContext(
        context.request_id if context.request_id is not None else "",
        None if meta is None else types.RequestParams.Meta.model_validate(meta),
        ServerSession(context, native),
        {} if native.state is None else native.state,
        context,
    )


def _dump(value: Any) -> Any:
    """A value of `oxmcp.types`, or of pydantic's, as it goes over the wire."""
    if isinstance(value, list):
        return [_dump(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


def _covers(declared: Any, wanted: Any) -> bool:
    """Whether all that is wanted is among what is declared."""
    if not isinstance(wanted, dict):
        return wanted in (None, False) or bool(declared == wanted)
    if not isinstance(declared, dict):
        return False
    left = {name: value for name, value in wanted.items() if value not in (None, False)}
    return all(name in declared and _covers(declared[name], value) for name, value in left.items())
