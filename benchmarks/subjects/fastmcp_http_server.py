"""FastMCP over HTTP, on uvicorn with its fastest event loop and parser."""

import asyncio
import socket
import sys

import uvicorn
from fastmcp import FastMCP

app = FastMCP("bench")


@app.tool
async def echo(text: str) -> str:
    """Answer with the text that was given."""
    return text


def main() -> None:
    json = "json" in sys.argv
    listener = socket.create_server(("127.0.0.1", 0))
    host, port = listener.getsockname()
    web = app.http_app(json_response=json)
    config = uvicorn.Config(web, loop="uvloop", http="httptools", log_level="warning", access_log=False)
    print(f"http://{host}:{port}/mcp", flush=True)
    asyncio.Runner(loop_factory=config.get_loop_factory()).run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
