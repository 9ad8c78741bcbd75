"""Input schemas and the decoding of arguments, from signatures."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import json
import re
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import msgspec
import pydantic
import pytest

from oxmcp import Context, Server
from oxmcp._native import Schema
from oxmcp._signature import read


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    deep: bool


@dataclasses.dataclass
class Place:
    name: str


class User(pydantic.BaseModel):
    name: str
    age: Annotated[int, pydantic.Field(ge=0)] = 0


def schema(function: Any) -> Any:
    return read(function).schema


def test_no_parameters() -> None:
    def none() -> None: ...

    assert schema(none) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_scalars_defaults_and_order() -> None:
    def many(z: str, a: int, ratio: float = 0.5, flag: bool = False, nothing: Optional[str] = None) -> None: ...

    result = schema(many)
    assert list(result["properties"]) == ["z", "a", "ratio", "flag", "nothing"]
    assert result["required"] == ["z", "a"]
    assert result["properties"]["ratio"] == {"type": "number", "default": 0.5}
    assert result["properties"]["nothing"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_rich_types() -> None:
    def rich(
        color: Color,
        at: datetime.datetime,
        point: Point,
        options: Options,
        mode: Literal["a", "b"],
        count: Annotated[int, msgspec.Meta(ge=1, description="How many.")],
        tags: list[str],
        either: Union[int, str],
    ) -> None: ...

    properties = schema(rich)["properties"]
    assert properties["count"] == {"type": "integer", "minimum": 1, "description": "How many."}
    assert properties["mode"] == {"enum": ["a", "b"]}
    assert properties["point"] == {"$ref": "#/$defs/Point"}
    assert schema(rich)["$defs"]["Color"]["enum"] == ["red", "blue"]


def test_values_are_decoded_into_their_types() -> None:
    def rich(color: Color, at: datetime.date, point: Point, user: User) -> None: ...

    decode = read(rich).decode
    assert decode is not None
    value = decode(b'{"color":"red","at":"2026-01-02","point":{"x":1},"user":{"name":"Ada","age":36}}')
    assert (value.color, value.at, value.point) == (Color.RED, datetime.date(2026, 1, 2), Point(1, 0))
    assert value.user == User(name="Ada", age=36)


def test_pydantic_models_check_themselves() -> None:
    def greet(user: User) -> None: ...

    signature = read(greet)
    assert signature.schema["properties"]["user"]["properties"]["age"]["minimum"] == 0
    assert signature.decode is not None
    with pytest.raises(msgspec.ValidationError, match="greater than or equal to 0"):
        signature.decode(b'{"user":{"name":"Ada","age":-1}}')


def test_a_default_is_shared_as_in_python() -> None:
    shared: list[int] = [1]

    def append(items: list[int] = shared) -> None: ...

    decode = read(append).decode
    assert decode is not None
    assert decode(b"{}").items is shared


@pytest.mark.parametrize("position", [0, 1])
def test_the_context_may_stand_anywhere(position: int) -> None:
    def first(ctx: Context, x: int) -> None: ...
    def second(x: int, ctx: Annotated[Context, "the request"]) -> None: ...

    signature = read((first, second)[position])
    assert (signature.context, signature.arguments) == (position, ["x"])
    assert list(signature.schema["properties"]) == ["x"]


def test_an_optional_context_counts() -> None:
    def tool(x: int, ctx: Optional[Context] = None) -> None: ...

    assert read(tool).context == 1


def test_keyword_only_parameters() -> None:
    def tool(a: int, *, b: int = 1) -> None: ...

    signature = read(tool)
    assert (signature.arguments, signature.keywords) == (["a", "b"], ("b",))


def test_methods_partials_and_callable_objects() -> None:
    class Greeter:
        def greet(self, name: str) -> str:
            "Greets."
            return name

        def __call__(self, name: str) -> str:
            return name

    def add(a: int, b: int) -> int:
        return a + b

    assert list(schema(Greeter().greet)["properties"]) == ["name"]
    assert list(schema(Greeter())["properties"]) == ["name"]
    assert list(schema(functools.partial(add, 1))["properties"]) == ["b"]
    assert read(Greeter().greet).description == "Greets."


def test_what_cannot_be_a_parameter_is_named() -> None:
    def star(*names: str) -> None: ...
    def odd(x: socketlike) -> None: ...

    with pytest.raises(TypeError, match=r"\*names"):
        read(star)
    with pytest.raises(Exception, match="socketlike"):
        read(odd)


class socketlike:
    pass


def test_hints_behind_wrappers() -> None:
    @functools.lru_cache
    def cached(color: "Color") -> str:
        "Cached."
        return color.value

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @decorate
    def wrapped(color: "Color") -> None:
        "Wrapped."

    class Holder:
        @staticmethod
        def static(color: "Color") -> None:
            "Static."

    for function in (cached, wrapped, Holder.static, Holder.__dict__["static"], functools.partial(wrapped)):
        signature = read(function)
        assert signature.schema["properties"] == {"color": {"$ref": "#/$defs/Color"}}
        assert signature.description in ("Cached.", "Wrapped.", "Static.")


def test_descriptions_of_callable_objects() -> None:
    class Speaks:
        "The class."

        def __call__(self) -> None:
            "The call."

    class Silent:
        "The class."

        def __call__(self) -> None: ...

    assert read(Speaks()).description == "The call."
    assert read(Silent()).description == "The class."
    assert read(functools.partial(Speaks())).description == "The call."


def test_a_method_without_its_object_is_refused() -> None:
    app = Server("methods")
    with pytest.raises(TypeError, match=r"register the bound method instead: .*Greeter\(\.\.\.\)\.greet"):

        class Greeter:
            @app.tool
            def greet(self, name: str) -> str:
                return name

    class Other:
        def greet(self, name: str) -> str:
            return name

        @app.tool
        @staticmethod
        def static(name: str) -> str:
            return name

    app.tool(Other().greet)

    @app.tool
    def local(self: int) -> int:
        return self


def test_a_type_that_does_not_go_is_named() -> None:
    def two(fine: int, either: Union[Point, Place]) -> None: ...
    def unknown(fine: int, odd: socketlike) -> None: ...

    with pytest.raises(TypeError, match="parameter 'either': "):
        read(two)
    with pytest.raises(TypeError, match="parameter 'odd': .*has no JSON form"):
        read(unknown)


def test_pydantic_reads_what_is_written_for_it() -> None:
    def tool(
        count: int = pydantic.Field(3, ge=1, description="How many."),
        name: Annotated[str, pydantic.Field(min_length=2)] = "ab",
        either: Union[Point, User, None] = None,
        page: pydantic.HttpUrl | None = None,
        copy: bool = pydantic.Field(default=False, title="A copy"),
        _hidden: int = pydantic.Field(default=1),
    ) -> None: ...

    signature = read(tool)
    assert signature.decode is not None
    properties = signature.schema["properties"]
    assert properties["count"] == {"default": 3, "description": "How many.", "minimum": 1, "type": "integer"}
    assert (properties["name"]["minLength"], properties["copy"]["title"]) == (2, "A copy")
    assert set(properties) == {"count", "name", "either", "page", "copy", "_hidden"}
    assert "required" not in signature.schema and signature.schema["additionalProperties"] is False
    decoded = signature.decode(b'{"either":{"name":"Ada","age":1},"page":"https://a.example","copy":true}')
    values = [getattr(decoded, name) for name in signature.arguments]
    assert (values[0], values[1], values[2], values[4], values[5]) == (3, "ab", User(name="Ada", age=1), True, 1)
    for wrong, what in (
        (b'{"count":0}', "greater than or equal to 1 - at `$.count`"),
        (b'{"count":"5"}', "valid integer - at `$.count`"),
        (b'{"other":0}', "not permitted - at `$.other`"),
        (b"{", "JSON"),
    ):
        with pytest.raises(msgspec.DecodeError, match=re.escape(what)):
            signature.decode(wrong)


class Node(pydantic.BaseModel):
    children: list[Node] = []


def test_a_model_that_contains_itself_is_a_definition() -> None:
    def tool(root: Node) -> None: ...

    assert schema(tool)["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_a_string_in_annotated_is_the_description() -> None:
    def tool(city: Annotated[str, "Where it is."], days: Annotated[int, "How long.", msgspec.Meta(ge=1)] = 1) -> None: ...

    properties = schema(tool)["properties"]
    assert properties["city"] == {"type": "string", "description": "Where it is."}
    assert properties["days"] == {"type": "integer", "description": "How long.", "minimum": 1, "default": 1}


def test_a_return_type_that_is_unknown_does_no_harm() -> None:
    def tool(x: int) -> "NoSuchType": ...  # type: ignore[name-defined]  # noqa: F821

    assert list(schema(tool)["properties"]) == ["x"]


def test_defaults_are_in_the_schema_where_they_have_a_json_form() -> None:
    def tool(
        color: Color = Color.RED,
        day: datetime.date = datetime.date(2026, 1, 2),
        price: decimal.Decimal = decimal.Decimal("1.5"),
        point: Point = Point(1),
        tags: list[str] = ["a"],
        user: User = User(name="Ada"),
        limit: float = float("inf"),
        other: Any = object(),
    ) -> None: ...

    signature = read(tool)
    defaults = {name: it["default"] for name, it in signature.schema["properties"].items() if "default" in it}
    assert defaults == {
        "color": "red",
        "day": "2026-01-02",
        "price": "1.5",
        "point": {"x": 1, "y": 0},
        "tags": ["a"],
        "user": {"name": "Ada", "age": 0},
    }
    assert signature.decode is not None and signature.decode(b"{}").limit == float("inf")


class Tree(msgspec.Struct):
    value: int
    branches: list[Tree] = []


class Leaf(pydantic.BaseModel):
    color: Color = Color.RED
    next: Optional[Leaf] = None


def many_kinds() -> list[Any]:
    def nothing() -> None: ...

    def scalars(a: int, b: float, c: str, d: bool, e: None, f: bytes, g: Any) -> None: ...

    def optional(a: Optional[int] = None, b: Union[int, str] = 1, c: Literal["x", 1, None] = None) -> None: ...

    def collections(a: list[int], b: dict[str, list[int]], c: tuple[int, str], d: tuple[int, ...], e: set[str]) -> None: ...

    def dates(a: datetime.datetime, b: datetime.date, c: datetime.timedelta, d: decimal.Decimal, e: Color) -> None: ...

    def shapes(a: Point, b: Options, c: Place, d: Tree, e: Optional[Tree] = None) -> None: ...

    def bounds(
        a: Annotated[int, msgspec.Meta(ge=1, lt=10, multiple_of=2)],
        b: Annotated[str, msgspec.Meta(pattern="^a+$", min_length=1, max_length=9)],
        c: Annotated[list[int], msgspec.Meta(max_length=3, description="some")],
    ) -> None: ...

    def models(a: User, b: Leaf, c: list[Leaf], d: int = pydantic.Field(1, ge=0)) -> None: ...

    return [nothing, scalars, optional, collections, dates, shapes, bounds, models]


@pytest.mark.parametrize("function", many_kinds(), ids=lambda function: function.__name__)
def test_every_schema_is_one_by_the_rules_of_json_schema(function: Any) -> None:
    made = schema(function)
    # Compiling checks it against the schema of schemas, and that its references lead somewhere.
    Schema(json.dumps(made))
    assert made["type"] == "object" and isinstance(made["properties"], dict)
    assert '"nullable"' not in json.dumps(made)


def test_a_schema_that_breaks_the_rules_is_told_apart() -> None:
    for broken in ('{"type": "objekt"}', '{"type": "object", "required": "a"}', '{"$ref": "#/$defs/nowhere"}'):
        with pytest.raises(ValueError):
            Schema(broken)
