"""What is beside tools, on the official Python SDK."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.types import Completion
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


@app.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Who are you?", Person)
    return f"{answer.action} {answer.data.name} {answer.data.age}" if answer.action == "accept" else answer.action


if __name__ == "__main__":
    app.run()
