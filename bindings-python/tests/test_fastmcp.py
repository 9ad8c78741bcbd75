"""Programs written for FastMCP, with only the import changed."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import functools
import logging
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pytest
from peer import Peer, text
from pydantic import BaseModel, Field

from oxmcp import Client, ResponseError, UsageError
from oxmcp.fastmcp import Audio, Context, FastMCP, Image
from oxmcp.fastmcp._http import Place, with_port
from oxmcp.fastmcp.exceptions import ToolError
from oxmcp.fastmcp.prompts import base
from oxmcp.fastmcp.resources import DirectoryResource, FileResource, TextResource
from oxmcp.fastmcp.server.dependencies import get_context
from oxmcp.fastmcp.tools import Tool
from oxmcp.lowlevel.transport_security import TransportSecuritySettings
from oxmcp.types import CallToolResult, Completion, EmbeddedResource, TextContent, ToolAnnotations


def run(app: Any, use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Uses a client of a server in memory."""

    async def main() -> Any:
        async with Client(app, **options) as client:
            return await use(client)

    return asyncio.run(main())


def call(app: Any, name: str, arguments: Any = None, **options: Any) -> Any:
    return run(app, lambda client: client.call_tool(name, arguments), **options)


def tools_of(app: Any) -> dict[str, Any]:
    return {tool.name: tool for tool in run(app, lambda client: client.list_tools())}


class Color(str, enum.Enum):
    RED = "red"


class Person(BaseModel):
    name: str
    age: int = Field(ge=0)


@dataclasses.dataclass
class Point:
    x: int


class Row(TypedDict):
    id: int


def test_what_the_server_says_of_itself() -> None:
    mcp = FastMCP("weather", instructions="Ask for a city.", dependencies=["httpx", "pandas"])

    async def use(client: Client) -> None:
        assert (client.server_info["name"], client.instructions) == ("weather", "Ask for a city.")
        # Programs and their clients count on empty lists.
        assert await client.list_tools() == await client.list_resources() == await client.list_prompts() == []

    run(mcp, use)
    assert mcp.dependencies == mcp.settings.dependencies == ["httpx", "pandas"]
    assert FastMCP().name == "FastMCP"


def test_settings_are_read_and_assigned() -> None:
    mcp = FastMCP("s", host="0.0.0.0", port=8017, log_level="DEBUG")
    assert (mcp.settings.host, mcp.settings.port, mcp.settings.sse_path) == ("0.0.0.0", 8017, "/sse")
    mcp.settings.port = 9000
    mcp.settings.log_level = "INFO"
    place = Place(mcp, "streamable-http", {})
    assert (place.host, place.port, place.path) == ("0.0.0.0", 9000, "/mcp")
    assert place.options == {"any_host": True, "json_only": False, "stateless": False, "http_sse": False}
    place = Place(mcp, "sse", {"path": "/other", "host": "127.0.0.1", "stateless_http": True})
    assert (place.path, place.options["http_sse"], place.options["stateless"]) == ("/other", True, True)
    assert "any_host" not in place.options
    with pytest.raises(ValueError, match="Unknown transport: carrier pigeon"):
        mcp.run(transport="carrier pigeon")


@pytest.mark.parametrize(
    ("security", "options"),
    [
        (TransportSecuritySettings(enable_dns_rebinding_protection=False), {"any_host": True}),
        (
            TransportSecuritySettings(
                allowed_hosts=["a.example:*", "b.example", "[::1]:80", "[::1]"],
                allowed_origins=["https://a.example", "http://localhost:*"],
            ),
            {"hosts": ["[::1]", "a.example", "b.example"], "origins": ["https://a.example"]},
        ),
    ],
)
def test_who_may_connect_over_http(security: TransportSecuritySettings, options: dict[str, Any]) -> None:
    given = Place(FastMCP("s", transport_security=security), "http", {}).options
    assert {name: given[name] for name in options} == options


def test_over_http_with_routes_of_its_own() -> None:
    pytest.importorskip("uvicorn")
    responses = pytest.importorskip("starlette.responses")
    from http_peer import under_uvicorn

    mcp = FastMCP("web")
    seen: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        seen.append("start")
        yield
        seen.append("end")

    mcp._server._lifespan = lifespan

    @mcp.custom_route("/health", methods=["GET"])
    async def health(request: Any) -> Any:
        return responses.PlainTextResponse("well")

    @mcp.tool()
    def add(a: int, b: int) -> int:
        return a + b

    async def main() -> None:
        async with under_uvicorn(mcp.streamable_http_app()) as port:
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
            assert (await reader.read()).endswith(b"well")
            writer.close()

    asyncio.run(main())
    assert seen == ["start", "end"]


