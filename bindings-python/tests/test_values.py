"""From Python's values to JSON and back: numbers, texts, keys, and types that decoders do not know by themselves."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import json
import math
import pathlib
from collections import deque
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

import msgspec
import pydantic
import pytest
from peer import Peer, script, text

from oxmcp import Client, Context, McpError, Server
from oxmcp._errors import explain
from oxmcp._forms import read as form
from oxmcp._json import decode, encode, lenient
from oxmcp._signature import read


class Ratio(float):
    """As numpy's numbers are."""


class Count(int): ...


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"
    ALL = "all"


class Named(NamedTuple):
    side: Literal["up", "down"]


class Typed(TypedDict):
    side: Literal["up", "down"]


class Held(msgspec.Struct, rename="camel"):
    the_side: Literal["up", "down"] = "up"
    at: Optional[datetime.datetime] = None


@dataclasses.dataclass
class Square:
    side: int
    area: int = dataclasses.field(init=False)
    name: str = dataclasses.field(init=False, default="square")
    ratio: float = math.nan

    def __post_init__(self) -> None:
        if self.side < 0:
            raise ValueError("a side is no negative number")
        self.area = self.side * self.side


@dataclasses.dataclass
class Drawing:
    squares: list[Square]
    first: Optional[Square] = None


class Model(pydantic.BaseModel):
    n: int
    ratio: float = math.inf


class Tree(pydantic.BaseModel):
    kids: list["Tree"] = []


def schema(function: Any) -> Any:
    return read(function).schema


def arguments(function: Any, text: str) -> Any:
    """As the native module reads them."""
    decode, given = read(function).decode, text.encode()
    assert decode is not None
    try:
        return decode(given)
    except msgspec.DecodeError:
        changed = lenient(given)
        if changed == given:
            raise
    return decode(changed)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ([Ratio(0.5), Count(3)], [0.5, 3]),
        (deque([1, 2]), [1, 2]),
        (range(2), [0, 1]),
        (MappingProxyType({"a": {1}}), {"a": [1]}),
        ({"a": {"b": 1}.keys()}, {"a": ["b"]}),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        ({"caf\udce9": ["\ud83d\ude00", "\ud83d"]}, {"caf\ufffd": ["\U0001f600", "\ufffd"]}),
        ({1: {2.5: "a"}}, {"1": {"2.5": "a"}}),
    ],
)
def test_what_is_written(value: Any, written: Any) -> None:
    assert json.loads(encode(value)) == written


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({True: 1}, r"the key True is of type bool, and the keys of a JSON object are strings - at `\$`"),
        ({"a": [{None: 1}]}, r"the key None is of type NoneType.* - at `\$\.a\[0\]`"),
        ({"a": {(1, 2): 1}}, r"the key \(1, 2\) is of type tuple.* - at `\$\.a`"),
        ([1, {"a": object()}], r"type object has no JSON form - at `\$\[1\]\.a`"),
        (Held(the_side=object()), r"type object has no JSON form - at `\$\.the_side`"),  # type: ignore[arg-type]
        ({"a": iter([1])}, r"a list_iterator inside of a value can be read only once; make it a list - at `\$\.a`"),
        ([Ratio("nan")], r"JSON has no nan, which stands at \$\[0\]"),
        (deque([math.inf]), r"JSON has no inf"),
    ],
)
def test_what_cannot_be_written_is_named_with_its_place(value: Any, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        encode(value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r'"\ud83d"', "\ufffd"),
        (r'{"a\udc00":"\\ud83d \ud83d\ude00 \u0041"}', {"a\ufffd": "\\ud83d \U0001f600 A"}),
    ],
)
def test_half_of_a_surrogate_pair_is_read_as_the_replacement_character(written: str, value: Any) -> None:
    assert decode(written) == decode(written.encode()) == value


def test_a_call_may_write_integers_as_other_numbers() -> None:
    app = Server("numbers")

    @app.tool
    def take(n: int, many: tuple[int, ...] = ()) -> str:
        return repr((n, many))

    async def main() -> None:
        async with Client(app) as client:
            assert (await client.call_tool("take", {"n": 5.0, "many": [1e3, 7]})).text == "(5, (1000, 7))"
            refused = await client.call_tool("take", {"n": 5.5})
            assert refused.is_error and "Expected `int`, got `float`" in refused.text

    asyncio.run(main())


