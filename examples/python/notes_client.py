"""A client of the notes: `python notes_client.py COMMAND...`, for example `python notes_client.py notes.py`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from oxmcp import Client, ElicitRequest, ResponseError


def ask_the_user(request: ElicitRequest) -> dict[str, Any]:
    # A real client shows the form, and lets the user decline.
    print(f"  the server asks: {request.message} {list(request.requested_schema['properties'])}")
    return {"sure": True, "reason": "All bought."}


def on_log(level: str, data: Any, logger: str | None) -> None:
    print(f"  {level}: {data}")


async def main(command: list[str]) -> None:
    target = command[0] if len(command) == 1 else command
    async with Client(target, on_elicit=ask_the_user, on_log=on_log) as client:
        await client.set_logging_level("info")
        print("notes:", (await client.read_resource("notes://all")).text)
        print("garden:", (await client.read_resource("notes://note/garden")).text)
        print("titles with g:", (await client.complete("title", "g", prompt="summarize")).values)

        prompt = await client.get_prompt("summarize", {"title": "garden", "words": "3"})
        print("prompt:", prompt.text.replace("\n", " "))

        async with client.listen(updates=["notes://note/garden"]) as changes:
            print((await client.call_tool("write", {"title": "garden", "text": "pick the beans"})).text)
            async for method, params in changes:
                print("changed:", params["uri"])
                break

        print((await client.call_tool("discard", {"title": "groceries"})).text)
        try:
            await client.read_resource("notes://note/groceries")
        except ResponseError as error:
            print("gone:", error.message)


asyncio.run(main(sys.argv[1:] or [str(Path(__file__).with_name("notes.py"))]))
