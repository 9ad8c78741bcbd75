"""What is beside tools, on the official Python SDK."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.types import (
    CallToolResult,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

app = MCPServer("surface")


class Person(BaseModel):
    name: str
    age: int = 30


@app.resource("config://app", mime_type="text/plain")
async def config() -> str:
    """The settings."""
    return "on"


@app.resource("bytes://all", mime_type="application/octet-stream")
async def all_bytes() -> bytes:
    return bytes(range(256))


@app.resource("note://{id}")
async def note(id: str) -> str:
    return f"note {id}"


@app.prompt()
async def greet(name: str, tone: str = "warm") -> list[UserMessage | AssistantMessage]:
    """Greets a person."""
    return [UserMessage(f"Greet {name} in a {tone} way."), AssistantMessage("Hello.")]


@app.completion()
async def complete(ref, argument, context) -> Completion:
    return Completion(values=[name for name in ("Ada", "Alan", "Grace") if name.startswith(argument.value)])


async def answer(ctx: Context, request: ElicitRequest | CreateMessageRequest | ListRootsRequest) -> Any:
    """The client's answer: in revisions with a handshake it is asked, in others it makes the call again."""
    if ctx.protocol_version == "2026-07-28":
        return (ctx.input_responses or {}).get("it")
    if isinstance(request, ElicitRequest):
        return await ctx.session.elicit_form(request.params.message, request.params.requested_schema, ctx.request_id)
    if isinstance(request, CreateMessageRequest):
        return await ctx.session.create_message(request.params.messages, max_tokens=request.params.max_tokens)
    return await ctx.session.list_roots()


@app.tool()
async def ask(ctx: Context) -> CallToolResult | InputRequiredResult:
    form = ElicitRequestFormParams(message="Who are you?", requested_schema=Person.model_json_schema())
    request = ElicitRequest(params=form)
    if (result := await answer(ctx, request)) is None:
        return InputRequiredResult(input_requests={"it": request}, request_state="asked")
    person = Person.model_validate(result.content)
    return text(f"{result.action} {person.name} {person.age}")


@app.tool()
async def think(ctx: Context) -> CallToolResult | InputRequiredResult:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Think."))
    request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=10))
    if (result := await answer(ctx, request)) is None:
        return InputRequiredResult(input_requests={"it": request})
    return text(result.content.text)


@app.tool()
async def folders(ctx: Context) -> CallToolResult | InputRequiredResult:
    request = ListRootsRequest()
    if (result := await answer(ctx, request)) is None:
        return InputRequiredResult(input_requests={"it": request})
    return text(" ".join(str(root.uri) for root in result.roots))


@app.tool()
async def logs(ctx: Context) -> str:
    await ctx.warning({"n": 1}, logger_name="part")
    return "logged"


@app.tool()
async def rejoin(ctx: Context) -> str:
    """Lets go of its stream, where there is one to come back to."""
    await ctx.close_sse_stream()
    return "rejoined"


@app.tool()
async def grow(ctx: Context) -> str:
    app.add_tool(logs, name="grown")
    if ctx.protocol_version == "2026-07-28":
        await ctx.notify_tools_changed()
        await ctx.notify_resource_updated("config://app")
    else:
        await ctx.session.send_tool_list_changed()
    return "grown"


def text(said: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=said)])


if __name__ == "__main__":
    app.run()
