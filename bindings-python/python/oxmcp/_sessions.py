"""The sessions of a server's clients, and the hooks that are told of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Callable

from . import _json
from ._asking import encode
from ._errors import ProtocolError, UsageError, report
from ._native import Connection

if TYPE_CHECKING:
    from ._dialog import Root

Hook = Callable[["ServerSession"], object]
"""May be async."""


class ServerSession:
    """A client's session with a server, in revisions with a handshake: from that to the end of its connection, or over
    HTTP of the session. What is said here belongs to no call. There are none in 2026-07-28, and with servers over HTTP
    that are ``stateless``. It is used on the event loop that serves the client.
    """

    def __init__(self, connection: Connection, about: tuple[str, bool, str, str]) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._hook: asyncio.Task[None] | None = None
        """The hook that runs for it."""
        revision, _, info, capabilities = about
        self.protocol_version = revision
        """The revision that both sides speak, such as ``"2025-11-25"``."""
        self.client_info: dict[str, Any] = _json.decode(info)
        """Who the client says it is."""
        self.client_capabilities: dict[str, Any] = _json.decode(capabilities)
        """What the client can do."""
        self.session_id = connection.session_id
        """The id of the session over HTTP (``Mcp-Session-Id``); None elsewhere."""

    async def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Asks the client for anything; gives the decoded result.

        Raises `CapabilityError` when it did not declare that it can do this, `ConnectionClosedError` when the session
        has ended.
        """
        text = None if params is None else encode(params)
        result = await self._answer(*self._live().begin(method, text, timeout, None, False, False))
        try:
            return _json.decode(result)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the client's result of {method} is broken: {error}", fault="peer") from error

    async def list_roots(self, *, timeout: float | None = None) -> list[Root]:
        """Asks the client for the folders and files to work on."""
        from ._dialog import decode_roots

        return decode_roots(await self._answer(*self._live().begin("roots/list", None, timeout, None, False, False)))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Returns when the client has answered."""
        await self._answer(*self._live().ping(timeout))

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification. Raises `ConnectionClosedError` when the session has ended."""
        self._live().notify(method, None if params is None else encode(params))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Sends a log message, unless the client does not want messages as mild as this one. See `Context.log`."""
        self._live().log(level, logger, encode(data))

    def close(self) -> None:
        """Ends the session; what waits for its client fails. Over HTTP the client may begin another."""
        self._live().close("the server ended the session")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a ServerSession is one client's session, which cannot be copied or pickled")

    def __repr__(self) -> str:
        name, version = self.client_info.get("name"), self.client_info.get("version")
        return f"<ServerSession of {name} {version}, {self.protocol_version}>"

    def _live(self) -> Connection:
        if asyncio._get_running_loop() is not self._loop:
            raise UsageError("the session belongs to another event loop; use it there")
        return self._connection

    async def _answer(self, id: int, future: asyncio.Future[bytes]) -> bytes:
        try:
            return await future
        except (asyncio.CancelledError, GeneratorExit):
            self._connection.cancel(id)
            raise


class Sessions:
    """Those of one connection, or of one server over HTTP, by the numbers that the native module gives them. The hooks
    of one session are called one after the other."""

    def __init__(self, on_connect: Hook | None, on_disconnect: Hook | None) -> None:
        self._on_connect, self._on_disconnect = on_connect, on_disconnect
        self._open: dict[int, ServerSession] = {}
        self._hooks: set[asyncio.Task[None]] = set()

    def begin(self, number: int, connection: Connection, about: tuple[str, bool, str, str]) -> None:
        """A client made its handshake, or a request without one."""
        if about[1]:
            self._open[number] = ServerSession(connection, about)

    def begun(self, number: int) -> None:
        """It said that it is initialized."""
        session = self._open.get(number)
        if session is not None:
            self._call(self._on_connect, session)

    def end(self, number: int) -> None:
        """It is over."""
        session = self._open.pop(number, None)
        if session is not None:
            self._call(self._on_disconnect, session)

    async def ended(self, limit: float) -> None:
        """Waits for hooks that run, `limit` seconds at most; those that take longer are cancelled."""
        if self._hooks:
            _, late = await asyncio.wait(self._hooks, timeout=limit)
            for hook in late:
                hook.cancel()

    def _call(self, hook: Hook | None, session: ServerSession) -> None:
        if hook is None:
            return
        before = session._hook
        if before is None or before.done():
            result = _called(hook, session)
            if not asyncio.iscoroutine(result):
                return
            task = asyncio.ensure_future(_finished(hook, result))
        else:
            task = asyncio.ensure_future(_after(before, hook, session))
        session._hook = task
        self._hooks.add(task)
        task.add_done_callback(self._hooks.discard)


def _called(hook: Hook, session: ServerSession) -> object:
    try:
        return hook(session)
    except Exception as error:
        _failed(hook, error)
        return None


async def _finished(hook: Hook, result: Any) -> None:
    try:
        await result
    except Exception as error:
        _failed(hook, error)


async def _after(before: asyncio.Task[None], hook: Hook, session: ServerSession) -> None:
    await asyncio.wait([before])
    result = _called(hook, session)
    if asyncio.iscoroutine(result):
        await _finished(hook, result)


def _failed(hook: Hook, error: Exception) -> None:
    report(error, getattr(hook, "__name__", None) or repr(hook))
