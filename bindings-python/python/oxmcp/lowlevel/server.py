"""A server whose handlers answer whole requests: the class ``mcp.server.Server``, on the core of this package."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar

from .. import _describe, _json, types
from .._errors import _PASSED_ON
from .._errors import McpError as AnyMcpError
from .._native import Context as NativeContext
from .._native import Entry, Schema
from .._server import Server as NativeServer
from .._server import Source
from .._served import serve_streams
from ..types._model import RootModel
from .models import InitializationOptions
from .session import RequestContext, ServerSession, _dump, context_of, current
from .sse import SseStream
from .stdio import StdioStream

__all__ = ["NotificationOptions", "Server", "request_ctx"]

Function = TypeVar("Function", bound=Callable[..., Any])
LifespanT = TypeVar("LifespanT")
RequestT = TypeVar("RequestT")
Decorator = Callable[[Function], Function]

logger = logging.getLogger("oxmcp")
request_ctx = current
"""The context variable behind `Server.request_context`."""

_RESULTS: dict[type, tuple[type[types.Result], str]] = {
    types.ListToolsRequest: (types.ListToolsResult, "tools"),
    types.ListPromptsRequest: (types.ListPromptsResult, "prompts"),
    types.ListResourcesRequest: (types.ListResourcesResult, "resources"),
    types.ListResourceTemplatesRequest: (types.ListResourceTemplatesResult, "resourceTemplates"),
}
_ANSWERED_BY_CORE = ("initialize", "ping")


class NotificationOptions:
    """Which lists the server tells changes of."""

    def __init__(
        self, prompts_changed: bool = False, resources_changed: bool = False, tools_changed: bool = False
    ) -> None:
        self.prompts_changed = prompts_changed
        self.resources_changed = resources_changed
        self.tools_changed = tools_changed


@contextlib.asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
    """The lifespan of a server that has none of its own."""
    yield {}


class Server(Generic[LifespanT, RequestT]):
    """A server whose handlers answer whole requests::

        server = Server("demo")

        @server.list_tools()
        async def list_tools() -> list[Tool]:
            return [Tool(name="add", inputSchema={"type": "object"})]

        @server.call_tool()
        async def call_tool(name: str, arguments: dict) -> list[TextContent]:
            return [TextContent(type="text", text="5")]

        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    """

    def __init__(
        self,
        name: str,
        version: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: list[types.Icon] | None = None,
        lifespan: Callable[[Any], Any] = lifespan,
    ) -> None:
        self.name, self.version, self.instructions = name, version, instructions
        self.website_url, self.icons, self.lifespan = website_url, icons, lifespan
        self.request_handlers: dict[type, Callable[..., Awaitable[Any]]] = {}
        """By the type of the request, what answers it."""
        self.notification_handlers: dict[type, Callable[..., Awaitable[None]]] = {}
        self._tools: dict[str, tuple[types.Tool, Schema | None, Schema | None]] = {}

    @property
    def request_context(self) -> RequestContext[ServerSession, LifespanT, RequestT]:
        """The request that is served. Raises `LookupError` outside of a handler."""
        return current.get()

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What the server says of itself."""
        return InitializationOptions(
            server_name=self.name,
            server_version=self.version or "0.0.0",
            capabilities=self.get_capabilities(
                notification_options or NotificationOptions(), experimental_capabilities or {}
            ),
            instructions=self.instructions,
            website_url=self.website_url,
            icons=self.icons,
        )

    def get_capabilities(
        self, notification_options: NotificationOptions, experimental_capabilities: dict[str, dict[str, Any]]
    ) -> types.ServerCapabilities:
        """What follows from the handlers that there are."""
        has = self.request_handlers.__contains__
        tools = types.ToolsCapability(listChanged=notification_options.tools_changed)
        prompts = types.PromptsCapability(listChanged=notification_options.prompts_changed)
        resources = types.ResourcesCapability(
            subscribe=has(types.SubscribeRequest), listChanged=notification_options.resources_changed
        )
        return types.ServerCapabilities(
            tools=tools if has(types.ListToolsRequest) or has(types.CallToolRequest) else None,
            prompts=prompts if has(types.ListPromptsRequest) or has(types.GetPromptRequest) else None,
            resources=resources if has(types.ListResourcesRequest) or has(types.ReadResourceRequest) else None,
            logging=types.LoggingCapability() if has(types.SetLevelRequest) else None,
            completions=types.CompletionsCapability() if has(types.CompleteRequest) else None,
            experimental=experimental_capabilities,
        )

    def list_tools(self) -> Decorator[Any]:
        """``async def () -> list[Tool]``, or one that takes a `ListToolsRequest` and gives a `ListToolsResult`."""
        return self._list(types.ListToolsRequest)

    def list_prompts(self) -> Decorator[Any]:
        """``async def () -> list[Prompt]``."""
        return self._list(types.ListPromptsRequest)

    def list_resources(self) -> Decorator[Any]:
        """``async def () -> list[Resource]``."""
        return self._list(types.ListResourcesRequest)

    def list_resource_templates(self) -> Decorator[Any]:
        """``async def () -> list[ResourceTemplate]``."""
        return self._list(types.ListResourceTemplatesRequest)

    def _list(self, request: type) -> Decorator[Any]:
        result_type, member = _RESULTS[request]

        def decorate(function: Any) -> Any:
            wants_request = _wants(function, request)

            async def handler(asked: Any) -> Any:
                result = await _awaited(function(asked) if wants_request else function())
                if not isinstance(result, types.Result):
                    result = result_type(**{member: result})
                if isinstance(result, types.ListToolsResult):
                    for tool in result.tools:
                        self._tools[tool.name] = _checked(tool)
                return types.ServerResult(result)

            self.request_handlers[request] = handler
            return function

        return decorate

    def call_tool(self, *, validate_input: bool = True) -> Decorator[Any]:
        """``async def (name, arguments)``. It gives blocks of content, a dict (structured content), a tuple of both, or
        a `CallToolResult`. What it raises becomes a result with ``isError``.

        :param validate_input: check the arguments against the tool's input schema.
        """

        def decorate(function: Any) -> Any:
            async def handler(request: types.CallToolRequest) -> Any:
                try:
                    return types.ServerResult(await self._call(function, request, validate_input))
                except AnyMcpError as error:
                    if error.code in _PASSED_ON:
                        raise
                    return _failed(error.message)
                except Exception as error:
                    logger.debug("tool %r failed", request.params.name, exc_info=error)
                    return _failed(str(error))

            self.request_handlers[types.CallToolRequest] = handler
            return function

        return decorate

    async def _call(self, function: Any, request: types.CallToolRequest, validate_input: bool) -> types.CallToolResult:
        name, arguments = request.params.name, request.params.arguments or {}
        tool, input_schema, output_schema = await self._tool(name)
        if validate_input and input_schema is not None:
            wrong = input_schema.check(_json.encode(arguments).decode())
            if wrong is not None:
                raise ValueError(f"Input validation error: {wrong}")
        result = await _awaited(function(name, arguments))
        if isinstance(result, types.Result):
            return result  # type: ignore[return-value] # any result, as it is
        content, structured = _parts(result)
        if output_schema is not None:
            if structured is None:
                raise ValueError("Output validation error: the tool has an outputSchema, and gave no structured data")
            wrong = output_schema.check(_json.encode(structured).decode())
            if wrong is not None:
                raise ValueError(f"Output validation error: {wrong}")
        return types.CallToolResult(content=content, structuredContent=structured)

    async def _tool(self, name: str) -> tuple[types.Tool | None, Schema | None, Schema | None]:
        if name not in self._tools and types.ListToolsRequest in self.request_handlers:
            await self.request_handlers[types.ListToolsRequest](types.ListToolsRequest())
        return self._tools.get(name, (None, None, None))

    def get_prompt(self) -> Decorator[Any]:
        """``async def (name, arguments) -> GetPromptResult``."""
        return self._simple(types.GetPromptRequest, lambda params: (params.name, params.arguments))

    def set_logging_level(self) -> Decorator[Any]:
        """``async def (level)``."""
        return self._simple(types.SetLevelRequest, lambda params: (params.level,))

    def subscribe_resource(self) -> Decorator[Any]:
        """``async def (uri)``."""
        return self._simple(types.SubscribeRequest, lambda params: (params.uri,))

    def unsubscribe_resource(self) -> Decorator[Any]:
        """``async def (uri)``."""
        return self._simple(types.UnsubscribeRequest, lambda params: (params.uri,))

    def _simple(self, request: type, arguments: Callable[[Any], tuple[Any, ...]]) -> Decorator[Any]:
        def decorate(function: Any) -> Any:
            async def handler(asked: Any) -> Any:
                result = await _awaited(function(*arguments(asked.params)))
                return types.ServerResult(types.EmptyResult() if result is None else result)

            self.request_handlers[request] = handler
            return function

        return decorate

    def completion(self) -> Decorator[Any]:
        """``async def (ref, argument, context) -> Completion | None``."""

        def decorate(function: Any) -> Any:
            async def handler(request: types.CompleteRequest) -> Any:
                params = request.params
                completion = await _awaited(function(params.ref, params.argument, params.context))
                completion = types.Completion(values=[]) if completion is None else completion
                return types.ServerResult(types.CompleteResult(completion=completion))

            self.request_handlers[types.CompleteRequest] = handler
            return function

        return decorate

    def read_resource(self) -> Decorator[Any]:
        """``async def (uri)``: gives text, bytes, `ReadResourceContents`, or a list of those."""

        def decorate(function: Any) -> Any:
            async def handler(request: types.ReadResourceRequest) -> Any:
                uri = request.params.uri
                result = await _awaited(function(uri))
                if isinstance(result, types.Result):
                    return types.ServerResult(result)
                is_one = isinstance(result, (str, bytes)) or not hasattr(result, "__iter__")
                items = [result] if is_one else list(result)
                contents = [_contents(uri, item) for item in items]
                return types.ServerResult(types.ReadResourceResult(contents=contents))

            self.request_handlers[types.ReadResourceRequest] = handler
            return function

        return decorate

    def progress_notification(self) -> Decorator[Any]:
        """``async def (token, progress, total, message)``, for progress of what the server asked for."""

        def decorate(function: Any) -> Any:
            async def handler(notification: types.ProgressNotification) -> None:
                params = notification.params
                await _awaited(function(params.progressToken, params.progress, params.total, params.message))

            self.notification_handlers[types.ProgressNotification] = handler
            return function

        return decorate

    async def run(
        self,
        read_stream: Any,
        write_stream: Any,
        initialization_options: InitializationOptions,
        raise_exceptions: bool = False,
        stateless: bool = False,
    ) -> None:
        """Serves a client until it leaves. The streams are those of `stdio_server`, or of an `SseServerTransport`."""
        if isinstance(read_stream, SseStream):
            return await read_stream.serve(self, initialization_options)
        if not isinstance(read_stream, StdioStream) or not isinstance(write_stream, StdioStream):
            raise TypeError(
                f"run() takes the streams of oxmcp.lowlevel.stdio_server(), not {type(read_stream).__name__}; "
                "connect to a server in memory by oxmcp.Client(server)"
            )
        await serve_streams(self.native(initialization_options), read_stream.streams)

    def native(self, options: InitializationOptions | None = None) -> NativeServer:
        """The `oxmcp.Server` that has these handlers."""
        options = options or self.create_initialization_options()
        capabilities = _dump(options.capabilities)
        native = NativeServer(
            options.server_name,
            version=options.server_version,
            instructions=options.instructions,
            website_url=options.website_url,
            icons=_dump(options.icons or []),
            subscriptions=types.SubscribeRequest in self.request_handlers,
            capabilities=capabilities,
            lifespan=lambda _: self.lifespan(self),
            on_notification=self._on_notification,
        )
        self.install(native)
        return native

    def __oxmcp_server__(self) -> NativeServer:
        return self.native()

    def install(self, native: NativeServer) -> None:
        """Has the handlers answer for a server."""
        for request, handler in self.request_handlers.items():
            method = getattr(request, "METHOD", "")
            if not method:
                raise TypeError(f"request_handlers has {request!r}, which is no request of oxmcp.types")
            if method in _ANSWERED_BY_CORE:
                continue
            entry = Entry("method", method, _Plan(native, request, handler), native)
            native._registry.take_over(method, entry)
            native._taken_over.add(method)

    async def _on_notification(self, method: str, params: Any) -> None:
        for kind, handler in self.notification_handlers.items():
            if getattr(kind, "METHOD", "") == method:
                await handler(kind(params=params))