def test_integers_may_be_written_as_other_numbers() -> None:
    def take(n: int, many: tuple[int, ...] = (), either: Union[int, str] = 0) -> None: ...

    read = arguments(take, '{"n": 5.0, "many": [1e3, -2.50e1, 12345678901234567890.0, 0.0], "either": 2.0}')
    assert (read.n, read.many, read.either) == (5, (1000, -25, 12345678901234567890, 0), 2)
    assert isinstance(read.n, int) and isinstance(read.many[0], int)
    assert arguments(take, '{"n": 123456789012345678901234567890}').n == 123456789012345678901234567890
    assert arguments(take, '{"n": 5.0, "either": "1e3 \\u00e9 5.0"}').either == "1e3 é 5.0"
    for wrong in ("5.5", "true", '"5"', "1e-3", "null"):
        with pytest.raises(msgspec.ValidationError, match=r"Expected `int`.*\$\.n"):
            arguments(take, f'{{"n": {wrong}}}')
    with pytest.raises(msgspec.DecodeError):
        arguments(take, '{"n": 1e999999999}')
    with pytest.raises(msgspec.ValidationError, match=r"got `bool` - at `\$\.either`"):
        arguments(take, '{"n": 5.0, "either": true}')

    def with_model(n: int, model: Model) -> None: ...

    read = arguments(with_model, '{"n": 5.0, "model": {"n": 1e3}}')
    assert (read.n, read.model.n) == (5, 1000)
    with pytest.raises(msgspec.ValidationError, match=r"\$\.n"):
        arguments(with_model, '{"n": 5.5, "model": {"n": 1}}')


def test_forms_take_such_integers_too() -> None:
    @dataclasses.dataclass
    class Data:
        n: int

    assert form(Data).read({"n": 3.0}) == Data(3)
    with pytest.raises(ValueError, match="float"):
        form(Data).read({"n": 3.5})


def test_choices_keep_their_order() -> None:
    def take(
        size: Literal["low", "medium", "high"],
        level: Level,
        levels: list[Level],
        named: Named,
        typed: Typed,
        held: Held,
        maybe: Optional[Literal[3, "b", "a", None]] = None,
        table: dict[str, Literal["z", "y"]] = {},
    ) -> None: ...

    described = schema(take)
    members, definitions = described["properties"], described["$defs"]
    assert members["size"]["enum"] == ["low", "medium", "high"]
    assert definitions["Level"]["enum"] == ["low", "high", "all"]
    assert definitions["Named"]["prefixItems"][0]["enum"] == ["up", "down"]
    assert definitions["Typed"]["properties"]["side"]["enum"] == ["up", "down"]
    assert definitions["Held"]["properties"]["theSide"]["enum"] == ["up", "down"]
    assert members["maybe"]["anyOf"][0]["enum"] == [3, "b", "a", None]
    assert members["table"]["additionalProperties"]["enum"] == ["z", "y"]
    described = form(dataclasses.make_dataclass("Form", [("level", Level), ("many", list[Literal["z", "y"]], None)])).schema
    assert described["properties"]["level"]["enum"] == ["low", "high", "all"]
    assert described["properties"]["many"]["items"]["enum"] == ["z", "y"]


def test_times_say_their_format() -> None:
    def take(
        at: datetime.datetime, day: datetime.date, hour: Optional[datetime.time] = None, held: Optional[Held] = None
    ) -> None: ...

    members = schema(take)["properties"]
    assert members["at"] == {"type": "string", "format": "date-time"}
    assert members["day"] == {"type": "string", "format": "date"}
    assert members["hour"]["anyOf"][0] == {"type": "string", "format": "time"}
    assert schema(take)["$defs"]["Held"]["properties"]["at"]["anyOf"][0]["format"] == "date-time"


def test_fields_that_a_dataclass_makes_itself_are_not_the_callers() -> None:
    def take(square: Square, drawing: Optional[Drawing] = None) -> None: ...

    described = schema(take)["properties"]["square"]
    assert list(described["properties"]) == ["side", "ratio"] and described["required"] == ["side"]
    read = arguments(take, '{"square": {"side": 3, "area": 1, "name": "x"}, "drawing": {"squares": [{"side": 2.0}]}}')
    assert (read.square.area, read.square.name) == (9, "square")
    assert read.drawing.squares[0].area == 4 and read.drawing.first is None
    with pytest.raises(msgspec.ValidationError, match=r"Expected `int`, got `str` - at `\$\.side` - at `\$\.square`"):
        arguments(take, '{"square": {"side": "a"}}')
    with pytest.raises(msgspec.ValidationError, match=r"no negative number - at `\$\.square`"):
        arguments(take, '{"square": {"side": -1}}')
    assert list(form(Square).schema["properties"]) == ["side", "ratio"]
    assert form(Square).read({"side": 3}).area == 9

    class Holder(msgspec.Struct):
        square: Square

    with pytest.raises(TypeError, match="the dataclass 'Square' makes 'area' itself"):
        read_holder: Any = lambda holder: None  # noqa: E731
        read_holder.__annotations__ = {"holder": Holder}
        schema(read_holder)


