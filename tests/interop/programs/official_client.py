"""A client on the official Python SDK: exercises a server, and prints what it saw as one line of JSON.

The first argument is how it finds the server's era ("auto" or "legacy"), the rest is the command, or a URL. Once it
has cancelled a call, it waits for a line on its standard input, or for its end."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


async def main(mode: str, command: str, *args: str) -> None:
    seen: dict[str, object] = {}
    progress: list[tuple[float, float | None, str | None]] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        progress.append((value, total, message))

    is_url = command.startswith("http:")
    server = command if is_url else StdioServerParameters(command=command, args=list(args))
    async with Client(server, mode=mode) as client:
        seen["revision"] = client.protocol_version
        seen["instructions"] = client.instructions
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["add"] = (await client.call_tool("add", {"a": 2, "b": 3})).content[0].text
        seen["count"] = (await client.call_tool("count", {"to": 3}, progress_callback=on_progress)).content[0].text
        seen["progress"] = progress
        failed = await client.call_tool("fail")
        seen["fail"] = [failed.is_error, failed.content[0].text]
        try:
            await client.call_tool("nope")
        except MCPError as error:
            seen["unknown"] = error.error.code
        with anyio.CancelScope() as scope:

            async def on_waiting(*_: object) -> None:
                scope.cancel()

            await client.call_tool("wait", progress_callback=on_waiting)
        seen["cancelled"] = scope.cancelled_caught
        await anyio.to_thread.run_sync(sys.stdin.readline)
        seen["after"] = (await client.call_tool("add", {"a": 1, "b": 1})).content[0].text
    print(json.dumps(seen))


anyio.run(main, *sys.argv[1:])