class _Plan:
    """Prepares the handler of a request when it is first needed."""

    def __init__(self, native: NativeServer, request: type, handler: Callable[..., Awaitable[Any]]) -> None:
        self._native, self._request, self._handler = native, request, handler

    def __call__(self, entry: Entry) -> None:
        native, kind, handler = self._native, self._request, self._handler

        async def serve(params: Any, context: NativeContext) -> bytes:
            try:
                request = kind(**({} if params is None else {"params": params}))
            except types.ValidationError as error:
                raise AnyMcpError(f"Invalid params: {error}", code=-32602) from error
            token = current.set(context_of(context, native))
            try:
                result = await handler(request)
            finally:
                current.reset(token)
            if isinstance(result, RootModel):
                result = result.root
            if isinstance(result, types.ErrorData):
                raise AnyMcpError(result.message, result.code, result.data)
            return _json.encode(_dump(result))

        plan = _describe.Plan(serve, _Params, ["params"], None, 1)
        if "opentelemetry.trace" in sys.modules:
            from .. import _telemetry

            plan = _telemetry.served(Source("method", entry.name, handler, {}), plan)
        entry.prepare(*plan)


class _Params:
    """The params of a request, decoded."""

    def __init__(self, text: bytes) -> None:
        self.params = _json.decode(text) or None


