"""The official Python SDK over HTTP: `tools` or `surface`. Prints its address, and ends when its standard input does."""

import os
import socket
import sys
import threading

import uvicorn
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage


class Events(EventStore):
    """Every event of every stream, in one list: its place is its id."""

    def __init__(self) -> None:
        self.events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events) - 1)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        place = int(last_event_id)
        stream = self.events[place][0]
        for number, (of, message) in enumerate(self.events[place + 1 :], place + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "tools":
        from official_server import app
    else:
        from official_surface_server import app
    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=end_with_stdin, daemon=True).start()
    asgi = app.streamable_http_app(event_store=Events(), retry_interval=20)
    server = uvicorn.Server(uvicorn.Config(asgi, log_level="error"))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    server.run(sockets=[listening])