def test_routes_of_its_own_need_no_server_but_ours(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    responses = pytest.importorskip("starlette.responses")
    exceptions = pytest.importorskip("starlette.exceptions")
    from http_peer import LEGACY, HttpPeer, Reply, close_all

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    mcp = FastMCP("web")

    @mcp.custom_route("/items/{number:int}", methods=["GET"])
    async def item(request: Any) -> Any:
        if request.path_params["number"] == 0:
            raise exceptions.HTTPException(410, "it is gone")
        if request.path_params["number"] == 1:
            raise ValueError("a secret")
        return responses.JSONResponse([request.path_params["number"], request.query_params["a"], request.client.host])

    @mcp.custom_route("/echo", methods=["POST"])
    async def echo(request: Any) -> Any:
        sent = await request.body()

        async def parts() -> AsyncIterator[bytes]:
            yield sent
            yield sent

        return responses.StreamingResponse(parts(), headers={"x-a": request.headers["x-a"]})

    @mcp.tool()
    def add(a: int, b: int) -> int:
        return a + b

    async def ask(port: int, method: str, path: str, body: bytes = b"") -> tuple[Reply, bytes]:
        reply = await (await HttpPeer(port, LEGACY, path).open(method, {"x-a": "b"}, body)).begin()
        return reply, b"" if method == "HEAD" else await reply.chunk()

    async def main() -> None:
        place = Place(mcp, "http", {"port": 0})
        native = with_port(mcp)
        async with native.serve_http(host=place.host, port=place.port, path=place.path, **place.options) as serving:
            port = serving.address[1]
            assert (await ask(port, "GET", "/items/7?a=b"))[1] == b'[7,"b","127.0.0.1"]'
            reply, body = await ask(port, "POST", "/echo", b"\x00\xff")
            assert (reply.headers["x-a"], body + await reply.chunk()) == ("b", b"\x00\xff\x00\xff")
            assert [(await ask(port, "GET", f"/items/{number}?a"))[0].status for number in (0, 1)] == [410, 500]
            assert "a secret" in caplog.text
            reply, body = await ask(port, "DELETE", "/echo")
            assert (reply.status, reply.headers["allow"]) == (405, "POST")
            assert (await ask(port, "HEAD", "/items/7?a=b"))[0].headers["content-length"] == "19"
            assert (await ask(port, "GET", "/nowhere"))[0].status == 404
            async with Client(serving.url) as client:
                assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            await close_all()

    asyncio.run(main())


def test_over_http_without_any_framework() -> None:
    mcp = FastMCP("web", stateless_http=True)
    mcp.tool(name="hi")(lambda: "hello")

    async def main() -> None:
        place = Place(mcp, "http", {"port": 0})
        native = mcp.__oxmcp_server__()
        async with native.serve_http(host=place.host, port=place.port, path=place.path, **place.options) as serving:
            async with Client(serving.url) as client:
                assert (await client.call_tool("hi")).text == "hello"

    asyncio.run(main())


def test_a_low_level_server_over_http() -> None:
    pytest.importorskip("uvicorn")
    applications = pytest.importorskip("starlette.applications")
    from http_peer import under_uvicorn
    from starlette.routing import Mount

    from oxmcp.lowlevel import Server
    from oxmcp.lowlevel.streamable_http_manager import StreamableHTTPSessionManager
    from oxmcp.types import Tool as ListedTool

    server: Server[Any, Any] = Server("low")

    @server.list_tools()
    async def list_tools() -> list[ListedTool]:
        return [ListedTool(name="t", inputSchema={"type": "object"})]

    manager = StreamableHTTPSessionManager(app=server, json_response=True)

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async with manager.run():
            yield

    async def main() -> None:
        routes = [Mount("/mcp", app=manager.handle_request)]
        async with under_uvicorn(applications.Starlette(routes=routes, lifespan=lifespan)) as port:
            async with Client(f"http://127.0.0.1:{port}/mcp/") as client:
                assert [tool.name for tool in await client.list_tools()] == ["t"]

    asyncio.run(main())


def test_settings_that_are_unknown_are_told(caplog: pytest.LogCaptureFixture) -> None:
    FastMCP("s", colour="red")
    assert "FastMCP has no setting 'colour'" in caplog.text


def test_the_forms_of_the_decorator() -> None:
    mcp = FastMCP("forms")

    @mcp.tool()
    def one() -> str:
        """The first."""
        return "1"

    @mcp.tool
    def two() -> str:
        return "2"

    @mcp.tool("third")
    def three() -> str:
        return "3"

    @mcp.tool(name="fourth", title="Four", description="Said.", annotations=ToolAnnotations(readOnlyHint=True))
    async def four() -> str:
        return "4"

    class Group:
        def five(self) -> str:
            "Of an object."
            return "5"

    group = Group()
    mcp.tool(name="fifth")(group.five)
    mcp.tool(group.five, name="fifth_again", annotations={"readOnlyHint": True})
    mcp.add_tool(functools.partial(lambda n: n, "6"), name="sixth", description="A partial.")
    mcp.add_tool(Tool.from_function(one, name="seventh"))

    # Decorators give the function back: programs call their own tools.
    assert one() == "1" and asyncio.run(four()) == "4"
    tools = tools_of(mcp)
    assert list(tools) == ["one", "two", "third", "fourth", "fifth", "fifth_again", "sixth", "seventh"]
    assert (tools["one"].description, tools["fourth"].title, tools["fourth"].description) == ("The first.", "Four", "Said.")
    assert tools["fourth"].annotations == {"readOnlyHint": True} == tools["fifth_again"].annotations
    assert [call(mcp, name).text for name in ("third", "fifth", "sixth", "seventh")] == ["3", "5", "6", "1"]
    with pytest.raises(TypeError, match="a tool has no option 'desc'; its options are annotations"):
        mcp.tool(desc="x")
    with pytest.raises(ValueError, match="name for lambda"):
        mcp.tool()(lambda: 1)


def test_fields_as_defaults_never_reach_a_call() -> None:
    mcp = FastMCP("fields")

    @mcp.tool()
    def search(
        query: str = Field(description="What to look for."),
        limit: int = Field(default=10, ge=1, le=50, description="How many."),
        tags: Optional[list[str]] = Field(None, description="Which."),
        kind: Annotated[Literal["a", "b"], Field(description="Of what kind.")] = "a",
        color: Color = Color.RED,
    ) -> dict[str, Any]:
        return {"query": query, "limit": limit, "tags": tags, "kind": kind, "color": color}

    schema = tools_of(mcp)["search"].input_schema
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"] == {
        "default": 10, "description": "How many.", "maximum": 50, "minimum": 1, "type": "integer"
    }
    assert schema["properties"]["kind"]["description"] == "Of what kind."
    assert call(mcp, "search", {"query": "x"}).structured_content == {
        "query": "x", "limit": 10, "tags": None, "kind": "a", "color": "red"
    }
    # As clients send it: JSON in a string, and members that the tool does not have.
    result = call(mcp, "search", {"query": "5", "tags": '["a"]', "more": 1})
    assert (result.structured_content["tags"], result.structured_content["query"]) == (["a"], "5")
    wrong = call(mcp, "search", {"query": "x", "limit": 99})
    assert wrong.is_error and "less than or equal to 50" in wrong.text


