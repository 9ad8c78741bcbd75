"""The client of programs for `fastmcp`, with its names and results."""

from __future__ import annotations

import asyncio
import datetime
import sys
from pathlib import Path
from typing import Any

import pytest

from oxmcp.fastmcp import Client, Context, FastMCP
from oxmcp.fastmcp.client import transports
from oxmcp.fastmcp.exceptions import ToolError
from oxmcp.types import PromptReference

PROGRAM = """
from oxmcp.fastmcp import FastMCP
mcp = FastMCP("child")

@mcp.tool
def pid() -> int:
    import os
    return os.getpid()

if __name__ == "__main__":
    mcp.run()
"""


def make() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("demo", instructions="Ask.")

    @mcp.tool
    async def add(a: int, b: int, ctx: Context[Any, Any, Any]) -> int:
        await ctx.report_progress(1, 2)
        await ctx.info("adding")
        return a + b

    @mcp.tool
    def both() -> dict[str, int]:
        return {"a": 1, "b": 2}

    @mcp.tool
    def fails() -> str:
        raise ValueError("no")

    @mcp.resource("data://{name}")
    def data(name: str) -> str:
        return f"data of {name}"

    @mcp.prompt
    def greet(name: str) -> str:
        return f"Hello, {name}"

    return mcp


def test_all_that_programs_ask_a_server_for() -> None:
    logs: list[Any] = []
    progress: list[Any] = []

    async def main() -> None:
        client = Client(make(), log_handler=logs.append, progress_handler=lambda *seen: progress.append(seen), mode="legacy")
        assert not client.is_connected() and client.initialize_result is None
        async with client:
            assert client.is_connected() and await client.ping()
            assert client.initialize_result.serverInfo.name == "demo" and client.initialize_result.instructions == "Ask."
            assert [tool.name for tool in await client.list_tools()] == ["add", "both", "fails"]
            result = await client.call_tool("add", {"a": 1, "b": 2}, timeout=datetime.timedelta(seconds=20))
            assert (result.data, result.structured_content, result.content[0].text) == (3, {"result": 3}, "3")
            assert progress == [(1.0, 2.0, None)] and (logs[0].level, logs[0].data) == ("info", "adding")
            assert (await client.call_tool("both")).data == {"a": 1, "b": 2}
            with pytest.raises(ToolError, match="no"):
                await client.call_tool("fails")
            failed = await client.call_tool("fails", raise_on_error=False)
            assert failed.is_error and (await client.call_tool_mcp("fails")).isError
            assert [template.uriTemplate for template in await client.list_resource_templates()] == ["data://{name}"]
            assert await client.list_resources() == []
            assert (await client.read_resource("data://x"))[0].text == "data of x"
            assert [prompt.name for prompt in await client.list_prompts()] == ["greet"]
            message = (await client.get_prompt("greet", {"name": "you"})).messages[0]
            assert (message.role, message.content.text) == ("user", "Hello, you")
            async with client:  # one connection for all who use it
                assert client.is_connected()
            assert client.is_connected()
        assert not client.is_connected()
        async with client:  # and it may be used again
            assert (await client.call_tool("add", {"a": 2, "b": 2})).data == 4

    asyncio.run(main())


def test_completions_by_reference() -> None:
    mcp = make()

    @mcp.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Any:
        from oxmcp.types import Completion

        return Completion(values=[argument.value + "!"])

    async def main() -> None:
        async with Client(mcp) as client:
            given = await client.complete(PromptReference(name="greet", type="ref/prompt"), {"name": "name", "value": "a"})
            assert given.values == ["a!"]

    asyncio.run(main())


def test_transports(tmp_path: Path) -> None:
    program = tmp_path / "child.py"
    program.write_text(PROGRAM, encoding="utf-8")

    async def pid(target: Any) -> int:
        async with Client(target) as client:
            return int((await client.call_tool("pid")).data)

    async def main() -> None:
        own = [
            str(program),
            transports.PythonStdioTransport(program),
            transports.StdioTransport(sys.executable, [str(program)], env={"A": "b"}),
            {"mcpServers": {"child": {"command": sys.executable, "args": [str(program)]}}},
        ]
        assert len({await pid(target) for target in own}) == 4
        async with Client(transports.FastMCPTransport(make())) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 1})).data == 2
        mcp = make()
        async with mcp.__oxmcp_server__().serve_http() as serving:
            for target in (serving.url, transports.StreamableHttpTransport(serving.url, headers={"X-A": "b"})):
                async with Client(target, auth="token") as client:
                    assert (await client.call_tool("add", {"a": 1, "b": 1})).data == 2

    asyncio.run(main())


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(Exception, match="OAuth is not supported"):
        Client("http://localhost/mcp", auth="oauth")
    with pytest.raises(TypeError, match="Client has no option 'log_handlr'"):
        Client(make(), log_handlr=print)


def test_dependencies_by_their_names_there() -> None:
    from oxmcp.fastmcp.dependencies import CurrentContext, CurrentFastMCP, Depends

    mcp: FastMCP[Any] = FastMCP("demo")

    def shelf() -> list[str]:
        return ["a", "b"]

    @mcp.tool
    async def count(
        more: int,
        books: list[str] = Depends(shelf),
        ctx: Context[Any, Any, Any] = CurrentContext(),
        server: Any = CurrentFastMCP(),
    ) -> str:
        return f"{len(books) + more} {server.name} {bool(ctx.request_id)}"

    async def main() -> None:
        async with Client(mcp) as client:
            (tool,) = await client.list_tools()
            assert list(tool.inputSchema["properties"]) == ["more"]
            assert (await client.call_tool("count", {"more": 1})).content[0].text == "3 demo True"

    asyncio.run(main())
