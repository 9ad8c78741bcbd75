"""The client: calls a server that runs as a child process."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Callable, Literal, TypeVar, Union

import msgspec

from . import _json, _limits, _wire
from ._answers import Answers, Roots
from ._dialog import ElicitRequest, SampleRequest
from ._errors import HandlerError, McpError, ProtocolError, UsageError, report, unknown_option
from ._link import Link, weakly
from ._loop import Reader, read, run_callback, running_loop
from ._native import Connection
from ._native import version as _version
from ._offers import (
    Completion,
    Prompt,
    PromptResult,
    Resource,
    ResourceResult,
    ResourceTemplate,
    decode_completion,
    decode_prompt,
    decode_resource,
)
from ._memory import MemoryServer
from ._process import ServerProcess, check_script
from ._remote import HttpClientOptions, OnUnauthorized, RemoteServer
from ._streams import Notifications
from ._targets import Target, resolve
from ._types import CallToolResult, Page, Progress, Tool, decode_call_result, next_cursor

if TYPE_CHECKING:
    from typing_extensions import Never

T = TypeVar("T")

ProgressCallback = Callable[[float, Union[float, None], Union[str, None]], object]
"""Called with progress, total and message; may be async."""

_TRACE = "opentelemetry.trace"
# A server that closed its output without exiting is waited for this long, to tell why it left.
_EXIT_GRACE = 0.5
# One that exited, and whose output others hold open, may have left something to be read: how often to look.
_LOOK = 0.05


class _Log(msgspec.Struct):
    level: str
    data: Any
    logger: str | None = None


_read_tools = _wire.list_decoder("tools", Tool)
_read_resources = _wire.list_decoder("resources", Resource)
_read_templates = _wire.list_decoder("resourceTemplates", ResourceTemplate)
_read_prompts = _wire.list_decoder("prompts", Prompt)
_decode_log = _wire.tolerant(msgspec.json.Decoder(_Log).decode)
_decode_progress = _wire.tolerant(msgspec.json.Decoder(Progress).decode)


class Client:
    """A client of one server.

    :param target: the program and its arguments, the path of a ``.py`` or ``.js`` script, the URL of a server over
        HTTP, a configuration as programs keep them (``{"mcpServers": {"name": {"command": ..., "args": [...],
        "env": {...}}}}``, or ``{"url": ..., "headers": {...}}`` in place of the command), or a `Server`, which is
        then run in memory.
    :param server: which one of a configuration with several servers.
    :param env: variables of the server beside those that it inherits, which are few: ``HOME``,
        ``PATH``, the language, but no secrets. ``env=os.environ`` hands over everything.
    :param cwd: the working directory of the server.
    :param stderr: where its standard error goes, as for `subprocess.Popen`; ours by default.
    :param headers: header fields of every request over HTTP, such as ``{"Authorization": "Bearer ..."}``. They never go
        to another origin.
    :param http: how a server is reached over HTTP: see `HttpClientOptions`.
    :param on_unauthorized: called with an `Unauthorized` when the server refuses a request over HTTP for want of
        authorization. Gives the header fields to send from now on, the refused request among them, or `None`.
    :param timeout: seconds a call may go without an answer.
    :param limits: bounds on what the server can make the client hold: see `ClientLimits`.
    :param list_max_pages: how many pages a whole list may have before `list_tools` and the others fail; 1000 by
        default.
    :param mode: ``"auto"`` asks the server first whether it speaks 2026-07-28, which costs older servers one
        round trip, on the first connection to the same command, and is a reason to leave for some, which are then
        started once more; ``"legacy"`` connects by the handshake of the revisions up to 2025-11-25 at once.
    :param capabilities: what the client declares beside what follows from its handlers, such as
        ``{"sampling": {"tools": {}}}`` or extensions.
    :param on_elicit: called with an `ElicitRequest` when the server asks the user to fill in a form. Gives
        the content of the form, or an `ElicitResult`, or an action: ``"decline"``, ``"cancel"``.
    :param on_elicit_url: the same for a URL that the user is to visit; gives an action.
    :param on_sample: called with a `SampleRequest` when the server asks for a model's words; gives a string
        or a `SampleResult`.
    :param roots: the folders and files that the server may work on: paths, URIs or `Root`, or a
        function that gives them.
    :param on_log: called with level, data and logger of a log message.
    :param on_notification: called with method and params of what the server sends unasked.
    :param on_problem: called with a kind and a message when the server sends something that is no
        message; the connection goes on. By default such problems go to the logger ``oxmcp``.
    :param on_trace: called with ``"sent"`` or ``"received"`` and the text of each message on the wire,
        for people who look into a connection.

    ::

        async with Client(["python", "server.py"]) as client:
            result = await client.call_tool("add", {"a": 1, "b": 2})
            print(result.text)

    Cancelling the task that awaits a call cancels the call: the server is told, and a late answer
    is dropped. All handlers may be async; plain ones that answer the server run on worker threads.
    """

    def __init__(
        self,
        target: Target,
        *,
        server: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Union[str, os.PathLike[str], None] = None,
        stderr: Union[int, IO[Any], None] = None,
        headers: Mapping[str, str] | None = None,
        http: HttpClientOptions | None = None,
        on_unauthorized: OnUnauthorized | None = None,
        name: str = "oxmcp",
        version: str | None = None,
        timeout: float = 60.0,
        limits: _limits.ClientLimits | None = None,
        list_max_pages: int | None = None,
        mode: Literal["auto", "legacy"] = "auto",
        capabilities: Mapping[str, Any] | None = None,
        on_elicit: Callable[[ElicitRequest], Any] | None = None,
        on_elicit_url: Callable[[ElicitRequest], Any] | None = None,
        on_sample: Callable[[SampleRequest], Any] | None = None,
        roots: Roots | None = None,
        on_log: Callable[[str, Any, Union[str, None]], object] | None = None,
        on_notification: Callable[[str, Any], object] | None = None,
        on_problem: Callable[[str, str], object] | None = None,
        on_trace: Callable[[str, str], object] | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            known = (name for name in inspect.signature(Client).parameters if name not in ("target", "unknown"))
            raise TypeError(unknown_option("Client", min(unknown), known))
        self._target = resolve(target, server)
        self._env = {**(self._target.env or {}), **env} if env is not None else self._target.env
        self._cwd, self._stderr = self._target.cwd if cwd is None else cwd, stderr
        self._headers, self._http = {**(self._target.headers or {}), **(headers or {})}, http
        self._on_unauthorized = on_unauthorized
        if self._target.url is None and any(given is not None for given in (headers, http, on_unauthorized)):
            raise UsageError("headers=, http= and on_unauthorized= are for servers over HTTP, and the target is no URL")
        if mode not in ("legacy", "auto"):
            raise UsageError(f"mode is 'auto' or 'legacy', not {mode!r}")
        self._name, self._version, self._timeout, self._mode = name, version or _version(), timeout, mode
        self._answers = Answers(on_elicit, on_elicit_url, on_sample, roots)
        self._capabilities = {**self._answers.capabilities(), **(capabilities or {})}
        self._limits = {} if limits is None else _limits.settings(limits, _limits.ClientLimits)
        if list_max_pages is not None:
            self._limits["pages"] = _limits.count(list_max_pages, "list_max_pages")
        self._on_log = on_log
        self._on_notification, self._on_problem, self._on_trace = on_notification, on_problem, on_trace
        self._streams: dict[int, Notifications] = {}
        self._has_handshake = True
        self._progress: dict[int, ProgressCallback] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: Connection | None = None
        self._process: ServerProcess | MemoryServer | RemoteServer | None = None
        self._reader: Reader | None = None
        self._unwatch: Callable[[], None] | None = None
        self._forgotten: weakref.finalize[Any, Client] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._closing: asyncio.Future[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self.protocol_version: str | None = None
        """The revision both sides speak, once connected."""
        self.server_info: dict[str, Any] = {}
        """Who the server says it is: ``name``, ``version`` and perhaps more."""
        self.server_capabilities: dict[str, Any] = {}
        """What the server offers."""
        self.instructions: str | None = None
        """How to use the server, for a model."""

    async def __aenter__(self) -> Client:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self, *, timeout: float | None = None) -> None:
        """Starts the server, or reaches it, and completes the handshake.

        Raises `ConnectionClosedError` when the server cannot be started or reached, or leaves,
        `RequestTimeoutError` when it does not answer, `ResponseError` when it refuses (a status of HTTP is in its
        data), `ProtocolError` when no revision is shared.
        """
        if self._process is not None:
            raise UsageError("this client is connected already, or was; make a new one")
        loop = running_loop()
        self._process = self._start()
        try:
            self._connection = self._open(self._process, timeout)
        except BaseException:
            self._process.kill()
            await self._process.close()
            raise
        self._loop = loop
        self._ready = loop.create_future()
        try:
            if not isinstance(self._process, RemoteServer):
                self._connection.attach(loop)
            self._follow(loop, self._connection, self._process)
            if not isinstance(self._process, RemoteServer):
                self._connection.connect(timeout)
            await self._ready
        except GeneratorExit:
            # Nothing may be awaited any more.
            self._process.kill()
            raise
        except BaseException:
            await self.close()
            raise

    def _follow(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: Connection,
        process: ServerProcess | MemoryServer | RemoteServer,
    ) -> None:
        if not isinstance(process, RemoteServer):
            self._reader = read(loop, connection, process.input)
        if isinstance(process, ServerProcess):
            self._unwatch = process.on_exit(weakly(self._on_exit))
        self._forgotten = weakref.finalize(self, self._link().end_soon)
        self._forgotten.atexit = False

    def _start(self) -> ServerProcess | MemoryServer | RemoteServer:
        if self._target.app is not None:
            return MemoryServer(self._target.app)
        if self._target.url is not None:
            return RemoteServer(self._target.url, self._headers, self._http, self._on_unauthorized)
        assert self._target.command is not None
        if self._target.script is not None:
            check_script(self._target.script, self._cwd)
        return ServerProcess(self._target.command, self._env, self._cwd, self._stderr)

    def _era_key(self) -> str | None:
        """What the server's era is remembered by."""
        if self._mode != "auto":
            return None
        return "\0memory" if self._target.command is None else "\0".join(self._target.command)

    def _open(self, process: ServerProcess | MemoryServer | RemoteServer, timeout: float | None) -> Connection:
        settings: dict[str, Any] = {"capabilities": self._capabilities, "trace": self._on_trace is not None}
        settings["limits"] = self._limits
        encoded = _encode(settings, "the settings").decode()
        who = (self._name, self._version, None, self._timeout, encoded)
        registry, hook = self._answers.registry(), _hook(weakref.ref(self))
        if isinstance(process, RemoteServer):
            return process.open(who, self._mode == "auto", registry, timeout, hook)
        return Connection.client(*who, self._era_key(), registry, process.input, process.output, hook)

    def _link(self) -> Link | RemoteServer:
        assert self._loop is not None and self._connection is not None and self._process is not None
        if isinstance(self._process, RemoteServer):
            return self._process
        return Link(self._loop, self._connection, self._reader, self._process, self._unwatch)

    async def close(self) -> None:
        """Ends the connection and the server. Calls that wait fail with `ConnectionClosedError`.

        May be called by any task, at any time, more than once: each call returns when all is done.
        Takes at most some seconds: a server that does not leave by itself is terminated. Cancelling
        it kills the server at once.
        """
        if self._process is None or self._loop is None:
            return
        if self._loop is not asyncio.get_running_loop():
            return await self._close_from_elsewhere(self._process)
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close("the client closed the connection"))
        try:
            await asyncio.shield(self._closing)
        except BaseException:
            self._process.kill()
            raise

    async def _close(self, why: str) -> None:
        assert self._process is not None
        self._let_go(why)
        await self._process.close()

    def _let_go(self, why: str) -> None:
        if self._forgotten is not None:
            self._forgotten.detach()
        self._link().end(why)

    async def _close_from_elsewhere(self, process: ServerProcess | MemoryServer | RemoteServer) -> None:
        assert self._loop is not None and self._connection is not None
        if not self._loop.is_closed():
            raise UsageError("the client was connected on another event loop; close it there")
        if self._forgotten is not None:
            self._forgotten.detach()
        self._connection.detach()
        await process.close()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Client is one connection, which cannot be copied or pickled; make a new one")

    async def list_tools(self, *, timeout: float | None = None) -> list[Tool]:
        """All tools of the server, over all pages.

        One that is broken is left out, and told of by `on_problem`; so it is with the other lists.
        """
        return await self._list("tools/list", _read_tools, timeout)

    async def list_resources(self, *, timeout: float | None = None) -> list[Resource]:
        """All resources of the server, over all pages."""
        return await self._list("resources/list", _read_resources, timeout)

    async def list_resource_templates(self, *, timeout: float | None = None) -> list[ResourceTemplate]:
        """All resource templates of the server, over all pages."""
        return await self._list("resources/templates/list", _read_templates, timeout)

    async def list_prompts(self, *, timeout: float | None = None) -> list[Prompt]:
        """All prompts of the server, over all pages."""
        return await self._list("prompts/list", _read_prompts, timeout)

    async def _list(self, method: str, read: Callable[[bytes], _wire.Read], timeout: float | None) -> list[Any]:
        # The core asks for the pages, so the server hears nothing of the span.
        with _span(method, None):
            id, future = self._live().list(method, timeout)
            return self._read(method, read, await self._answer(id, future, None))

    async def list_tools_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Tool]:
        """One page of the server's tools: the first, or the one that the `next_cursor` of a `Page` names."""
        return await self._page("tools/list", _read_tools, cursor, timeout)

    async def list_resources_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Resource]:
        """One page of the server's resources, as in `list_tools_page`."""
        return await self._page("resources/list", _read_resources, cursor, timeout)

    async def list_resource_templates_page(
        self, cursor: str | None = None, *, timeout: float | None = None
    ) -> Page[ResourceTemplate]:
        """One page of the server's resource templates, as in `list_tools_page`."""
        return await self._page("resources/templates/list", _read_templates, cursor, timeout)

    async def list_prompts_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Prompt]:
        """One page of the server's prompts, as in `list_tools_page`."""
        return await self._page("prompts/list", _read_prompts, cursor, timeout)

    async def _page(
        self, method: str, read: Callable[[bytes], _wire.Read], cursor: str | None, timeout: float | None
    ) -> Page[Any]:
        text = await self._request(method, {} if cursor is None else {"cursor": cursor}, timeout)
        try:
            return Page(self._read(method, read, text), next_cursor(text))
        except msgspec.DecodeError as error:
            raise ProtocolError(f"the server's result of {method} is broken: {error}", fault="peer") from error

    def _read(self, method: str, read: Callable[[bytes], _wire.Read], text: bytes) -> list[Any]:
        try:
            items, problems = read(text)
        except msgspec.DecodeError as error:
            raise ProtocolError(f"the server's result of {method} is broken: {error}", fault="peer") from error
        for problem in problems:
            self._problem("broken_entry", f"of the server's {method}, {problem}")
        return items

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> ResourceResult:
        """Reads a resource: its contents as text or bytes."""
        return decode_resource(await self._request("resources/read", {"uri": uri}, timeout))

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> PromptResult:
        """Gets the messages of a prompt. Its arguments are strings."""
        params = {"name": name, **({} if arguments is None else {"arguments": dict(arguments)})}
        return decode_prompt(await self._request("prompts/get", params, timeout))

    async def complete(
        self,
        argument: str,
        value: str = "",
        *,
        prompt: str | None = None,
        template: str | None = None,
        arguments: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Completion:
        """Asks for values of an argument of a prompt, or of a variable of a resource template.

        :param value: what there is of it so far.
        :param arguments: the other arguments, as far as they are known.
        """
        if (prompt is None) == (template is None):
            raise UsageError("a completion is of a prompt= or of a template=")
        of_prompt, of_template = {"type": "ref/prompt", "name": prompt}, {"type": "ref/resource", "uri": template}
        params: dict[str, Any] = {
            "ref": of_template if prompt is None else of_prompt,
            "argument": {"name": argument, "value": value},
        }
        if arguments:
            params["context"] = {"arguments": dict(arguments)}
        return decode_completion(await self._request("completion/complete", params, timeout))

    async def subscribe(self, uri: str, *, timeout: float | None = None) -> None:
        """Has the server tell when a resource changes, by ``notifications/resources/updated`` to
        `on_notification` (revisions with a handshake; since 2026-07-28 it is `listen`)."""
        await self._request("resources/subscribe", {"uri": uri}, timeout)

    async def unsubscribe(self, uri: str, *, timeout: float | None = None) -> None:
        """Ends a `subscribe`."""
        await self._request("resources/unsubscribe", {"uri": uri}, timeout)

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool = False,
        updates: Sequence[str] = (),
    ) -> Notifications:
        """Has the server tell of changes (2026-07-28; before, it does so by itself and by `subscribe`)::

            async with client.listen(tools=True) as changes:
                async for method, params in changes:
                    ...

        :param tools: changes of the list of tools; `prompts` and `resources` the same.
        :param updates: the URIs of resources whose contents may change.
        """
        lists = {"toolsListChanged": tools, "promptsListChanged": prompts, "resourcesListChanged": resources}
        wanted: dict[str, Any] = {name: True for name, on in lists.items() if on}
        if updates:
            wanted["resourceSubscriptions"] = list(updates)
        return Notifications(self, wanted)

    def _begin_stream(self, stream: Notifications, params: Any) -> tuple[int, asyncio.Future[bytes]]:
        text = _encode(params, "what to listen to").decode()
        id, future = self._live().begin("subscriptions/listen", text, None, None, False, False)
        self._streams[id] = stream
        return id, future

    def _end_stream(self, id: int) -> None:
        if self._streams.pop(id, None) is not None and self._connection is not None:
            self._connection.cancel(id)

    async def set_logging_level(self, level: str, *, timeout: float | None = None) -> None:
        """Sets the mildest log messages that the server is to send: for the connection, or from
        2026-07-28 on for each call from now on. The levels are debug, info, notice, warning, error,
        critical, alert and emergency."""
        connection = self._live()
        try:
            connection.set_log_level(level)
        except ValueError as error:
            raise UsageError(str(error)) from error
        if self._has_handshake:
            await self._request("logging/setLevel", {"level": level}, timeout)

    def set_roots(self, roots: Roots) -> None:
        """Replaces the roots, and tells the server. The client must have been made with some."""
        if self._answers.roots is None:
            raise UsageError("the client declared no roots when it was made; make it with roots=[]")
        self._answers.set_roots(roots)
        if self._connection is not None:
            self.notify_roots_changed()

    def notify_roots_changed(self) -> None:
        """Tells the server that the roots are others now. In 2026-07-28 there is no need to: a server
        asks for them with each call."""
        if self._has_handshake:
            self.notify("notifications/roots/list_changed")

    async def call_tool(
        self,
        name: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        max_total_timeout: float | None = None,
        reset_timeout_on_progress: bool = False,
        on_progress: ProgressCallback | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Calls a tool.

        :param arguments: a dict, or anything that encodes to a JSON object.
        :param timeout: seconds without an answer until the call fails; the client's by default.
        :param max_total_timeout: seconds for the whole call, which nothing moves.
        :param reset_timeout_on_progress: each report of progress restarts `timeout`.
        :param on_progress: called with progress, total and message.
        :param meta: the ``_meta`` of the request, for what your server knows of it.

        A tool that fails gives a result with `is_error`. Raises `ResponseError` for an error of the
        protocol, `RequestTimeoutError`, `ConnectionClosedError`, and `CapabilityError` when the
        server has no tools.
        """
        encoded = None if arguments is None else _encode(arguments, f"the arguments of {name!r}")
        connection = self._live()
        if meta or _TRACE in sys.modules:
            params: dict[str, Any] = {"name": name, **({} if meta is None else {"_meta": dict(meta)})}
            if encoded is not None:
                params["arguments"] = msgspec.Raw(encoded)
            options = (timeout, max_total_timeout, reset_timeout_on_progress, on_progress is not None)
            return decode_call_result(await self._traced("tools/call", params, options, on_progress))
        try:
            id, future = connection.call_tool(
                name, encoded, timeout, max_total_timeout, reset_timeout_on_progress, on_progress is not None
            )
        except UnicodeEncodeError as error:
            raise _no_text("the tool's name", name, error) from None
        return decode_call_result(await self._answer(id, future, on_progress))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Returns when the server has answered."""
        id, future = self._live().ping(timeout)
        await self._answer(id, future, None)

    async def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Makes any call; gives the decoded result."""
        result = await self._request(method, params, timeout)
        try:
            return _json.decode(result)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the server's result of {method} is broken: {error}", fault="peer") from error

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        text = None if params is None else _encode(params, f"the params of {method!r}").decode()
        connection = self._live()
        try:
            connection.notify(method, text)
        except UnicodeEncodeError as error:
            raise _no_text("the method", method, error) from None

    async def _request(self, method: str, params: Any, timeout: float | None = None) -> bytes:
        options = (timeout, None, False, False)
        if _TRACE in sys.modules:
            return await self._traced(method, params, options)
        return await self._answer(*self._begin(method, params, options), None)

    def _begin(
        self, method: str, params: Any, options: tuple[float | None, float | None, bool, bool]
    ) -> tuple[int, asyncio.Future[bytes]]:
        text = None if params is None else _encode(params, f"the params of {method!r}").decode()
        connection = self._live()
        try:
            return connection.begin(method, text, *options)
        except UnicodeEncodeError as error:
            raise _no_text("the method", method, error) from None

    async def _traced(
        self,
        method: str,
        params: Any,
        options: tuple[float | None, float | None, bool, bool],
        on_progress: ProgressCallback | None = None,
    ) -> bytes:
        """Makes a call with a span around it, in programs that use OpenTelemetry."""
        with _span(method, _name_of(params)) as carried:
            if carried and (params is None or isinstance(params, dict)):
                params = {**(params or {}), "_meta": {**carried, **((params or {}).get("_meta") or {})}}
            return await self._answer(*self._begin(method, params, options), on_progress)

    async def _answer(self, id: int, future: asyncio.Future[bytes], on_progress: ProgressCallback | None) -> bytes:
        if on_progress is not None:
            self._progress[id] = on_progress
        try:
            return await future
        except (asyncio.CancelledError, GeneratorExit):
            if self._connection is not None:
                self._connection.cancel(id)
            raise
        except HandlerError as error:
            raise error from self._answers.cause(error)
        finally:
            if on_progress is not None:
                del self._progress[id]

    def _live(self) -> Connection:
        if self._connection is None:
            raise UsageError("the client is not connected; use 'async with', or await connect() first")
        if asyncio._get_running_loop() is not self._loop:
            raise UsageError("the client was connected on another event loop; use it there")
        return self._connection

    def _on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "progress":
            self._on_progress(id, first)
        elif kind == "notification":
            self._on_notified(id, first, second)
        elif kind == "problem":
            self._problem(first, second)
        elif kind == "trace" and self._on_trace is not None:
            run_callback(self._on_trace, first, second)
        elif kind == "ready":
            revision, self._has_handshake, info, capabilities = first
            self._on_ready(revision, info, capabilities, second)
        elif kind == "connect_failed":
            if self._ready is not None and not self._ready.done():
                self._ready.set_exception(first)
        elif kind == "input_ended":
            self._on_input_ended()
        elif kind == "pause_reading" and self._reader is not None:
            self._reader.pause()
        elif kind == "resume_reading" and self._reader is not None:
            self._reader.resume()

    def _on_ready(self, revision: str, info: str, capabilities: str, instructions: str | None) -> None:
        if self._ready is None or self._ready.done():
            return
        try:
            self.server_info, self.server_capabilities = _json.decode(info), _json.decode(capabilities)
        except (ValueError, RecursionError) as error:
            what = f"what the server says of itself cannot be decoded: {error}"
            self._ready.set_exception(ProtocolError(what, fault="peer"))
            return
        self.protocol_version, self.instructions = revision, instructions
        self._ready.set_result(None)

    def _on_notified(self, stream: int | None, method: str, text: bytes | None) -> None:
        if method == "notifications/message" and self._on_log is not None:
            try:
                log = _decode_log(text or b"{}")
            except msgspec.DecodeError as error:
                self._problem("bad_notification", f"a log message is broken: {error}")
            else:
                run_callback(self._on_log, log.level, log.data, log.logger)
            return
        listener = None if stream is None else self._streams.get(stream)
        if listener is None and self._on_notification is None:
            return
        try:
            params = None if text is None else _json.decode(text)
        except (ValueError, RecursionError) as error:
            self._problem("not_a_message", f"the params of {method} cannot be decoded: {error}")
            return
        if listener is not None:
            listener._receive(method, params)
        elif self._on_notification is not None:
            run_callback(self._on_notification, method, params)

    def _problem(self, kind: str, message: str) -> None:
        if self._on_problem is not None:
            run_callback(self._on_problem, kind, message)
        else:
            import logging

            logging.getLogger("oxmcp").warning("%s: %s", kind, message)

    def _on_progress(self, id: int | None, params: bytes) -> None:
        callback = self._progress.get(id) if id is not None else None
        if callback is None:
            return
        try:
            progress = _decode_progress(params)
        except msgspec.DecodeError as error:
            report(error, "decoding progress")
            return
        run_callback(callback, progress.progress, progress.total, progress.message)

    def _on_input_ended(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._ending is None:
            ending: Any = asyncio.ensure_future(self._end())
            # The loop may end first. Then nobody waits to hear how the server ended, and asyncio need not tell of it.
            ending._log_destroy_pending = False
            self._ending = ending

    def _on_exit(self) -> None:
        assert self._loop is not None and isinstance(self._process, ServerProcess)
        if self._ending is not None or self._closing is not None:
            return
        if self._process.has_output():
            self._loop.call_later(_LOOK, weakly(self._on_exit))
        else:
            # Its output may be held open by what it started, so the end of it may never come.
            if self._connection is not None:
                self._connection.finish_line()
            self._on_input_ended()

    async def _end(self) -> None:
        assert self._connection is not None and self._process is not None
        assert not isinstance(self._process, RemoteServer), "its connection has no input of its own"
        if not await self._process.exited(_EXIT_GRACE):
            self._connection.close(self._process.describe_exit())
        elif not self._starts_over():
            await self._close(self._process.describe_exit())

    def _starts_over(self) -> bool:
        """A server that left at the first question may be one of the handshake, which takes any other first message than
        ``initialize`` for an error. It is started once more."""
        assert self._loop is not None and self._connection is not None
        left = self._process
        if not isinstance(left, ServerProcess) or self._closing is not None or not self._connection.is_probing():
            return False
        try:
            process = self._start()
        except McpError:
            return False
        assert isinstance(process, ServerProcess)
        if self._unwatch is not None:
            self._unwatch()
        if self._forgotten is not None:
            self._forgotten.detach()
        link = self._link()
        assert isinstance(link, Link)
        link.unwatch_output()
        left.kill()
        left.release()
        self._process, self._ending = process, None
        self._connection.start_over(process.input, process.output)
        self._follow(self._loop, self._connection, process)
        return True


def _hook(owner: weakref.ref[Client]) -> Callable[[str, Union[int, None], Any, Any], None]:
    def on_event(kind: str, id: int | None, first: Any, second: Any) -> None:
        client = owner()
        if client is not None:
            client._on_event(kind, id, first, second)

    return on_event


@contextlib.contextmanager
def _span(method: str, name: str | None) -> Iterator[dict[str, Any]]:
    """A span around a call, in programs that use OpenTelemetry; gives what goes along in its ``_meta``."""
    carried: dict[str, Any] = {}
    if _TRACE not in sys.modules:
        yield carried
        return
    from opentelemetry.trace import SpanKind

    from . import _telemetry

    with _telemetry.span(method, name, SpanKind.CLIENT):
        _telemetry.inject(carried)
        yield carried


def _name_of(params: Any) -> str | None:
    name = params.get("name", params.get("uri")) if isinstance(params, dict) else None
    return name if isinstance(name, str) else None


def _encode(value: Any, what: str) -> bytes:
    try:
        return _json.encode_exact(value)
    except UnicodeEncodeError as error:
        # What the program asks for is not changed on its way.
        half = error.object[error.start]
        raise UsageError(
            f"{what} have no JSON form: a string holds {half!r}, half of a surrogate pair, which has no UTF-8 form"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{what} have no JSON form: {error}") from error


def _no_text(what: str, text: str, error: UnicodeEncodeError) -> UsageError:
    return UsageError(f"{what} {text!r} holds {text[error.start]!r}, half of a surrogate pair, which has no UTF-8 form")
