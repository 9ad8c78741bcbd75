"""The official Python SDK, as its documentation shows it: Client over a stdio command, or with `http` over a URL."""

import asyncio
import time

from mcp import Client, StdioServerParameters

from measure import listening, measure, plan


async def main():
    settings = plan()
    command, *args = settings.command
    target = listening(settings) if settings.http else StdioServerParameters(command=command, args=args)
    begin = time.perf_counter()
    async with Client(target) as client:
        await measure(
            settings,
            time.perf_counter() - begin,
            lambda text: client.call_tool("echo", {"text": text}),
            lambda result: result.content[0].text,
        )


asyncio.run(main())