def test_defaults_without_a_json_form_are_left_out() -> None:
    def take(square: Square, model: Optional[Model] = None) -> None: ...

    def plain(square: Square) -> None: ...

    assert "default" not in schema(plain)["properties"]["square"]["properties"]["ratio"]
    assert "nan" not in json.dumps(schema(take)).lower() and "infinity" not in json.dumps(schema(take)).lower()


def test_paths_and_deques_are_parameters() -> None:
    def take(path: pathlib.Path, last: deque[Held], any: deque = deque()) -> None: ...  # type: ignore[type-arg]

    described = schema(take)
    assert described["properties"]["path"] == {"type": "string", "format": "path"}
    assert described["properties"]["last"] == {"type": "array", "items": {"$ref": "#/$defs/Held"}}
    read = arguments(take, '{"path": "/a", "last": [{"theSide": "down"}], "any": [1]}')
    assert (read.path, read.last, read.any) == (pathlib.Path("/a"), deque([Held("down")]), deque([1]))
    with pytest.raises(msgspec.ValidationError, match=r"Expected `str`, got `int` - at `\$\.path`"):
        arguments(take, '{"path": 1, "last": []}')


def test_marks_and_structs_of_msgspec_beside_pydantic() -> None:
    def take(
        n: Annotated[int, msgspec.Meta(ge=1, description="How many.")],
        names: list[Annotated[str, msgspec.Meta(max_length=2)]],
        held: Held,
        model: Model,
        more: Annotated[Optional[Held], "More."] = None,
    ) -> None: ...

    members = schema(take)["properties"]
    assert members["n"] == {"type": "integer", "minimum": 1, "description": "How many."}
    assert members["names"]["items"]["maxLength"] == 2
    assert members["held"]["properties"]["theSide"]["enum"] == ["up", "down"]
    assert members["more"]["description"] == "More."
    good = '"names": [], "held": {"theSide": "down"}, "model": {"n": 1}'
    assert arguments(take, f'{{"n": 1, {good}}}').held == Held("down")
    for wrong in (f'{{"n": 0, {good}}}', f'{{"n": 1, {good}, "more": {{"theSide": 1}}}}'):
        with pytest.raises(msgspec.ValidationError, match=r"\$\.(n|more)"):
            arguments(take, wrong)

    holder = dataclasses.make_dataclass("Holder", [("held", Held)])

    def nested(holder: Any, model: Model) -> None: ...

    nested.__annotations__["holder"] = holder
    with pytest.raises(TypeError, match="parameter 'holder'.*such as a msgspec Struct inside of a dataclass"):
        schema(nested)


