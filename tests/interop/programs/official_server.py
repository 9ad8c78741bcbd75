"""The tools that every server of these tests offers, on the official Python SDK."""

import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("interop", instructions="For tests.")


@app.tool()
async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@app.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and reports progress."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    return "counted"


@app.tool()
async def wait(ctx: Context) -> str:
    """Waits for its cancel."""
    try:
        print("waiting", file=sys.stderr, flush=True)
        await ctx.report_progress(1, message="waiting")
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        print("cancelled", file=sys.stderr, flush=True)
        raise
    return "never"


@app.tool()
async def fail() -> str:
    """Fails."""
    raise ToolError("on purpose")


if __name__ == "__main__":
    app.run()
