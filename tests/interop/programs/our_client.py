"""A client on our package: exercises a server, and prints what it saw as one line of JSON.

`our_client.py tools|surface auto|legacy COMMAND…|URL`. Once it has cancelled a call, it waits for the end of its standard
input."""

import asyncio
import json
import sys
from typing import Any

from oxmcp import Client, ElicitRequest, ResponseError


async def see_tools(client: Client) -> dict[str, Any]:
    progress: list[tuple[Any, ...]] = []
    seen: dict[str, Any] = {
        "revision": client.protocol_version,
        "instructions": client.instructions,
        "tools": [tool.name for tool in await client.list_tools()],
        "add": (await client.call_tool("add", {"a": 2, "b": 3})).text,
        "count": (await client.call_tool("count", {"to": 3}, on_progress=lambda *it: progress.append(it))).text,
        "progress": progress,
    }
    failed = await client.call_tool("fail")
    seen["fail"] = [failed.is_error, failed.text]
    try:
        await client.call_tool("nope")
    except ResponseError as error:
        seen["unknown"] = error.code
    waiting = asyncio.Event()
    call = asyncio.ensure_future(client.call_tool("wait", on_progress=lambda *_: waiting.set()))
    await waiting.wait()
    call.cancel()
    seen["cancelled"] = (await asyncio.gather(call, return_exceptions=True))[0].__class__ is asyncio.CancelledError
    await asyncio.to_thread(sys.stdin.read)
    seen["after"] = (await client.call_tool("add", {"a": 1, "b": 1})).text
    return seen


async def see_surface(client: Client) -> dict[str, Any]:
    (prompt,) = await client.list_prompts()
    greeting = await client.get_prompt("greet", {"name": "Ada"})
    seen = {
        "resources": [resource.uri for resource in await client.list_resources()],
        "templates": [template.uri_template for template in await client.list_resource_templates()],
        "config": (await client.read_resource("config://app")).text,
        "bytes": (await client.read_resource("bytes://all")).blob == bytes(range(256)),
        "note": (await client.read_resource("note://00123")).text,
        "prompt": [prompt.name, [[argument.name, argument.required] for argument in prompt.arguments]],
        "messages": [[message.role, message.text] for message in greeting.messages],
        "completed": (await client.complete("name", "A", prompt="greet")).values,
    }
    return seen | {name: (await client.call_tool(name)).text for name in ("ask", "think", "folders", "rejoin")}


def person(_: ElicitRequest) -> dict[str, str]:
    return {"name": "Ada"}


async def main(kind: str, mode: Any, *target: str) -> None:
    server: Any = target[0] if target[0].startswith("http:") else list(target)
    asked: Any = {"on_elicit": person, "on_sample": lambda it: f"thought of {it.messages[0].text}", "roots": ["file:///work"]}
    async with Client(server, mode=mode, **asked) as client:
        print(json.dumps(await (see_tools(client) if kind == "tools" else see_surface(client))))


asyncio.run(main(*sys.argv[1:]))