def test_the_context_in_any_position() -> None:
    mcp = FastMCP("context")
    seen: list[Any] = []

    @mcp.tool()
    async def first(ctx: Context, x: int) -> int:
        await ctx.info(f"x is {x}")
        await ctx.debug("fine")
        return x

    @mcp.tool()
    async def last(x: int, context: Context[Any, Any, Any]) -> str:
        await context.report_progress(1, 2, "half")
        assert context.fastmcp is mcp and mcp.get_context() is context is get_context()
        return f"{context.request_id} {context.request_context.session.client_params.clientInfo.name}"

    @mcp.tool()
    def keyword(*, x: int = 1, ctx: Optional[Context] = None) -> bool:
        assert ctx is not None
        ctx.error("not awaited, and sent all the same", reason="plain")
        return True

    async def use(client: Client) -> None:
        await client.set_logging_level("debug")
        assert (await client.call_tool("first", {"x": 3})).text == "3"
        progress: list[Any] = []
        shown = await client.call_tool("last", {"x": 1}, on_progress=lambda *given: progress.append(given))
        assert shown.text.endswith(" oxmcp") and progress == [(1.0, 2.0, "half")]
        assert (await client.call_tool("keyword")).text == "true"
        await client.ping()

    run(mcp, use, on_log=lambda level, data, logger: seen.append((level, data)))
    assert seen == [
        ("info", "x is 3"),
        ("debug", "fine"),
        ("error", {"message": "not awaited, and sent all the same", "reason": "plain"}),
    ]
    assert list(tools_of(mcp)["keyword"].input_schema["properties"]) == ["x"]
    with pytest.raises(ValueError, match="not available outside of a request"):
        mcp.get_context().info("nobody hears")


