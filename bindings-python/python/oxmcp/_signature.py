"""From a function's signature to its input schema and the decoder of its arguments.

Imported when a peer first asks for the tools: type hints and msgspec are the slow part of a start.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
import typing
from typing import Any, Callable

import msgspec

from . import _json
from ._errors import ToolError
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
    names = _names(function)
    fields: list[Any] = []
    positional: list[str] = []
    keywords: list[str] = []
    context: int | None = None
    for parameter in _parameters(function):
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(f"parameter '{parameter}': a tool has named parameters only, since its caller sends an object")
        hint = _hint(parameter, names)
        if _is_context(hint):
            if context is not None:
                raise TypeError(f"parameter '{parameter.name}': a tool takes one Context")
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                raise TypeError(f"parameter '{parameter.name}': put the Context before the '*'")
            context = len(positional)
            continue
        (positional if parameter.kind in _NAMES else keywords).append(parameter.name)
        fields.append(_field(parameter, hint))
    decode, schema = _decoder(getattr(function, "__name__", type(function).__name__), fields)
    return Signature(
        function=_as_coroutine_function(function),
        decode=decode,
        arguments=positional + keywords,
        keywords=tuple(keywords) or None,
        context=context,
        schema=schema,
        description=_description(function),
    )


def broken(why: str) -> Signature:
    """Stands for a signature that cannot be read: every call is answered with the reason."""

    async def refuse() -> None:
        raise ToolError(why)

    return Signature(refuse, None, [], None, None, {"type": "object"}, f"Out of order: {why}")


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    options: dict[str, Any] = {}
    if sys.version_info >= (3, 14):
        import annotationlib

        # A name that does not exist yet is named later, together with its parameter.
        options["annotation_format"] = annotationlib.Format.FORWARDREF
    return list(inspect.signature(function, **options).parameters.values())


def _inner(function: Any) -> Any:
    """The function whose text holds the hints: behind wrappers, partials, methods and objects."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__func__"):
            function = function.__func__
        elif isinstance(function, type) or hasattr(function, "__globals__") or not hasattr(type(function), "__call__"):
            return function
        elif not hasattr(type(function).__call__, "__globals__"):
            return function
        else:
            function = type(function).__call__


def _names(function: Callable[..., Any]) -> dict[str, Any]:
    """What the names in its hints mean."""
    inner = _inner(function)
    module = sys.modules.get(getattr(inner, "__module__", None) or "")
    names: dict[str, Any] = getattr(inner, "__globals__", None) or getattr(module, "__dict__", {})
    return names


def _hint(parameter: inspect.Parameter, names: dict[str, Any]) -> Any:
    if parameter.annotation is inspect.Parameter.empty:
        return Any

    def holder() -> None: ...

    holder.__annotations__ = {"it": parameter.annotation}
    try:
        return typing.get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except Exception as error:
        raise TypeError(
            f"parameter '{parameter.name}': its type hint cannot be read: {error}; "
            "the types of a tool are defined or imported at the top of its module"
        ) from error


def _description(function: Any) -> str | None:
    if isinstance(function, type):
        return None
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function) or hasattr(function, "__wrapped__")):
        return inspect.getdoc(type(function).__call__) or inspect.getdoc(type(function))
    return inspect.getdoc(function)


def _is_context(hint: Any) -> bool:
    if typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return hint is Context or Context in typing.get_args(hint)


def _field(parameter: inspect.Parameter, hint: Any) -> Any:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return (parameter.name, hint)
    if isinstance(default, (str, int, bool, type(None))) or (isinstance(default, float) and math.isfinite(default)):
        return (parameter.name, hint, default)
    # Python shares a default between calls; so do we.
    return (parameter.name, hint, msgspec.field(default_factory=lambda: default))


def _decoder(name: str, fields: list[Any]) -> tuple[Callable[[bytes], Any], dict[str, Any]]:
    try:
        return _build(name, fields)
    except Exception as error:
        for field in fields:
            try:
                _build(name, [field])
            except Exception as its_error:
                raise TypeError(f"parameter '{field[0]}': {its_error}") from its_error
        raise TypeError(str(error)) from error


def _build(name: str, fields: list[Any]) -> tuple[Callable[[bytes], Any], dict[str, Any]]:
    arguments = msgspec.defstruct(f"{name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(arguments, dec_hook=_dec_hook)
    schema = _schema(arguments)
    for field in msgspec.structs.fields(arguments):
        if field.default_factory is not msgspec.NODEFAULT:
            try:
                default = msgspec.to_builtins(field.default_factory(), enc_hook=_json.enc_hook)
                _json.refuse_not_finite(default)
            except (TypeError, ValueError, RecursionError):
                continue  # the default is no JSON, so it stays a matter of the function
            schema["properties"][field.encode_name]["default"] = default
    return decoder.decode, schema


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
        raise TypeError(_unsupported(kind))
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(str(error)) from None


def _schema_hook(kind: Any) -> dict[str, Any]:
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        raise TypeError(_unsupported(kind))
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

    from . import _threads

    async def in_thread(*args: Any, **kwargs: Any) -> Any:
        # A plain function may take its time: on the loop it would hold up every other call.
        result = await _threads.run(function, *args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    return in_thread
