"""The shop of `http_server.py` in a web app: `python http_asgi.py [PORT]` prints its address. Ctrl-C ends it.

It needs `starlette` and `uvicorn`; with FastAPI it is the same.
"""

import socket
import sys

import uvicorn
from http_server import app
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route


async def health(_: object) -> PlainTextResponse:
    return PlainTextResponse("fine")


mcp = app.asgi()
web = Starlette(routes=[Route("/health", health), Mount("/", mcp)], lifespan=mcp.lifespan)

if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(web, log_level="warning")).run([listening])
