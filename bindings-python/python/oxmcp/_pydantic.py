"""Arguments that pydantic decodes: functions whose hints use its `Field`, its types or its models.

Imported only for such functions, so pydantic is there already."""

from __future__ import annotations

import sys
import types
import typing
from typing import Any, Callable

import msgspec

from . import _refine, _schema

# Whose marks in an `Annotated` only pydantic knows how to read.
_MARKS = ("pydantic", "pydantic_core", "annotated_types")
# The members of a mark of msgspec, which pydantic calls the same.
_BOUNDS = ("ge", "gt", "le", "lt", "multiple_of", "pattern", "min_length", "max_length")
_WORDS = ("title", "description", "examples")
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def wanted(hint: Any, default: Any) -> bool:
    """Whether a parameter can be read by pydantic only."""
    return "pydantic" in sys.modules and (_is_mark(default) or _has_marks(hint, ()))


def _is_mark(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in _MARKS


def _has_marks(hint: Any, seen: tuple[Any, ...]) -> bool:
    if hint in seen:
        return False
    if typing.get_origin(hint) is typing.Annotated:
        kind, *marks = typing.get_args(hint)
        return any(_is_mark(mark) for mark in marks) or _has_marks(kind, seen)
    if isinstance(hint, type) and not typing.get_origin(hint):
        # Also models, and types that tell pydantic what they are.
        own = hint.__module__.partition(".")[0] in _MARKS
        return own or hasattr(hint, "__get_pydantic_core_schema__") or hasattr(hint, "__pydantic_core_schema__")
    return any(_has_marks(part, (*seen, hint)) for part in typing.get_args(hint) if not isinstance(part, (str, int)))


class Arguments(typing.NamedTuple):
    """A decoder and its schema."""

    decode: Callable[[bytes], Any]
    schema: dict[str, Any]
    attributes: dict[str, str]
    """By parameter, the attribute of what `decode` gives."""


def build(name: str, parameters: dict[str, tuple[Any, Any]], *, strict: bool, closed: bool) -> Arguments:
    """Makes the decoder of parameters: a hint and a default (`msgspec.NODEFAULT` for none) for each."""
    import pydantic
    from pydantic.json_schema import GenerateJsonSchema

    class Titleless(GenerateJsonSchema):
        """Leaves out the titles that only repeat the names, and defaults that have no JSON form."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def emit_warning(self, kind: Any, detail: str) -> None: ...

    fields: dict[str, Any] = {}
    attributes: dict[str, str] = {}
    for number, (parameter, (hint, default)) in enumerate(parameters.items()):
        attribute, hint = parameter, _understood(hint)
        if parameter.startswith("_") or hasattr(pydantic.BaseModel, parameter):
            attribute = f"p{number}"
            hint = typing.Annotated[hint, pydantic.Field(alias=parameter)]
        attributes[parameter] = attribute
        fields[attribute] = (hint, ... if default is msgspec.NODEFAULT else default)
    config = pydantic.ConfigDict(extra="forbid" if closed else "ignore", arbitrary_types_allowed=True)
    model: Any = pydantic.create_model(f"{name}_arguments", __config__=config, **fields)

    def decode(text: bytes) -> Any:
        try:
            return model.model_validate_json(text, strict=strict)
        except pydantic.ValidationError as error:
            raise msgspec.ValidationError(explain(error)) from None

    try:
        return Arguments(decode, _schema_of(model, Titleless), attributes)
    except pydantic.errors.PydanticInvalidForJsonSchema as error:
        raise TypeError(
            "pydantic reads the arguments of a function that uses its types or marks, and does not know one of these, "
            f"such as a msgspec Struct inside of a dataclass or a model: {error.message.partition('(')[0].strip()}"
        ) from error


def _schema_of(model: Any, generator: Any) -> dict[str, Any]:
    schema: dict[str, Any] = model.model_json_schema(by_alias=True, schema_generator=generator)
    schema.pop("title", None)
    try:
        schema = _schema.inline(dict(schema))
    except TypeError:
        pass  # a model that contains itself stays a definition
    schema.setdefault("properties", {})
    _refine.drop_defaults(schema)
    return schema


def _understood(hint: Any) -> Any:
    """The type with the marks and Structs of msgspec as pydantic knows them."""
    import pydantic

    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, type) and not origin:
        return typing.Annotated[hint, _Struct(hint)] if issubclass(hint, msgspec.Struct) else hint
    if origin is typing.Annotated:
        marks: list[Any] = []
        for mark in arguments[1:]:
            if isinstance(mark, msgspec.Meta):
                named = {name: getattr(mark, name) for name in (*_BOUNDS, *_WORDS)}
                given = {name: value for name, value in named.items() if value is not None}
                marks.append(pydantic.Field(**given, json_schema_extra=mark.extra_json_schema))
            else:
                marks.append(pydantic.Field(description=mark) if isinstance(mark, str) else mark)
        annotated = (_understood(arguments[0]), *marks)
        return typing.cast(Any, typing.Annotated)[annotated]
    if origin is None or origin is typing.Literal:
        return hint
    parts = tuple(_understood(part) for part in arguments)
    if all(part is before for part, before in zip(parts, arguments)):
        return hint
    return typing.cast(Any, typing.Union)[parts] if origin in _UNIONS else origin[parts]


class _Struct:
    """Has msgspec read and describe a Struct."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return _schema.inline(_schema.flat(self._kind))

    def _read(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return value  # a default
        try:
            return msgspec.convert(value, self._kind, dec_hook=_schema.dec_hook)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None


def explain(error: Any) -> str:
    """What is wrong, without links and repetitions of the input."""
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in item["loc"])
        parts.append(f"{item['msg']} - at `{path}`")
    return "; ".join(parts)
