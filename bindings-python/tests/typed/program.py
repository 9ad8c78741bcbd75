"""Typical programs, for type checkers: never run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from oxmcp import (
    Audio,
    CallToolResult,
    Client,
    Context,
    Depends,
    File,
    HttpRequest,
    HttpResponse,
    Image,
    McpError,
    Message,
    Page,
    Request,
    Server,
    ServerSession,
    SyncClient,
    TextContent,
    Tool,
    ToolError,
    fastmcp,
    lowlevel,
    types,
)
from oxmcp.testing import Transcript, advance


@dataclass
class Order:
    count: int
    gift: bool = False


async def lifespan(app: Server) -> AsyncIterator[dict[str, str]]:
    yield {"name": app.name}


async def middleware(request: Request, call_next: Any) -> Any:
    print(request.method, request.name, request.params, request.context.meta)
    return await call_next(request)


def database() -> str:
    return "db"


async def connected(session: ServerSession) -> None:
    session.log("info", {"revision": session.protocol_version})
    print(session.client_info["name"], [root.uri for root in await session.list_roots()])


app = Server("typed", version="1", lifespan=lifespan, middleware=[middleware], subscriptions=True)


@app.custom_route("/notes/{id}", methods=["GET"])
async def one_note(request: HttpRequest) -> HttpResponse:
    return HttpResponse({"id": request.path_params["id"], "body": (await request.body()).decode()}, status=201)


@app.tool
async def search(query: str, ctx: Context, limit: Annotated[int, Meta(ge=1)] = 10) -> list[str]:
    await ctx.report_progress(1, 2, "half")
    ctx.info("a message")
    answer = await ctx.elicit("How many?", Order)
    if answer.accepted and answer.content is not None:
        return [str(answer.content.count)]
    sampled = await ctx.sample("Say hello", max_tokens=5)
    return [sampled.text, *[root.uri for root in await ctx.list_roots()]][:limit]


@app.tool
async def who(ctx: Context) -> str:
    if ctx.http_request is None:
        return "nobody"
    token = ctx.http_request.headers.get("authorization", "none")
    return f"{token} {ctx.http_request.url} {ctx.http_request.headers.getlist('x')} {ctx.session_id or ''}"


@app.tool(title="T", annotations={"readOnlyHint": True}, tags={"a"})
def plain(x: int, db: str = Depends(database)) -> list[TextContent | Image | Audio | File]:
    if x < 0:
        raise ToolError("x is negative")
    return [TextContent(text=db), Image("a.png"), Audio(data=b""), File("b.csv")]


named = app.tool(plain, name="again")


@app.resource("data://{name}", mime_type="text/plain")
async def data(name: str) -> str:
    return name


@app.prompt
def ask(topic: str) -> list[str | Message]:
    return [topic, Message("Well.", "assistant")]


@app.completion(ask, "topic")
def topics(value: str) -> list[str]:
    return [value]


@app.method("own/method")
async def own(n: int) -> dict[str, int]:
    return {"n": n}


async def client() -> None:
    async with Client(app, timeout=5, roots=["/data"], on_log=print) as client:
        result: CallToolResult = await client.call_tool("search", {"query": "x"}, on_progress=print, meta={"a": 1})
        print(result.text, result.is_error, [tool.name for tool in await client.list_tools()])
        page: Page[Tool] = await client.list_tools_page()
        print(page.items[0].name, page.next_cursor)
        advance(client, 60)
        async with client.listen(tools=True) as changes:
            async for method, params in changes:
                print(method, params)
    try:
        await Transcript().replay(app)
    except McpError as error:
        print(error.code, error.message, error.data, error.fault, error.retryable)


def synchronous() -> None:
    with SyncClient({"mcpServers": {"a": {"command": "x"}}}, timeout=5) as client:
        print(client.call_tool("search", {"query": "x"}).structured_content)


mcp = fastmcp.FastMCP[Any]("typed", instructions="Use it.", dependencies=["httpx"])


@mcp.tool()
async def add(a: int, b: int, ctx: fastmcp.Context[Any, Any, Any]) -> int:
    await ctx.info("adding")
    return a + b


@mcp.resource("note://{id}")
def note(id: str) -> str:
    return id


server: lowlevel.Server[Any, Any] = lowlevel.Server("typed")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [types.Tool(name="add", inputSchema={"type": "object"}, annotations=types.ToolAnnotations(readOnlyHint=True))]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
    raise lowlevel.McpError(types.ErrorData(code=types.INVALID_PARAMS, message=name))


async def serve() -> None:
    async with lowlevel.stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(client())
    mounted = Server("outer", on_connect=connected, on_disconnect=lambda session: print(session.session_id))
    mounted.mount(app, prefix="inner")
    mounted.run()
