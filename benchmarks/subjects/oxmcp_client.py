"""oxmcp from Python."""

import asyncio
import time

from oxmcp import Client

from measure import measure, plan


async def main():
    settings = plan()
    begin = time.perf_counter()
    async with Client(settings.command) as client:
        await measure(
            settings,
            time.perf_counter() - begin,
            lambda text: client.call_tool("echo", {"text": text}),
            lambda result: result.content[0].text,
        )


asyncio.run(main())
