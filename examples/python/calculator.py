"""A server with a few tools. Run it from any MCP client, for example `python client.py calculator.py`."""

import asyncio
from typing import Annotated

from msgspec import Meta

from oxmcp import Context, Server, ToolError

app = Server("calculator", version="1.0.0", instructions="Does sums. Ask for one operation at a time.")


@app.tool
async def add(a: float, b: float) -> float:
    "Adds two numbers."
    return a + b


@app.tool(title="Divide two numbers")
def divide(a: float, b: float) -> float:
    "Divides a by b. A plain function: it runs on a worker thread."
    if b == 0:
        raise ToolError("b is zero; give another divisor")
    return a / b


@app.tool
async def primes(below: Annotated[int, Meta(ge=2, le=100_000, description="An upper bound.")], ctx: Context) -> dict:
    "Finds all primes below a number, and reports progress."
    found: list[int] = []
    for number in range(2, below):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        if number % 100 == 0:
            # Awaiting it lets other calls run, and a cancel arrive.
            await ctx.report_progress(number, below, f"{len(found)} primes so far")
    return {"count": len(found), "largest": found[-1] if found else None}


@app.tool
async def wait(seconds: float) -> str:
    "Waits. Cancel it to see a cancel arrive."
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print("wait: cancelled")  # lands on standard error
        raise
    return f"Waited {seconds} s."


app.run()
