"""Forms of an elicitation, from Python types."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import msgspec

from . import _json, _readable, _schema
from ._errors import UsageError

_SIMPLE = ("string", "number", "integer", "boolean")


class Form(NamedTuple):
    """What a user is asked to fill in."""

    schema: dict[str, Any]
    read: Callable[[Any], Any]
    """From the content of an answer to the value of the type."""


def read(schema: Any) -> Form:
    """The form for a type, for a JSON Schema, which is taken as it is, or for nothing but a yes.

    Raises `UsageError` for a type whose members are more than a form can ask for.
    """
    if schema is None:
        return Form({"type": "object", "properties": {}}, _unchanged)
    if isinstance(schema, dict):
        return Form(schema, _unchanged)
    validate = getattr(schema, "model_validate", None)
    try:
        kind = schema if validate is not None else _readable.readable(schema)
        described = _schema.of_model(schema, "validation") if validate is not None else _schema.flat(kind)
        described = _schema.inline(described)
    except (AttributeError, TypeError) as error:
        raise UsageError(f"the form {schema!r}: {error}") from error
    if described.get("type") != "object":
        raise UsageError(f"the form {schema!r} is no object; use a dataclass, TypedDict, Struct or pydantic model")
    described.pop("additionalProperties", None)
    described["properties"] = {
        name: _simple(name, member) for name, member in described.get("properties", {}).items()
    }
    return Form(described, _reader(validate or _converter(kind)))


def _unchanged(content: Any) -> Any:
    return content


def _reader(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What reads also the integers that the client wrote as ``5.0``."""

    def read_leniently(content: Any) -> Any:
        try:
            return read(content)
        except ValueError:
            text = _json.encode(content)
            changed = _json.lenient(text)
            if changed == text:
                raise
        return read(_json.decode(changed))

    return read_leniently


def _converter(kind: Any) -> Callable[[Any], Any]:
    def convert(content: Any) -> Any:
        return msgspec.convert(content, kind, dec_hook=_schema.dec_hook)

    return convert


def _simple(name: str, member: dict[str, Any]) -> dict[str, Any]:
    """A member as a form has it: of a simple type, without `null`, which is a member left out."""
    member = dict(member)
    choices = member.get("anyOf")
    if choices is not None:
        chosen = [choice for choice in choices if choice != {"type": "null"}]
        if len(chosen) == 1:
            del member["anyOf"]
            member = {**chosen[0], **member}
    if "default" in member and member["default"] is None:
        del member["default"]
    values = member.get("enum", [member["const"]] if "const" in member else [])
    if values and all(isinstance(value, str) for value in values):
        member.pop("const", None)
        member |= {"type": "string", "enum": values}
    items = member.get("items")
    if member.get("type") == "array" and isinstance(items, dict):
        items = _simple(name, items)
        if "enum" in items or "anyOf" in items or "oneOf" in items:
            member["items"] = items
            return member
    if member.get("type") not in _SIMPLE:
        found = _json.encode(member).decode()
        raise UsageError(
            f"a form cannot ask for '{name}', which is {found}; its members are strings, numbers, booleans, "
            "enums and lists of enums"
        )
    return member
