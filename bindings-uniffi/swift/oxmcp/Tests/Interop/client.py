"""Our Python client on a server of the interop tests: `client.py MODE URL` or `client.py MODE COMMAND…`. Prints what it saw
as one line of JSON."""

import asyncio
import json
import sys

from oxmcp import Client


async def main() -> None:
    mode, *server = sys.argv[1:]
    target = server[0] if server[0].startswith("http") else server
    async with Client(target, mode=mode) as client:
        seen = {"tools": [tool.name for tool in await client.list_tools()]}
        seen["add"] = (await client.call_tool("add", {"a": 2, "b": 3})).text
        progress = []
        counted = await client.call_tool("count", {"to": 3}, on_progress=lambda *it: progress.append(it))
        seen["count"], seen["progress"] = counted.text, progress
        failed = await client.call_tool("fail")
        seen["fail"] = [failed.is_error, failed.text]
        waiting = asyncio.Event()
        call = asyncio.ensure_future(client.call_tool("wait", on_progress=lambda *_: waiting.set()))
        await waiting.wait()
        call.cancel()
        await asyncio.wait([call])
        seen["cancelled"] = call.cancelled()
        seen["note"] = (await client.read_resource("note://00123")).contents[0].text
    print(json.dumps(seen))


asyncio.run(main())
