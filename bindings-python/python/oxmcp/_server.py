"""The server: tools, resources and prompts as decorated functions. Imports nothing heavy until a handler
is needed."""

from __future__ import annotations

import os
from _thread import allocate_lock

from ._errors import report
from ._native import Connection, Registry
from ._native import Entry as _NativeEntry
from ._stdio import StandardStreams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Callable, TypeVar, overload

    Function = TypeVar("Function", bound=Callable[..., Any])
else:

    def overload(function):
        return function


class Source:
    """A registered function and what was said about it."""

    __slots__ = ("described", "function", "key", "kind", "options")

    def __init__(self, kind: str, key: str, function: Any, options: dict[str, Any]) -> None:
        self.kind, self.key, self.function, self.options = kind, key, function, options
        self.described: Any = None

    def __call__(self, native: _NativeEntry) -> None:
        """Prepares the handler. Called by the native module when it is first needed."""
        from ._describe import prepare

        prepare(native, self)


class Entry(Source):
    """One that lists show."""

    __slots__ = ("id", "is_listed")

    id: int
    is_listed: bool


class Server:
    """An MCP server.

    :param name: who the server is, for programs.
    :param version: its version, in its own scheme.
    :param title: who it is, for people.
    :param instructions: how to use it, for a model.
    :param logging: offer log messages (`Context.log`).
    :param subscriptions: let clients subscribe to resources, see `notify_resource_updated`.
    :param capabilities: what the server declares beside what follows from its handlers, or in place of it:
        ``{"tools": {"listChanged": False}}``.
    :param page_size: how many entries a page of a list has; all of them by default.
    :param state_keys: secrets of at least 32 characters, which seal what a client of 2026-07-28 keeps for
        the server between two rounds; the first one seals, all of them open. Servers that act as one need
        the same. By default a secret of chance, as good as the process lives.
    :param on_notification: called with method and params of what clients send unasked, such as
        ``notifications/roots/list_changed``. May be async.
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
        instructions: str | None = None,
        logging: bool = True,
        subscriptions: bool = False,
        capabilities: dict[str, Any] | None = None,
        page_size: int | None = None,
        state_keys: Sequence[str] = (),
        on_notification: Callable[[str, Any], object] | None = None,
        on_problem: Callable[[str, str], None] | None = None,
        on_trace: Callable[[str, str], None] | None = None,
    ) -> None:
        if not name:
            raise ValueError("a server needs a name that is not empty")
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.on_notification = on_notification
        self.on_problem = on_problem
        self.on_trace = on_trace
        self._settings = {
            "logging": logging,
            "subscriptions": subscriptions,
            "capabilities": capabilities or {},
            "stateKeys": list(state_keys),
        }
        self._has_settings = not logging or subscriptions or bool(capabilities) or bool(state_keys)
        self._registry = Registry()
        if page_size is not None:
            self._registry.set_page_size(page_size)
        # Who sees an entry in the registry must find it here.
        self._lock = allocate_lock()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._completions: dict[tuple[str, str], Source] = {}
        self._served: _Served | None = None

    @overload
    def tool(self, function: Function, /) -> Function: ...
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
        :param output_schema: a schema in place of that of the return type; False for none.
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
    ) -> Callable[[Function], Function]:
        """Registers a function as a resource, as ``@app.resource("config://app")``, or as a family of
        them, by a URI template (RFC 6570): ``@app.resource("notes://{id}")``.

        The variables of a template are passed by name, read as what the type hints say. The function
        returns a string (text), bytes (a blob), contents (`TextResourceContents`, `BlobResourceContents`) or
        a list of those, or anything with a JSON form.
        """
        if not isinstance(uri, str):
            raise TypeError(f'@app.resource takes the URI first: @app.resource("notes://{{id}}"), not {uri!r}')
        options = {
            "name": name,
            "title": title,
            "description": description,
            "mime_type": mime_type,
            "size": size,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
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
            self._registry.add_method(name, extension, _NativeEntry("method", name, source))
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
        if not self._settings["subscriptions"]:
            from ._errors import CapabilityError

            raise CapabilityError(
                f"the update of {uri} was not sent: this server does not declare the capability "
                '"resources.subscribe"; make it with subscriptions=True',
                code=-32601,
            )
        served = self._served
        if served is None:
            return False
        return '"done":true' in served.connection.command(_json({"resourceUpdated": {"uri": uri}}))

    def _decorate(self, function: Any, kind: str, options: dict[str, Any]) -> Any:
        unknown = options.keys() - _OPTIONS[kind]
        if unknown:
            known = ", ".join(sorted(_OPTIONS[kind]))
            raise TypeError(f"a {kind} has no option {min(unknown)!r}; its options are {known}")
        if function is None:
            return lambda function: self._register(kind, None, function, options)
        return self._register(kind, None, function, options)

    def _register(self, kind: str, key: str | None, function: Any, options: dict[str, Any]) -> Any:
        _check_function(function, kind)
        name = options.get("name") or getattr(function, "__name__", "")
        if not name or name == "<lambda>":
            raise ValueError(f"a {kind} without a name of its own needs name=")
        entry = Entry(kind, key or name, function, {**options, "name": name})
        native = _NativeEntry("resource" if kind == "template" else kind, entry.key, entry)
        with self._lock:
            entry.id, entry.is_listed = self._registry.add(kind, entry.key, native), False
            self._entries[kind, entry.key] = entry
        self._changed()
        return function

    def _completed(self, of: str | Callable[..., Any]) -> Entry:
        for entry in list(self._entries.values()):
            if entry.kind in ("prompt", "template") and (entry.key == of or entry.function is of):
                return entry
        raise ValueError(f"{of!r} is no prompt and no resource template of this server; register that first")

    def _register_completion(self, entry: Entry, argument: str, function: Any) -> Any:
        _check_function(function, "completion")
        before = self._completions.get((entry.kind, entry.key))
        arguments = {} if before is None else before.options["arguments"]
        if argument in arguments:
            raise ValueError(f"the argument {argument!r} of {entry.kind} {entry.key!r} has a completion already")
        source = Source("completion", entry.key, None, {"arguments": {**arguments, argument: function}})
        self._registry.complete(entry.kind, entry.id, _NativeEntry("completion", entry.key, source))
        self._completions[entry.kind, entry.key] = source
        return function

    def _remove(self, kind: str, key: str) -> bool:
        entry = self._entries.pop((kind, key), None)
        self._completions.pop((kind, key), None)
        if entry is None:
            return False
        removed = self._registry.remove(kind, entry.id)
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
        entry = self._entries.get((kind, key))
        if entry is None:
            raise KeyError(f"this server has no {kind} {key!r}")
        if self._registry.set_enabled(kind, entry.id, enabled):
            self._changed()

    def _changed(self) -> None:
        """Has connected clients told, at the end of the loop's turn."""
        if self._served is not None:
            self._served.connection.wake()

    def run(self) -> None:
        """Serves one client over standard input and output, until it leaves.

        While it runs, ``print`` writes to standard error, and standard input reads as empty: the
        real ones belong to the protocol.
        """
        import sys

        # Asked only of an asyncio that is there already: importing it would slow the start.
        loaded = sys.modules.get("asyncio")
        if loaded is not None and loaded._get_running_loop() is not None:
            raise RuntimeError("run() was called inside a running event loop; there it is 'await app.run_async()'")
        self._refuse_second()
        with StandardStreams() as streams:
            try:
                self._served = served = _Served(self, streams)
                if served.connection.serve_without_host():
                    import asyncio

                    asyncio.run(served.run())
            except KeyboardInterrupt:
                pass
            finally:
                self._served = None

    async def run_async(self) -> None:
        """The same as `run`, inside a running event loop."""
        self._refuse_second()
        with StandardStreams() as streams:
            try:
                self._served = _Served(self, streams)
                await self._served.run()
            finally:
                self._served = None

    def _refuse_second(self) -> None:
        if self._served is not None:
            raise RuntimeError("this server runs already, and standard input and output serve one client at a time")


