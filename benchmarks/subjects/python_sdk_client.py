"""The official Python SDK, as its documentation shows it: Client over a stdio command."""

import asyncio
import time

from mcp import Client, StdioServerParameters

from measure import measure, plan


async def main():
    settings = plan()
    begin = time.perf_counter()
    command, *args = settings.command
    async with Client(StdioServerParameters(command=command, args=args)) as client:
        await measure(
            settings,
            time.perf_counter() - begin,
            lambda text: client.call_tool("echo", {"text": text}),
            lambda result: result.content[0].text,
        )


asyncio.run(main())
