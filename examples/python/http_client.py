"""A client of the shop: `python http_client.py URL`."""

import asyncio
import sys

from oxmcp import Client, ElicitRequest


def user(request: ElicitRequest) -> str:
    print("the shop asks:", request.message)
    return "accept"


def show(progress: float, total: float | None, _: str | None) -> None:
    print(f"packing: {progress:.0f}/{total:.0f}")


async def main(url: str) -> None:
    async with Client(url, on_elicit=user) as client:
        print(f"connected to {client.server_info['name']} by revision {client.protocol_version}")
        print((await client.call_tool("pack", {"item": "tea"}, on_progress=show)).text)

        async with client.listen(updates=["stock://tea"]) as changes:
            print((await client.call_tool("buy", {"item": "tea", "count": 2})).text)
            async for _, params in changes:
                print("changed:", params["uri"], (await client.read_resource(params["uri"])).text)
                break

        call = asyncio.ensure_future(client.call_tool("wait_for_parcel"))
        await client.list_tools()
        call.cancel()
        print("nobody waits for a parcel:", (await asyncio.gather(call, return_exceptions=True))[0].__class__.__name__)


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/mcp"))
