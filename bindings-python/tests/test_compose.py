"""What surrounds handlers: dependencies, lifespans, middleware, servers in servers, spans."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated, Any

import msgspec
import pytest

from oxmcp import (
    Audio,
    CapabilityError,
    Client,
    Context,
    Depends,
    File,
    Image,
    McpError,
    Message,
    Request,
    ResponseError,
    Server,
    TextContent,
    ToolError,
)
from oxmcp._signature import read

MODES: list[Any] = ["auto", "legacy"]


def run(app: Any, use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with Client(app, **options) as client:
            return await use(client)

    return asyncio.run(main())


def call(app: Any, name: str, arguments: Any = None, **options: Any) -> Any:
    return run(app, lambda client: client.call_tool(name, arguments), **options)


# Dependencies


seen: list[str] = []


def settings() -> dict[str, str]:
    seen.append("settings")
    return {"url": "db://"}


async def database(ctx: Context, config: dict[str, str] = Depends(settings)) -> AsyncIterator[str]:
    seen.append(f"open {ctx.client_info is not None}")
    try:
        yield config["url"]
    finally:
        seen.append("close")


def cursor(db: Annotated[str, Depends(database)]) -> Iterator[str]:
    try:
        yield f"{db}cursor"
    finally:
        seen.append("close cursor")


def test_dependencies_are_made_once_and_undone_in_reverse() -> None:
    app = Server("depends")

    @app.tool
    async def query(
        text: str,
        db: str = Depends(database),
        *,
        cur: str = Depends(cursor),
        config: Annotated[dict[str, str], Depends(settings)],
        limit: int = 5,
    ) -> str:
        seen.append("run")
        if text == "fail":
            raise ToolError("failed")
        return f"{text} {db} {cur} {config['url']} {limit}"

    (tool,) = run(app, lambda client: client.list_tools())
    assert tool.input_schema["properties"].keys() == {"text", "limit"} and tool.input_schema["required"] == ["text"]
    assert call(app, "query", {"text": "a"}).text == "a db:// db://cursor db:// 5"
    assert seen == ["settings", "open True", "run", "close cursor", "close"]
    seen.clear()
    assert call(app, "query", {"text": "fail"}).is_error
    assert seen == ["settings", "open True", "run", "close cursor", "close"]


def test_a_dependency_that_is_not_cached_is_made_anew() -> None:
    app, numbers = Server("fresh"), iter(range(10))

    def number() -> int:
        return next(numbers)

    @app.tool
    def both(
        a: int = Depends(number, cached=False), b: int = Depends(number, cached=False), c: int = Depends(number)
    ) -> list[int]:
        return [a, b, c]

    assert call(app, "both").text == "[0,1,2]"


def test_dependencies_that_do_not_go_are_named() -> None:
    def takes(x: int) -> int:
        return x

    def first(b: int = Depends(lambda: 1)) -> int:
        return b

    def loops(a: int = 0) -> int:
        return a

    loops.__defaults__ = (Depends(loops),)

    with pytest.raises(TypeError, match="parameter 'x' of .*takes: a dependency takes the Context"):
        read(lambda a=Depends(takes): a)
    with pytest.raises(TypeError, match="depends on itself"):
        read(lambda a=Depends(loops): a)
    with pytest.raises(TypeError, match="Depends takes a function, not 5"):
        Depends(5)  # type: ignore[arg-type]
    assert read(first).schema["properties"] == {}


def test_a_context_after_the_star() -> None:
    app = Server("star")

    @app.tool
    async def tool(x: int, *, ctx: Context, y: int = 2) -> str:
        return f"{x} {y} {ctx.server.name}"

    assert call(app, "tool", {"x": 1}).text == "1 2 star"


# Lifespans


def test_a_lifespan_surrounds_all_clients_and_gives_the_state() -> None:
    seen: list[str] = []

    async def lifespan(app: Server) -> AsyncIterator[dict[str, int]]:
        seen.append("start")
        yield {"n": 1}
        seen.append("end")

    app = Server("life", lifespan=lifespan)

    @app.tool
    async def n(ctx: Context) -> int:
        return int(ctx.state["n"])

    async def main() -> None:
        async with Client(app) as first, Client(app) as second:
            assert (await first.call_tool("n")).text == (await second.call_tool("n")).text == "1"
            await first.close()
            assert app.state == {"n": 1} and (await second.call_tool("n")).text == "1"
        assert seen == ["start", "end"] and app.state is None
        async with Client(app) as third:
            assert (await third.call_tool("n")).text == "1"

    asyncio.run(main())
    assert seen == ["start", "end"] * 2


def test_a_lifespan_that_fails_ends_the_server() -> None:
    @contextlib.asynccontextmanager
    async def lifespan(app: Server) -> AsyncIterator[None]:
        raise ValueError("no database")
        yield

    with pytest.raises(McpError, match="the server ended: ValueError: no database"):
        run(Server("life", lifespan=lifespan), lambda client: client.ping())
    with pytest.raises(McpError, match="decorate it with contextlib.asynccontextmanager"):
        run(Server("life", lifespan=lambda app: 5), lambda client: client.ping())


# Middleware


def recorder(seen: list[Any], name: str = "") -> Any:
    async def middleware(request: Request, call_next: Any) -> Any:
        seen.append((name, request.method, request.name))
        return await call_next(request)

    return middleware


@pytest.mark.parametrize("mode", MODES)
def test_middleware_is_around_every_operation(mode: Any) -> None:
    seen: list[Any] = []
    app = Server("mw", middleware=[recorder(seen)])

    @app.tool
    def add(a: int, b: int = 1) -> int:
        return a + b

    @app.resource("note://{id}")
    def note(id: str) -> str:
        return f"note {id}"

    @app.prompt
    def ask(q: str) -> str:
        return q

    app.completion(ask, "q")(lambda value: [value + "!"])
    app.method("own/x")(lambda n: {"n": n})  # type: ignore[arg-type]

    async def use(client: Client) -> None:
        assert [tool.name for tool in await client.list_tools()] == ["add"]
        assert await client.list_resources() == []
        assert len(await client.list_resource_templates()) == len(await client.list_prompts()) == 1
        assert (await client.call_tool("add", {"a": 1})).text == "2"
        assert (await client.read_resource("note://5")).text == "note 5"
        assert (await client.get_prompt("ask", {"q": "why"})).text == "why"
        assert (await client.complete("q", "a", prompt="ask")).values == ["a!"]
        assert await client.request("own/x", {"n": 1}) | {"_meta": 0} == {"n": 1, "_meta": 0, **_kind(mode)}

    run(app, use, mode=mode)
    assert seen == [
        ("", "tools/list", None),
        ("", "resources/list", None),
        ("", "resources/templates/list", None),
        ("", "prompts/list", None),
        ("", "tools/call", "add"),
        ("", "resources/read", "note://5"),
        ("", "prompts/get", "ask"),
        ("", "completion/complete", None),
        ("", "own/x", None),
    ]


def _kind(mode: str) -> dict[str, str]:
    return {"resultType": "complete"} if mode == "auto" else {}


def test_middleware_changes_answers_and_refuses() -> None:
    async def changes(request: Request, call_next: Any) -> Any:
        if request.method == "tools/list":
            result = await call_next(request)
            return {**result, "tools": [tool for tool in result["tools"] if not tool["name"].startswith("_")]}
        if request.name == "cached":
            return {"content": [{"type": "text", "text": "from the cache"}]}
        if request.name == "secret":
            raise McpError("who are you?", code=-32001)
        if request.name == "upper":
            request.params["arguments"]["text"] = request.params["arguments"]["text"].upper()
        try:
            return await call_next(request)
        except ZeroDivisionError:
            return {"content": [], "isError": True}

    app = Server("mw", middleware=[changes])
    app.tool(lambda: "h", name="_hidden")
    app.tool(lambda: "never", name="cached")
    app.tool(lambda: "never", name="secret")
    app.tool(lambda: 1 / 0, name="zero")

    @app.tool
    async def upper(text: str, ctx: Context) -> str:
        return f"{text} {ctx.server.name}"

    async def use(client: Client) -> None:
        assert [tool.name for tool in await client.list_tools()] == ["cached", "secret", "zero", "upper"]
        assert (await client.call_tool("cached")).text == "from the cache"
        with pytest.raises(ResponseError, match="who are you"):
            await client.call_tool("secret")
        assert (await client.call_tool("upper", {"text": "a"})).text == "A mw"
        assert (await client.call_tool("zero")).is_error
        # Arguments are checked after the middleware, and refused in the form of the revision.
        wrong = await client.call_tool("upper", {"text": "a", "more": 1})
        assert wrong.is_error and "unknown field `more`" in wrong.text and "(-32602)" in wrong.text

    run(app, use)


def test_pages_pass_through_middleware() -> None:
    seen: list[Any] = []
    app = Server("pages", page_size=2, middleware=[recorder(seen)])
    for number in range(5):
        app.tool(lambda: "", name=f"t{number}")

    async def use(client: Client) -> None:
        assert len(await client.list_tools()) == 5
        with pytest.raises(ResponseError, match="Invalid cursor"):
            await client.request("tools/list", {"cursor": "odd"})

    run(app, use)
    assert len(seen) == 4


def test_the_first_middleware_is_outermost() -> None:
    order: list[str] = []

    def layer(name: str) -> Any:
        async def middleware(request: Request, call_next: Any) -> Any:
            order.append(f"in {name}")
            result = await call_next(request)
            order.append(f"out {name}")
            return result

        return middleware

    app = Server("order", middleware=[layer("a"), layer("b")])
    app.tool(lambda: order.append("tool"), name="t")
    call(app, "t")
    assert order == ["in a", "in b", "tool", "out b", "out a"]


@pytest.mark.parametrize("mode", MODES)
def test_questions_pass_through_middleware(mode: Any) -> None:
    app = Server("asks", middleware=[recorder([])])

    @app.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    assert call(app, "ask", mode=mode, on_elicit=lambda request: {}).text == "accept"
    with pytest.raises((ResponseError, AssertionError)):
        assert not call(app, "ask", mode=mode).is_error


# Servers in servers


def test_a_mounted_server_is_offered_under_its_prefix_now_and_later() -> None:
    seen: list[Any] = []

    async def lifespan(app: Server) -> AsyncIterator[str]:
        yield f"state of {app.name}"

    child = Server("child", lifespan=lifespan, middleware=[recorder(seen, "child")])
    parent = Server("parent", middleware=[recorder(seen, "parent")])

    @child.tool
    async def hello(ctx: Context) -> str:
        return f"{ctx.server.name}: {ctx.state}"

    @child.resource("data://{x}")
    def data(x: str) -> str:
        return x

    @child.prompt
    def ask(q: str) -> str:
        return q

    child.completion(ask, "q")(lambda value: [f"{value}1"])
    child.tool(lambda: "gone", name="gone")
    child.disable(tool="gone")
    parent.mount(child, prefix="sub")
    child.tool(lambda: "late", name="late")
    child.completion("data://{x}", "x")(lambda value: [f"{value}2"])

    async def use(client: Client) -> None:
        assert [tool.name for tool in await client.list_tools()] == ["sub_hello", "sub_late"]
        assert (await client.call_tool("sub_hello")).text == "child: state of child"
        assert (await client.read_resource("data://sub/5")).text == "5"
        assert (await client.get_prompt("sub_ask", {"q": "a"})).text == "a"
        assert (await client.complete("q", "a", prompt="sub_ask")).values == ["a1"]
        assert (await client.complete("x", "b", template="data://sub/{x}")).values == ["b2"]
        child.enable(tool="gone")
        child.remove_tool("late")
        assert [tool.name for tool in await client.list_tools()] == ["sub_hello", "sub_gone"]

    run(parent, use)
    assert ("parent", "tools/call", "sub_hello") in seen and ("child", "tools/call", "sub_hello") in seen
    # The child is still a server of its own.
    assert call(child, "hello").text == "child: state of child"


def test_servers_nest_and_do_not_contain_each_other() -> None:
    a, b, c = Server("a"), Server("b"), Server("c")
    c.tool(lambda: "deep", name="deep")
    b.mount(c, prefix="c")
    a.mount(b, prefix="b")
    c.tool(lambda: "late", name="late")
    assert call(a, "b_c_deep").text == "deep" and call(a, "b_c_late").text == "late"
    for outer, inner in ((a, a), (c, a), (c, b)):
        with pytest.raises(ValueError, match="which it contains"):
            outer.mount(inner)
    with pytest.raises(ValueError, match="has a tool 'b_c_deep' already"):
        a.mount(b, prefix="b")
    with pytest.raises(ValueError, match="a prefix is made of"):
        a.mount(Server("d"), prefix="a/b")


# Content


def test_content_from_files_and_bytes(tmp_path: Any) -> None:
    app = Server("content")
    for name, data in (("a.jpg", b"\xff"), ("a.mp3", b"\x01"), ("a.csv", b"a,b"), ("a.bin", b"\x00"), ("a.txt", b"\xff")):
        (tmp_path / name).write_bytes(data)
    made: dict[str, Callable[[], Any]] = {
        "image": lambda: Image(tmp_path / "a.jpg"),
        "bytes": lambda: ["caption", Image(data=b"x", format="svg", annotations={"priority": 1})],
        "audio": lambda: Audio(str(tmp_path / "a.mp3")),
        "text": lambda: File(tmp_path / "a.csv"),
        "blob": lambda: File(tmp_path / "a.bin"),
        "latin": lambda: File(tmp_path / "a.txt"),
        "named": lambda: File(data=b"{}", format="json", name="my data.json"),
    }
    for name, function in made.items():
        app.tool(function, name=name)

    def shown(name: str) -> Any:
        return msgspec.to_builtins(call(app, name).content[-1])

    assert shown("image") == {"type": "image", "data": "/w==", "mimeType": "image/jpeg"}
    assert shown("bytes") == {"type": "image", "data": "eA==", "mimeType": "image/svg+xml", "annotations": {"priority": 1}}
    assert shown("audio")["mimeType"] == "audio/mpeg"
    assert shown("text")["resource"] == {"uri": (tmp_path / "a.csv").as_uri(), "mimeType": "text/csv", "text": "a,b"}
    assert shown("blob")["resource"]["blob"] == "AA==" and shown("latin")["resource"]["blob"] == "/w=="
    assert shown("named")["resource"] == {"uri": "file:///my%20data.json", "mimeType": "application/json", "text": "{}"}
    app.prompt(lambda: Message(Image(data=b"x")), name="p")
    assert run(app, lambda client: client.get_prompt("p")).messages[0].content.mime_type == "image/png"


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Image(), "takes either path= or data="),
        (lambda: Audio("a", b"b"), "takes either path= or data="),
        (lambda: Image(data="text"), "the data of Image is bytes, not str"),
    ],
)
def test_content_that_is_none_is_refused(make: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        make()


# What is said of handlers


def test_what_is_wrong_with_an_option_is_told_where_it_was_written() -> None:
    app = Server("options")
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: app.tool(lambda: 1, name="x", annotations={"readonlyHint": True}), "'readOnlyHint'"),
        (lambda: app.tool(lambda: 1, name="x", annotations={"read_only_hint": True}), "'readOnlyHint'"),
        (lambda: app.tool(lambda: 1, name=""), "name=, which is not empty"),
        (lambda: app.tool(lambda: 1, name=5), "the name of a tool is a string, not 5"),  # type: ignore[call-overload]
        (lambda: app.resource("")(lambda: 1), "a whole one, with its scheme"),
        (lambda: app.resource("readme")(lambda: 1), "a whole one, with its scheme"),
        (lambda: app.tool(lambda: 1, name="x", outputschema={}), "no option 'outputschema'"),  # type: ignore[call-overload]
        (lambda: app.notify_resource_updated(5), "the URI of a resource is a string"),  # type: ignore[arg-type]
    ]
    for make, what in cases:
        with pytest.raises((TypeError, ValueError), match=what.replace("(", r"\(")):
            make()
    assert run(app, lambda client: client.ping()) is None


def test_what_a_server_says_of_itself() -> None:
    icons = [{"src": "https://a.example/icon.png", "mimeType": "image/png"}]
    app = Server("about", version="1", title="T", description="D", website_url="https://a.example", icons=icons)

    async def info(client: Client) -> Any:
        return client.server_info

    whole = {"name": "about", "version": "1", "title": "T", "description": "D", "websiteUrl": "https://a.example", "icons": icons}
    assert run(app, info, mode="legacy") == whole


def test_tags_are_told_in_meta() -> None:
    app = Server("tags")
    app.tool(lambda: 1, name="x", tags={"b", "a"}, meta={"own": 1})
    (tool,) = run(app, lambda client: client.list_tools())
    assert tool.meta == {"own": 1, "dev.oxmcp/tags": ["a", "b"]}


def test_meta_of_a_call_reaches_the_handler() -> None:
    app = Server("meta")

    @app.tool
    async def meta(ctx: Context) -> Any:
        assert ctx.request_id is not None
        return (ctx.meta or {}).get("dev.example/user")

    async def use(client: Client) -> None:
        assert (await client.call_tool("meta", meta={"dev.example/user": "ada"})).text == "ada"
        assert (await client.call_tool("meta", {}, meta={})).text == ""

    run(app, use)


# Spans


@pytest.mark.parametrize("mode", MODES)
def test_spans_join_client_and_server(mode: Any) -> None:
    pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))  # type: ignore[attr-defined]
    app = Server("spans")

    @app.tool
    async def work(fail: bool = False) -> Any:
        trace.get_tracer("test").start_span("inside").end()
        if fail:
            raise ToolError("no")
        return TextContent(text="x")

    app.resource("a://{x}", name="r")(lambda x: "r")

    async def use(client: Client) -> None:
        with trace.get_tracer("test").start_as_current_span("outer"):
            await client.call_tool("work")
        assert (await client.call_tool("work", {"fail": True})).is_error
        await client.read_resource("a://b")
        assert [tool.name for tool in await client.list_tools()] == ["work"]
        with pytest.raises((ResponseError, CapabilityError)):
            await client.get_prompt("none")

    run(app, use, mode=mode)
    spans = list(exporter.get_finished_spans())
    by_id = {span.context.span_id: span for span in spans}

    def path(span: Any) -> list[str]:
        parent = None if span.parent is None else by_id.get(span.parent.span_id)
        return [*([] if parent is None else path(parent)), f"{span.kind.name} {span.name}"]

    inside = [span for span in spans if span.name == "inside"]
    assert path(inside[0]) == ["INTERNAL outer", "CLIENT tools/call work", "SERVER tools/call work", "INTERNAL inside"]
    served = [span for span in spans if span.kind.name == "SERVER"]
    assert [span.name for span in served] == ["tools/call work", "tools/call work", "resources/read", "tools/list"]
    assert served[0].attributes["gen_ai.tool.name"] == "work" and served[0].attributes["mcp.method.name"] == "tools/call"
    assert served[0].status.is_ok and not served[1].status.is_ok
    assert served[1].attributes["error.type"] == "tool_error"
    assert served[2].attributes["mcp.resource.uri"].startswith("a://")
    asked = [span for span in spans if span.kind.name == "CLIENT"]
    assert [span.name for span in asked if span.name == "tools/list"] == ["tools/list"]
    failed = [span for span in spans if span.name == "prompts/get none"]
    assert len(failed) == 1 and not failed[0].status.is_ok


def test_a_call_that_was_given_up_before_its_handler_began_has_no_parent_span() -> None:
    pytest.importorskip("opentelemetry")
    from oxmcp import UsageError, _telemetry

    class GivenUp:
        @property
        def meta(self) -> Any:
            raise UsageError("the call is over, and nothing is known of its caller")

    assert _telemetry._caller(GivenUp()) == (None, None)