def _wants(function: Any, request: type) -> bool:
    """Whether a function for a list takes the request: by its hint, or by having one parameter that must be given."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if not parameters:
        return False
    hint = parameters[0].annotation
    if hint is request or isinstance(hint, str) and hint.rpartition(".")[2] == request.__name__:
        return True
    return parameters[0].default is inspect.Parameter.empty and parameters[0].kind not in (
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _checked(tool: types.Tool) -> tuple[types.Tool, Schema | None, Schema | None]:
    def schema(value: Any) -> Schema | None:
        return None if value is None else Schema(_json.encode(value).decode())

    try:
        return tool, schema(tool.inputSchema), schema(tool.outputSchema)
    except ValueError as error:
        logger.warning("the tool %r is not checked: %s", tool.name, error)
        return tool, None, None


def _failed(message: str) -> types.ServerResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=message)]
    return types.ServerResult(types.CallToolResult(content=content, isError=True))


def _parts(result: Any) -> tuple[list[Any], Any]:
    """Content and structured content, from what a tool gives."""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], (dict, type(None))):
        return list(result[0]), result[1]
    if isinstance(result, dict):
        import msgspec

        text = msgspec.json.format(_json.encode(result), indent=2).decode()
        return [types.TextContent(type="text", text=text)], result
    if isinstance(result, Iterable) and not isinstance(result, (str, bytes)):
        return list(result), None
    raise TypeError(f"Unexpected return type from tool: {type(result).__name__}")


def _contents(uri: types.AnyUrl, item: Any) -> types.TextResourceContents | types.BlobResourceContents:
    import base64

    if isinstance(item, (types.TextResourceContents, types.BlobResourceContents)):
        return item
    data = getattr(item, "content", item)
    mime_type, meta = getattr(item, "mime_type", None), getattr(item, "meta", None)
    if isinstance(data, str):
        return types.TextResourceContents(uri=uri, text=data, mimeType=mime_type or "text/plain", meta=meta)
    if isinstance(data, (bytes, bytearray)):
        blob = base64.b64encode(data).decode()
        return types.BlobResourceContents(
            uri=uri, blob=blob, mimeType=mime_type or "application/octet-stream", meta=meta
        )
    raise TypeError(f"a resource is text or bytes, not {type(item).__name__}")
