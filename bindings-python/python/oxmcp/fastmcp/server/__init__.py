"""A server in the form of the class ``FastMCP``, on the core of this package."""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, TypeVar, overload

from ... import _describe, _json, types
from ..._errors import unknown_option
from ..._options import check
from ..._server import Entry, changing
from ..._server import Server as NativeServer
from ...lowlevel import Server as LowLevelServer
from ...lowlevel.helper_types import ReadResourceContents
from .. import _convert, _handlers, _http
from ..context import Context, current
from ..exceptions import NotFoundError, ResourceError, ToolError
from ..prompts.base import Prompt
from ..resources import Resource
from ..tools import Tool, ToolManager
from ._settings import Settings
from ._visibility import Rule, is_shown

__all__ = ["Context", "FastMCP", "Settings"]

Function = TypeVar("Function", bound=Callable[..., Any])
LifespanT = TypeVar("LifespanT")
logger = logging.getLogger("oxmcp")

# What a tool, a resource or a prompt may be said of, in any version of these packages. Some of it has no meaning here.
_COMMON = {"name", "title", "description", "icons", "meta", "tags", "enabled", "task", "version"}
_TOOL = _COMMON | {"annotations", "structured_output", "output_schema", "exclude_args", "serializer", "timeout"}
_RESOURCE = _COMMON | {"mime_type", "annotations"}
_OVERRIDES = {
    "list_tools": "list_tools",
    "list_resources": "list_resources",
    "list_resource_templates": "list_resource_templates",
    "read_resource": "read_resource",
    "list_prompts": "list_prompts",
    "get_prompt": "get_prompt",
}


