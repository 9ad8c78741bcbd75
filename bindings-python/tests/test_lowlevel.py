"""Programs written for the low-level server, with only the imports changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from peer import Peer, text

from oxmcp import Client, McpError, ResponseError, types
from oxmcp.lowlevel import NotificationOptions, ReadResourceContents, Server, stdio_server
from oxmcp.lowlevel.exceptions import McpError as OldMcpError
from oxmcp.lowlevel.models import InitializationOptions
from oxmcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    ClientCapabilities,
    Completion,
    ErrorData,
    GetPromptResult,
    ImageContent,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    RootsCapability,
    TextContent,
    Tool,
    ToolAnnotations,
)

MODES: list[Any] = ["auto", "legacy"]


def run(server: Any, use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with Client(server, **options) as client:
            return await use(client)

    return asyncio.run(main())


def calculator() -> Server[Any, Any]:
    server: Server[Any, Any] = Server("calculator", "1.5", instructions="Count.")
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 0}, "kind": {"type": "string"}},
        "required": ["a"],
    }

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        output = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return [
            Tool(name="twice", description="Twice.", inputSchema=schema, annotations=ToolAnnotations(readOnlyHint=True)),
            Tool(name="structured", inputSchema=schema, outputSchema=output, x_own="kept"),
        ]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        n = arguments["a"] * 2
        gives: dict[str, Callable[[], Any]] = {
            "text": lambda: [TextContent(type="text", text=str(n))],
            "blocks": lambda: [ImageContent(type="image", data="aGk=", mimeType="image/png")],
            "dict": lambda: {"n": n},
            "both": lambda: ([TextContent(type="text", text="both")], {"n": n}),
            "whole": lambda: CallToolResult(content=[TextContent(type="text", text="whole")], isError=True, _meta={"m": 1}),
            "wrong": lambda: {"n": "many"},
            "none": lambda: [],
            "odd": lambda: 5,
        }
        kind = arguments.get("kind", "text")
        if kind == "raises":
            raise ValueError("no such kind")
        if kind == "error":
            raise OldMcpError(ErrorData(code=INVALID_PARAMS, message="bad kind"))
        return gives[kind]()

    return server


@pytest.mark.parametrize("mode", MODES)
def test_tools(mode: Any) -> None:
    async def use(client: Client) -> None:
        assert client.server_info == {"name": "calculator", "version": "1.5"} and client.instructions == "Count."
        twice, structured = await client.list_tools()
        assert (twice.name, twice.description, twice.annotations) == ("twice", "Twice.", {"readOnlyHint": True})
        assert structured.output_schema["required"] == ["n"]  # type: ignore[index]
        assert (await client.call_tool("twice", {"a": 2})).text == "4"

    run(calculator(), use, mode=mode)


@pytest.mark.parametrize(
    ("tool", "arguments", "said", "failed"),
    [
        ("twice", {"a": 1, "kind": "blocks"}, "", False),
        ("twice", {"a": 1, "kind": "dict"}, '{\n  "n": 2\n}', False),
        ("twice", {"a": 1, "kind": "both"}, "both", False),
        ("twice", {"a": 1, "kind": "whole"}, "whole", True),
        ("twice", {"a": 1, "kind": "none"}, "", False),
        ("twice", {"a": 1, "kind": "raises"}, "no such kind", True),
        ("twice", {"a": 1, "kind": "error"}, "bad kind", True),
        ("twice", {"a": 1, "kind": "odd"}, "Unexpected return type from tool: int", True),
        ("twice", {"a": -1}, "Input validation error", True),
        ("twice", {}, "Input validation error", True),
        ("structured", {"a": 1, "kind": "both"}, "both", False),
        ("structured", {"a": 1, "kind": "wrong"}, "Output validation error", True),
        ("structured", {"a": 1, "kind": "text"}, "Output validation error", True),
        ("unlisted", {"a": 1}, "2", False),
    ],
)
def test_what_a_call_gives(tool: str, arguments: Any, said: str, failed: bool) -> None:
    result = run(calculator(), lambda client: client.call_tool(tool, arguments))
    assert said in result.text and result.is_error is failed
    if arguments.get("kind") == "both":
        assert result.structured_content == {"n": 2}
    if said == "whole":
        assert result.meta["m"] == 1


def test_arguments_are_not_checked_where_the_program_says_so() -> None:
    server = calculator()
    server.call_tool(validate_input=False)(lambda name, arguments: [TextContent(type="text", text=str(arguments))])
    assert run(server, lambda client: client.call_tool("twice", {})).text == "{}"


@pytest.mark.parametrize("mode", MODES)
def test_resources_prompts_and_completion(mode: Any) -> None:
    server: Server[Any, Any] = Server("all")

    @server.list_resources()
    async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
        assert request.params is None or request.params.cursor is None
        return types.ListResourcesResult(resources=[Resource(uri="a://one", name="one", mimeType="text/x")])  # type: ignore[arg-type]

    @server.list_resource_templates()
    async def templates() -> list[ResourceTemplate]:
        return [ResourceTemplate(uriTemplate="a://{x}", name="t")]

    @server.read_resource()
    async def read(uri: Any) -> Any:
        given: dict[str, Any] = {
            "a://text": "plain",
            "a://bytes": b"\x01",
            "a://several": [ReadResourceContents("x", "text/x"), ReadResourceContents(b"y")],
        }
        if str(uri) not in given:
            raise ValueError(f"no {uri.host}")
        return given[str(uri)]

    @server.list_prompts()
    async def list_prompts() -> list[Prompt]:
        return [Prompt(name="p", arguments=[PromptArgument(name="q", required=True)])]

    @server.get_prompt()
    async def get_prompt(name: str, arguments: dict[str, str] | None) -> GetPromptResult:
        if not arguments:
            raise OldMcpError(ErrorData(code=INVALID_PARAMS, message="q is required", data={"name": name}))
        message = PromptMessage(role="user", content=TextContent(type="text", text=arguments["q"]))
        return GetPromptResult(description="d", messages=[message])

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion | None:
        return None if argument.value == "none" else Completion(values=[f"{ref.type} {argument.name}"])

    async def use(client: Client) -> None:
        assert [it.mime_type for it in await client.list_resources()] == ["text/x"]
        assert [it.uri_template for it in await client.list_resource_templates()] == ["a://{x}"]
        assert (await client.read_resource("a://text")).text == "plain"
        assert (await client.read_resource("a://bytes")).blob == b"\x01"
        several = await client.read_resource("a://several")
        assert (several.text, several.blob, several.contents[0].mime_type) == ("x", b"y", "text/x")
        with pytest.raises(ResponseError) as failed:
            await client.read_resource("a://other")
        assert failed.value.code == -32603 and "no other" not in failed.value.message
        assert [it.arguments[0].required for it in await client.list_prompts()] == [True]
        prompt = await client.get_prompt("p", {"q": "hello"})
        assert (prompt.text, prompt.description) == ("hello", "d")
        with pytest.raises(ResponseError) as refused:
            await client.get_prompt("p")
        assert (refused.value.code, refused.value.message, refused.value.data) == (-32602, "q is required", {"name": "p"})
        assert (await client.complete("q", "", prompt="p")).values == ["ref/prompt q"]
        assert (await client.complete("x", "none", template="a://{x}")).values == []

    run(server, use, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_request_context(mode: Any) -> None:
    @contextlib.asynccontextmanager
    async def lifespan(server: Server[Any, Any]) -> AsyncIterator[dict[str, Any]]:
        yield {"db": server.name}

    server: Server[Any, Any] = Server("context", lifespan=lifespan)
    notes: list[Any] = []

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return []

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        context = server.request_context
        session = context.session
        assert context.lifespan_context == {"db": "context"} and context.request_id is not None
        assert session.check_client_capability(ClientCapabilities(roots=RootsCapability()))
        assert not session.check_client_capability(ClientCapabilities(sampling=types.SamplingCapability(tools={})))
        assert session.client_params.clientInfo.name == "oxmcp"
        roots = await session.list_roots()
        answer = await session.elicit("Sure?", {"type": "object", "properties": {"ok": {"type": "boolean"}}})
        await session.send_log_message("info", {"some": "data"}, "log")
        if context.meta is not None and context.meta.progressToken is not None:
            await session.send_progress_notification(context.meta.progressToken, 1, 2)
        return [TextContent(type="text", text=f"{roots.roots[0].uri.path} {answer.action} {answer.content}")]

    async def use(client: Client) -> None:
        await client.set_logging_level("debug")
        result = await client.call_tool("x", {}, on_progress=lambda *given: notes.append(given))
        assert result.text == "/data accept {'ok': True}", result
        await client.ping()

    run(
        server,
        use,
        mode=mode,
        roots=["file:///data"],
        on_elicit=lambda request: {"ok": True},
        on_log=lambda level, data, logger: notes.append((level, data, logger)),
    )
    assert notes == [("info", {"some": "data"}, "log"), (1.0, 2.0, None)]
    with pytest.raises(LookupError):
        server.request_context  # noqa: B018


def test_handlers_in_the_tables_count() -> None:
    server: Server[Any, Any] = Server("tables")

    async def list_tools(request: Any) -> Any:
        return types.ServerResult(types.ListToolsResult(tools=[Tool(name="t", inputSchema={"type": "object"})]))

    levels: list[Any] = []

    @server.set_logging_level()
    async def level(level: str) -> None:
        levels.append(level)

    @server.subscribe_resource()
    async def subscribe(uri: Any) -> None:
        levels.append(str(uri))

    @server.list_resources()
    async def resources() -> list[Resource]:
        return []

    server.request_handlers[types.ListToolsRequest] = list_tools

    async def progressed(notification: types.CancelledNotification) -> None: ...

    server.notification_handlers[types.CancelledNotification] = progressed

    async def use(client: Client) -> None:
        assert [tool.name for tool in await client.list_tools()] == ["t"]
        await client.set_logging_level("error")
        await client.subscribe("a://b")
        with pytest.raises((ResponseError, McpError)):
            await client.list_prompts()

    run(server, use, mode="legacy")
    assert levels == ["error", "a://b"]
    server.request_handlers[str] = list_tools
    with pytest.raises(TypeError, match="no request of oxmcp.types"):
        server.native()


def test_what_the_server_declares() -> None:
    server = calculator()
    options = NotificationOptions(tools_changed=True)
    declared = server.get_capabilities(notification_options=options, experimental_capabilities={"x": {}})
    assert declared.model_dump(exclude_none=True) == {"experimental": {"x": {}}, "tools": {"listChanged": True}}
    made = server.create_initialization_options(options)
    assert (made.server_name, made.server_version, made.capabilities.tools.listChanged) == ("calculator", "1.5", True)  # type: ignore[union-attr]


def test_over_the_real_streams(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import asyncio\n"
        "import oxmcp.types as types\n"
        "from oxmcp.lowlevel import NotificationOptions, Server\n"
        "from oxmcp.lowlevel.models import InitializationOptions\n"
        "import oxmcp.lowlevel.stdio\n"
        "server = Server('low')\n"
        "@server.list_tools()\n"
        "async def tools() -> list[types.Tool]:\n"
        "    return [types.Tool(name='t', inputSchema={'type': 'object'})]\n"
        "@server.call_tool()\n"
        "async def call(name: str, arguments: dict | None) -> list[types.TextContent]:\n"
        "    print('stray')\n"
        "    return [types.TextContent(type='text', text=f'{name} {arguments}')]\n"
        "async def main():\n"
        "    async with oxmcp.lowlevel.stdio.stdio_server() as (read, write):\n"
        "        await server.run(read, write, InitializationOptions(\n"
        "            server_name='named', server_version='0.1.0',\n"
        "            capabilities=server.get_capabilities(\n"
        "                notification_options=NotificationOptions(), experimental_capabilities={})))\n"
        "asyncio.run(main())\n",
        encoding="utf-8",
    )
    with Peer(path) as peer:
        assert text(peer.initialize().tool("t", {"a": 1})) == "t {'a': 1}"
        assert peer.leave() == (b"", "stray\n")


def test_other_streams_are_refused() -> None:
    async def main() -> None:
        options = InitializationOptions(server_name="x", server_version="1", capabilities=types.ServerCapabilities())
        with pytest.raises(TypeError, match="streams of oxmcp.lowlevel.stdio_server"):
            await Server("x").run(object(), object(), options)
        with pytest.raises(TypeError, match="no other streams"):
            async with stdio_server(stdin=object()):
                pass

    asyncio.run(main())
