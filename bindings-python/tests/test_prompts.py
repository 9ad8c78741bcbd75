"""Prompts, from functions to messages, and completions of their arguments."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from peer import Peer, script

from oxmcp import (
    Client,
    Completion,
    ImageContent,
    Message,
    PromptResult,
    ProtocolError,
    ResponseError,
    Server,
    SyncClient,
    TextContent,
    UnknownContent,
)
from oxmcp import _contents
from oxmcp._offers import decode_prompt

SERVER = """
    import enum
    from typing import Annotated, Literal, Optional
    from msgspec import Meta
    from oxmcp import Completion, Message, PromptResult

    app = Server("prompts")

    class Tone(enum.Enum):
        WARM = "warm"
        COLD = "cold"

    @app.prompt
    def greet(name: Annotated[str, Meta(description="Whom.", title="Name")], tone: Tone = Tone.WARM) -> str:
        "Greets a person."
        return f"Greet {name} in a {tone.value} way."

    @app.prompt(name="plan", title="A plan", description="Said here.", icons=[{"src": "data:,"}], meta={"k": 1})
    async def _(days: int, stops: list[str], strict: bool = False, note: Optional[str] = None) -> list:
        return [f"{days} {stops} {strict} {note}", Message("Well.", "assistant")]

    @app.prompt()
    async def fails(how: str) -> str:
        if how == "tool":
            raise ToolError("no such day")
        raise ValueError("a secret of the server")

    @app.prompt
    async def whole() -> PromptResult:
        return PromptResult(["one"], description="made for this call")

    @app.completion(greet, "name")
    async def names(value: str) -> Completion:
        return Completion([value + "a"], total=9, has_more=True)

    @app.completion(greet, "tone")
    async def tones(value: str) -> list[str]:
        return []

    app.run()
"""
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SERVER)


@both_eras
def test_what_lists_say(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            greet, plan, *_ = await client.list_prompts()
            assert (greet.name, greet.description) == ("greet", "Greets a person.")
            name, tone = greet.arguments
            assert (name.name, name.description, name.title, name.required) == ("name", "Whom.", "Name", True)
            assert (tone.name, tone.required) == ("tone", False)
            assert (plan.title, plan.description, plan.icons, plan.meta) == ("A plan", "Said here.", [{"src": "data:,"}], {"k": 1})
            assert [argument.required for argument in plan.arguments] == [True, True, False, False]

    asyncio.run(main())


@both_eras
def test_arguments_are_strings_read_as_the_hints_say(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            result = await client.get_prompt("greet", {"name": "00123", "tone": "cold"})
            assert result.description == "Greets a person."
            assert result.messages == [Message(TextContent(text="Greet 00123 in a cold way."), "user")]
            result = await client.get_prompt("plan", {"days": "3", "stops": '["a","b"]', "strict": "true", "note": "1"})
            assert result.text == "3 ['a', 'b'] True 1\nWell."
            assert [message.role for message in result.messages] == ["user", "assistant"]
            result = await client.get_prompt("whole")
            assert (result.description, result.text) == ("made for this call", "one")

    asyncio.run(main())


@both_eras
def test_what_cannot_be_got(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, stderr=-3) as client:
            for name, arguments, code, what in (
                ("nobody", {}, -32602, "Unknown prompt"),
                ("greet", {}, -32602, '"name" is missing'),
                ("greet", {"name": "x", "tone": "hot"}, -32602, "Invalid enum value"),
                ("greet", {"name": "x", "more": "1"}, -32602, "unknown field `more`"),
                ("plan", {"days": "x", "stops": "[]"}, -32602, "$.days"),
                ("plan", {"days": "1", "stops": "no JSON"}, -32602, "Invalid params for prompt plan"),
                ("fails", {"how": "tool"}, -32603, "no such day"),
                ("fails", {"how": "else"}, -32603, "Internal error: prompt fails failed"),
            ):
                with pytest.raises(ResponseError) as error:
                    await client.get_prompt(name, arguments)
                assert error.value.code == code and what in error.value.message, (name, error.value)

    asyncio.run(main())


@both_eras
def test_arguments_are_completed(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            assert await client.complete("name", "Ad", prompt="greet") == Completion(["Ada"], 9, True)
            assert await client.complete("tone", "w", prompt="greet") == Completion([])

    asyncio.run(main())


def block(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


IMAGE = ImageContent(data=b"a", mime_type="x/y")


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("a", [block("a")]),
        (Message("a", "assistant"), [block("a", "assistant")]),
        (["a", Message("b", "assistant")], [block("a"), block("b", "assistant")]),
        ([], []),
        (IMAGE, [{"role": "user", "content": {"type": "image", "data": "YQ==", "mimeType": "x/y"}}]),
        (Message(UnknownContent("h", {"type": "h"})), [{"role": "user", "content": {"type": "h"}}]),
        ([{"role": "user", "content": {"type": "h", "x": 1}}], [{"role": "user", "content": {"type": "h", "x": 1}}]),
        ({"messages": [], "x": 1}, []),
        ("a\udcff", [block("a\ufffd")]),
    ],
)
def test_what_a_prompt_may_return(value: Any, messages: Any) -> None:
    assert json.loads(_contents.prompt(value, None))["messages"] == messages


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (5, r"messages\[0\] is of type int"),
        (["a", None], r"messages\[1\] is of type NoneType"),
        (Message("a", "system"), "'user' or 'assistant', not 'system'"),  # type: ignore[arg-type]
        ([Message(TextContent(text=5))], "no valid block"),  # type: ignore[arg-type]
    ],
)
def test_what_a_prompt_may_not_return(value: Any, what: str) -> None:
    with pytest.raises(TypeError, match=what):
        _contents.prompt(value, None)


def test_messages_of_another_server_are_taken_as_they_come() -> None:
    result = decode_prompt(b'{"messages":[{"role":"user","content":{"type":"hologram","x":1}}],"more":1}')
    assert result.messages == [Message(UnknownContent("hologram", {"type": "hologram", "x": 1}), "user")]
    for broken in (b"{}", b'{"messages":[{"role":"system","content":{"type":"text","text":""}}]}', b'{"messages":[{}]}'):
        with pytest.raises(ProtocolError, match="prompts/get is broken"):
            decode_prompt(broken)


def test_a_server_with_prompts_alone_has_no_tools(tmp_path: Path) -> None:
    source = """
        app = Server("prompts")
        @app.prompt
        def p() -> str: return "x"
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        assert peer.call("tools/list")["error"]["code"] == -32601
        assert peer.call("prompts/get", {"name": "p"})["result"] == {"messages": [block("x")]}


