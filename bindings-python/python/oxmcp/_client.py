"""The client: calls a server that runs as a child process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Callable, Literal, Union

import msgspec

from ._errors import ProtocolError, UsageError
from ._loop import Reader, read, report, run_callback
from ._native import Connection
from ._native import version as _version
from ._process import ServerProcess
from ._types import CallToolResult, Progress, Tool, decode_call_result

ProgressCallback = Callable[[float, Union[float, None], Union[str, None]], object]
"""Called with progress, total and message; may be async."""

# A server that closed its output without exiting is waited for this long, to tell why it left.
_EXIT_GRACE = 0.5
_MAX_PAGES = 1000


class _ToolPage(msgspec.Struct, rename="camel"):
    tools: list[Tool]
    next_cursor: str | None = None


_decode_page = msgspec.json.Decoder(_ToolPage).decode
_decode_progress = msgspec.json.Decoder(Progress).decode
_encode = msgspec.json.encode


class Client:
    """A client of one server.

    :param command: the program and its arguments, or the path of a ``.py`` script.
    :param env: variables of the server beside those that it inherits, which are few: ``HOME``,
        ``PATH``, the language, but no secrets. ``env=os.environ`` hands over everything.
    :param cwd: the working directory of the server.
    :param stderr: where its standard error goes, as for `subprocess.Popen`; ours by default.
    :param timeout: seconds a call may go without an answer.
    :param mode: ``"legacy"`` connects by the handshake of the revisions up to 2025-11-25; ``"auto"`` asks
        the server first whether it speaks 2026-07-28, which costs older servers one round trip.
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
    is dropped.
    """

    def __init__(
        self,
        command: Union[str, os.PathLike[str], Sequence[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Union[str, os.PathLike[str], None] = None,
        stderr: Union[int, IO[Any], None] = None,
        name: str = "oxmcp",
        version: str | None = None,
        timeout: float = 60.0,
        mode: Literal["legacy", "auto"] = "legacy",
        on_notification: Callable[[str, Any], object] | None = None,
        on_problem: Callable[[str, str], object] | None = None,
        on_trace: Callable[[str, str], object] | None = None,
    ) -> None:
        self._command = _argv(command)
        self._env, self._cwd, self._stderr = env, cwd, stderr
        if mode not in ("legacy", "auto"):
            raise UsageError(f"mode is 'legacy' or 'auto', not {mode!r}")
        self._name, self._version, self._timeout, self._mode = name, version or _version(), timeout, mode
        self._on_notification, self._on_problem, self._on_trace = on_notification, on_problem, on_trace
        self._progress: dict[int, ProgressCallback] = {}
        self._connection: Connection | None = None
        self._process: ServerProcess | None = None
        self._reader: Reader | None = None
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
        """Starts the server and completes the handshake.

        Raises `ConnectionClosedError` when the server cannot be started or leaves,
        `RequestTimeoutError` when it does not answer, `ProtocolError` when no revision is shared.
        """
        if self._process is not None:
            raise UsageError("this client is connected already, or was; make a new one")
        loop = asyncio.get_running_loop()
        self._process = ServerProcess(self._command, self._env, self._cwd, self._stderr)
        self._connection = Connection.client(
            self._name,
            self._version,
            None,
            self._timeout,
            self._mode == "auto",
            self._on_trace is not None,
            self._process.input,
            self._process.output,
            self._on_event,
        )
        self._ready = loop.create_future()
        try:
            self._connection.attach(loop)
            self._reader = read(loop, self._connection, self._process.input)
            self._connection.connect(timeout)
            await self._ready
        except BaseException:
            await asyncio.shield(self.close())
            raise

    async def close(self) -> None:
        """Ends the connection and the server. Calls that wait fail with `ConnectionClosedError`.

        May be called by any task, at any time, more than once: each call returns when all is done.
        Takes at most some seconds: a server that does not leave by itself is terminated.
        """
        if self._process is None:
            return
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        assert self._connection is not None and self._process is not None
        self._connection.close("the client closed the connection")
        if self._reader is not None:
            self._reader.close()
        try:
            await self._process.close()
        finally:
            self._connection.detach()

    async def list_tools(self) -> list[Tool]:
        """All tools of the server, over all pages."""
        tools: list[Tool] = []
        params: dict[str, Any] | None = None
        for _ in range(_MAX_PAGES):
            text = await self._request("tools/list", params)
            try:
                page = _decode_page(text)
            except msgspec.DecodeError as error:
                raise ProtocolError(f"the server's result of tools/list is broken: {error}", fault="peer") from error
            tools += page.tools
            # Servers of these revisions also mean "the end" by an empty cursor.
            if not page.next_cursor:
                return tools
            params = {"cursor": page.next_cursor}
        raise ProtocolError(f"tools/list did not end after {_MAX_PAGES} pages", fault="peer")

    async def call_tool(
        self,
        name: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        max_total_timeout: float | None = None,
        reset_timeout_on_progress: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> CallToolResult:
        """Calls a tool.

        :param arguments: a dict, or anything that encodes to a JSON object.
        :param timeout: seconds without an answer until the call fails; the client's by default.
        :param max_total_timeout: seconds for the whole call, which nothing moves.
        :param reset_timeout_on_progress: each report of progress restarts `timeout`.
        :param on_progress: called with progress, total and message.

        A tool that fails gives a result with `is_error`. Raises `ResponseError` for an error of the
        protocol, `RequestTimeoutError`, `ConnectionClosedError`, and `CapabilityError` when the
        server has no tools.
        """
        id, future = self._live().call_tool(
            name,
            None if arguments is None else _encode(arguments),
            timeout,
            max_total_timeout,
            reset_timeout_on_progress,
            on_progress is not None,
        )
        return decode_call_result(await self._answer(id, future, on_progress))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Returns when the server has answered."""
        id, future = self._live().ping(timeout)
        await self._answer(id, future, None)

    async def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Makes any call; gives the decoded result."""
        return msgspec.json.decode(await self._request(method, params, timeout))

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        self._live().notify(method, None if params is None else _encode(params).decode())

    async def _request(self, method: str, params: Any, timeout: float | None = None) -> bytes:
        text = None if params is None else _encode(params).decode()
        id, future = self._live().begin(method, text, timeout, None, False, False)
        return await self._answer(id, future, None)

    async def _answer(self, id: int, future: asyncio.Future[bytes], on_progress: ProgressCallback | None) -> bytes:
        if on_progress is not None:
            self._progress[id] = on_progress
        try:
            return await future
        except (asyncio.CancelledError, GeneratorExit):
            if self._connection is not None:
                self._connection.cancel(id)
            raise
        finally:
            if on_progress is not None:
                del self._progress[id]

    def _live(self) -> Connection:
        if self._connection is None:
            raise UsageError("the client is not connected; use 'async with', or await connect() first")
        return self._connection

    def _on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "progress":
            self._on_progress(id, first)
        elif kind == "notification":
            if self._on_notification is not None:
                params = None if second is None else msgspec.json.decode(second)
                run_callback(self._on_notification, first, params)
        elif kind == "problem":
            if self._on_problem is not None:
                run_callback(self._on_problem, first, second)
            else:
                import logging

                logging.getLogger("oxmcp").warning("%s: %s", first, second)
        elif kind == "trace" and self._on_trace is not None:
            run_callback(self._on_trace, first, second)
        elif kind == "ready":
            revision, info, capabilities = first
            self.protocol_version, self.instructions = revision, second
            self.server_info = msgspec.json.decode(info)
            self.server_capabilities = msgspec.json.decode(capabilities)
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(None)
        elif kind == "connect_failed":
            if self._ready is not None and not self._ready.done():
                self._ready.set_exception(first)
        elif kind == "input_ended":
            self._on_input_ended()
        elif kind == "pause_reading" and self._reader is not None:
            self._reader.pause()
        elif kind == "resume_reading" and self._reader is not None:
            self._reader.resume()

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
            self._ending = asyncio.ensure_future(self._end())

    async def _end(self) -> None:
        assert self._connection is not None and self._process is not None
        await self._process.exited(_EXIT_GRACE)
        self._connection.close(self._process.describe_exit())


def _argv(command: Union[str, os.PathLike[str], Sequence[str]]) -> list[str]:
    if isinstance(command, (str, os.PathLike)):
        path = os.fspath(command)
        command = [sys.executable, path] if path.endswith(".py") else [path]
    argv = [os.fspath(part) for part in command]
    if not argv:
        raise UsageError("a command needs at least the program's name")
    return argv