class FastMCP(Generic[LifespanT]):
    """A server::

        mcp = FastMCP("demo")

        @mcp.tool()
        def add(a: int, b: int) -> int:
            "Adds two numbers."
            return a + b

        mcp.run()

    :param threads: run plain functions on worker threads. By default they run on the event loop one at a time, as they
        do in ``mcp.server.fastmcp``.
    :param dependencies: taken and not used, as everything that only concerns installing a server.
    """

    def __init__(
        self,
        name: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Any] | None = None,
        auth_server_provider: Any = None,
        token_verifier: Any = None,
        event_store: Any = None,
        retry_interval: int | None = None,
        *,
        version: str | None = None,
        tools: Sequence[Any] | None = None,
        lifespan: Callable[[Any], Any] | None = None,
        dependencies: Collection[str] = (),
        auth: Any = None,
        middleware: Sequence[Any] = (),
        threads: bool = False,
        on_duplicate: str = "warn",
        **settings: Any,
    ) -> None:
        self.threads = threads
        self.settings = Settings(dependencies=list(dependencies), lifespan=lifespan, auth=auth, **settings)
        self.dependencies = self.settings.dependencies
        self.website_url, self.icons = website_url, icons
        self._on_duplicate = on_duplicate
        self._auth = auth or auth_server_provider or token_verifier
        self._custom_starlette_routes: list[Any] = []
        self._rules: list[Rule] = []
        self._server = NativeServer(
            name or "FastMCP",
            version=version or "0.0.0",
            instructions=instructions,
            website_url=website_url,
            icons=_plain(icons or ()),
            capabilities={kind: {"listChanged": True} for kind in ("tools", "resources", "prompts")},
            lifespan=None if lifespan is None else lambda _: lifespan(self),
            middleware=middleware,
        )
        self._mcp_server = _Behind(self)
        self._tool_manager = ToolManager(self)
        for tool in tools or ():
            self.add_tool(tool)

    @property
    def name(self) -> str:
        """Who the server is."""
        return self._server.name

    @property
    def instructions(self) -> str | None:
        """How to use it."""
        return self._server.instructions

    @instructions.setter
    def instructions(self, instructions: str | None) -> None:
        self._server.instructions = instructions

    @property
    def version(self) -> str:
        """Its version."""
        return self._server.version

    def __repr__(self) -> str:
        return f"FastMCP({self.name!r})"

    # Adding and removing

    @overload
    def tool(self, name_or_fn: Function, /, **options: Any) -> Function: ...
    @overload
    def tool(self, name_or_fn: str | None = None, /, **options: Any) -> Callable[[Function], Function]: ...
    def tool(self, name_or_fn: Any = None, /, **options: Any) -> Any:
        """Registers a function as a tool: ``@mcp.tool()``, ``@mcp.tool``, ``@mcp.tool("name")`` or
        ``mcp.tool(function)``. The function is given back."""
        _check(options, _TOOL, "tool")
        if isinstance(name_or_fn, str):
            options.setdefault("name", name_or_fn)
        elif name_or_fn is not None:
            self.add_tool(name_or_fn, **options)
            return name_or_fn

        def decorate(function: Function) -> Function:
            self.add_tool(function, **options)
            return function

        return decorate

    def add_tool(self, fn: Any, name: str | None = None, **options: Any) -> Any:
        """Adds a function, or a `Tool`, as a tool."""
        if isinstance(fn, Tool):
            fn, options = fn.fn, {**fn.options, **options}
        _check(options, _TOOL, "tool")
        options = {key: value for key, value in options.items() if value is not None}
        key = str(name or options.get("name") or getattr(fn, "__name__", ""))
        self._add("tool", key, fn, options, _handlers.tool)
        return fn

    def resource(self, uri: str, **options: Any) -> Callable[[Function], Function]:
        """Registers a function as a resource, or with variables in the URI as a template."""
        if callable(uri):
            raise TypeError("The @resource decorator was used incorrectly. Use @resource('uri') instead of @resource")
        _check(options, _RESOURCE, "resource")

        def decorate(function: Function) -> Function:
            kind = "template" if "{" in str(uri) else "resource"
            self._check_variables(kind, str(uri), function)
            self._add(kind, str(uri), function, options, _handlers.resource)
            return function

        return decorate

    def _check_variables(self, kind: str, uri: str, function: Callable[..., Any]) -> None:
        parameters = inspect.signature(function).parameters.values()
        named = {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty}
        variables = set(_describe._variables(uri)) if kind == "template" else set()
        missing = variables - {parameter.name for parameter in parameters}
        if missing:
            raise ValueError(
                f"Mismatch between URI parameters {sorted(variables)} and function parameters {sorted(named)}"
            )

    def add_resource(self, resource: Any) -> Any:
        """Adds a `Resource`."""
        if not isinstance(resource, Resource):
            raise TypeError(f"add_resource takes a Resource, not {resource!r}")
        options = {
            "name": resource.name,
            "title": resource.title,
            "description": resource.description or "",
            "mime_type": resource.mime_type,
            "icons": resource.icons,
            "annotations": resource.annotations,
            "meta": resource.meta,
        }
        self._add("resource", str(resource.uri), resource.read, options, _handlers.resource)
        return resource

    @overload
    def prompt(self, name_or_fn: Function, /, **options: Any) -> Function: ...
    @overload
    def prompt(self, name_or_fn: str | None = None, /, **options: Any) -> Callable[[Function], Function]: ...
    def prompt(self, name_or_fn: Any = None, /, **options: Any) -> Any:
        """Registers a function as a prompt, in all the forms of `tool`."""
        _check(options, _COMMON, "prompt")
        if isinstance(name_or_fn, str):
            options.setdefault("name", name_or_fn)
        elif name_or_fn is not None:
            self._add_prompt(name_or_fn, options)
            return name_or_fn

        def decorate(function: Function) -> Function:
            self._add_prompt(function, options)
            return function

        return decorate

    def add_prompt(self, prompt: Any) -> Any:
        """Adds a `Prompt`."""
        if isinstance(prompt, Prompt):
            self._add_prompt(prompt.fn, prompt.options)
        else:
            self._add_prompt(prompt, {})
        return prompt

    def _add_prompt(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        name = str(options.get("name") or getattr(function, "__name__", ""))
        self._add("prompt", name, function, options, _handlers.prompt)

    def _add(self, kind: str, key: str, function: Any, options: dict[str, Any], read: Callable[..., Any]) -> None:
        if not key or key == "<lambda>":
            raise ValueError("You must provide a name for lambda functions")
        with changing:
            self._add_checked(kind, key, function, options, read)

    def _add_checked(
        self, kind: str, key: str, function: Any, options: dict[str, Any], read: Callable[..., Any]
    ) -> None:
        if (kind, key) in self._server._entries:
            if self._on_duplicate == "error":
                raise ValueError(f"{kind} {key!r} exists already")
            if self._on_duplicate == "warn":
                logger.warning("%s %r exists already; the first one stays", kind, key)
            if self._on_duplicate != "replace":
                return
            self._server._remove(kind, key)
        shown = {name: _plain(value) for name, value in options.items()}
        check(f"a {kind}", shown)
        name = options.get("name") or getattr(function, "__name__", "") or key
        entry = Entry(kind, key, function, {**shown, "name": key if kind in ("tool", "prompt") else name})
        entry.reader = functools.partial(read, self)
        self._server._add(entry)
        if not is_shown(self._rules, entry):
            self._server._show(entry, False)

    def remove_tool(self, name: str) -> None:
        """Removes a tool. Raises `ToolError` when there is none."""
        if not self._server.remove_tool(name):
            raise ToolError(f"Unknown tool: {name}")

    def enable(self, *, only: bool = False, **which: Any) -> FastMCP[LifespanT]:
        """Shows what has one of the `names`, `keys` (``"tool:name"``) or `tags`, and is one of the `components`
        (``"tool"``, …), now and later; with `only`, nothing else. The last of these calls counts."""
        if only:
            self._rules.append(Rule(False))
        return self._rule(Rule.of(True, **which))

    def disable(self, **which: Any) -> FastMCP[LifespanT]:
        """Hides it, in the same way."""
        return self._rule(Rule.of(False, **which))

    def _rule(self, rule: Rule) -> FastMCP[LifespanT]:
        self._rules.append(rule)
        for entry in list(self._server._entries.values()):
            shown = is_shown(self._rules, entry)
            if entry.is_enabled is not shown:
                self._server._show(entry, shown)
        return self

    def completion(self) -> Callable[[Function], Function]:
        """Registers what completes arguments: ``async def (ref, argument, context) -> Completion | None``."""
        self._server._settings["capabilities"]["completions"] = {}
        return self._mcp_server.completion()

    def custom_route(
        self, path: str, methods: list[str], name: str | None = None, **_: Any
    ) -> Callable[[Function], Function]:
        """Registers a handler of another HTTP request beside the protocol's."""

        def decorate(function: Function) -> Function:
            self._custom_starlette_routes.append((path, methods, function, name))
            return function

        return decorate

    def mount(self, server: Any, prefix: Any = None, **_: Any) -> None:
        """Adds all that another server offers: see `oxmcp.Server.mount`."""
        if isinstance(server, str):
            server, prefix = prefix, server
        self._server.mount(getattr(server, "_server", server), prefix or "")

    async def import_server(self, server: Any, prefix: Any = None, **_: Any) -> None:
        """The same as `mount`."""
        self.mount(server, prefix)

    # Asking the server itself

    def _listed(self, kind: str) -> list[Any]:
        _describe.describe_all(self._server, kind)
        page = _json.decode(self._server._registry.list(kind) or "{}")
        ((_, items),) = [(name, value) for name, value in page.items() if isinstance(value, list)]
        return [_SHOWN[kind].model_validate(item) for item in items]

    async def list_tools(self) -> list[types.Tool]:
        """All tools. A subclass may override this, as all that follow; then clients get what it gives."""
        return self._listed("tool")

    async def list_resources(self) -> list[types.Resource]:
        """All resources."""
        return self._listed("resource")

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        """All resource templates."""
        return self._listed("template")

    async def list_prompts(self) -> list[types.Prompt]:
        """All prompts."""
        return self._listed("prompt")

    async def get_tools(self) -> dict[str, Tool]:
        """All tools by name."""
        return self._tool_manager._tools

    async def get_tool(self, name: str) -> Tool:
        """The tool of this name."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            raise NotFoundError(f"Unknown tool: {name}")
        return tool

    def get_context(self) -> Context[Any, Any, Any]:
        """The context of the request that is served, or one without a request."""
        return current.get(Context(None, self))

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Calls a tool. Gives its content, or content and structured content if it has an output schema. Raises
        `ToolError` when it fails."""
        entry = self._server._entries.get(("tool", name))
        if entry is None:
            raise ToolError(f"Unknown tool: {name}")
        result = await self._call(entry, _json.encode(arguments or {}))
        content, structured, failed = _convert.read_back(result.text)
        if failed:
            raise ToolError(content[0].text if content else "")
        return content if structured is None else (content, structured)

    async def _call(self, entry: Entry, params: bytes) -> Any:
        context = current.get(None)
        plan = _describe._read(entry).plan
        assert plan.decode is not None
        return await _describe.call(plan, plan.decode(params), None if context is None else context._native)

    async def read_resource(self, uri: Any) -> Sequence[ReadResourceContents]:
        """Reads a resource."""
        entry, variables = self._resolve(str(uri))
        try:
            result = await self._call(entry, _json.encode({"uri": str(uri), "variables": variables}))
        except Exception as error:
            raise ResourceError(f"Error reading resource {uri}: {error}") from error
        contents = types.ReadResourceResult.model_validate_json(result).contents
        return [_contents_of(item) for item in contents]

    def _resolve(self, uri: str) -> tuple[Entry, dict[str, str]]:
        entry = self._server._entries.get(("resource", uri))
        if entry is not None:
            return entry, {}
        for (kind, template), entry in list(self._server._entries.items()):
            if kind == "template" and (match := _pattern(template).fullmatch(uri)):
                return entry, match.groupdict()
        raise ResourceError(f"Unknown resource: {uri}")

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> types.GetPromptResult:
        """Gets a prompt."""
        entry = self._server._entries.get(("prompt", name))
        if entry is None:
            raise ValueError(f"Unknown prompt: {name}")
        strings = {key: _convert.text(value) for key, value in (arguments or {}).items()}
        return types.GetPromptResult.model_validate_json(await self._call(entry, _json.encode(strings)))

    # Serving

    def __oxmcp_server__(self) -> NativeServer:
        overridden = [name for name in _OVERRIDES if self._overrides(name)]
        for name in overridden:
            if _OVERRIDES[name] not in self._mcp_server.installed:
                getattr(self._mcp_server, name)()(getattr(self, name))
                self._mcp_server.installed.add(name)
        if self._overrides("call_tool") and "call_tool" not in self._mcp_server.installed:
            self._mcp_server.call_tool(validate_input=False)(self.call_tool)
            self._mcp_server.installed.add("call_tool")
        self._mcp_server.install(self._server)
        return self._server

    def _overrides(self, name: str) -> bool:
        return getattr(getattr(self, name), "__func__", None) is not getattr(FastMCP, name)

    def run(self, transport: str | None = None, mount_path: str | None = None, **options: Any) -> None:
        """Serves clients: over standard input and output, or by ``transport="streamable-http"``."""
        if transport in (None, "stdio"):
            return self.__oxmcp_server__().run()
        self._run_http(transport, options)

    async def run_async(self, transport: str | None = None, **options: Any) -> None:
        """The same inside a running event loop."""
        if transport in (None, "stdio"):
            return await self.__oxmcp_server__().run_async()
        await self._run_http_async(transport, options)

    async def run_stdio_async(self, **_: Any) -> None:
        """Serves one client over standard input and output."""
        await self.run_async("stdio")

    async def run_streamable_http_async(self, **options: Any) -> None:
        """Serves clients over HTTP."""
        await self.run_async("streamable-http", **options)

    async def run_http_async(self, transport: str = "http", **options: Any) -> None:
        """Serves clients over HTTP."""
        await self.run_async(transport, **options)

    async def run_sse_async(self, mount_path: str | None = None, **options: Any) -> None:
        """Serves clients by the older form of HTTP."""
        await self.run_async("sse", **options)

    def _run_http(self, transport: str, options: dict[str, Any]) -> None:
        place = _http.Place(self, transport, options)
        _http.with_port(self).run("http", host=place.host, port=place.port, path=place.path, **place.options)

    async def _run_http_async(self, transport: str, options: dict[str, Any]) -> None:
        place = _http.Place(self, transport, options)
        native = _http.with_port(self)
        await native.run_async("http", host=place.host, port=place.port, path=place.path, **place.options)

    def streamable_http_app(self, **options: Any) -> Any:
        """An ASGI application: one of Starlette's, where that is installed, with the routes of `custom_route`."""
        return _http.application(self, _http.Place(self, "streamable-http", options))

    http_app = streamable_http_app

    def sse_app(self, mount_path: str | None = None, **options: Any) -> Any:
        """The same for clients that know only the older form of HTTP."""
        return _http.application(self, _http.Place(self, "sse", options))


class _Behind(LowLevelServer[Any, Any]):
    """The low-level server behind a FastMCP: for programs that register handlers there."""

    def __init__(self, fastmcp: FastMCP[Any]) -> None:
        self._fastmcp = fastmcp
        self.installed: set[str] = set()
        super().__init__(fastmcp.name)

    def native(self, options: Any = None) -> NativeServer:
        server = self._fastmcp.__oxmcp_server__()
        if options is not None:
            server.name, server.version = options.server_name, options.server_version
        return server

    @property
    def name(self) -> str:
        return self._fastmcp._server.name

    @name.setter
    def name(self, name: str) -> None:
        self._fastmcp._server.name = name

    @property
    def version(self) -> str | None:
        return self._fastmcp._server.version

    @version.setter
    def version(self, version: str | None) -> None:
        if version is not None:
            self._fastmcp._server.version = version

    @property
    def instructions(self) -> str | None:
        return self._fastmcp._server.instructions

    @instructions.setter
    def instructions(self, instructions: str | None) -> None:
        if instructions is not None:
            self._fastmcp._server.instructions = instructions


_SHOWN: dict[str, Any] = {
    "tool": types.Tool,
    "resource": types.Resource,
    "template": types.ResourceTemplate,
    "prompt": types.Prompt,
}


def _check(options: dict[str, Any], known: set[str], kind: str) -> None:
    unknown = options.keys() - known
    if unknown:
        raise TypeError(unknown_option(f"a {kind}", min(unknown), known))


def _plain(value: Any) -> Any:
    """What a program said of a tool, as it goes over the wire."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


def _contents_of(item: Any) -> ReadResourceContents:
    import base64

    blob = getattr(item, "blob", None)
    content = item.text if blob is None else base64.b64decode(blob)
    return ReadResourceContents(content, item.mimeType, item.meta)


@functools.lru_cache(maxsize=256)
def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^{}*]+)(\*?)\}", template)
    pattern = ""
    for text, name, star in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""]):
        pattern += re.escape(text)
        if name:
            pattern += f"(?P<{name}>{'.+' if star else '[^/]+'})"
    return re.compile(pattern)
