"""The other end of a server over HTTP, written by hand: what goes over the wire is what the tests say, and what they
see. And the ways to serve an app in a test."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import uvicorn

MODERN, LEGACY = "2026-07-28", "2025-11-25"
NAMESPACE = "io.modelcontextprotocol"

_writers: list[asyncio.StreamWriter] = []


class Reply:
    """One response: its status and fields, then its body as far as it is read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.status = 0
        self.headers: dict[str, str] = {}
        self.fields: list[tuple[str, str]] = []
        self._rest: int | None = None
        self._text, self._messages = "", deque[Any]()

    async def begin(self) -> Reply:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        self.status = int(head[0].split(" ")[1])
        pairs = [line.partition(":") for line in head[1:-2]]
        self.fields = [(name.lower(), value.strip()) for name, _, value in pairs]
        self.headers = dict(self.fields)
        if "content-length" in self.headers:
            self._rest = int(self.headers["content-length"])
        return self

    async def chunk(self) -> bytes:
        """Some of the body; nothing at its end."""
        if self._rest is not None:
            data = await self._reader.readexactly(self._rest)
            self._rest = 0
            return data
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return b""
        size = int(await self._reader.readline(), 16)
        data = await self._reader.readexactly(size)
        await self._reader.readexactly(2)
        return data

    async def json(self) -> Any:
        return json.loads(await self.chunk())

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """The messages of an event stream, as they come."""
        while True:
            while self._messages:
                yield self._messages.popleft()
            chunk = await self.chunk()
            if not chunk:
                return
            *events, self._text = (self._text + chunk.decode()).split("\n\n")
            for event in events:
                data = "".join(line[5:].strip() for line in event.split("\n") if line.startswith("data:"))
                if data:
                    self._messages.append(json.loads(data))

    async def message(self) -> dict[str, Any]:
        """The next message of an event stream."""
        async for message in self.messages():
            return message
        raise EOFError("the stream ended")

    async def answer(self) -> dict[str, Any]:
        """The answer, on a stream or alone."""
        if self.headers.get("content-type") == "application/json":
            answer: dict[str, Any] = await self.json()
            return answer
        async for message in self.messages():
            if "id" in message and "method" not in message:
                return message
        raise EOFError("the stream ended without an answer")

    def leave(self) -> None:
        self._writer.close()


class HttpPeer:
    """A client of one era. Each request has a connection of its own."""

    def __init__(self, port: int, revision: str = LEGACY, path: str = "/mcp") -> None:
        self.port, self.revision, self.path = port, revision, path
        self.session: str | None = None
        self.last_id = 0

    async def initialize(self, **capabilities: Any) -> HttpPeer:
        who = {"name": "p", "version": "1"}
        params = {"protocolVersion": self.revision, "capabilities": capabilities, "clientInfo": who}
        reply = await self.post({"id": 0, "method": "initialize", "params": params})
        assert (await reply.answer())["result"]["protocolVersion"] == self.revision
        self.session = reply.headers["mcp-session-id"]
        assert (await self.post({"method": "notifications/initialized"})).status == 202
        return self

    async def open(
        self, method: str, headers: dict[str, str], body: bytes = b"", *, promised: int | None = None
    ) -> Reply:
        """Sends a request; `promised` is the length it says it has."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        fields = {"host": f"localhost:{self.port}", "content-length": str(len(body) if promised is None else promised)}
        lines = [f"{name}: {value}" for name, value in {**fields, **headers}.items()]
        writer.write("\r\n".join([f"{method} {self.path} HTTP/1.1", *lines, "", ""]).encode() + body)
        _writers.append(writer)
        return Reply(reader, writer)

    def fields(self, message: dict[str, Any]) -> dict[str, str]:
        fields = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if message.get("method") != "initialize":
            fields["mcp-protocol-version"] = self.revision
        if self.session is not None:
            fields["mcp-session-id"] = self.session
        if self.revision == MODERN:
            fields["mcp-method"] = message["method"]
            params = message.get("params", {})
            if name := params.get("name", params.get("uri")):
                fields["mcp-name"] = name
        return fields

    async def post(self, message: dict[str, Any], **headers: str) -> Reply:
        """Sends a message; gives the response once its head has come."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        fields = {**self.fields(message), **{name.replace("_", "-"): value for name, value in headers.items()}}
        return await (await self.open("POST", fields, body)).begin()

    async def begin(self, method: str, capabilities: Any = None, **params: Any) -> Reply:
        """Makes a request. Its response begins when there is something to say."""
        self.last_id += 1
        if self.revision == MODERN:
            about = {
                "protocolVersion": self.revision,
                "clientInfo": {"name": "p", "version": "1"},
                "clientCapabilities": capabilities or {},
            }
            meta = {f"{NAMESPACE}/{key}": value for key, value in about.items()}
            params["_meta"] = {**params.get("_meta", {}), **meta}
        message = {"id": self.last_id, "method": method, "params": params}
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return await self.open("POST", self.fields(message), body)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Makes a request and gives its answer."""
        answer = await (await (await self.begin(method, **params)).begin()).answer()
        assert answer["id"] == self.last_id
        return answer

    async def tool(self, tool: str, **arguments: Any) -> Any:
        """Calls a tool and gives the text of its result."""
        answer = await self.call("tools/call", name=tool, arguments=arguments)
        return answer["result"]["content"][0]["text"]

    async def stream(self, last_event_id: str | None = None) -> Reply:
        """The stream of what belongs to no request, or the rest of the one with this event."""
        assert self.session is not None
        fields = {"accept": "text/event-stream", "mcp-session-id": self.session, "mcp-protocol-version": self.revision}
        if last_event_id is not None:
            fields["last-event-id"] = last_event_id
        return await (await self.open("GET", fields)).begin()


async def peer_of(port: int, revision: str) -> HttpPeer:
    """A peer that is ready to call."""
    peer = HttpPeer(port, revision)
    return peer if revision == MODERN else await peer.initialize()


async def close_all() -> None:
    """Closes the connections of all peers of this loop."""
    while _writers:
        writer = _writers.pop()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def under_uvicorn(asgi: Any, **options: Any) -> AsyncIterator[int]:
    """Serves an ASGI app; gives its port."""
    server = uvicorn.Server(uvicorn.Config(asgi, port=0, log_level="warning", **options))
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    began = asyncio.Event()
    startup = server.startup

    async def tell(sockets: Any = None) -> None:
        try:
            await startup(sockets)
        finally:
            began.set()

    server.startup = tell  # type: ignore[method-assign]
    serving = asyncio.create_task(server.serve())
    await began.wait()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        await close_all()
        server.should_exit = True
        await serving


@contextlib.asynccontextmanager
async def serving(app: Any, how: str, **options: Any) -> AsyncIterator[int]:
    """Serves an app on a port of its own, or under uvicorn; gives the port."""
    if how == "port":
        async with app.serve_http(**options) as handle:
            try:
                yield handle.address[1]
            finally:
                await close_all()
    else:
        async with under_uvicorn(app.asgi(**options)) as port:
            yield port


def counts(app: Any) -> tuple[int, int, int]:
    """Handlers that run, futures that wait and exchanges under way, of the one place where an app is served."""
    (endpoint,) = app._endpoints
    counted: tuple[int, int, int] = endpoint.native.stats()
    return counted
