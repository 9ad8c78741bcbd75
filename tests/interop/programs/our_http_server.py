"""Our package over HTTP: `our_http_server.py tools|surface`. Prints its address, and ends when its standard input does."""

import asyncio
import sys

import our_server
import surface

APPS = {"tools": our_server.app, "surface": surface.app}


async def main(kind: str) -> None:
    async with APPS[kind].serve_http(port=0) as serving:
        print(serving.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(sys.argv[1]))
