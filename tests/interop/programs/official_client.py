"""A client on the official Python SDK: exercises a server, and prints what it saw as one line of JSON.

The first argument is how it finds the server's era ("auto" or "legacy"), the rest is the command."""

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

    async with Client(StdioServerParameters(command=command, args=list(args)), mode=mode) as client:
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
        with anyio.move_on_after(0.3) as scope:
            await client.call_tool("wait")
        seen["cancelled"] = scope.cancelled_caught
        seen["after"] = (await client.call_tool("add", {"a": 1, "b": 1})).content[0].text
    print(json.dumps(seen))


anyio.run(main, *sys.argv[1:])
