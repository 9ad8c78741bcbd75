"""The client that the public conformance suite runs: it does what the scenario in ``MCP_CONFORMANCE_SCENARIO`` wants of
a client. ``python client.py URL``."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from oxmcp import Client, ElicitRequest


def person(request: ElicitRequest) -> Any:
    """Leaves the form as it is shown, with its defaults, and says yes to all else."""
    fields = request.requested_schema.get("properties", {})
    yes = {name: True for name, field in fields.items() if field.get("type") == "boolean"}
    return {**yes, **{name: field["default"] for name, field in fields.items() if "default" in field}}


async def call_each(client: Client, arguments: Any) -> None:
    """Calls the tools of the list, those with parameters in header fields as well."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, arguments)


async def use_all(client: Client) -> None:
    await call_each(client, {})
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name)


async def call_named(client: Client) -> None:
    """Makes the calls that the scenario names."""
    await client.list_tools()
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def take_rounds(client: Client) -> None:
    """Calls tools that ask for input, and another one while an answer is being found."""
    await client.list_tools()
    await asyncio.gather(*(client.call_tool(name) for name in ("test_mrtr_echo_state", "test_mrtr_unrelated")))
    await client.call_tool("test_mrtr_no_state")
    await client.call_tool("test_mrtr_no_result_type")


async def echo_schema(client: Client) -> None:
    """Sends a schema back as it came."""
    (tool,) = [tool for tool in await client.list_tools() if tool.name == "json_schema_2020_12_tool"]
    await client.call_tool("json_schema_echo", {"schema": tool.input_schema})


async def run(client: Client, scenario: str) -> None:
    match scenario:
        case "initialize" | "request-metadata":
            pass  # their servers offer nothing
        case "json-schema-ref-no-deref":
            await client.list_tools()
        case "tools_call":
            await call_each(client, {"a": 2, "b": 3})
        case "elicitation-sep1034-client-defaults" | "sse-retry":
            await call_each(client, {})
        case "http-invalid-tool-headers":
            await call_each(client, {"region": "us-west1"})
        case "http-standard-headers":
            await use_all(client)
        case "http-custom-headers":
            await call_named(client)
        case "sep-2322-client-request-state":
            await take_rounds(client)
        case "json-schema-2020-12-preservation":
            await echo_schema(client)
        case other:
            raise ValueError(f"the scenario {other!r} is not known here")


async def main() -> None:
    async with Client(
        sys.argv[1],
        name="oxmcp conformance client",
        on_elicit=person,
        on_sample=lambda _: "Nothing comes to mind.",
        roots=["file:///work"],
        on_problem=lambda _, message: print("problem:", message, file=sys.stderr),
    ) as client:
        await run(client, os.environ["MCP_CONFORMANCE_SCENARIO"])


asyncio.run(main())
