"""The server: tools, resources and prompts as decorated functions. Imports nothing heavy until a handler
is needed."""

from __future__ import annotations

from _thread import RLock

from ._errors import unknown_option
from ._native import Registry
from ._native import Entry as _NativeEntry
from ._options import check, check_handler
from ._served import Served, serve_streams, to_json
from ._stdio import StandardStreams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, Callable, Literal, TypeVar, overload

    from typing_extensions import Never, Unpack

    from ._asgi import AsgiApp
    from ._http import Endpoint, HttpOptions, HttpServing, ListenOptions
    from ._limits import ServerLimits
    from ._routes import Route
    from ._sessions import ServerSession

    Function = TypeVar("Function", bound=Callable[..., Any])
else:

    def overload(function):
        return function


# Held by whoever changes what servers offer: those that are mounted in each other change together, and who sees an
# entry in a registry must find it here.
changing = RLock()


class Source:
    """A registered function and what was said about it."""

    __slots__ = ("described", "function", "key", "kind", "options", "owner", "reader", "server")

    def __init__(self, kind: str, key: str, function: Any, options: dict[str, Any]) -> None:
        self.kind, self.key, self.function, self.options = kind, key, function, options
        self.described: Any = None
        self.owner: Server | None = None
        """The server that it was registered with first."""
        self.server: Server | None = None
        """The server that offers it: another one than its owner, where that is mounted."""
        self.reader: Callable[[Source], Any] | None = None
        """How its function is read, where not as all of its kind."""

    def __call__(self, native: _NativeEntry) -> None:
        """Prepares the handler. Called by the native module when it is first needed."""
        from ._describe import prepare

        prepare(native, self)


class Entry(Source):
    """One that lists show."""

    __slots__ = ("id", "is_enabled", "is_listed")

    id: int
    is_enabled: bool
    is_listed: bool


