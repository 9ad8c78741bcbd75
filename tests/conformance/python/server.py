"""The server that the public conformance suite is run against: it offers what the suite's scenarios call.
``python server.py [PORT]`` prints its address."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import asking
import content
import rounds

from oxmcp import Context, Server, __version__

app = Server(
    "oxmcp conformance server",
    version=__version__,
    subscriptions=True,
    on_problem=lambda _, message: print("problem:", message, file=sys.stderr),
)


async def progress(ctx: Context) -> str:
    "Reports its progress."
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


async def logs(ctx: Context) -> str:
    "Logs what it does."
    for stage in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(stage)
        await asyncio.sleep(0.05)
    return "logged"


async def reconnection(ctx: Context) -> str:
    "Ends its stream before it is done."
    ctx.end_stream()
    await asyncio.sleep(0.1)
    return "The client came back for this."


def told(arguments: dict[str, Any]) -> str:
    return f"called with {arguments}"


CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

REGION = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


async def trigger_tool_change() -> str:
    "Changes the list of tools."
    app.add_tool(content.simple_text, name="test_passing")
    app.remove_tool("test_passing")
    return "changed"


async def trigger_prompt_change() -> str:
    "Changes the list of prompts."
    app.add_prompt(content.simple_prompt, name="test_passing")
    app.remove_prompt("test_passing")
    return "changed"


content.add(app)
app.add_tool(progress, name="test_tool_with_progress")
app.add_tool(logs, name="test_tool_with_logging")
app.add_tool(logs, name="test_logging_tool")
app.add_tool(reconnection, name="test_reconnection")
described = {"name": "json_schema_2020_12_tool", "description": "Has a schema of many keywords."}
app.add_tool(told, **described, input_schema=CONTACT)
app.add_tool(told, name="test_x_mcp_header", description="Has a parameter in a header.", input_schema=REGION)
asking.add(app)
rounds.add(app)
app.add_tool(trigger_tool_change, name="test_trigger_tool_change")
app.add_tool(trigger_prompt_change, name="test_trigger_prompt_change")


async def main() -> None:
    async with app.serve_http(port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as serving:
        print(f"http://localhost:{serving.address[1]}/mcp", flush=True)
        await serving.wait_closed()


asyncio.run(main())
