"""The tools that every server of these tests offers, on our package."""

import asyncio
import sys

from oxmcp import Context, Server, ToolError

app = Server("interop", version="1.0.0", instructions="For tests.")


@app.tool
async def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


@app.tool
async def count(to: int, ctx: Context) -> str:
    "Counts, and reports progress."
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
        # The official TypeScript client loses reports that arrive in one piece with the result.
        await asyncio.sleep(0.02)
    return "counted"


@app.tool
async def wait(ctx: Context) -> str:
    "Waits for its cancel."
    try:
        print("waiting", file=sys.stderr, flush=True)
        await ctx.report_progress(1, message="waiting")
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("cancelled", file=sys.stderr, flush=True)
        raise
    return "never"


@app.tool
async def fail() -> str:
    "Fails."
    raise ToolError("on purpose")


if __name__ == "__main__":
    app.run()
