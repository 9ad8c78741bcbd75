"""A client on the official Python SDK that uses what is beside tools, and prints what it saw as one line of JSON.

The first argument is how it finds the server's era ("auto" or "legacy"), the rest is the command, or a URL."""

import base64
import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    ServerNotification,
    TextContent,
)


async def main(mode: str, command: str, *args: str) -> None:
    seen: dict[str, object] = {}
    logs: list[object] = []
    told: list[str] = []
    both_told = anyio.Event()

    async def on_elicit(context, params) -> ElicitResult:
        seen["form"] = params.requested_schema
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def on_sample(context, params) -> CreateMessageResult:
        text = f"thought of {params.messages[0].content.text}"
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="m")

    async def on_roots(context) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///work")])

    async def on_log(params) -> None:
        logs.append([params.level, params.data, params.logger])

    async def on_message(message) -> None:
        if isinstance(message, ServerNotification) and message.method != "notifications/message":
            told.append(message.method)
            if len(told) == 2:
                both_told.set()

    client = Client(
        command if command.startswith("http:") else StdioServerParameters(command=command, args=list(args)),
        mode=mode,
        elicitation_callback=on_elicit,
        sampling_callback=on_sample,
        list_roots_callback=on_roots,
        logging_callback=on_log,
        log_level="info",
        message_handler=on_message,
    )
    async with client:
        seen["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        seen["templates"] = [template.uri_template for template in templates]
        seen["config"] = (await client.read_resource("config://app")).contents[0].text
        blob = (await client.read_resource("bytes://all")).contents[0].blob
        seen["bytes"] = base64.b64decode(blob) == bytes(range(256))
        seen["note"] = (await client.read_resource("note://00123")).contents[0].text
        prompt = (await client.list_prompts()).prompts[0]
        seen["prompt"] = [prompt.name, [[argument.name, bool(argument.required)] for argument in prompt.arguments]]
        messages = (await client.get_prompt("greet", {"name": "Ada"})).messages
        seen["messages"] = [[message.role, message.content.text] for message in messages]
        reference = PromptReference(type="ref/prompt", name="greet")
        completed = await client.complete(reference, {"name": "name", "value": "A"})
        seen["completed"] = completed.completion.values
        for name in ("ask", "think", "folders", "logs"):
            seen[name] = (await client.call_tool(name)).content[0].text
        seen["logged"] = logs
        if mode == "legacy":
            await client.subscribe_resource("config://app")
        await client.call_tool("grow")
        if mode == "legacy":
            # Over HTTP they come on another stream than the result.
            with anyio.fail_after(30):
                await both_told.wait()
        seen["told"] = sorted(told)
        seen["grown"] = "grown" in [tool.name for tool in (await client.list_tools()).tools]
    print(json.dumps(seen))


anyio.run(main, *sys.argv[1:])
