"""The Rust core, as the package sees it. Not public, but for `Context`: it changes without notice."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar, final, overload

from ._dialog import ElicitResult, Message, Root, SampleResult
from ._requests import HttpRequest
from ._server import Server

T = TypeVar("T")

def version() -> str:
    """The version of the Rust core inside this module."""

def inherited_variables() -> list[str]:
    """The variables of our environment that a server's process inherits."""

@final
class Context:
    """The request a handler serves. Ask for it by annotating a parameter with `Context`.

    What asks the caller for something (`elicit`, `elicit_url`, `sample`, `list_roots`) works in both eras. In
    2026-07-28 the question ends the call: the handler is cancelled (`asyncio.CancelledError`, which is no
    failure), the client makes the call again with the answer, and the handler runs from its start. So
    ask first and act then, and ask the same questions in the same order, or under the same `key`.

    A client that lacks the capability makes these raise `CapabilityError`. Not caught, it becomes an error
    that tells a client of 2026-07-28 what it lacks.
    """

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress. Without it reports are not sent."""

    @property
    def cancelled(self) -> bool:
        """Whether the caller has cancelled, for plain handlers; async ones get `asyncio.CancelledError`."""

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the caller declares that it can do."""

    @property
    def client_info(self) -> dict[str, Any] | None:
        """Who the caller says it is: ``name``, ``version`` and perhaps more."""

    @property
    def protocol_version(self) -> str:
        """The revision of the request."""

    @property
    def meta(self) -> dict[str, Any] | None:
        """The ``_meta`` of the request."""

    @property
    def request_id(self) -> int | str | None:
        """The id of the request, as the caller wrote it; None when the call is over."""

    @property
    def http_request(self) -> HttpRequest | None:
        """The HTTP request that brought the call: `headers`, `method`, `url`, and in an ASGI app the `scope` with what
        middleware put there. None over standard streams and in memory. Ask for it before the call is answered."""

    @property
    def session_id(self) -> str | None:
        """The id of the client's session over HTTP (``Mcp-Session-Id``). None where there is no such session: over
        standard streams, in memory, without sessions, and in 2026-07-28."""

    @property
    def server(self) -> Server:
        """The server that the handler belongs to."""

    @property
    def state(self) -> Any:
        """What the server's lifespan gave, or None."""

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Awaitable[None]:
        """Reports progress to the caller.

        The value grows from report to report (a report that does not is left out); `total` is what
        it grows to, where that is known; `message` is for a person. Await it in an async handler: that
        lets other work run when the handler has kept the loop busy. In a plain one just call it.

        Progress clause of the specification (all revisions).
        """

    def log(self, level: str, data: Any, logger: str | None = None) -> Awaitable[None]:
        """Sends a log message to the client, unless it does not want messages as mild as this one.

        The levels are debug, info, notice, warning, error, critical, alert and emergency; `data` is
        anything with a JSON form. It may be awaited, and need not.
        """

    def debug(self, data: Any, logger: str | None = None) -> Awaitable[None]:
        """`log` of the level "debug"."""

    def info(self, data: Any, logger: str | None = None) -> Awaitable[None]:
        """`log` of the level "info"."""

    def warning(self, data: Any, logger: str | None = None) -> Awaitable[None]:
        """`log` of the level "warning"."""

    def error(self, data: Any, logger: str | None = None) -> Awaitable[None]:
        """`log` of the level "error"."""

    @overload
    def elicit(
        self, message: str, schema: type[T], *, key: str | None = None, timeout: float | None = None
    ) -> Coroutine[Any, Any, ElicitResult[T]]:
        """Asks the client's user to fill in a form.

        :param schema: the form: a dataclass, TypedDict, Struct or pydantic model with simple members, or
            a JSON Schema; without one the user just agrees or not.
        :param key: names the question in 2026-07-28, where questions are numbered otherwise.
        :param timeout: seconds without an answer until it fails, in revisions with a handshake. In 2026-07-28 it is
            the client that waits for its user, and this has no effect.
        """

    @overload
    def elicit(
        self, message: str, schema: dict[str, Any] | None = None, *, key: str | None = None, timeout: float | None = None
    ) -> Coroutine[Any, Any, ElicitResult[dict[str, Any]]]: ...
    def elicit_url(
        self,
        message: str,
        url: str,
        *,
        elicitation_id: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, ElicitResult[None]]:
        """Asks the client's user to visit a URL. That the user agreed does not mean that it is done."""

    def sample(
        self,
        messages: str | Message | Sequence[str | Message | dict[str, Any]],
        *,
        max_tokens: int = 1024,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        model_preferences: dict[str, Any] | None = None,
        include_context: str | None = None,
        metadata: dict[str, Any] | None = None,
        tools: list[Any] | None = None,
        tool_choice: dict[str, Any] | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, SampleResult]:
        """Asks the client's model. A string is a message of the user's."""

    def list_roots(self, *, key: str | None = None, timeout: float | None = None) -> Coroutine[Any, Any, list[Root]]:
        """Asks the client for the folders and files that the server may work on."""

    def wait(self, awaitable: Coroutine[Any, Any, T]) -> T:
        """Waits, in a plain handler, for what an async one would await: ``ctx.wait(ctx.elicit("Sure?"))``.

        Raises `CallCancelledError` when the call is over, or is made again with the answer.
        """

    def end_stream(self) -> None:
        """Gives up the stream of this request over HTTP, so that a long call holds no connection: the client comes back
        for what is said later. In revisions with sessions only; elsewhere it does nothing."""

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification to the client."""

    @property
    def _connection(self) -> tuple[int, int]: ...
    @property
    def _loop(self) -> asyncio.AbstractEventLoop | None: ...
    def _ask(
        self, method: str, params: str | None, key: str | None, timeout: float | None
    ) -> tuple[int, asyncio.Future[bytes]]: ...
    def _withdraw(self, id: int) -> bool: ...
    def _notify(self, method: str, params: str | None) -> None: ...

EventHook = Callable[[str, int | None, Any, Any], None]

@final
class Entry:
    def __new__(
        cls, kind: str, name: str, prepare: Callable[[Entry], object], owner: object | None = None
    ) -> Entry: ...
    @property
    def name(self) -> str: ...
    def prepare(
        self,
        function: Callable[..., Any],
        decode: Callable[[bytes], Any] | None,
        arguments: list[str],
        keywords: tuple[str, ...] | None,
        context: int | None,
    ) -> None: ...

@final
class Registry:
    def __new__(cls) -> Registry: ...
    def add(self, kind: str, key: str, entry: Entry) -> int: ...
    def entry(self, kind: str, id: int) -> Entry | None: ...
    def describe(self, kind: str, id: int, descriptor: str) -> None: ...
    def check(self, id: int, input: bool, output: bool) -> None: ...
    def complete(self, kind: str, id: int, entry: Entry) -> None: ...
    def remove(self, kind: str, id: int) -> bool: ...
    def set_enabled(self, kind: str, id: int, enabled: bool) -> bool: ...
    def add_method(self, name: str, extension: str | None, entry: Entry) -> None: ...
    def serve(self, name: str, entry: Entry) -> None: ...
    def take_over(self, method: str, entry: Entry | None) -> None: ...
    def tell_initialized(self) -> None: ...
    def list(self, kind: str, cursor: str | None = None) -> str | None: ...
    def set_page_size(self, size: int | None) -> None: ...

@final
class Schema:
    def __new__(cls, text: str) -> Schema: ...
    def check(self, text: str) -> str | None: ...

@final
class Stdio:
    def __new__(cls) -> Stdio: ...
    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...
    def close(self) -> None: ...

@final
class ChildShutdown:
    def __new__(cls) -> ChildShutdown: ...
    def poll(self, now: float) -> str | None: ...
    def poll_timeout(self) -> float | None: ...

@final
class Handler: ...

@final
class Connection:
    @staticmethod
    def server(
        name: str,
        version: str,
        title: str | None,
        instructions: str | None,
        trace: bool,
        settings: str | None,
        secret: bytes,
        registry: Registry,
        input: int,
        output: int,
        on_event: EventHook,
    ) -> Connection: ...
    @staticmethod
    def client(
        name: str,
        version: str,
        title: str | None,
        timeout: float | None,
        settings: str,
        server: str | None,
        registry: Registry,
        input: int,
        output: int,
        on_event: EventHook,
    ) -> Connection: ...
    @staticmethod
    def http_client(
        hub: Hub,
        name: str,
        version: str,
        title: str | None,
        timeout: float | None,
        settings: str,
        probe: bool,
        registry: Registry,
        url: str,
        http: str,
        renews: bool,
        connect_timeout: float | None,
        on_event: EventHook,
    ) -> Connection: ...
    def give_headers(self, fields: list[tuple[str, str]], why_not: str | None) -> bool: ...
    def serve_without_host(self) -> bool: ...
    def attach(self, event_loop: asyncio.AbstractEventLoop) -> None: ...
    def detach(self) -> None: ...
    def on_readable(self) -> None: ...
    def guard(self) -> int | None: ...
    def come_back(self) -> None: ...
    def unguard(self) -> None: ...
    def on_writable(self) -> None: ...
    def on_timer(self) -> None: ...
    def feed(self, bytes: bytes) -> None: ...
    def flush(self) -> None: ...
    def finish(self, timeout: float) -> None: ...
    def advance(self, time: float) -> None: ...
    def connect(self, timeout: float | None = None) -> None: ...
    def begin(
        self,
        method: str,
        params: str | None,
        timeout: float | None,
        max_total_timeout: float | None,
        reset_timeout_on_progress: bool,
        progress: bool,
    ) -> tuple[int, asyncio.Future[bytes]]: ...
    def ping(self, timeout: float | None) -> tuple[int, asyncio.Future[bytes]]: ...
    def call_tool(
        self,
        name: str,
        arguments: bytes | None,
        timeout: float | None,
        max_total_timeout: float | None,
        reset_timeout_on_progress: bool,
        progress: bool,
    ) -> tuple[int, asyncio.Future[bytes]]: ...
    def cancel(self, id: int, reason: str | None = None) -> bool: ...
    def notify(self, method: str, params: str | None = None) -> None: ...
    def list(self, method: str, timeout: float | None) -> tuple[int, asyncio.Future[bytes]]: ...
    def set_log_level(self, level: str) -> None: ...
    def command(self, text: str) -> str: ...
    def finish_line(self) -> None: ...
    def is_probing(self) -> bool: ...
    def start_over(self, input: int, output: int) -> None: ...
    def log(self, level: str, logger: str | None, data: str) -> bool: ...
    @property
    def session_id(self) -> str | None: ...
    def wake(self) -> None: ...
    def close(self, why: str) -> None: ...
    def stats(self) -> tuple[int, int, int, int, int]: ...

@final
class Hub:
    def __new__(cls, event_loop: asyncio.AbstractEventLoop) -> Hub: ...
    def fileno(self) -> int | None: ...
    def wait(self) -> bool: ...
    def settle(self) -> None: ...
    def turn(self) -> None: ...
    def close(self) -> None: ...
    def __len__(self) -> int: ...

@final
class HttpServer:
    def __new__(
        cls,
        hub: Hub,
        name: str,
        version: str,
        title: str | None,
        instructions: str | None,
        trace: bool,
        settings: str | None,
        secret: bytes,
        registry: Registry,
        http: str,
        routes: bool,
        sessions: bool,
        on_event: EventHook,
    ) -> HttpServer: ...
    def bind(self, port: int) -> tuple[str, int]: ...
    def exchange(
        self, method: str, target: str, headers: Iterable[tuple[bytes, bytes]], scope: object
    ) -> tuple[Exchange, asyncio.Future[tuple[int, list[tuple[bytes, bytes]], bytes | None]]]: ...
    def end_streams(self) -> None: ...
    def shut_down(self) -> None: ...
    def close(self) -> None: ...
    def sessions(self) -> int: ...
    def resource_updated(self, uri: str) -> bool: ...
    def notify(self, method: str, params: str | None = None) -> None: ...
    def log(self, level: str, logger: str | None, data: str) -> None: ...
    def tasks(self) -> list[asyncio.Task[Any]]: ...
    def stats(self) -> tuple[int, int, int]: ...

@final
class Exchange:
    def body(self, chunk: bytes) -> bool: ...
    def end_body(self) -> None: ...
    def more(self) -> asyncio.Future[bytes | None]: ...
    def close(self) -> None: ...

@final
class RouteReply:
    def answer(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bool: ...
    def unknown(self) -> bool: ...
    def begin(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bool: ...
    def chunk(self, chunk: bytes) -> bool: ...
    def end(self) -> bool: ...
    def close(self) -> None: ...

_Options = tuple[float | None, float | None, bool, bool]

@final
class Session:
    def __new__(cls, role: str, info: str, settings: str) -> Session: ...
    def connect(self, timeout: float | None, now: float) -> None: ...
    def receive(self, bytes: bytes, now: float) -> None: ...
    def end_input(self, now: float) -> None: ...
    def close(self, why: str) -> None: ...
    def begin(self, method: str, params: str | None, options: _Options, now: float) -> int: ...
    def call_tool(self, name: str, arguments: str | None, options: _Options, now: float) -> int: ...
    def cancel(self, id: int, reason: str | None = None) -> bool: ...
    def notify(self, method: str, params: str | None = None) -> None: ...
    def command(self, text: str, now: float) -> str: ...
    def respond_result(self, id: int, text: str, now: float) -> bool: ...
    def respond_tool_error(self, id: int, message: str, now: float) -> bool: ...
    def respond_invalid_arguments(self, id: int, what: str, now: float) -> bool: ...
    def respond_error(self, id: int, code: int, message: str, data: str | None, now: float) -> bool: ...
    def progress(self, id: int, progress: float, total: float | None = None, message: str | None = None) -> bool: ...
    def resume(self, id: int) -> bool: ...
    def handle_timeout(self, now: float) -> None: ...
    def poll_timeout(self) -> float | None: ...
    def stats(self) -> dict[str, int]: ...
    def poll(self) -> tuple[str, bytes]: ...
