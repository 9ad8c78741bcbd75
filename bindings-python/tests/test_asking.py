"""What a handler asks its caller for: the same code in both eras."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict

import msgspec
import pydantic
import pytest
from peer import Peer, script, text

from oxmcp import (
    Client,
    ElicitRequest,
    ElicitResult,
    HandlerError,
    ImageContent,
    McpError,
    Message,
    ResponseError,
    Root,
    SampleRequest,
    SampleResult,
    TextContent,
    UsageError,
)
from oxmcp import _forms
from oxmcp._dialog import decode_request, elicit_out, sample_out

SERVER = """
    import asyncio, sys, threading
    from dataclasses import dataclass
    from typing import Optional
    from oxmcp import CapabilityError, RequestTimeoutError, UrlElicitationRequiredError, UsageError

    app = Server("asks")
    runs = 0

    @dataclass
    class Person:
        name: str
        age: int = 30
        note: Optional[str] = None

    @app.tool
    async def person(ctx: Context) -> str:
        global runs
        runs += 1
        answer = await ctx.elicit("Who?", Person)
        return f"{answer.action} {answer.content}"

    @app.tool
    async def steps(ctx: Context) -> list:
        said = []
        for number in range(3):
            answer = await ctx.elicit(f"Step {number}?", {"type": "object", "properties": {"z": {"type": "integer"}}})
            said.append(answer.content["z"])
        return said

    @app.tool
    async def at_once(ctx: Context) -> str:
        answers = await asyncio.gather(*(ctx.elicit(f"{key}?", key=key) for key in "ab"), ctx.sample("c?"))
        return f"{answers[0].action} {answers[1].accepted} {answers[2].text}"

    @app.tool
    def plainly(ctx: Context) -> str:
        first = ctx.wait(ctx.elicit("Sure?"))
        url = ctx.wait(ctx.elicit_url("Pay", "https://pay.example"))
        return f"{first.action} {url.action} {threading.current_thread() is threading.main_thread()}"

    @app.tool
    async def model(ctx: Context) -> str:
        result = await ctx.sample([Message("One", "user"), "Two"], max_tokens=7, system_prompt="Be brief.", temperature=0.5)
        return f"{result.text} {result.model} {result.role} {result.stop_reason}"

    @app.tool
    async def roots(ctx: Context) -> list:
        return [root.uri for root in await ctx.list_roots()]

    @app.tool
    async def caught(ctx: Context) -> str:
        try:
            await ctx.elicit("Who?", Person)
        except CapabilityError as error:
            return f"without: {error.code} {error.data}"
        return "asked"

    @app.tool
    async def with_tools(ctx: Context) -> str:
        return (await ctx.sample("x", tools=[{"name": "t", "inputSchema": {"type": "object"}}])).text

    @app.tool
    async def must_visit() -> str:
        raise UrlElicitationRequiredError([{"mode": "url", "url": "https://x", "message": "m", "elicitationId": "1"}])

    @app.tool
    async def impatient(ctx: Context) -> str:
        try:
            await ctx.elicit("Slow?", timeout=0.05)
        except RequestTimeoutError as error:
            return f"timeout {error.code}"
        return "answered"

    @app.tool
    async def gives_up(ctx: Context) -> str:
        try:
            await asyncio.wait_for(ctx.elicit("Slow?"), 0.05)
        except asyncio.TimeoutError:
            return "gave up"
        return "answered"

    @app.tool
    async def impossible(ctx: Context) -> str:
        try:
            await ctx.elicit("x", list)
        except UsageError as error:
            return str(error)
        return "asked"

    @app.tool
    async def waits_async(ctx: Context) -> str:
        try:
            return ctx.wait(ctx.elicit("x"))
        except UsageError as error:
            return str(error)

    @app.tool
    def loop_of_its_own(ctx: Context) -> str:
        try:
            return asyncio.run(ctx.elicit("x")).action
        except UsageError as error:
            return str(error)

    @app.tool
    async def counted() -> list:
        return [runs, list(app._served.connection.stats())]

    @app.prompt
    async def asking(ctx: Context) -> str:
        return (await ctx.elicit("Topic?", {"type": "object", "properties": {"t": {"type": "string"}}})).content["t"]

    @app.resource("ask://{what}")
    async def asked(what: str, ctx: Context) -> str:
        return what + " " + (await ctx.elicit("Go on?")).action

    app.run()