class Server:
    """An MCP server.

    :param name: who the server is, for programs.
    :param version: its version, in its own scheme.
    :param title: who it is, for people, as `description`, `website_url` and `icons` are:
        ``[{"src": ..., "mimeType": ..., "sizes": [...]}]``.
    :param instructions: how to use it, for a model.
    :param logging: offer log messages (`Context.log`).
    :param subscriptions: let clients subscribe to resources, see `notify_resource_updated`.
    :param capabilities: what the server declares beside what follows from its handlers, or in place of it:
        ``{"tools": {"listChanged": False}}``.
    :param page_size: how many entries a page of a list has; all of them by default.
    :param limits: bounds on what a client can make the server hold: see `ServerLimits`.
    :param state_keys: secrets of at least 32 characters, which seal what a client of 2026-07-28 keeps for
        the server between two rounds; the first one seals, all of them open. Servers that act as one need
        the same. By default a secret of chance, as good as the process lives.
    :param lifespan: an async context manager (or an async generator) that is given the server and surrounds all that
        it serves; what it yields is ``app.state``, and `Context.state` in handlers.
    :param middleware: functions ``async def (request, call_next)`` around every operation, the first one outermost;
        see `Request`.
    :param on_notification: called with method and params of what clients send unasked, such as
        ``notifications/roots/list_changed``. May be async.
    :param on_connect: called with a `ServerSession` when a client has made its handshake and said that it is
        initialized. May be async. 2026-07-28 has no sessions.
    :param on_disconnect: called with the same when the session has ended, whichever side ended it; for one that was
        never initialized, too. May be async, and waits until `on_connect` is done. A server that stops waits for it,
        for two seconds at most.
    :param on_problem: called with a kind and a message when a client sends something that is no
        message; the connection goes on. By default such problems go to the logger ``oxmcp``.
    :param on_trace: called with ``"sent"`` or ``"received"`` and the text of each message on the wire,
        for people who look into a connection.

    ::

        app = Server("calculator", version="1.0")

        @app.tool
        async def add(a: int, b: int) -> int:
            "Adds two numbers."
            return a + b

        app.run()

    Handlers may be added, removed, shown and hidden at any time, from any thread. Connected clients are told
    once per turn of the event loop.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.0.0",
        title: str | None = None,
        description: str | None = None,
        website_url: str | None = None,
        icons: Sequence[dict[str, Any]] = (),
        instructions: str | None = None,
        logging: bool = True,
        subscriptions: bool = False,
        capabilities: dict[str, Any] | None = None,
        page_size: int | None = None,
        limits: ServerLimits | None = None,
        state_keys: Sequence[str] = (),
        lifespan: Callable[[Any], Any] | None = None,
        middleware: Sequence[Callable[..., Any]] = (),
        on_notification: Callable[[str, Any], object] | None = None,
        on_connect: Callable[[ServerSession], object] | None = None,
        on_disconnect: Callable[[ServerSession], object] | None = None,
        on_problem: Callable[[str, str], None] | None = None,
        on_trace: Callable[[str, str], None] | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise TypeError(unknown_option("Server", min(unknown), _PARAMETERS))
        if not name:
            raise ValueError("a server needs a name that is not empty")
        if not isinstance(name, str):
            raise TypeError(f"the name of a server is a string, not {name!r}")
        about = {"version": version, "title": title, "description": description, "website_url": website_url}
        more = {"icons": icons, "instructions": instructions, "capabilities": capabilities, "state_keys": state_keys}
        check("a server", {**about, **more})
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.on_notification = on_notification
        self.on_connect = on_connect
        self.on_disconnect = on_disconnect
        self.on_problem = on_problem
        self.on_trace = on_trace
        self._settings: dict[str, Any] = {
            "logging": logging,
            "subscriptions": subscriptions,
            "capabilities": capabilities or {},
            "stateKeys": list(state_keys),
        }
        shown = {"description": description, "websiteUrl": website_url, "icons": list(icons)}
        info = {name: value for name, value in shown.items() if value}
        if info:
            self._settings["info"] = info
        if limits is not None:
            from ._limits import ServerLimits, settings

            self._settings["limits"] = settings(limits, ServerLimits)
        self._has_settings = not logging or subscriptions or bool(capabilities or state_keys or info or limits)
        self.state: Any = None
        """What the lifespan gave, while the server runs."""
        self._lifespan = lifespan
        self._life: Any = None
        self._middleware = tuple(middleware)
        self._routes: list[Route] = []
        self._web: Any = None
        """An ASGI app that answers in the place of routes."""
        self._mounted: list[tuple[Server, str]] = []
        self._mounted_in: list[tuple[Server, str]] = []
        self._taken_over: set[str] = set()
        """Requests that are not the core's to answer."""
        self._registry = Registry()
        if self._middleware:
            self._take_lists_over()
        if page_size is not None:
            self._registry.set_page_size(page_size)
        self._entries: dict[tuple[str, str], Entry] = {}
        self._completions: dict[tuple[str, str], Source] = {}
        self._served: Served | None = None
        self._connections: set[Served] = set()
        self._endpoints: set[Endpoint] = set()

    @overload
    def tool(
        self,
        function: Function,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: dict[str, Any] | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: dict[str, Any] | None = None,
        tags: Collection[str] | None = None,
        input_schema: dict[str, Any] | None = None,
        output_schema: dict[str, Any] | bool = True,
    ) -> Function: ...
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: dict[str, Any] | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: dict[str, Any] | None = None,
        tags: Collection[str] | None = None,
        output_schema: dict[str, Any] | bool = True,
    ) -> Callable[[Function], Function]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Registers a function as a tool, as ``@app.tool`` or ``@app.tool(name=...)``.

        The input schema comes from its type hints, the description from its docstring. A parameter
        annotated with `Context` gets the request's context. Async functions run on the event loop,
        plain ones on worker threads. The decorator returns the function itself.

        A tool returns a string, or anything with a JSON form. It raises `ToolError` to tell the
        model what went wrong. If it says that it returns an object with known members (a dataclass, a
        TypedDict, a Struct, a pydantic model, ``dict[str, ...]``), that is its output schema, which its
        results are checked against.

        :param annotations: hints of the specification, such as ``{"readOnlyHint": True}``.
        :param icons: ``[{"src": ..., "mimeType": ..., "sizes": [...]}]``.
        :param meta: the ``_meta`` of the tool in lists.
        :param tags: words that sort it, told to clients in ``_meta`` as ``dev.oxmcp/tags``.
        :param input_schema: a JSON Schema in place of that of the type hints, which arguments are checked against. The
            function then takes one parameter, a dict of all arguments (and a context, if it wants one).
        :param output_schema: a schema in place of that of the return type; False for none. One that is not of an
            object, such as ``{"type": "array"}``, makes whatever the tool returns its structured content, which only
            2026-07-28 has: clients of other revisions get its text.
        """
        return self._decorate(function, "tool", options)

    @overload
    def prompt(self, function: Function, /) -> Function: ...
    @overload
    def prompt(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: dict[str, Any] | None = None,
        tags: Collection[str] | None = None,
    ) -> Callable[[Function], Function]: ...
    def prompt(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Registers a function as a prompt, as ``@app.prompt`` or ``@app.prompt(name=...)``.

        Its parameters are the prompt's arguments. These are strings, read as what the type hints say:
        ``"3"`` for an int, JSON for a list. It returns a string (the user's message), a `Message`, a list
        of such, or a `PromptResult`.
        """
        return self._decorate(function, "prompt", options)

    def resource(
        self,
        uri: str,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: dict[str, Any] | None = None,
        icons: list[dict[str, Any]] | None = None,
        meta: dict[str, Any] | None = None,
        tags: Collection[str] | None = None,
    ) -> Callable[[Function], Function]:
        """Registers a function as a resource, as ``@app.resource("config://app")``, or as a family of
        them, by a URI template (RFC 6570): ``@app.resource("notes://{id}")``.

        The variables of a template are passed by name, read as what the type hints say. The function
        returns a string (text), bytes (a blob), contents (`TextResourceContents`, `BlobResourceContents`) or
        a list of those, or anything with a JSON form.
        """
        if not isinstance(uri, str):
            raise TypeError(f'@app.resource takes the URI first: @app.resource("notes://{{id}}"), not {uri!r}')
        scheme = uri.partition(":")[0]
        if ":" not in uri or not (scheme[:1].isalpha() or scheme[:1] == "{") or not scheme.isascii():
            raise ValueError(f"the URI of a resource is a whole one, with its scheme, such as 'notes://1', not {uri!r}")
        options = {
            "name": name,
            "title": title,
            "description": description,
            "mime_type": mime_type,
            "size": size,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
            "tags": tags,
        }
        return lambda function: self._register("template" if "{" in uri else "resource", uri, function, options)

    def completion(self, of: str | Callable[..., Any], argument: str, /) -> Callable[[Function], Function]:
        """Registers what completes an argument of a prompt, or a variable of a resource template::

            @app.completion("greet", "name")
            async def names(value: str) -> list[str]:
                return [name for name in NAMES if name.startswith(value)]

        :param of: the prompt's name, the template, or the function that was registered as either.
        :param argument: the name of the argument.

        The function takes the value so far, and if it has a second parameter, the arguments that were
        given already, as a dict. It returns strings, or a `Completion`.
        """
        entry = self._completed(of)
        return lambda function: self._register_completion(entry, argument, function)

    def method(self, name: str, /, *, extension: str | None = None) -> Callable[[Function], Function]:
        """Registers a method of the program's own, which clients call by `Client.request`.

        Its parameters are the members of the request's params. It returns an object, or nothing.

        :param extension: the identifier of an extension; the method is there for clients that declare it.
        """

        def decorate(function: Function) -> Function:
            _check_function(function, "method")
            source = Source("method", name, function, {})
            source.owner = self
            self._registry.add_method(name, extension, _NativeEntry("method", name, source, self))
            return function

        return decorate

    def custom_route(self, path: str, *, methods: Sequence[str] = ("GET",)) -> Callable[[Function], Function]:
        """Registers what answers other requests of HTTP, beside the protocol's::

            @app.custom_route("/health")
            async def health(request: HttpRequest) -> str:
                return "fine"

        The function gets an `HttpRequest`. It returns a string, bytes, what has a JSON form, an `HttpResponse`, nothing
        (204), or a response of Starlette. What it raises is logged, and answered with status 500.

        ``run("http")`` serves it, to the hosts and web pages that it serves otherwise; register it before that. So does
        `asgi`, to all that come: there the app around it decides who may.

        :param path: such as ``"/notes/{id}"``; `HttpRequest.path_params` has the variables.
        """

        def decorate(function: Function) -> Function:
            from ._routes import Route

            _check_function(function, "custom_route")
            self._routes.append(Route(path, methods, function))
            return function

        return decorate

    def add_tool(self, function: Callable[..., Any], /, **options: Any) -> None:
        """Adds a tool: `tool` as a plain call."""
        self._decorate(function, "tool", options)

    def add_resource(self, function: Callable[..., Any], uri: str, /, **options: Any) -> None:
        """Adds a resource or a template: `resource` as a plain call."""
        self.resource(uri, **options)(function)

    def add_prompt(self, function: Callable[..., Any], /, **options: Any) -> None:
        """Adds a prompt: `prompt` as a plain call."""
        self._decorate(function, "prompt", options)

    def remove_tool(self, name: str) -> bool:
        """Removes a tool. Calls of it that run go on. False when there was none."""
        return self._remove("tool", name)

    def remove_resource(self, uri: str) -> bool:
        """Removes a resource or a template. False when there was none."""
        return self._remove("template" if "{" in uri else "resource", uri)

    def remove_prompt(self, name: str) -> bool:
        """Removes a prompt. False when there was none."""
        return self._remove("prompt", name)

    def enable(self, *, tool: str | None = None, resource: str | None = None, prompt: str | None = None) -> None:
        """Shows what `disable` hid."""
        self._set_enabled(True, tool, resource, prompt)

    def disable(self, *, tool: str | None = None, resource: str | None = None, prompt: str | None = None) -> None:
        """Hides a tool, a resource (or template) or a prompt: it is in no list, and cannot be called.

        Raises `KeyError` when there is none.
        """
        self._set_enabled(False, tool, resource, prompt)

    def notify_resource_updated(self, uri: str) -> bool:
        """Tells the clients that subscribed to a resource that it has other contents now. False when
        nobody did. May be called from any thread.

        Raises `CapabilityError` unless the server was made with ``subscriptions=True``.
        """
        if not isinstance(uri, str):
            raise TypeError(f"the URI of a resource is a string, not {uri!r}")
        if not self._settings["subscriptions"]:
            from ._errors import CapabilityError

            raise CapabilityError(
                f"the update of {uri} was not sent: this server does not declare the capability "
                '"resources.subscribe"; make it with subscriptions=True',
                code=-32601,
            )
        command = to_json({"resourceUpdated": {"uri": uri}})
        told = ['"done":true' in served.connection.command(command) for served in self._all_served()]
        told += [endpoint.native.resource_updated(uri) for endpoint in list(self._endpoints)]
        return any(told)

    def _all_served(self) -> list[Served]:
        served = self._served
        return [*self._connections] if served is None else [served, *self._connections]

    def _decorate(self, function: Any, kind: str, options: dict[str, Any]) -> Any:
        unknown = options.keys() - _OPTIONS[kind]
        if unknown:
            raise TypeError(unknown_option(f"a {kind}", min(unknown), _OPTIONS[kind]))
        if function is None:
            return lambda function: self._register(kind, None, function, options)
        return self._register(kind, None, function, options)

    def _register(self, kind: str, key: str | None, function: Any, options: dict[str, Any]) -> Any:
        _check_function(function, kind)
        name = options.get("name")
        if name is None:
            name = getattr(function, "__name__", "")
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} is a string, not {name!r}")
        if not name or name == "<lambda>":
            raise ValueError(f"a {kind} without a name of its own needs name=, which is not empty")
        check_handler(kind, options)
        self._add(Entry(kind, name if key is None else key, function, {**options, "name": name}))
        return function

    def _add(self, entry: Entry) -> None:
        """Adds an entry, and adds it to those that this server is mounted in."""
        if entry.owner is None:
            entry.owner = self
        entry.server = self
        native = _NativeEntry("resource" if entry.kind == "template" else entry.kind, entry.key, entry, entry.owner)
        with changing:
            entry.id, entry.is_listed = self._registry.add(entry.kind, entry.key, native), False
            entry.is_enabled = True
            self._entries[entry.kind, entry.key] = entry
            for parent, prefix in self._mounted_in:
                parent._add(_under(prefix, entry))
        self._changed()

    def mount(self, child: Server, prefix: str = "") -> None:
        """Adds all that another server offers, now and later, to this one::

            app.mount(weather, prefix="weather")  # its tool "today" is "weather_today" here

        Tools and prompts get the prefix and ``_`` before their names, resources get it as the first part of their path:
        ``data://week`` is ``data://weather/week``. The child's middleware and lifespan go with it.

        Raises `ValueError` when a name is taken, or when the servers would contain each other.
        """
        if prefix and not all(part.isalnum() for part in prefix.replace("-", "_").split("_") if part):
            raise ValueError(f"a prefix is made of letters, digits, '_' and '-', not {prefix!r}")
        with changing:
            self._mount(child, prefix)

    def _mount(self, child: Server, prefix: str) -> None:
        if child is self or child._contains(self):
            raise ValueError(f"the server {child.name!r} cannot be mounted in {self.name!r}, which it contains")
        entries = [_under(prefix, entry) for entry in child._entries.values()]
        for entry in entries:
            if (entry.kind, entry.key) in self._entries:
                raise ValueError(f"the server {self.name!r} has a {entry.kind} {entry.key!r} already")
        for entry in entries:
            self._add(entry)
        for entry in child._entries.values():
            if not entry.is_enabled:
                self._show(self._entries[entry.kind, _prefixed(prefix, entry.kind, entry.key)], False)
        for (kind, key), source in child._completions.items():
            of = self._entries[kind, _prefixed(prefix, kind, key)]
            self._complete(of, {name: function for name, function in source.options["arguments"].items()})
        child._mounted_in.append((self, prefix))
        self._mounted.append((child, prefix))

    def _contains(self, other: Server) -> bool:
        return any(child is other or child._contains(other) for child, _ in self._mounted)

    def _completed(self, of: str | Callable[..., Any]) -> Entry:
        for entry in list(self._entries.values()):
            if entry.kind in ("prompt", "template") and (entry.key == of or entry.function is of):
                return entry
        raise ValueError(f"{of!r} is no prompt and no resource template of this server; register that first")

    def _register_completion(self, entry: Entry, argument: str, function: Any) -> Any:
        _check_function(function, "completion")
        with changing:
            before = self._completions.get((entry.kind, entry.key))
            if before is not None and argument in before.options["arguments"]:
                raise ValueError(f"the argument {argument!r} of {entry.kind} {entry.key!r} has a completion already")
            self._complete(entry, {argument: function})
        return function

    def _complete(self, entry: Entry, functions: dict[str, Any]) -> None:
        before = self._completions.get((entry.kind, entry.key))
        arguments = {} if before is None else before.options["arguments"]
        source = Source("completion", entry.key, None, {"arguments": {**arguments, **functions}})
        source.owner, source.server = entry.owner, self
        native = _NativeEntry("completion", entry.key, source, entry.owner)
        self._registry.complete(entry.kind, entry.id, native)
        self._completions[entry.kind, entry.key] = source
        for parent, prefix in self._mounted_in:
            of = parent._entries.get((entry.kind, _prefixed(prefix, entry.kind, entry.key)))
            if of is not None:
                parent._complete(of, functions)

    def _remove(self, kind: str, key: str) -> bool:
        with changing:
            entry = self._entries.pop((kind, key), None)
            self._completions.pop((kind, key), None)
            if entry is None:
                return False
            removed = self._registry.remove(kind, entry.id)
            for parent, prefix in self._mounted_in:
                parent._remove(kind, _prefixed(prefix, kind, key))
        self._changed()
        return removed

    def _set_enabled(self, enabled: bool, tool: str | None, resource: str | None, prompt: str | None) -> None:
        kinds = {"tool": tool, "resource": resource, "prompt": prompt}
        named = [(kind, key) for kind, key in kinds.items() if key is not None]
        if len(named) != 1:
            raise TypeError("name one of tool=, resource= or prompt=")
        kind, key = named[0]
        if kind == "resource" and "{" in key:
            kind = "template"
        with changing:
            entry = self._entries.get((kind, key))
            if entry is None:
                raise KeyError(f"this server has no {kind} {key!r}")
            self._show(entry, enabled)

    def _show(self, entry: Entry, enabled: bool) -> None:
        entry.is_enabled = enabled
        if self._registry.set_enabled(entry.kind, entry.id, enabled):
            self._changed()
        for parent, prefix in self._mounted_in:
            its = parent._entries.get((entry.kind, _prefixed(prefix, entry.kind, entry.key)))
            if its is not None:
                parent._show(its, enabled)

    def _take_lists_over(self) -> None:
        """Lists are the core's to answer, unless middleware or telemetry want to see them."""
        for method in _LISTS:
            if method in self._taken_over:
                continue
            self._taken_over.add(method)
            source = Source("list", method, None, {})
            source.owner = self
            self._registry.take_over(method, _NativeEntry("method", method, source, self))

    def _changed(self) -> None:
        """Has connected clients told, at the end of the loop's turn. Those over HTTP are told by the core itself."""
        for served in self._all_served():
            served.connection.wake()

    @overload
    def run(self, transport: Literal["stdio"] = "stdio") -> None: ...
    @overload
    def run(
        self,
        transport: Literal["http"],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        path: str = "/mcp",
        **options: Unpack[ListenOptions],
    ) -> None: ...
    def run(self, transport: Literal["stdio", "http"] = "stdio", **options: Any) -> None:
        """Serves one client over standard input and output, until it leaves; or with ``"http"`` any number of them
        on a port, until SIGINT or SIGTERM comes.

        Over standard input and output, ``print`` writes to standard error, and standard input reads as empty: the
        real ones belong to the protocol. For HTTP see `serve_http`.
        """
        import sys

        if _is_http(transport, options):
            _load_asyncio()
            from ._http import run

            given: dict[str, Any] = {"port": 8000, **options}
            return run(self, self.serve_http(**given))
        # Asked only of an asyncio that is there already: importing it would slow the start.
        loaded = sys.modules.get("asyncio")
        if loaded is not None and loaded._get_running_loop() is not None:
            raise RuntimeError("run() was called inside a running event loop; there it is 'await app.run_async()'")
        self._refuse_second()
        with StandardStreams() as streams:
            try:
                self._served = served = Served(self, streams)
                # What is told of needs the loop from the start.
                at_once = self._has_life() or self._tells_sessions()
                if at_once or served.connection.serve_without_host():
                    _load_asyncio()
                    from ._interrupts import run as run_alert

                    run_alert(served.run())
            except KeyboardInterrupt:
                pass
            finally:
                self._served = None

    @overload
    async def run_async(self, transport: Literal["stdio"] = "stdio") -> None: ...
    @overload
    async def run_async(
        self,
        transport: Literal["http"],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        path: str = "/mcp",
        **options: Unpack[ListenOptions],
    ) -> None: ...
    async def run_async(self, transport: Literal["stdio", "http"] = "stdio", **options: Any) -> None:
        """The same as `run`, inside a running event loop. Over HTTP it serves until its task is cancelled."""
        if _is_http(transport, options):
            given: dict[str, Any] = {"port": 8000, **options}
            async with self.serve_http(**given) as serving:
                return await serving.wait_closed()
        self._refuse_second()
        with StandardStreams() as streams:
            await serve_streams(self, streams)

    def serve_http(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        path: str = "/mcp",
        **options: Unpack[ListenOptions],
    ) -> HttpServing:
        """Serves any number of clients over HTTP, on the running event loop::

            async with app.serve_http(port=8000) as serving:
                print(serving.url)
                await serving.wait_closed()

        Connections, sessions, lists and timeouts are looked after by threads of the core; handlers run on the loop.

        :param host: the address of this machine to listen on. One that others can reach, such as ``"0.0.0.0"``, needs
            ``hosts=[...]``: the names under which they do.
        :param port: 0 for any that is free, see `HttpServing.address`.
        :param path: where the server is found.
        :param options: see `HttpOptions` and `ListenOptions`.
        """
        from ._http import HttpServing

        return HttpServing(self, host, port, path, options)

    def asgi(self, *, path: str = "/mcp", **options: Unpack[HttpOptions]) -> AsgiApp:
        """The server as an ASGI app, for uvicorn and the like, or to be mounted in FastAPI or Starlette::

            mcp = app.asgi()                              # uvicorn module:mcp

            web = FastAPI(lifespan=mcp.lifespan)
            web.mount("/", mcp)                           # after the app's own routes

        :param path: where the server is found; in a mounted app, below the path that it is mounted at.
        :param options: see `HttpOptions`. Behind a proxy, or under a name of its own, it needs ``hosts=[...]``.
        """
        from ._asgi import AsgiApp

        return AsgiApp(self, path, options)

    def __oxmcp_server__(self) -> Server:
        return self

    def _tells_sessions(self) -> bool:
        return self.on_connect is not None or self.on_disconnect is not None

    def _has_life(self) -> bool:
        return self._lifespan is not None or any(child._has_life() for child, _ in self._mounted)

    def _living(self) -> Any:
        """An async context: the lifespan goes on as long as anyone is in it."""
        if self._life is None:
            from ._lifespan import Life

            # Loops on other threads may ask at the same time, and have to have the same one.
            with changing:
                if self._life is None:
                    self._life = Life(self)
        return self._life

    def _refuse_second(self) -> None:
        if self._served is not None:
            raise RuntimeError("this server runs already, and standard input and output serve one client at a time")


