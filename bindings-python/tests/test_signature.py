"""Input schemas and the decoding of arguments, from signatures."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import msgspec
import pydantic
import pytest

from oxmcp import Context
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
    assert schema(rich)["$defs"]["Color"]["enum"] == ["blue", "red"]


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
