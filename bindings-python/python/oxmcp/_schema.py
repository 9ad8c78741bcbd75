"""From Python types to JSON Schema, and back from JSON to their values."""

from __future__ import annotations

from typing import Any

import msgspec


def flat(kind: Any, describe: str = "validation") -> dict[str, Any]:
    """The schema of an object type, with its own members at the top; what they refer to is in ``$defs``.

    :param describe: ``"serialization"`` for what a value of the type is written as.
    """
    hook = _schema_hook if describe == "validation" else _written_hook
    (root,), definitions = msgspec.json.schema_components([kind], schema_hook=hook, ref_template="#/$defs/{name}")
    name = str(root.get("$ref", "")).rsplit("/", 1)[-1]
    if name not in definitions:
        return dict(root)
    schema = dict(definitions[name])
    if not _refers_to(definitions, name):
        del definitions[name]
    schema.pop("title", None)
    if not schema.get("required"):
        schema.pop("required", None)
    if definitions:
        schema["$defs"] = definitions
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
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise TypeError(_unsupported(kind))
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(str(error)) from None


def _schema_hook(kind: Any) -> dict[str, Any]:
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        raise TypeError(_unsupported(kind))
    return inline(describe())


def _written_hook(kind: Any) -> dict[str, Any]:
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        raise TypeError(_unsupported(kind))
    return inline(describe(mode="serialization"))


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
        f"the type {kind!r} has no JSON form; use str, int, float, bool, None, list, dict, Literal, Enum, "
        "date and time types, dataclasses, TypedDict, msgspec Structs or pydantic models"
    )
