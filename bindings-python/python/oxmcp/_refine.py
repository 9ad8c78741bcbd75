"""What msgspec leaves out of the schemas it makes: the written order of choices, the formats of times, and defaults
that have no JSON form."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import types
import typing
from collections import deque
from typing import Any

import msgspec

from . import _json

_FORMATS: dict[Any, str] = {datetime.datetime: "date-time", datetime.date: "date", datetime.time: "time"}
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def refine(kind: Any, schema: dict[str, Any], definitions: dict[str, Any], *, is_read: bool) -> None:
    """Refines the schema of a type, in place.

    :param is_read: values are read by it. What is written may be a time without a zone, which has no format.
    """
    _Refiner(definitions, is_read).visit(kind, schema)
    drop_defaults(schema)
    drop_defaults(definitions)


def drop_defaults(node: Any) -> None:
    """Drops, in place, the defaults that have no JSON form, such as NaN."""
    if isinstance(node, list):
        for item in node:
            drop_defaults(item)
    elif isinstance(node, dict):
        for member in node.values():
            drop_defaults(member)
        try:
            _json.refuse_not_finite(node.get("default"))
        except ValueError:
            del node["default"]


class _Refiner:
    def __init__(self, definitions: dict[str, Any], is_read: bool) -> None:
        self._definitions, self._is_read = definitions, is_read
        self._seen: set[Any] = set()

    def visit(self, hint: Any, node: Any) -> None:
        """Walks a type and its schema side by side."""
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            name = str(node["$ref"]).rsplit("/", 1)[-1]
            if (name, hint) in self._seen:
                return
            self._seen.add((name, hint))
            node = self._definitions.get(name, {})
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            self.visit(arguments[0], node)
        elif origin is typing.Literal:
            _order(node, list(arguments))
        elif origin in _UNIONS:
            for part in arguments:
                for choice in node.get("anyOf", [node]):
                    self.visit(part, choice)
        elif isinstance(hint, type) and not origin and issubclass(hint, enum.Enum):
            _order(node, [member.value for member in hint])
        elif hint in _FORMATS:
            if self._is_read and node.get("type") == "string" and "enum" not in node:
                node.setdefault("format", _FORMATS[hint])
        elif origin is deque and node.get("type") == "array":
            (node["items"],), more = msgspec.json.schema_components(
                [arguments[0]], schema_hook=_schema_hook, ref_template="#/$defs/{name}"
            )
            self._definitions.update(more)
            self.visit(arguments[0], node["items"])
        elif not self._visit_items(origin, arguments, node):
            self._visit_members(origin or hint, node)

    def _visit_items(self, origin: Any, arguments: tuple[Any, ...], node: dict[str, Any]) -> bool:
        if node.get("type") == "array" and arguments:
            if "prefixItems" in node:
                for part, item in zip(arguments, node["prefixItems"]):
                    self.visit(part, item)
            else:
                self.visit(arguments[0], node.get("items"))
            return True
        if node.get("type") == "object" and len(arguments) == 2 and "properties" not in node:
            self.visit(arguments[1], node.get("additionalProperties"))
            return True
        return False

    def _visit_members(self, kind: Any, node: dict[str, Any]) -> None:
        if not isinstance(kind, type):
            return
        properties = node.get("properties")
        if "prefixItems" in node:
            properties = dict(zip(getattr(kind, "_fields", ()), node["prefixItems"]))
        if not isinstance(properties, dict):
            return
        if self._is_read and dataclasses.is_dataclass(kind):
            derived = [field.name for field in dataclasses.fields(kind) if not field.init]
            if derived:
                raise TypeError(
                    f"the dataclass {kind.__name__!r} makes {derived[0]!r} itself (init=False), which is understood in "
                    "parameters, and there inside of lists, dicts and dataclasses, and not inside of other types"
                )
        written: dict[str, str] = {}
        if issubclass(kind, msgspec.Struct):
            written = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__))
        try:
            hints = typing.get_type_hints(kind, include_extras=True)
        except Exception:
            return
        for name, hint in hints.items():
            self.visit(hint, properties.get(written.get(name, name)))


def _schema_hook(kind: Any) -> dict[str, Any]:
    from ._schema import _schema_hook as hook

    return hook(kind)


def _order(node: dict[str, Any], values: list[Any]) -> None:
    """Puts the choices of a schema into the order in which they were written."""
    for choice in (node, *node.get("anyOf", ())):
        found = choice.get("enum")
        if isinstance(found, list) and len(found) > 1:
            keys = [(type(value), value) for value in values]
            rank = {key: index for index, key in reversed([*enumerate(keys)])}
            if all((type(value), value) in rank for value in found):
                choice["enum"] = sorted(found, key=lambda value: rank[type(value), value])
