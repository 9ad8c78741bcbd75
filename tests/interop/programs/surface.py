"""What is beside tools, on our package: resources, a template, a prompt, completion, questions, log messages."""

from dataclasses import dataclass

from oxmcp import Context, Message, Server

app = Server("surface", version="1.0.0", subscriptions=True)


@dataclass
class Person:
    name: str
    age: int = 30


@app.resource("config://app", mime_type="text/plain")
async def config() -> str:
    "The settings."
    return "on"


@app.resource("bytes://all", mime_type="application/octet-stream")
async def all_bytes() -> bytes:
    return bytes(range(256))


@app.resource("note://{id}")
async def note(id: str) -> str:
    return f"note {id}"


@app.prompt
async def greet(name: str, tone: str = "warm") -> list:
    "Greets a person."
    return [f"Greet {name} in a {tone} way.", Message("Hello.", "assistant")]


@app.completion(greet, "name")
async def names(value: str) -> list[str]:
    return [name for name in ("Ada", "Alan", "Grace") if name.startswith(value)]


@app.tool
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Who are you?", Person)
    return f"{answer.action} {answer.content.name} {answer.content.age}" if answer.content else answer.action


@app.tool
async def think(ctx: Context) -> str:
    return (await ctx.sample("Think.", max_tokens=10)).text


@app.tool
async def folders(ctx: Context) -> str:
    return " ".join(root.uri for root in await ctx.list_roots())


@app.tool
async def logs(ctx: Context) -> str:
    await ctx.warning({"n": 1}, "part")
    return "logged"


@app.tool
async def grow(ctx: Context) -> str:
    app.add_tool(logs, name="grown")
    app.notify_resource_updated("config://app")
    return "grown"


if __name__ == "__main__":
    app.run()
