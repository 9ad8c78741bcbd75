"""Arguments that pydantic decodes: functions whose hints use its `Field`, its types or its models.

Imported only for such functions, so pydantic is there already."""

from __future__ import annotations

import sys
import typing
from typing import Any, Callable

import msgspec

from . import _json, _schema

# Whose marks in an `Annotated` only pydantic knows how to read.
_MARKS = ("pydantic", "pydantic_core", "annotated_types")


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
        attribute = parameter
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

    schema = model.model_json_schema(by_alias=True, schema_generator=Titleless)
    schema.pop("title", None)
    try:
        schema = _schema.inline(dict(schema))
    except TypeError:
        pass  # a model that contains itself stays a definition
    for member in schema.setdefault("properties", {}).values():
        try:
            _json.refuse_not_finite(member.get("default"))
        except ValueError:
            del member["default"]
    return Arguments(decode, schema, attributes)


def explain(error: Any) -> str:
    """What is wrong, without links and repetitions of the input."""
    parts = []
    for item in error.errors(include_url=False, include_input=False):
        path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in item["loc"])
        parts.append(f"{item['msg']} - at `{path}`")
    return "; ".join(parts)