def test_a_model_that_contains_itself_is_an_output_schema(tmp_path: pathlib.Path) -> None:
    app = Server("trees")
    app.tool(lambda: Tree(kids=[Tree()]), name="untyped")

    @app.tool
    def tree() -> Tree:
        return Tree(kids=[Tree()])

    async def main() -> None:
        async with Client(app) as client:
            described = {tool.name: tool.output_schema for tool in await client.list_tools()}
            assert described["untyped"] is msgspec.UNSET
            made: Any = described["tree"]
            assert made["type"] == "object" and made["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}
            assert (await client.call_tool("tree")).structured_content == {"kids": [{"kids": []}]}

    asyncio.run(main())


def test_one_rule_for_texts_without_a_utf8_form() -> None:
    app = Server("texts")
    odd, shown = "caf\udce9", "caf\ufffd"

    @app.tool
    async def plain() -> str:
        return odd

    @app.tool
    async def listed() -> list[str]:
        return [odd]

    @app.tool
    async def table() -> dict[str, str]:
        return {odd: odd}

    @app.tool
    async def fails() -> None:
        raise ValueError(odd)

    @app.tool
    async def refuses() -> None:
        raise McpError(odd, -7, {"a": odd})

    @app.tool
    async def says(ctx: Context, asked: str = "") -> str:
        await ctx.info({"a": odd}, odd)
        await ctx.report_progress(1, 2, odd)
        return (await ctx.elicit(odd)).action + asked

    @app.resource("x://a")
    async def resource() -> str:
        return odd

    @app.resource("x://b")
    async def data() -> dict[str, str]:
        return {"a": odd}

    @app.prompt
    async def prompt() -> str:
        return odd

    async def main() -> None:
        seen: list[Any] = []
        hooks: Any = {"on_log": lambda *log: seen.append(log), "on_elicit": lambda asked: seen.append(asked.message) or {}}
        async with Client(app, mode="legacy", **hooks) as client:
            assert (await client.call_tool("plain")).text == shown
            assert (await client.call_tool("listed")).text == json.dumps([shown], ensure_ascii=False)
            assert (await client.call_tool("table")).structured_content == {shown: shown}
            assert (await client.call_tool("fails")).text.endswith(shown)
            with pytest.raises(McpError) as error:
                await client.call_tool("refuses")
            assert (error.value.message, error.value.data) == (shown, {"a": shown})
            progress: list[Any] = []
            said = await client.call_tool("says", on_progress=lambda *report: progress.append(report))
            assert said.text == "accept" and progress == [(1, 2, shown)]
            assert seen == [("info", {"a": shown}, shown), shown]
            assert (await client.read_resource("x://a")).text == shown
            assert (await client.read_resource("x://b")).text == f'{{"a":"{shown}"}}'
            assert (await client.get_prompt("prompt")).text == shown

    asyncio.run(main())


def test_arguments_with_half_of_a_surrogate_pair(tmp_path: pathlib.Path) -> None:
    source = """
        app = Server("echo")
        @app.tool
        async def echo(text: str) -> str: return text
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        assert text(peer.tool("echo", {"text": "a\ud83d"})) == "a\ufffd"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (KeyError("nope"), "KeyError: 'nope'"),
        (KeyError(), "KeyError"),
        (ValueError(""), "ValueError"),
        (ValueError("plain"), "plain"),
    ],
)
def test_an_exception_says_what_happened(error: BaseException, shown: str) -> None:
    assert explain(error, "x")[1] == f"Error executing tool x (-32603): {shown}"


def test_a_group_of_exceptions_says_its_causes() -> None:
    class Group(Exception):
        """As `ExceptionGroup` of Python 3.11."""

        exceptions = (ValueError("first"), KeyError("second"))

    assert explain(Group("2 failed"), "x")[1].endswith(": 2 failed: first; KeyError: 'second'")


def test_an_exception_that_is_none_fails_its_call_alone(tmp_path: pathlib.Path) -> None:
    source = """
        app = Server("odd")
        class Odd(BaseException): pass
        @app.tool
        async def odd() -> str:
            raise Odd("odd")
        @app.tool
        async def late() -> str:
            import asyncio
            await asyncio.sleep(0)
            raise Odd("late")
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        for name in ("odd", "late"):
            assert text(peer.tool(name, {})).endswith(name)
        _, errors = peer.leave()
        assert "never retrieved" not in errors and "Odd: late" in errors


@pytest.mark.parametrize("middleware", [(), (lambda request, call_next: call_next(request),)])
def test_an_output_schema_that_is_not_of_an_object(middleware: Any) -> None:
    app = Server("lists", middleware=middleware)
    values: list[Any] = [[1, 2], "text", None, 5, iter([1])]
    for number, value in enumerate(values):
        app.tool(lambda value=value: value, name=f"t{number}", output_schema={})  # type: ignore[misc]

    @app.tool(output_schema={"type": "array", "items": {"type": "integer"}})
    async def wrong() -> list[str]:
        return ["a"]

    async def main() -> None:
        async with Client(app) as client:
            results = [await client.call_tool(f"t{number}") for number in range(len(values))]
            assert [result.structured_content for result in results] == [[1, 2], "text", None, 5, [1]]
            assert [result.text for result in results] == ["[1,2]", "text", "null", "5", "[1]"]
            with pytest.raises(McpError, match="does not fit its output schema"):
                await client.call_tool("wrong")
        async with Client(app, mode="legacy") as client:
            # Revisions with a handshake know objects only.
            assert all(tool.output_schema is msgspec.UNSET for tool in await client.list_tools())
            assert (await client.call_tool("t0")).structured_content is msgspec.UNSET
            assert (await client.call_tool("t0")).text == "[1,2]"

    asyncio.run(main())