class Ratio(float):
    """A number of a type of its own, as those of numpy are."""


def test_results() -> None:
    mcp = FastMCP("results")
    png = Image(data=b"\x89PNG", format="png")
    cases: list[tuple[Callable[[], Any], list[Any]]] = [
        (lambda: None, []),
        (lambda: "text", ["text"]),
        (lambda: ["a", "b"], ["a", "b"]),
        (lambda: [png, "caption"], ["image/png", "caption"]),
        (lambda: Audio(data=b"x", format="mp3"), ["audio/mpeg"]),
        (lambda: [TextContent(type="text", text="t"), 5], ["t", "5"]),
        (lambda: {"a": [1]}, ['{\n  "a": [\n    1\n  ]\n}']),
        (lambda: Person(name="Ada", age=1), ['{\n  "name": "Ada",\n  "age": 1\n}']),
        (lambda: Path("/tmp"), ['"/tmp"']),
        (
            lambda: float("nan"),
            ["Error executing tool t9: JSON has no nan, which stands at $; use None or a string"],
        ),
        (lambda: deque([1, {"a": 2}]), ["1", '{\n  "a": 2\n}']),
        (lambda: (item for item in (1, "b")), ["1", "b"]),
        (lambda: {"a": deque([1]), "b": iter([2]), "c": Ratio(0.5)}, ['{\n  "a": [\n    1\n  ],\n  "b": [\n    2\n  ],\n  "c": 0.5\n}']),
        (lambda: "caf\udce9", ["caf\ufffd"]),
        (lambda: {"a": "caf\udce9"}, ['{\n  "a": "caf\ufffd"\n}']),
        (lambda: CallToolResult(content=[TextContent(type="text", text="whole")], isError=True), ["whole"]),
        (lambda: EmbeddedResource(resource={"uri": "a://b", "text": "in"}), ["a://b"]),  # type: ignore[arg-type]
    ]
    for number, (function, _) in enumerate(cases):
        mcp.tool(name=f"t{number}")(function)
    for number, (_, expected) in enumerate(cases):
        result = call(mcp, f"t{number}")
        shown = [
            block.text if hasattr(block, "text") else getattr(block, "mime_type", None) or block.resource["uri"]
            for block in result.content
        ]
        assert shown == expected, number
    assert call(mcp, "t15").is_error and call(mcp, "t9").is_error and not call(mcp, "t8").is_error


def test_output_schemas() -> None:
    mcp = FastMCP("structured")

    @mcp.tool()
    def number() -> int:
        return 5

    @mcp.tool()
    def rows() -> list[Row]:
        return [{"id": 1}]

    @mcp.tool()
    def person() -> Person:
        return Person(name="Ada", age=1)

    @mcp.tool()
    def blocks() -> list[Union[TextContent, str]]:
        return ["x"]

    @mcp.tool()
    def bare() -> dict:
        return {"a": 1}

    @mcp.tool(structured_output=False)
    def off() -> int:
        return 5

    @mcp.tool()
    def lies() -> int:
        return "five"  # type: ignore[return-value]

    tools = tools_of(mcp)
    assert tools["number"].output_schema["properties"] == {"result": {"type": "integer"}}
    assert tools["person"].output_schema["properties"]["age"]["minimum"] == 0
    assert not any(tools[name].output_schema for name in ("off", "blocks", "bare"))
    assert call(mcp, "number").structured_content == {"result": 5}
    assert call(mcp, "rows").structured_content == {"result": [{"id": 1}]}
    assert call(mcp, "person").structured_content == {"name": "Ada", "age": 1}
    with pytest.raises((ResponseError, AssertionError)):
        assert not call(mcp, "lies").is_error


