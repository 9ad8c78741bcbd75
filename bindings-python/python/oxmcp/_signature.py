"""From a function's signature to its input schema and the decoder of its arguments.

Imported when a peer first asks for the tools: type hints and msgspec are the slow part of a start.
"""

from __future__ import annotations

import inspect
import typing
from typing import Any, Callable

import msgspec

from ._native import Context

_NAMES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Signature(typing.NamedTuple):
    """How a tool is called."""

    function: Callable[..., Any]
    """Gives a coroutine, also for a plain function."""
    decode: Callable[[bytes], Any] | None
    arguments: list[str]
    keywords: tuple[str, ...] | None
    context: int | None
    schema: dict[str, Any]
    description: str | None


def read(function: Callable[..., Any]) -> Signature:
    """Reads a signature.

    Raises `TypeError` that names the parameter when it cannot become a JSON object's member.
    """
    hints = _hints(function)
    fields: list[Any] = []
    positional: list[str] = []
    keywords: list[str] = []
    context: int | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(f"parameter '{parameter}': a tool has named parameters only, since its caller sends an object")
        hint = hints.get(parameter.name, Any)
        if _is_context(hint):
            if context is not None:
                raise TypeError(f"parameter '{parameter.name}': a tool takes one Context")
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                raise TypeError(f"parameter '{parameter.name}': put the Context before the '*'")
            context = len(positional)
            continue
        (positional if parameter.kind in _NAMES else keywords).append(parameter.name)
        fields.append(_field(parameter, hint))
    decode, schema = _decoder(function, fields)
    return Signature(
        function=_as_coroutine_function(function),
        decode=decode,
        arguments=positional + keywords,
        keywords=tuple(keywords) or None,
        context=context,
        schema=schema,
        description=inspect.getdoc(function) if not isinstance(function, type) else None,
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function
    while not hasattr(target, "__annotations__") and hasattr(target, "func"):
        target = target.func  # functools.partial
    if not (inspect.isfunction(target) or inspect.ismethod(target) or isinstance(target, type)):
        target = getattr(target, "__call__", target)
    return typing.get_type_hints(target, include_extras=True)


def _is_context(hint: Any) -> bool:
    if typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return hint is Context or Context in typing.get_args(hint)


def _field(parameter: inspect.Parameter, hint: Any) -> Any:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return (parameter.name, hint)
    if isinstance(default, (str, int, float, bool, type(None))):
        return (parameter.name, hint, default)
    # Python shares a default between calls; so do we.
    return (parameter.name, hint, msgspec.field(default_factory=lambda: default))


def _decoder(function: Callable[..., Any], fields: list[Any]) -> tuple[Callable[[bytes], Any], dict[str, Any]]:
    name = getattr(function, "__name__", type(function).__name__)
    arguments = msgspec.defstruct(f"{name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(arguments, dec_hook=_dec_hook)
    return decoder.decode, _schema(arguments)


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    (root,), definitions = msgspec.json.schema_components(
        [arguments], schema_hook=_schema_hook, ref_template="#/$defs/{name}"
    )
    # The arguments' own struct is an artefact: its members belong at the top.
    name = root["$ref"].rsplit("/", 1)[-1]
    schema = dict(definitions.pop(name))
    schema.pop("title", None)
    schema.setdefault("properties", {})
    if not schema.get("required"):
        schema.pop("required", None)
    if definitions:
        schema["$defs"] = definitions
    return schema


def _dec_hook(kind: Any, value: Any) -> Any:
    """Types that msgspec does not know. Pydantic models check themselves."""
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError(_unsupported(kind))
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(str(error)) from None


def _schema_hook(kind: Any) -> dict[str, Any]:
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        raise NotImplementedError(_unsupported(kind))
    return _inline(describe())


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
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


def _as_coroutine_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):
        return function
    if inspect.iscoroutinefunction(getattr(function, "__call__", None)):
        return typing.cast("Callable[..., Any]", function.__call__)  # type: ignore[operator]

    import asyncio

    async def in_thread(*args: Any, **kwargs: Any) -> Any:
        # A plain function may take its time: on the loop it would hold up every other call.
        result = await asyncio.to_thread(function, *args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    return in_thread
