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

from . import _json, _schema
from ._errors import ToolError
from ._native import Context

_NAMES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Signature(typing.NamedTuple):
    """How a handler is called."""

    function: Callable[..., Any]
    """Gives a coroutine, also for a plain function."""
    decode: Callable[[bytes], Any] | None
    arguments: list[str]
    keywords: tuple[str, ...] | None
    context: int | None
    schema: dict[str, Any]
    description: str | None
    result: Any = None
    """The type it says that it returns, or None."""

    def call(self, decoded: Any, context: Any) -> Any:
        """Calls the function with decoded arguments; gives its coroutine."""
        values = [getattr(decoded, name) for name in self.arguments]
        if self.context is not None:
            values.insert(self.context, context)
        if self.keywords is None:
            return self.function(*values)
        split = len(values) - len(self.keywords)
        return self.function(*values[:split], **dict(zip(self.keywords, values[split:])))


def read(function: Callable[..., Any], *, strict: bool = True, closed: bool = True) -> Signature:
    """Reads a signature.

    :param strict: take a value of its own JSON type only; else a string is read as what the type needs.
    :param closed: refuse arguments that the function does not have.

    Raises `TypeError` that names the parameter when it cannot become a JSON object's member.
    """
    names = _names(function)
    fields: list[Any] = []
    positional: list[str] = []
    keywords: list[str] = []
    context: int | None = None
    shape = _shape(function)
    for parameter in shape.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(
                f"parameter '{parameter}': a tool has named parameters only, since its caller sends an object"
            )
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
    options = _Options(getattr(function, "__name__", type(function).__name__), strict, closed)
    decode, schema = _decoder(options, fields)
    return Signature(
        function=as_coroutine_function(function),
        decode=decode,
        arguments=positional + keywords,
        keywords=tuple(keywords) or None,
        context=context,
        schema=schema,
        description=description(function),
        result=_result(shape.return_annotation, names),
    )


def broken(why: str) -> Signature:
    """Stands for a signature that cannot be read: every call is answered with the reason."""

    async def refuse() -> None:
        raise ToolError(why)

    return Signature(refuse, None, [], None, None, {"type": "object"}, f"Out of order: {why}")


def _shape(function: Callable[..., Any]) -> inspect.Signature:
    options: dict[str, Any] = {}
    if sys.version_info >= (3, 14):
        import annotationlib

        # A name that does not exist yet is named later, together with its parameter.
        options["annotation_format"] = annotationlib.Format.FORWARDREF
    return inspect.signature(function, **options)


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
    try:
        return _resolve(parameter.annotation, names)
    except Exception as error:
        raise TypeError(
            f"parameter '{parameter.name}': its type hint cannot be read: {error}; "
            "the types of a tool are defined or imported at the top of its module"
        ) from error


def _resolve(hint: Any, names: dict[str, Any]) -> Any:
    def holder() -> None: ...

    holder.__annotations__ = {"it": hint}
    return typing.get_type_hints(holder, globalns=names, include_extras=True)["it"]


def _result(hint: Any, names: dict[str, Any]) -> Any:
    """What it says that it returns. A hint that cannot be read says nothing: only parameters need theirs."""
    if hint is inspect.Signature.empty:
        return None
    try:
        return _resolve(hint, names)
    except Exception:
        return None


def description(function: Any) -> str | None:
    """The docstring of a function, or of a callable object's class."""
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


class _Options(typing.NamedTuple):
    name: str
    strict: bool
    closed: bool


def _decoder(options: _Options, fields: list[Any]) -> tuple[Callable[[bytes], Any], dict[str, Any]]:
    try:
        return _build(options, fields)
    except Exception as error:
        for field in fields:
            try:
                _build(options, [field])
            except Exception as its_error:
                raise TypeError(f"parameter '{field[0]}': {its_error}") from its_error
        raise TypeError(str(error)) from error


def _build(options: _Options, fields: list[Any]) -> tuple[Callable[[bytes], Any], dict[str, Any]]:
    arguments = msgspec.defstruct(
        f"{options.name}_arguments", fields, kw_only=True, forbid_unknown_fields=options.closed
    )
    decoder = msgspec.json.Decoder(arguments, dec_hook=_schema.dec_hook, strict=options.strict)
    schema = _schema.flat(arguments)
    schema.setdefault("properties", {})
    for field in msgspec.structs.fields(arguments):
        if field.default_factory is not msgspec.NODEFAULT:
            try:
                default = msgspec.to_builtins(field.default_factory(), enc_hook=_json.enc_hook)
                _json.refuse_not_finite(default)
            except (TypeError, ValueError, RecursionError):
                continue  # the default is no JSON, so it stays a matter of the function
            schema["properties"][field.encode_name]["default"] = default
    return decoder.decode, schema


def as_coroutine_function(function: Callable[..., Any]) -> Callable[..., Any]:
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
