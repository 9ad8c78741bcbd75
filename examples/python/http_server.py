"""A shop over HTTP: `python http_server.py [PORT]` prints its address. Ctrl-C ends it.

It serves any number of clients at once. `http_client.py` is one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oxmcp import Context, Server


@asynccontextmanager
async def open_shop(_: Server) -> AsyncIterator[dict[str, int]]:
    """Surrounds all that is served; what it yields is `ctx.state`."""
    yield {"tea": 3, "milk": 1}


app = Server("shop", version="1.0.0", subscriptions=True, lifespan=open_shop)


@app.resource("stock://{item}")
async def stock(item: str, ctx: Context) -> dict:
    "How much there is of an item."
    return {"item": item, "count": ctx.state.get(item, 0)}


@app.tool
async def pack(item: str, ctx: Context) -> str:
    "Packs all there is of an item, one by one."
    count = ctx.state[item]
    for number in range(1, count + 1):
        await ctx.report_progress(number, count)
        await asyncio.sleep(0.01)
    return f"Packed {count} of {item}."


@app.tool
async def buy(item: str, count: int, ctx: Context) -> str:
    "Sells something, if the user agrees."
    if not (await ctx.elicit(f"Buy {count} of {item}?")).accepted:
        return "Nothing sold."
    ctx.state[item] -= count
    app.notify_resource_updated(f"stock://{item}")
    return f"Sold {count} of {item}."


@app.tool
async def wait_for_parcel() -> str:
    "Takes its time."
    await asyncio.sleep(3600)
    return "It came."


async def main(port: int) -> None:
    async with app.serve_http(port=port) as serving:
        print(serving.url, flush=True)
        await serving.wait_closed()


if __name__ == "__main__":
    # Without a need for the address, app.run("http", port=8000) does all of this.
    try:
        asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000))
    except KeyboardInterrupt:
        pass
