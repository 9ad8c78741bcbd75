"""The server: tools as decorated functions. Imports nothing heavy until a handler is needed."""

from __future__ import annotations

from ._errors import report
from ._native import Connection
from ._native import Tool as _NativeTool
from ._stdio import StandardStreams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar, overload

    Function = TypeVar("Function", bound=Callable[..., Any])
else:

    def overload(function):
        return function


class _Tool:
    """A registered function and what was said about it."""

    __slots__ = ("description", "function", "name", "native", "title")

    def __init__(self, function: Callable[..., Any], name: str, title: str | None, description: str | None) -> None:
        self.function = function
        self.name = name
        self.title = title
        self.description = description
        self.native = _NativeTool(name)


class Server:
    """An MCP server.

    :param name: who the server is, for programs.
    :param version: its version, in its own scheme.
    :param title: who it is, for people.
    :param instructions: how to use it, for a model.
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
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.0.0",
        title: str | None = None,
        instructions: str | None = None,
        on_problem: Callable[[str, str], None] | None = None,
        on_trace: Callable[[str, str], None] | None = None,
    ) -> None:
        if not name:
            raise ValueError("a server needs a name that is not empty")
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.on_problem = on_problem
        self.on_trace = on_trace
        self._tools: dict[str, _Tool] = {}
        self._served: _Served | None = None

    @overload
    def tool(self, function: Function, /) -> Function: ...
    @overload
    def tool(
        self, function: None = None, /, *, name: str | None = None, title: str | None = None, description: str | None = None
    ) -> Callable[[Function], Function]: ...
    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
    ) -> Any:
        """Registers a function as a tool, as ``@app.tool`` or ``@app.tool(name=...)``.

        The input schema comes from its type hints, the description from its docstring. A parameter
        annotated with `Context` gets the request's context. Async functions run on the event loop,
        plain ones on worker threads. The decorator returns the function itself.

        A tool returns a string, or anything with a JSON form. It raises `ToolError` to tell the
        model what went wrong.
        """
        if function is None:
            return lambda function: self._register(function, name, title, description)
        return self._register(function, name, title, description)

    def _register(
        self, function: Callable[..., Any], name: str | None, title: str | None, description: str | None
    ) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(f"@tool takes a function, not {function!r}; write @app.tool(name=...) to set a name")
        if self._served is not None:
            raise RuntimeError("a tool cannot be added while the server runs; register all tools before run()")
        _refuse_method(function)
        name = name or getattr(function, "__name__", "")
        if not name or name == "<lambda>":
            raise ValueError("a tool without a name of its own needs name=")
        if name in self._tools:
            raise ValueError(f"a tool named {name!r} exists already; names are unique in a server")
        self._tools[name] = _Tool(function, name, title, description)
        return function

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
        with StandardStreams() as streams:
            try:
                self._served = _Served(self, streams)
                await self._served.run()
            finally:
                self._served = None


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
        self.tools = list(app._tools.values())
        self.input = streams.input
        self.connection = Connection.server(
            app.name,
            app.version,
            app.title,
            app.instructions,
            app.on_trace is not None,
            [tool.native for tool in self.tools],
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
        elif kind == "describe":
            self.describe()
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

    def on_problem(self, kind: str, message: str) -> None:
        if self.app.on_problem is not None:
            try:
                self.app.on_problem(kind, message)
            except Exception as error:
                report(error, "on_problem")
        else:
            import logging

            logging.getLogger("oxmcp").warning("%s: %s", kind, message)

    def describe(self) -> None:
        """Describes every tool, when a peer first asks. One bad signature spoils one tool."""
        from . import _signature

        for index, tool in enumerate(self.tools):
            try:
                signature = _signature.read(tool.function)
                descriptor = _descriptor(tool, signature)
            except Exception as error:
                report(error, f"describing tool {tool.name!r}")
                # Its schema is unknown, and to say nothing would be no help: it says why it is broken.
                signature = _signature.broken(f"tool {tool.name} cannot be called: {error}")
                descriptor = _json({"name": tool.name, "description": signature.description, "inputSchema": signature.schema})
            self.connection.describe_tool(index, descriptor)
            tool.native.prepare(
                signature.function, signature.decode, signature.arguments, signature.keywords, signature.context
            )


def _descriptor(tool: _Tool, signature: Any) -> str:
    described = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description if tool.description is not None else signature.description,
        "inputSchema": signature.schema,
    }
    return _json({key: value for key, value in described.items() if value is not None})


def _json(value: Any) -> str:
    from ._json import encode

    return encode(value).decode()
