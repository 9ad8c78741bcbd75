"""The client of `fastmcp`, for programs and their tests: `oxmcp.Client` with its names and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ... import _json, types
from ..._client import Client as NativeClient
from ..._errors import UsageError
from ..exceptions import ToolError
from .transports import (
    ClientTransport,
    FastMCPTransport,
    NodeStdioTransport,
    PythonStdioTransport,
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
)

__all__ = [
    "CallToolResult",
    "Client",
    "ClientTransport",
    "FastMCPTransport",
    "NodeStdioTransport",
    "PythonStdioTransport",
    "SSETransport",
    "StdioTransport",
    "StreamableHttpTransport",
]


@dataclass
class CallToolResult:
    """What a tool gave."""

    content: list[Any]
    structured_content: dict[str, Any] | None
    meta: dict[str, Any] | None
    data: Any = None
    """The structured content, without the object around a value that is none itself."""
    is_error: bool = False


class Client:
    """A client of a server: a FastMCP in memory, a URL, the path of a script, a configuration, or a transport::

        async with Client(mcp) as client:
            print((await client.call_tool("add", {"a": 1, "b": 2})).data)

    `progress_handler`, `log_handler` and `message_handler` are as in `fastmcp`. Handlers that answer the server are those
    of `oxmcp.Client`: ``on_elicit=``, ``on_sample=``.
    """

    def __init__(
        self,
        transport: Any,
        name: str | None = None,
        *,
        roots: Any = None,
        log_handler: Callable[[Any], Any] | None = None,
        message_handler: Callable[[Any], Any] | None = None,
        progress_handler: Callable[..., Any] | None = None,
        timeout: Any = None,
        init_timeout: Any = None,
        client_info: Any = None,
        auth: str | None = None,
        mode: str = "auto",
        **options: Any,
    ) -> None:
        options = dict(options)
        if isinstance(transport, ClientTransport):
            target = transport.target
            options = {**transport.options, **options}
        elif isinstance(transport, Mapping) or hasattr(transport, "__oxmcp_server__"):
            target = transport
        else:
            target = str(transport)
        if auth is not None:
            if not isinstance(auth, str) or auth == "oauth":
                raise UsageError("auth= is a token; authorization by OAuth is not supported here")
            options["headers"] = {**options.get("headers", {}), "Authorization": f"Bearer {auth}"}
        self._progress_handler, self._init_timeout = progress_handler, _seconds(init_timeout)
        self._is_connected = False

        def make() -> NativeClient:
            return NativeClient(
                target,
                name=name or (client_info.name if client_info is not None else "oxmcp"),
                version=None if client_info is None else client_info.version,
                timeout=_seconds(timeout) or 60.0,
                mode="legacy" if mode == "legacy" else "auto",
                roots=roots,
                on_log=None if log_handler is None else lambda *log: log_handler(_log(*log)),
                on_notification=None if message_handler is None else lambda *it: message_handler(_notification(*it)),
                **options,
            )

        self._make, self._native, self._users = make, make(), 0

    @property
    def session(self) -> NativeClient:
        """The `oxmcp.Client` behind it."""
        return self._native

    @property
    def initialize_result(self) -> Any:
        """What the server says of itself."""
        if not self.is_connected():
            return None
        return types.InitializeResult.model_validate(
            {
                "protocolVersion": self._native.protocol_version,
                "capabilities": self._native.server_capabilities,
                "serverInfo": self._native.server_info,
                "instructions": self._native.instructions,
            }
        )

    def is_connected(self) -> bool:
        """Whether it is."""
        return self._is_connected

    async def __aenter__(self) -> Client:
        self._users += 1
        if self._users == 1:
            if self._native.protocol_version is not None:
                self._native = self._make()  # it was connected before
            try:
                await self._native.connect(timeout=self._init_timeout)
            except BaseException:
                self._users = 0
                raise
            self._is_connected = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._users -= 1
        if self._users == 0:
            await self.close()

    async def close(self) -> None:
        """Ends the connection."""
        self._users, self._is_connected = 0, False
        await self._native.close()

    async def ping(self) -> bool:
        """Whether the server answers."""
        await self._native.ping()
        return True

    async def _list(self, method: str, kind: Any, name: str) -> list[Any]:
        id, future = self._native._live().list(method, None)
        page = _json.decode(await self._native._answer(id, future, None))
        return [kind.model_validate(item) for item in page[name]]

    async def list_tools(self) -> list[types.Tool]:
        """All tools."""
        return await self._list("tools/list", types.Tool, "tools")

    async def list_resources(self) -> list[types.Resource]:
        """All resources."""
        return await self._list("resources/list", types.Resource, "resources")

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        """All resource templates."""
        return await self._list("resources/templates/list", types.ResourceTemplate, "resourceTemplates")

    async def list_prompts(self) -> list[types.Prompt]:
        """All prompts."""
        return await self._list("prompts/list", types.Prompt, "prompts")

    async def call_tool_mcp(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress_handler: Callable[..., Any] | None = None,
        timeout: Any = None,
        meta: Mapping[str, Any] | None = None,
    ) -> types.CallToolResult:
        """Calls a tool; gives the result as it came."""
        result = await self._native.call_tool(
            name,
            dict(arguments or {}),
            timeout=_seconds(timeout),
            on_progress=progress_handler or self._progress_handler,
            meta=meta,
        )
        return types.CallToolResult.model_validate_json(_json.encode(result))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        raise_on_error: bool = True,
        **options: Any,
    ) -> CallToolResult:
        """Calls a tool. Raises `ToolError` for a result that is an error, unless told not to."""
        result = await self.call_tool_mcp(name, arguments, **options)
        if result.isError and raise_on_error:
            raise ToolError(result.content[0].text if result.content else f"the tool {name} failed")
        data = result.structuredContent
        if isinstance(data, dict) and data.keys() == {"result"}:
            data = data["result"]
        return CallToolResult(result.content, result.structuredContent, result.meta, data, bool(result.isError))

    async def read_resource(self, uri: Any) -> list[Any]:
        """The contents of a resource."""
        result = await self._native.request("resources/read", {"uri": str(uri)})
        contents: list[Any] = types.ReadResourceResult.model_validate(result).contents
        return contents

    async def get_prompt(self, name: str, arguments: Mapping[str, Any] | None = None) -> types.GetPromptResult:
        """The messages of a prompt."""
        given = (arguments or {}).items()
        strings = {key: value if isinstance(value, str) else _json.encode(value).decode() for key, value in given}
        result = await self._native.request("prompts/get", {"name": name, "arguments": strings})
        return types.GetPromptResult.model_validate(result)

    async def complete(self, ref: Any, argument: Mapping[str, str], context_arguments: Any = None) -> Any:
        """Values for an argument of a prompt or a template."""
        params = {"ref": ref.model_dump(by_alias=True, exclude_none=True), "argument": dict(argument)}
        if context_arguments:
            params["context"] = {"arguments": context_arguments}
        return types.CompleteResult.model_validate(await self._native.request("completion/complete", params)).completion

    async def set_logging_level(self, level: str) -> None:
        """Sets the mildest log messages that the server is to send."""
        await self._native.set_logging_level(level)

    async def send_roots_list_changed(self) -> None:
        """Tells the server that the roots are others now."""
        self._native.notify_roots_changed()


def _seconds(time: Any) -> float | None:
    seconds: float | None = time.total_seconds() if hasattr(time, "total_seconds") else time
    return seconds


def _log(level: Any, data: Any, logger: str | None) -> Any:
    return types.LoggingMessageNotificationParams(level=level, data=data, logger=logger)


def _notification(method: str, params: Any) -> Any:
    return types.Notification(method=method, params=params)
