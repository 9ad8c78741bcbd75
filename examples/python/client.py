"""A client of the calculator: `python client.py COMMAND...`, for example `python client.py calculator.py`."""

import asyncio
import sys
from pathlib import Path

from oxmcp import Client, RequestTimeoutError, ResponseError


async def main(command: list[str]) -> None:
    async with Client(command[0] if len(command) == 1 else command) as client:
        print(f"connected to {client.server_info['name']} by revision {client.protocol_version}")
        for tool in await client.list_tools():
            print(f"  {tool.name}: {tool.description}")

        print("2 + 3 =", (await client.call_tool("add", {"a": 2, "b": 3})).text)

        failed = await client.call_tool("divide", {"a": 1, "b": 0})
        print("1 / 0 :", failed.text, "(the tool says so)" if failed.is_error else "")

        result = await client.call_tool(
            "primes",
            {"below": 2000},
            on_progress=lambda progress, total, message: print(f"  {progress:.0f}/{total:.0f} {message}"),
        )
        print("primes:", result.structured_content)

        try:
            await client.call_tool("wait", {"seconds": 60}, timeout=0.2)
        except RequestTimeoutError as error:
            print("timeout:", error)

        call = asyncio.ensure_future(client.call_tool("wait", {"seconds": 60}))
        await client.ping()
        call.cancel()
        print("cancelled:", (await asyncio.gather(call, return_exceptions=True))[0].__class__.__name__)

        try:
            await client.call_tool("multiply", {"a": 2, "b": 3})
        except ResponseError as error:
            print("no such tool:", error)


asyncio.run(main(sys.argv[1:] or [str(Path(__file__).with_name("calculator.py"))]))
