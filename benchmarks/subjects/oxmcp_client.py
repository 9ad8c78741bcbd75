"""oxmcp from Python, over stdio, or with `http` over HTTP."""

import asyncio
import time

from oxmcp import Client

from measure import listening, measure, plan


async def main():
    settings = plan()
    target = listening(settings) if settings.http else settings.command
    begin = time.perf_counter()
    async with Client(target) as client:
        await measure(
            settings,
            time.perf_counter() - begin,
            lambda text: client.call_tool("echo", {"text": text}),
            lambda result: result.content[0].text,
        )


asyncio.run(main())
