"""From Python types to JSON Schema, and back from JSON to their values."""

from __future__ import annotations

import sys
import typing
from collections import deque
from typing import Any

import msgspec

from . import _refine


def flat(kind: Any, describe: str = "validation") -> dict[str, Any]:
    """The schema of an object type, with its own members at the top; what they refer to is in ``$defs``.

    :param describe: ``"serialization"`` for what a value of the type is written as.
    """
    hook = _schema_hook if describe == "validation" else _written_hook
    (root,), definitions = msgspec.json.schema_components([kind], schema_hook=hook, ref_template="#/$defs/{name}")
    _refine.refine(kind, root, definitions, is_read=describe == "validation")
    name = str(root.get("$ref", "")).rsplit("/", 1)[-1]
    if name not in definitions:
        return {**root, "$defs": definitions} if definitions else dict(root)
    schema = dict(definitions[name])
    if not _refers_to(definitions, name):
        del definitions[name]
    schema.pop("title", None)
    if not schema.get("required"):
        schema.pop("required", None)
    if definitions:
        schema["$defs"] = definitions
    return schema


def of_model(model: Any, mode: str = "serialization") -> dict[str, Any]:
    """The schema of a pydantic model, with its own members at the top also where it contains itself."""
    schema: dict[str, Any] = model.model_json_schema(mode=mode)
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in schema.get("$defs", {}):
        schema = {**schema["$defs"][name], "$defs": schema["$defs"]}
    _refine.drop_defaults(schema)
    return schema


def _refers_to(node: Any, name: str) -> bool:
    """Whether a schema refers to a definition."""
    if isinstance(node, dict):
        if node.get("$ref") == f"#/$defs/{name}":
            return True
        return any(_refers_to(member, name) for member in node.values())
    return isinstance(node, list) and any(_refers_to(item, name) for item in node)


def dec_hook(kind: Any, value: Any) -> Any:
    """Types that msgspec does not know. Pydantic models check themselves."""
    try:
        return _read(kind, value)
    except ValueError as error:
        # Only so is it said where in the whole the value stands.
        raise ValueError(str(error)) from None


def _read(kind: Any, value: Any) -> Any:
    if (typing.get_origin(kind) or kind) is deque:
        items = typing.get_args(kind)
        wanted: Any = list.__class_getitem__(items[0]) if items else list
        return deque(msgspec.convert(value, wanted, dec_hook=dec_hook))
    if _is_path(kind):
        return kind(msgspec.convert(value, str))
    read = getattr(kind, "__oxmcp_read__", None) or getattr(kind, "model_validate", None)
    if read is None:
        raise TypeError(_unsupported(kind))
    return read(value)


def _is_path(kind: Any) -> bool:
    # Who has a path has imported it; otherwise that would slow the start.
    pathlib: Any = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(kind, type) and issubclass(kind, pathlib.PurePath)


def _schema_hook(kind: Any) -> dict[str, Any]:
    return _hook(kind, "validation")


def _written_hook(kind: Any) -> dict[str, Any]:
    return _hook(kind, "serialization")


def _hook(kind: Any, describe: str) -> dict[str, Any]:
    if kind is deque:
        return {"type": "array"}
    if _is_path(kind):
        return {"type": "string", "format": "path"}
    if (own := getattr(kind, "__oxmcp_schema__", None)) is not None:
        schema: dict[str, Any] = own()
        return inline(schema)
    model = getattr(kind, "model_json_schema", None)
    if model is None:
        raise TypeError(_unsupported(kind))
    return inline(model(mode=describe))


def inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Moves a schema's own definitions to where they are used: their names are its own, and would
    point elsewhere inside another schema. A definition that contains itself cannot be moved."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [resolve(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        name = str(node.get("$ref", "")).removeprefix("#/$defs/")
        if name in inside:
            raise TypeError(f"the model '{name}' contains itself; declare it as a dataclass or a msgspec Struct")
        if name in definitions:
            return resolve({**definitions[name], **{k: v for k, v in node.items() if k != "$ref"}}, (*inside, name))
        return {key: resolve(value, inside) for key, value in node.items()}

    resolved: dict[str, Any] = resolve(schema, ())
    return resolved


def _unsupported(kind: Any) -> str:
    return (
        f"the type {kind!r} has no JSON form; use str, int, float, bool, None, list, dict, deque, Path, Literal, Enum, "
        "date and time types, dataclasses, TypedDict, msgspec Structs or pydantic models"
    )