"""
Mode = Literal["auto", "legacy"]
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


@pytest.fixture
def server(tmp_path: Path) -> Path:
    path = script(tmp_path, SERVER)
    path.write_text(path.read_text().replace("import Context,", "import Context, Message,"))
    return path


@both_eras
@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"name": "Ada"}, "accept Person(name='Ada', age=30, note=None)"),
        (ElicitResult("accept", {"name": "Ada", "age": 36}), "accept Person(name='Ada', age=36, note=None)"),
        ("decline", "decline None"),
        ("cancel", "cancel None"),
        (None, "cancel None"),
        (ElicitResult("decline", {"name": "x"}), "decline None"),
    ],
)
def test_every_answer_to_a_form_is_a_result(server: Path, mode: Mode, given: Any, seen: str) -> None:
    requests: list[ElicitRequest] = []

    def on_elicit(request: ElicitRequest) -> Any:
        requests.append(request)
        return given

    async def main() -> None:
        async with Client(server, mode=mode, on_elicit=on_elicit) as client:
            assert (await client.call_tool("person")).text == seen
            # In 2026-07-28 the handler ran again with the answer; nothing of the first run is left.
            assert json.loads((await client.call_tool("counted")).text)[0] == (1 if mode == "legacy" else 2)

    asyncio.run(main())
    (request,) = requests
    assert (request.message, request.mode, request.url) == ("Who?", "form", None)
    assert list(request.requested_schema["properties"]) == ["name", "age", "note"]


@both_eras
def test_several_questions_one_after_the_other(server: Path, mode: Mode) -> None:
    async def main() -> None:
        answers = iter([9007199254740993, 2, 3])
        async with Client(server, mode=mode, on_elicit=lambda _: {"z": next(answers)}) as client:
            assert (await client.call_tool("steps")).text == "[9007199254740993,2,3]"

    asyncio.run(main())


@both_eras
def test_several_questions_at_once(server: Path, mode: Mode) -> None:
    async def main() -> None:
        asked: list[str] = []

        async def on_elicit(request: ElicitRequest) -> str:
            asked.append(request.message)
            while len(asked) < 3:  # answered only when all are there
                await asyncio.sleep(0)
            return "accept"

        async def on_sample(request: SampleRequest) -> str:
            asked.append(request.messages[0].text)
            return "said"

        async with Client(server, mode=mode, on_elicit=on_elicit, on_sample=on_sample) as client:
            assert (await client.call_tool("at_once")).text == "accept True said"
            assert sorted(asked) == ["a?", "b?", "c?"]

    asyncio.run(main())


@both_eras
def test_a_plain_function_waits_on_its_thread(server: Path, mode: Mode) -> None:
    async def main() -> None:
        visited: list[ElicitRequest] = []

        def on_elicit_url(request: ElicitRequest) -> str:
            visited.append(request)
            return "accept"

        async with Client(server, mode=mode, on_elicit=lambda _: "accept", on_elicit_url=on_elicit_url) as client:
            assert (await client.call_tool("plainly")).text == "accept accept False"
        assert [(request.mode, request.url) for request in visited] == [("url", "https://pay.example")]
        assert (visited[0].elicitation_id is None) == (mode == "auto")

    asyncio.run(main())


@both_eras
def test_the_clients_model(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async def on_sample(request: SampleRequest) -> SampleResult:
            assert [message.text for message in request.messages] == ["One", "Two"]
            assert (request.max_tokens, request.system_prompt, request.temperature) == (7, "Be brief.", 0.5)
            return SampleResult(TextContent(text="Three"), "m-1", stop_reason="endTurn")

        async with Client(server, mode=mode, on_sample=on_sample) as client:
            assert (await client.call_tool("model")).text == "Three m-1 assistant endTurn"

    asyncio.run(main())


@both_eras
def test_roots_are_a_list_or_a_function(server: Path, mode: Mode, tmp_path: Path) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, roots=[tmp_path, "file:///x/y", Root("file:///z", "Z")]) as client:
            assert json.loads((await client.call_tool("roots")).text) == [tmp_path.as_uri(), "file:///x/y", "file:///z"]
            client.set_roots(lambda: ["/tmp"])
            assert (await client.call_tool("roots")).text == '["file:///tmp"]'
        async with Client(server, mode=mode) as client:
            with pytest.raises(UsageError, match="declared no roots"):
                client.set_roots([])

    asyncio.run(main())


@both_eras
def test_a_client_without_the_capability(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, stderr=-3) as client:
            if mode == "legacy":
                failed = await client.call_tool("person")
                assert failed.is_error and 'does not declare the capability "elicitation.form"' in failed.text
                assert (await client.call_tool("caught")).text == "without: -32601 None"
            else:
                # Nobody caught it: the client is told what it lacks.
                with pytest.raises(ResponseError) as error:
                    await client.call_tool("person")
                assert error.value.code == -32021
                assert error.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
                assert (await client.call_tool("caught")).text.startswith("without: -32021")

    asyncio.run(main())


@both_eras
def test_tools_for_a_model_need_a_capability_of_their_own(server: Path, mode: Mode) -> None:
    async def main() -> None:
        def on_sample(request: SampleRequest) -> str:
            return str(request.tools and request.tools[0]["name"])

        async with Client(server, mode=mode, on_sample=on_sample, capabilities={"sampling": {"tools": {}}}) as client:
            assert (await client.call_tool("with_tools")).text == "t"
        async with Client(server, mode=mode, on_sample=on_sample, stderr=-3) as client:
            if mode == "legacy":
                assert (await client.call_tool("with_tools")).is_error
            else:
                with pytest.raises(ResponseError, match="sampling.tools"):
                    await client.call_tool("with_tools")

    asyncio.run(main())


@both_eras
def test_a_handler_of_the_client_that_fails(server: Path, mode: Mode, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        def on_elicit(_: ElicitRequest) -> Any:
            raise ValueError("a secret of the client")

        async with Client(server, mode=mode, on_elicit=on_elicit, stderr=-3) as client:
            if mode == "legacy":
                failed = await client.call_tool("person")
                assert failed.is_error and "secret" not in failed.text
            else:
                with pytest.raises(HandlerError) as error:
                    await client.call_tool("person")
                assert error.value.code == -32603
            assert (await client.call_tool("impossible")).is_error is False

    asyncio.run(main())
    assert "a secret of the client" in caplog.text


@both_eras
def test_an_answer_that_does_not_fit_the_form(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, on_elicit=lambda _: {"name": 5}, stderr=-3) as client:
            failed = await client.call_tool("person")
            assert failed.is_error and "does not fit the requested schema" in failed.text

    asyncio.run(main())


def test_a_url_that_must_be_visited(server: Path) -> None:
    async def main() -> None:
        async with Client(server, mode="legacy") as client:
            with pytest.raises(ResponseError) as error:
                await client.call_tool("must_visit")
            assert error.value.code == -32042
            assert error.value.data["elicitations"][0]["url"] == "https://x"

    asyncio.run(main())


@pytest.mark.parametrize(("tool", "seen"), [("impatient", "timeout -32001"), ("gives_up", "gave up")])
def test_a_question_that_nobody_answers(server: Path, tool: str, seen: str) -> None:
    async def main() -> None:
        stopped = asyncio.Event()

        async def on_elicit(_: ElicitRequest) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        async with Client(server, mode="legacy", on_elicit=on_elicit) as client:
            assert (await client.call_tool(tool)).text == seen
            # The client was told, and its handler was cancelled.
            await stopped.wait()
            assert json.loads((await client.call_tool("counted")).text)[1][1] == 0

    asyncio.run(main())


def test_a_cancelled_call_cancels_what_it_asked_for(server: Path) -> None:
    async def main() -> None:
        asked, stopped = asyncio.Event(), asyncio.Event()

        async def on_elicit(_: ElicitRequest) -> None:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        for mode in ("legacy", "auto"):
            for tool in ("person", "plainly"):
                asked.clear(), stopped.clear()
                async with Client(server, mode=mode, on_elicit=on_elicit) as client:  # type: ignore[arg-type]
                    call = asyncio.ensure_future(client.call_tool(tool))
                    await asked.wait()
                    call.cancel()
                    await stopped.wait()
                    assert json.loads((await client.call_tool("counted")).text)[1][:2] == [1, 0]
                    assert client._connection is not None and client._connection.stats()[3] == 0

    asyncio.run(main())


@both_eras
def test_many_questions_leave_nothing_behind(server: Path, mode: Mode) -> None:
    async def main() -> None:
        answers = ({"name": "Ada"}, "decline", {"name": 5}, None)
        asked = iter(range(1_000_000))
        async with Client(server, mode=mode, on_elicit=lambda _: answers[next(asked) % 4], stderr=-3) as client:
            for _ in range(10):
                results = await asyncio.gather(*(client.call_tool("person") for _ in range(40)))
                assert sum(result.is_error for result in results) == 10
            runs, stats = json.loads((await client.call_tool("counted")).text)
            assert (runs, stats[:2]) == (400 if mode == "legacy" else 800, [1, 0])
            # Its own task, futures and calls are all that is left of the server's; of the client's nothing is.
            assert stats[3] <= 1 and stats[4] == 0
            assert client._connection is not None and client._connection.stats() == (0, 0, 0, 0, 0)

    asyncio.run(main())


@both_eras
def test_prompts_and_resources_ask_as_well(server: Path, mode: Mode) -> None:
    async def main() -> None:
        async with Client(server, mode=mode, on_elicit=lambda it: {"t": "oxen"} if "Topic" in it.message else {}) as client:
            assert (await client.get_prompt("asking")).text == "oxen"
            assert (await client.read_resource("ask://me")).text == "me accept"

    asyncio.run(main())


def test_what_cannot_be_asked(server: Path) -> None:
    async def main() -> None:
        async with Client(server, on_elicit=lambda _: {}) as client:
            assert "is no object" in (await client.call_tool("impossible")).text
            assert "an async one awaits it" in (await client.call_tool("waits_async")).text
            assert "asks by ctx.wait" in (await client.call_tool("loop_of_its_own")).text

    asyncio.run(main())


def test_the_client_of_2026_07_28_makes_the_call_again(server: Path) -> None:
    with Peer(server) as peer:
        params: dict[str, Any] = {"name": "person", "_meta": META}
        first = peer.call("tools/call", params)["result"]
        assert first["resultType"] == "input_required"
        ((key, request),) = first["inputRequests"].items()
        assert (request["method"], request["params"]["message"]) == ("elicitation/create", "Who?")
        answers = {key: {"action": "accept", "content": {"name": "Ada"}}}
        again = {**params, "inputResponses": answers, "requestState": first["requestState"]}
        result = peer.call("tools/call", again)["result"]
        assert (result["resultType"], text(result)) == ("complete", "accept Person(name='Ada', age=30, note=None)")
        # The state is sealed: one that was changed is refused.
        state = first["requestState"]
        again["requestState"] = state[:-1] + ("A" if state[-1] != "A" else "B")
        assert peer.call("tools/call", again)["error"]["code"] == -32602
        # A run that was cancelled for a question is no failure.
        assert peer.leave() == (b"", "")


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
}


@pytest.mark.parametrize("shared", [True, False])
def test_servers_that_act_as_one_share_their_keys(server: Path, tmp_path: Path, shared: bool) -> None:
    if shared:
        server.write_text(server.read_text().replace('Server("asks")', f'Server("asks", state_keys=["{"k" * 32}"])'))
    params: dict[str, Any] = {"name": "person", "_meta": META}
    with Peer(server) as one, Peer(server) as other:
        first = one.call("tools/call", params)["result"]
        answers = {key: {"action": "decline"} for key in first["inputRequests"]}
        again = {**params, "inputResponses": answers, "requestState": first["requestState"]}
        answer = other.call("tools/call", again)
        if shared:
            assert text(answer["result"]) == "decline None"
        else:
            assert answer["error"]["code"] == -32602 and "requestState" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ({"action": "decline", "content": None}, "decline None"),
        ({"action": "cancel", "content": {"name": "x"}}, "cancel None"),
        ({"action": "accept", "content": {"name": "Ada"}}, "accept Person(name='Ada', age=30, note=None)"),
    ],
)
def test_what_counts_of_an_answer(server: Path, answer: dict[str, Any], seen: str) -> None:
    with Peer(server) as peer:
        peer.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "p", "version": "1"}})
        peer.send({"method": "notifications/initialized"})
        for _ in range(2):
            peer.request("tools/call", {"name": "person"})
            question = peer.receive()
            assert question["method"] == "elicitation/create"
            assert question["params"]["requestedSchema"]["properties"]["age"] == {"type": "integer", "default": 30}
            peer.send({"id": question["id"], "result": answer})
            assert text(peer.receive()["result"]) == seen


def test_the_empty_form_needs_no_content(server: Path) -> None:
    with Peer(server) as peer:
        params: dict[str, Any] = {"uri": "ask://me", "_meta": META}
        first = peer.call("resources/read", params)["result"]
        answers = {key: {"action": "accept"} for key in first["inputRequests"]}
        again = {**params, "inputResponses": answers, "requestState": first["requestState"]}
        assert peer.call("resources/read", again)["result"]["contents"][0]["text"] == "me accept"


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Data:
    z: Annotated[str, msgspec.Meta(title="Z", min_length=1)]
    a: int = 3
    color: Color = Color.RED
    many: list[Literal["x", "y"]] = dataclasses.field(default_factory=list)
    note: Optional[str] = None


class Typed(TypedDict, total=False):
    deep: bool


class Model(pydantic.BaseModel):
    age: int = pydantic.Field(ge=0, title="Age")
    color: Color = Color.BLUE


def test_forms_of_types() -> None:
    form = _forms.read(Data)
    assert list(form.schema["properties"]) == ["z", "a", "color", "many", "note"]
    assert form.schema["properties"] == {
        "z": {"type": "string", "title": "Z", "minLength": 1},
        "a": {"type": "integer", "default": 3},
        "color": {"type": "string", "title": "Color", "enum": ["red", "blue"], "default": "red"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "default": []},
        "note": {"type": "string"},
    }
    assert form.schema["required"] == ["z"]
    assert form.read({"z": "x", "color": "blue", "many": ["y"]}) == Data("x", 3, Color.BLUE, ["y"], None)
    assert _forms.read(Typed).schema == {"type": "object", "properties": {"deep": {"type": "boolean"}}}
    model = _forms.read(Model)
    assert model.schema["properties"]["age"] == {"type": "integer", "title": "Age", "minimum": 0}
    assert model.schema["properties"]["color"]["enum"] == ["red", "blue"]
    assert model.read({"age": 1}) == Model(age=1)


def test_a_schema_as_a_form_goes_out_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"z": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, "a": {"type": "integer", "default": 1}},
        "x-new": 1.0,
    }
    assert json.dumps(_forms.read(schema).schema) == json.dumps(schema)


@dataclasses.dataclass
class Nested:
    inner: Typed


@dataclasses.dataclass
class Either:
    it: "int | str"


@pytest.mark.parametrize(
    ("kind", "what"),
    [(Nested, "cannot ask for 'inner'"), (Either, "cannot ask for 'it'"), (int, "is no object"), (object(), "not supported"), (list[int], "no object")],
)
def test_what_is_no_form(kind: Any, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        _forms.read(kind)


def test_what_the_clients_handlers_may_return() -> None:
    for value, wire in (
        ({"a": 1}, {"action": "accept", "content": {"a": 1}}),
        ("accept", {"action": "accept"}),
        (ElicitResult("accept"), {"action": "accept"}),
        (None, {"action": "cancel"}),
    ):
        assert json.loads(elicit_out(value)) == wire
    with pytest.raises(TypeError, match="'accept', 'decline' or 'cancel'"):
        elicit_out("maybe")
    image = {"type": "image", "data": "YQ==", "mimeType": "x/y"}
    for value, content in (("a", {"type": "text", "text": "a"}), (ImageContent(data=b"a", mime_type="x/y"), image), ([image], [image])):
        assert json.loads(sample_out(value)) == {"role": "assistant", "content": content, "model": "unknown"}
    with pytest.raises(TypeError, match="of type int"):
        sample_out(5)


def test_a_sampling_request_keeps_content_it_does_not_know() -> None:
    request = decode_request(
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"hologram"}]}],"maxTokens":1,"more":1}'
    )
    assert [type(block).__name__ for block in request.messages[0].content] == ["TextContent", "UnknownContent"]
    assert request.messages[0] == Message(request.messages[0].content, "user") and request.messages[0].text == "a"
    assert issubclass(HandlerError, McpError)