def test_exceptions_become_results() -> None:
    mcp = FastMCP("fails")

    @mcp.tool()
    def plain(kind: str) -> str:
        raise {"value": ValueError("boo"), "tool": ToolError("no such city"), "empty": KeyError()}[kind]

    for kind, said in (("value", "boo"), ("tool", "no such city"), ("empty", "KeyError")):
        result = call(mcp, "plain", {"kind": kind})
        assert (result.is_error, result.text) == (True, f"Error executing tool plain: {said}")
    with pytest.raises(ResponseError, match="Unknown tool: other"):
        call(mcp, "other")


def test_resources(tmp_path: Path) -> None:
    mcp = FastMCP("resources")
    (tmp_path / "a.txt").write_text("in the file", encoding="utf-8")

    @mcp.resource("config://app", name="Config", description="All of it.", mime_type="application/json")
    def config() -> str:
        return "{}"

    @mcp.resource("user://{name}/{number}")
    async def user(name: str, number: int, ctx: Context) -> dict:
        await ctx.info("read")
        return {"name": name, "number": number}

    @mcp.resource("bytes://x", mime_type="image/png")
    def data() -> bytes:
        return b"\x00"

    @mcp.tool()
    async def reads(ctx: Context) -> str:
        (contents,) = await ctx.read_resource("user://ada/5")
        return f"{contents.mime_type} {contents.content}"

    mcp.add_resource(TextResource(uri="text://t", name="t", text="static"))  # type: ignore[arg-type]
    mcp.add_resource(FileResource(uri="file://f", path=tmp_path / "a.txt"))  # type: ignore[arg-type]
    mcp.add_resource(DirectoryResource(uri="dir://d", path=tmp_path))  # type: ignore[arg-type]

    async def use(client: Client) -> None:
        resources = {resource.uri: resource for resource in await client.list_resources()}
        assert (resources["config://app"].name, resources["config://app"].description) == ("Config", "All of it.")
        assert resources["text://t"].mime_type == "text/plain"
        assert [template.uri_template for template in await client.list_resource_templates()] == ["user://{name}/{number}"]
        (read,) = (await client.read_resource("user://ada/5")).contents
        assert (read.uri, read.mime_type) == ("user://ada/5", "text/plain")
        assert read.text == '{\n  "name": "ada",\n  "number": 5\n}'  # type: ignore[union-attr]
        assert (await client.read_resource("bytes://x")).blob == b"\x00"
        assert (await client.read_resource("text://t")).text == "static"
        assert (await client.read_resource("file://f")).text == "in the file"
        assert (await client.read_resource("dir://d")).text == '{"files":["a.txt"]}'
        assert (await client.call_tool("reads")).text == 'text/plain {\n  "name": "ada",\n  "number": 5\n}'

    run(mcp, use)
    with pytest.raises(ValueError, match="Mismatch between URI parameters"):

        @mcp.resource("a://{x}")
        def other(y: str) -> str:
            return y

    with pytest.raises(TypeError, match=r"Use @resource\('uri'\)"):
        mcp.resource(config)  # type: ignore[arg-type]


def test_prompts_and_completion() -> None:
    mcp = FastMCP("prompts")

    @mcp.prompt()
    def review(code: str) -> str:
        """Reviews code."""
        return f"Review {code}"

    @mcp.prompt(name="chat", title="A chat")
    async def talk(topic: str, turns: int = 1) -> list[base.Message]:
        return [base.UserMessage(f"{topic} {turns}"), base.AssistantMessage("Well.")]

    @mcp.prompt()
    def mixed() -> list:
        return [{"role": "assistant", "content": "hi"}, TextContent(type="text", text="block"), {"a": 1}]

    @mcp.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Optional[Completion]:
        return Completion(values=[f"{ref.name}.{argument.name}.{argument.value}"])

    async def use(client: Client) -> None:
        prompts = {prompt.name: prompt for prompt in await client.list_prompts()}
        assert (prompts["review"].description, prompts["chat"].title) == ("Reviews code.", "A chat")
        assert [(it.name, it.required) for it in prompts["chat"].arguments] == [("topic", True), ("turns", False)]
        assert (await client.get_prompt("review", {"code": "x=1"})).text == "Review x=1"
        messages = (await client.get_prompt("chat", {"topic": "oxen", "turns": "3"})).messages
        assert [(it.role, it.text) for it in messages] == [("user", "oxen 3"), ("assistant", "Well.")]
        assert [it.text for it in (await client.get_prompt("mixed")).messages] == ["hi", "block", '{\n  "a": 1\n}']
        assert (await client.complete("topic", "ox", prompt="chat")).values == ["chat.topic.ox"]

    run(mcp, use)