_COMMON = {"name", "title", "description", "icons", "meta"}
_OPTIONS = {"tool": _COMMON | {"annotations", "output_schema"}, "prompt": _COMMON}


def _check_function(function: Any, kind: str) -> None:
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


class _Served:
    """One connection of a server."""

    def __init__(self, app: Server, streams: StandardStreams) -> None:
        self.app = app
        self.input = streams.input
        self.connection = Connection.server(
            app.name,
            app.version,
            app.title,
            app.instructions,
            app.on_trace is not None,
            _json(app._settings) if app._has_settings else None,
            os.urandom(64),
            app._registry,
            streams.input,
            streams.output,
            self.on_event,
        )

    async def run(self) -> None:
        from ._loop import serve

        await serve(self.connection, self.input, self)

    def on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "problem":
            self.on_problem(first, second)
        elif kind == "trace":
            if self.app.on_trace is not None:
                try:
                    self.app.on_trace(first, second)
                except Exception as error:
                    report(error, "on_trace")
        elif kind == "notification":
            if self.app.on_notification is not None:
                self.on_notification(self.app.on_notification, first, second)
        elif kind == "describe":
            self.describe(first)
            assert id is not None
            self.connection.resume(id)
        elif kind == "closed":
            self.closed()
        elif kind == "pause_reading":
            self.pause_reading()
        elif kind == "resume_reading":
            self.resume_reading()

    closed: Callable[[], None]
    pause_reading: Callable[[], None]
    resume_reading: Callable[[], None]

    def on_notification(self, hook: Callable[[str, Any], object], method: str, text: bytes | None) -> None:
        from ._json import decode
        from ._loop import run_callback

        try:
            params = None if text is None else decode(text)
        except (ValueError, RecursionError) as error:
            self.on_problem("not_a_message", f"the params of {method} cannot be decoded: {error}")
        else:
            run_callback(hook, method, params)

    def on_problem(self, kind: str, message: str) -> None:
        if self.app.on_problem is not None:
            try:
                self.app.on_problem(kind, message)
            except Exception as error:
                report(error, "on_problem")
        else:
            import logging

            logging.getLogger("oxmcp").warning("%s: %s", kind, message)

    def describe(self, kind: str) -> None:
        """Describes every entry of a kind, when a peer asks for them."""
        from ._describe import describe

        with self.app._lock:
            entries = [entry for entry in self.app._entries.values() if entry.kind == kind and not entry.is_listed]
        for entry in entries:
            entry.is_listed = True
            try:
                describe(self.app._registry, entry)
            except Exception as error:
                report(error, f"describing {kind} {entry.key!r}")


def _json(value: Any) -> str:
    from ._json import encode

    return encode(value).decode()
