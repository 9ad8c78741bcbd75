"""The server of the demonstration: one tool that takes its time.

Run by `cargo xtask demo`, which calls it from Node.
"""

import asyncio

from oxmcp import Context, Server

app = Server("demo-server", version="1.0.0", instructions="Ask it to count.")


@app.tool
async def count(to: int, ctx: Context) -> str:
    "Counts to a number, one step at a time."
    try:
        for step in range(1, to + 1):
            await asyncio.sleep(0.1)
            await ctx.report_progress(step, to, f"step {step} of {to}")
    except asyncio.CancelledError:
        # A print is safe: it lands on standard error, never in the protocol.
        print("count() got asyncio.CancelledError and cleans up")
        raise
    return f"Counted to {to}."


app.run()