def test_a_lifespan_surrounds_the_server() -> None:
    seen: list[str] = []

    @dataclasses.dataclass
    class App:
        url: str

    @contextlib.asynccontextmanager
    async def lifespan(server: FastMCP[App]) -> AsyncIterator[App]:
        seen.append(f"start {server.name}")
        try:
            yield App("db://")
        finally:
            seen.append("end")

    mcp: FastMCP[App] = FastMCP("life", lifespan=lifespan)

    @mcp.tool()
    def url(ctx: Context) -> str:
        assert ctx.lifespan_context is ctx.request_context.lifespan_context
        return str(ctx.request_context.lifespan_context.url)

    assert call(mcp, "url").text == "db://"
    assert seen == ["start life", "end"]


def test_what_a_subclass_overrides_counts() -> None:
    class Custom(FastMCP[Any]):
        async def list_tools(self) -> Any:
            return [tool for tool in await super().list_tools() if tool.name != "hidden"]

        async def call_tool(self, name: str, arguments: Any = None) -> Any:
            if name == "virtual":
                return [TextContent(type="text", text=f"virtual {arguments}")]
            return await super().call_tool(name, arguments)

        async def list_resources(self) -> Any:
            return []

        async def read_resource(self, uri: Any) -> Any:
            return [f"{uri.scheme} and {uri.host}"]

        async def get_prompt(self, name: str, arguments: Any = None) -> Any:
            return await super().get_prompt("real", {"x": name})

    mcp = Custom("custom")

    @mcp.tool()
    def hidden() -> str:
        return "h"

    @mcp.tool()
    def shown(x: int) -> int:
        return x

    @mcp.prompt()
    def real(x: str) -> str:
        return x

    async def use(client: Client) -> None:
        assert [tool.name for tool in await client.list_tools()] == ["shown"]
        assert (await client.call_tool("virtual", {"a": 1})).text == "virtual {'a': 1}"
        assert (await client.call_tool("shown", {"x": 5})).structured_content == {"result": 5}
        failed = await client.call_tool("nothing")
        assert failed.is_error and failed.text == "Unknown tool: nothing"
        assert (await client.read_resource("any://thing")).text == "any and thing"
        assert (await client.get_prompt("other")).text == "other"

    for mode in ("auto", "legacy"):
        run(mcp, use, mode=mode)


def test_programs_ask_their_own_server() -> None:
    mcp = FastMCP("self")

    @mcp.tool()
    def add(a: int, b: int) -> int:
        "Adds."
        return a + b

    @mcp.tool()
    def words() -> list:
        return ["a"]

    async def main() -> None:
        assert [(tool.name, tool.description) for tool in await mcp.list_tools()] == [("add", "Adds."), ("words", None)]
        assert (await mcp.list_tools())[0].inputSchema["required"] == ["a", "b"]
        content, structured = await mcp.call_tool("add", {"a": 1, "b": 2})
        assert (content[0].text, structured) == ("3", {"result": 3})
        with pytest.raises(ToolError, match="Unknown tool: no"):
            await mcp.call_tool("no", {})
        assert list(await mcp.get_tools()) == ["add", "words"] == list(mcp._tool_manager._tools)
        assert mcp._tool_manager._tools["add"].parameters["properties"]["a"] == {"type": "integer"}

    asyncio.run(main())
    mcp.remove_tool("words")
    with pytest.raises(ToolError, match="Unknown tool"):
        mcp.remove_tool("words")


