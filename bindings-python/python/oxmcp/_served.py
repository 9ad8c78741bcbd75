"""What the native module tells a server of, and a server's connections over descriptors."""

from __future__ import annotations

import os
import sys

from ._errors import report
from ._native import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Protocol

    from ._native import Registry
    from ._server import Server
    from ._sessions import Sessions
    from ._stdio import StandardStreams

    _Identity = tuple[str, str, str | None, str | None, bool, str | None, bytes, Registry]
else:
    Protocol = object


def identity(app: Server) -> _Identity:
    """What the native module is told of a server."""
    return (
        app.name,
        app.version,
        app.title,
        app.instructions,
        app.on_trace is not None,
        to_json(app._settings) if app._has_settings else None,
        os.urandom(64),
        app._registry,
    )


async def serve_streams(app: Server, streams: StandardStreams) -> None:
    """Serves the client at the other end of streams, until it leaves."""
    app._refuse_second()
    try:
        app._served = Served(app, streams)
        await app._served.run()
    finally:
        app._served = None


async def serve_ends(app: Server, ends: Ends) -> None:
    """Serves the client at the other end of descriptors, until it leaves."""
    served = Served(app, ends)
    app._connections.add(served)
    try:
        await served.run()
    finally:
        app._connections.discard(served)


class Ends(Protocol):
    """Where messages come from and go to."""

    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...


KINDS = ("tool", "resource", "template", "prompt")
"""What a server offers, and lists show."""
LAST_WORDS = 2.0
"""Seconds that handlers which were cancelled, and hooks, may take to end before the lifespan does."""
_INITIALIZED = "notifications/initialized"
# A connection over descriptors has one session.
_ONLY = 0


class Events:
    """What the native module tells a server of."""

    def __init__(self, app: Server) -> None:
        self.app = app
        self.sessions: Sessions | None = None
        if app._tells_sessions():
            from ._sessions import Sessions

            self.sessions = Sessions(app.on_connect, app.on_disconnect)
            app._registry.tell_initialized()
        if _has_spans():
            app._take_lists_over()

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
        from ._describe import describe_all

        describe_all(self.app, kind)


class Served(Events):
    """One connection of a server over descriptors."""

    def __init__(self, app: Server, streams: Ends) -> None:
        super().__init__(app)
        self.closed: Callable[[], None] = _nothing
        self.pause_reading: Callable[[], None] = _nothing
        self.resume_reading: Callable[[], None] = _nothing
        self.input = streams.input
        self.connection = Connection.server(*identity(app), streams.input, streams.output, self.on_event)

    async def run(self) -> None:
        for kind in KINDS:
            # Then lists never wait for the loop, which a handler may keep busy.
            self.describe(kind)
        if not self.app._has_life():
            return await self._serve()
        async with self.app._living():
            await self._serve()

    async def _serve(self) -> None:
        from ._loop import serve

        try:
            await serve(self.connection, self.input, self)
        finally:
            if self.sessions is not None:
                await self.sessions.ended(LAST_WORDS)

    def on_event(self, kind: str, id: int | None, first: Any, second: Any) -> None:
        if kind == "closed":
            if self.sessions is not None:
                self.sessions.end(_ONLY)
            self.closed()
        elif self.sessions is not None and kind == "ready":
            self.sessions.begin(_ONLY, self.connection, first)
        elif self.sessions is not None and kind == "notification" and first == _INITIALIZED:
            self.sessions.begun(_ONLY)
        elif kind == "pause_reading":
            self.pause_reading()
        elif kind == "resume_reading":
            self.resume_reading()
        else:
            super().on_event(kind, id, first, second)


def _has_spans() -> bool:
    """Whether the program has told OpenTelemetry where spans go."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    return trace is not None and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _nothing() -> None: ...


def to_json(value: Any) -> str:
    """The JSON text of what a program said of its server."""
    from ._json import encode

    return encode(value).decode()