def test_options_that_nobody_knows_are_refused() -> None:
    app = Server("options")
    with pytest.raises(TypeError, match="a prompt has no option 'annotations'"):
        app.prompt(annotations={})  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a tool has no option 'tittle'"):
        app.tool(tittle="x")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda app: app.tool(desciption="x"), "a tool has no option 'desciption'; did you mean 'description'?"),
        (lambda app: app.tool(outputSchema={}), "a tool has no option 'outputSchema'; did you mean 'output_schema'?"),
        (lambda app: app.prompt(xyz=1), "a prompt has no option 'xyz'; its options are description,"),
        (lambda app: app.add_tool(print, name_="x"), "a tool has no option 'name_'; did you mean 'name'?"),
        (lambda app: Server("x", instrutions="y"), "Server has no option 'instrutions'; did you mean 'instructions'?"),
        (lambda app: Client(app, time_out=3), "Client has no option 'time_out'; did you mean 'timeout'?"),
        (lambda app: SyncClient(app, onlog=print), "Client has no option 'onlog'; did you mean 'on_log'?"),
        (lambda app: app.asgi(jsonOnly=True), "HTTP has no option 'jsonOnly'; did you mean 'json_only'?"),
        (lambda app: app.run("http", prot=1), "HTTP has no option 'prot'; did you mean 'port'?"),
        (lambda app: app.run("htp"), "a server runs over 'stdio' or 'http', not 'htp'"),
        (lambda app: app.run(port=1), 'port= is for HTTP: run("http", port=...)'),
    ],
)
def test_an_option_that_is_almost_one_is_named(use: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        use(Server("options"))
    assert str(raised.value).startswith(what)


@both_eras
def test_a_completion_without_values_says_so(server: Path, mode: Literal["auto", "legacy"]) -> None:
    async def main() -> None:
        async with Client(server, mode=mode) as client:
            for argument in ("tone", "other"):
                params = {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": argument, "value": "x"}}
                result = await client.request("completion/complete", params)
                assert result["completion"] == {"values": []}

    asyncio.run(main())