def test_handlers_ask_their_own_server() -> None:
    mcp = FastMCP("self")

    @mcp.resource("data://a")
    def a() -> str:
        return "A"

    @mcp.prompt()
    def greet(name: str) -> str:
        return f"Hello {name}"

    @mcp.tool()
    async def look(ctx: Context) -> str:
        uris = [str(resource.uri) for resource in await ctx.list_resources()]
        names = [prompt.name for prompt in await ctx.list_prompts()]
        (contents,) = await ctx.read_resource("data://a")
        message = (await ctx.get_prompt("greet", {"name": "Ann"})).messages[0]
        return f"{uris} {names} {contents.content} {message.content.text}"

    async def main() -> None:
        async with Client(mcp) as client:
            assert (await client.call_tool("look")).text == "['data://a'] ['greet'] A Hello Ann"

    asyncio.run(main())


def test_the_first_of_a_name_stays(caplog: pytest.LogCaptureFixture) -> None:
    mcp = FastMCP("twice")
    mcp.tool(name="x")(lambda: "first")
    with caplog.at_level(logging.WARNING):
        mcp.tool(name="x")(lambda: "second")
    assert "tool 'x' exists already" in caplog.text
    assert call(mcp, "x").text == "first"


def test_the_server_behind_it() -> None:
    mcp = FastMCP("behind")
    mcp._mcp_server.version = "9.9"
    levels: list[str] = []

    @mcp._mcp_server.set_logging_level()
    async def level(level: str) -> None:
        levels.append(level)

    async def use(client: Client) -> None:
        assert client.server_info == {"name": "behind", "version": "9.9"}
        await client.set_logging_level("info")

    run(mcp, use, mode="legacy")
    assert levels == ["info"]


def test_servers_in_servers() -> None:
    inner, outer = FastMCP("inner"), FastMCP("outer")

    @inner.tool()
    def hello(ctx: Context) -> str:
        return ctx.fastmcp.name

    outer.mount(inner, prefix="sub")
    assert call(outer, "sub_hello").text == "inner"
    outer.mount("old", FastMCP("empty"))


def test_questions_to_the_user() -> None:
    mcp = FastMCP("asks")

    class Order(BaseModel):
        count: int = Field(description="How many?")

    @mcp.tool()
    async def order(ctx: Context) -> str:
        answer = await ctx.elicit(message="How many?", schema=Order)
        if answer.action != "accept":
            return str(answer.action)
        name = await ctx.elicit("Your name?", response_type=str)
        return f"{answer.data.count} for {name.data}"

    def answer(request: Any) -> Any:
        return {"value": "Ada"} if "name" in request.message else {"count": 2}

    for mode in ("auto", "legacy"):
        assert call(mcp, "order", mode=mode, on_elicit=answer).text == "2 for Ada"
        assert call(mcp, "order", mode=mode, on_elicit=lambda request: "decline").text == "decline"


def test_plain_functions_run_one_at_a_time_unless_asked_otherwise() -> None:
    import threading

    for threads in (False, True):
        mcp = FastMCP("threads", threads=threads)
        mcp.tool(name="on")(lambda: threading.current_thread() is threading.main_thread())
        assert call(mcp, "on").text == ("false" if threads else "true")


def test_authorization_is_refused_and_not_forgotten() -> None:
    mcp = FastMCP("auth", auth=object())
    with pytest.raises(UsageError, match="authorization of FastMCP programs is not supported"):
        mcp.run(transport="streamable-http")


def test_over_the_real_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what is printed early waits in a buffer, as with a client
    path = tmp_path / "program.py"
    path.write_text(
        "print('starting up')\n"
        "from oxmcp.fastmcp import FastMCP\n"
        "mcp = FastMCP('real')\n"
        "@mcp.custom_route('/health', methods=['GET'])\n"
        "async def health(request): ...\n"
        "@mcp.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        "    print('stray')\n"
        "    return a + b\n"
        "if __name__ == '__main__':\n"
        "    mcp.run(transport='stdio')\n",
        encoding="utf-8",
    )
    with Peer(path) as peer:
        result = peer.initialize("2024-11-05").tool("add", {"a": 1, "b": 2})
        assert text(result) == "3"
        output, errors = peer.leave()
        assert output == b"" and errors.splitlines() == ["starting up", "stray"]


def test_it_is_loaded_on_demand_only() -> None:
    import subprocess

    code = "import sys, oxmcp; print([name for name in sys.modules if name.startswith('oxmcp.') and name.count('.') > 0])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "fastmcp" not in shown and "lowlevel" not in shown and "types" not in shown