_COMMON = {"name", "title", "description", "icons", "meta", "tags"}
_OPTIONS = {"tool": _COMMON | {"annotations", "input_schema", "output_schema"}, "prompt": _COMMON}
_PARAMETERS = (
    "name version title description website_url icons instructions logging subscriptions capabilities page_size "
    "limits state_keys lifespan middleware on_notification on_connect on_disconnect on_problem on_trace"
).split()
_LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


def _under(prefix: str, entry: Entry) -> Entry:
    """An entry of a mounted server, as its parent has it."""
    key = _prefixed(prefix, entry.kind, entry.key)
    options = {**entry.options, "name": _prefixed(prefix, "tool", entry.options["name"])}
    mounted = Entry(entry.kind, key, entry.function, options)
    mounted.owner, mounted.reader = entry.owner, entry.reader
    return mounted


def _prefixed(prefix: str, kind: str, key: str) -> str:
    if not prefix:
        return key
    if kind in ("tool", "prompt"):
        return f"{prefix}_{key}"
    scheme, found, path = key.partition("://")
    return f"{scheme}://{prefix}/{path}" if found else f"{prefix}/{key}"


def _check_function(function: Any, kind: str) -> None:
    if isinstance(function, classmethod):
        scope, _, name = function.__func__.__qualname__.rpartition(".")
        below = f"app.{kind}({scope}.{name})"
        raise TypeError(f"a class method has no class yet in the body of it; register it below that: {below}")
    if not callable(function):
        raise TypeError(f"@{kind} takes a function, not {function!r}; write @app.{kind}(name=...) to set a name")
    _refuse_method(function)


def _refuse_method(function: Callable[..., Any]) -> None:
    """Refuses a function in the body of a class: its caller has no object to call it on."""
    code = getattr(function, "__code__", None)
    scope = getattr(function, "__qualname__", "").rpartition(".")[0]
    if code is None or not scope or scope.endswith("<locals>") or hasattr(function, "__self__"):
        return
    if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
        name = function.__name__
        raise TypeError(
            f"{function.__qualname__} is a method without an object, so nobody could pass its "
            f"{code.co_varnames[0]!r}; register the bound method instead: app.tool({scope}(...).{name})"
        )


def _load_asyncio() -> None:
    from ._asyncio import load

    load()


def _is_http(transport: str, options: dict[str, Any]) -> bool:
    if transport not in ("stdio", "http"):
        raise ValueError(f"a server runs over 'stdio' or 'http', not {transport!r}")
    if transport == "stdio" and options:
        raise TypeError(f'{min(options)}= is for HTTP: run("http", {min(options)}=...)')
    return transport == "http"
