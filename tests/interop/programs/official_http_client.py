"""A client on the official Python SDK that uses what only HTTP has, and prints what it saw as one line of JSON.

The first argument is how it finds the server's era ("auto" or "legacy"), the second is the URL."""

import json
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ServerNotification


async def main(mode: str, url: str) -> None:
    seen: dict[str, object] = {}
    requests: list[str] = []
    told: list[str] = []
    changed = anyio.Event()

    async def on_response(response: httpx2.Response) -> None:
        came_back = " for the rest" if "last-event-id" in response.request.headers else ""
        requests.append(f"{response.request.method}{came_back} {response.status_code}")
        seen["session"] = response.request.headers.get("mcp-session-id")

    async def on_message(message: object) -> None:
        if isinstance(message, ServerNotification):
            told.append(message.method)
            changed.set()

    async with httpx2.AsyncClient(event_hooks={"response": [on_response]}, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, message_handler=on_message) as client:
            seen["rejoin"] = (await client.call_tool("rejoin")).content[0].text
            with anyio.fail_after(30):
                if mode == "legacy":
                    await client.call_tool("grow")
                    await changed.wait()
                    seen["told"] = told
                else:
                    subscribed = client.listen(tools_list_changed=True, resource_subscriptions=["config://app"])
                    async with subscribed as changes:
                        await client.call_tool("grow")
                        seen["changes"] = sorted([type(await anext(changes)).__name__ for _ in range(2)])
    seen["requests"] = sorted(set(requests))
    print(json.dumps(seen))


anyio.run(main, *sys.argv[1:])
