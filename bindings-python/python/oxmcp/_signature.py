"""From a function's signature to its input schema and the decoder of its arguments.

Imported when a peer first asks for the tools: type hints and msgspec are the slow part of a start.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import sys
import types
import typing
from typing import Any, Callable

import msgspec

from . import _depends, _injection, _json, _pydantic, _readable, _schema
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


def read(
    function: Callable[..., Any], *, strict: bool = True, closed: bool = True, inline: bool = False
) -> Signature:
    """Reads a signature.

    :param strict: take a value of its own JSON type only; else a string is read as what the type needs.
    :param closed: refuse arguments that the function does not have.
    :param inline: call a plain function on the event loop.

    Raises `TypeError` that names the parameter when it cannot become a JSON object's member.
    """
    names = _names(function)
    fields: list[Any] = []
    order = _Order()
    shape = _shape(function)
    for parameter in shape.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(
                f"parameter '{parameter}': a tool has named parameters only, since its caller sends an object"
            )
        hint = _hint(parameter, names)
        if _is_context(hint):
            order.add_context(parameter)
        elif (dependency := _dependency(parameter, hint)) is not None:
            order.add_dependency(parameter, dependency)
        else:
            order.add_argument(parameter)
            fields.append(_Field(parameter.name, hint, _default(parameter)))
    options = _Options(getattr(function, "__name__", type(function).__name__), strict, closed)
    decode, schema, attributes = _decoder(options, fields)
    called = order.arrange(as_coroutine_function(function, inline))
    return Signature(
        function=called.function,
        decode=decode,
        arguments=[attributes.get(name, name) for name in called.arguments],
        keywords=called.keywords,
        context=called.context,
        schema=schema,
        description=description(function),
        result=_result(shape.return_annotation, names),
    )


def whole(signature: Signature, schema: dict[str, Any]) -> Signature:
    """The same with a schema that was written by hand: the function's one parameter is all of the arguments."""
    names, decode = list(signature.schema["properties"]), signature.decode
    if len(names) != 1 or decode is None:
        raise TypeError("with input_schema= a tool has one parameter, a dict of all arguments, and perhaps a context")
    prefix = b"{" + _json.encode(names[0]) + b":"
    return signature._replace(schema=schema, decode=lambda arguments: decode(prefix + arguments + b"}"))


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
    if hint is Context or getattr(hint, "__oxmcp_context__", False) is True:
        return True
    origin = typing.get_origin(hint)
    if origin in (typing.Union, getattr(types, "UnionType", None)):
        return any(_is_context(part) for part in typing.get_args(hint))
    return getattr(origin, "__oxmcp_context__", False) is True


def _dependency(parameter: inspect.Parameter, hint: Any) -> _depends.Dependency | None:
    if isinstance(parameter.default, _depends.Dependency):
        return parameter.default
    if typing.get_origin(hint) is typing.Annotated:
        for mark in typing.get_args(hint)[1:]:
            if isinstance(mark, _depends.Dependency):
                return mark
    return None


def _sources(function: Callable[..., Any]) -> dict[str, Any]:
    """Where a dependency's parameters come from: see `_injection.read`."""
    names = _names(function)
    sources: dict[str, Any] = {}
    for parameter in _shape(function).parameters.values():
        hint = _hint(parameter, names)
        if _is_context(hint):
            sources[parameter.name] = None
        elif (dependency := _dependency(parameter, hint)) is not None:
            sources[parameter.name] = dependency
        elif parameter.default is inspect.Parameter.empty:
            name = getattr(function, "__qualname__", repr(function))
            raise TypeError(
                f"parameter '{parameter.name}' of {name}: a dependency takes the Context, other dependencies, "
                "and what has a default"
            )
    return sources


class _Called(typing.NamedTuple):
    function: Callable[..., Any]
    arguments: list[str]
    keywords: tuple[str, ...] | None
    context: int | None


class _Order:
    """In which order the parameters of a function are, and where each comes from."""

    def __init__(self) -> None:
        self._positional: list[str] = []
        self._keywords: list[str] = []
        self._arguments: list[str] = []
        self._context: str | None = None
        self._steps: dict[str, _injection.Step] = {}

    def _add(self, parameter: inspect.Parameter) -> str:
        (self._positional if parameter.kind in _NAMES else self._keywords).append(parameter.name)
        return parameter.name

    def add_argument(self, parameter: inspect.Parameter) -> None:
        self._arguments.append(self._add(parameter))

    def add_context(self, parameter: inspect.Parameter) -> None:
        if self._context is not None:
            raise TypeError(f"parameter '{parameter.name}': a tool takes one Context")
        self._context = self._add(parameter)

    def add_dependency(self, parameter: inspect.Parameter, dependency: _depends.Dependency) -> None:
        self._steps[self._add(parameter)] = _injection.read(dependency, _sources)

    def arrange(self, function: Callable[..., Any]) -> _Called:
        """How the native module calls it: positional arguments, then keywords, the context among the former."""
        if self._steps or self._context in self._keywords:
            return _Called(self._rearranged(function), self._arguments, None, 0)
        context = None if self._context is None else self._positional.index(self._context)
        positional = [name for name in self._positional if name != self._context]
        return _Called(function, positional + self._keywords, tuple(self._keywords) or None, context)

    def _rearranged(self, function: Callable[..., Any]) -> Callable[..., Any]:
        positional, keywords, arguments = self._positional, self._keywords, self._arguments
        context_name, steps = self._context, self._steps

        async def call(context: Any, *values: Any) -> Any:
            given = dict(zip(arguments, values))
            if context_name is not None:
                given[context_name] = context
            async with contextlib.AsyncExitStack() as stack:
                scope = _injection.Scope(context, stack)
                for name, step in steps.items():
                    given[name] = await scope.value(step)
                return await function(*(given[name] for name in positional), **{name: given[name] for name in keywords})

        return call


class _Field(typing.NamedTuple):
    name: str
    hint: Any
    default: Any
    """`msgspec.NODEFAULT` for none."""


def _default(parameter: inspect.Parameter) -> Any:
    return msgspec.NODEFAULT if parameter.default is inspect.Parameter.empty else parameter.default


def _member(field: _Field) -> Any:
    """A field as `msgspec.defstruct` takes it."""
    hint, default = _readable.readable(_with_description(field.hint)), field.default
    if default is msgspec.NODEFAULT:
        return (field.name, hint)
    if isinstance(default, (str, int, bool, type(None))) or (isinstance(default, float) and math.isfinite(default)):
        return (field.name, hint, default)
    # Python shares a default between calls; so do we.
    return (field.name, hint, msgspec.field(default_factory=lambda: default))


def _with_description(hint: Any) -> Any:
    """A string in an `Annotated` is the description of the parameter."""
    if typing.get_origin(hint) is not typing.Annotated:
        return hint
    kind, *marks = typing.get_args(hint)
    for mark in marks:
        if isinstance(mark, str):
            parts = (kind, *(m for m in marks if m is not mark), msgspec.Meta(description=mark))
            return typing.cast(Any, typing.Annotated)[parts]
    return hint


class _Options(typing.NamedTuple):
    name: str
    strict: bool
    closed: bool


_Decoder = typing.Tuple[Callable[[bytes], Any], "dict[str, Any]", "dict[str, str]"]


def _decoder(options: _Options, fields: list[_Field]) -> _Decoder:
    """The decoder of the arguments, their schema, and under which attributes they are found."""
    build = _build
    if any(_pydantic.wanted(field.hint, field.default) for field in fields):
        build = _build_with_pydantic
    try:
        return build(options, fields)
    except Exception as error:
        if build is _build and not options.strict and not options.closed and "pydantic" in sys.modules:
            try:
                return _build_with_pydantic(options, fields)
            except Exception:
                pass  # what is said of it in the terms of the first try is of more help
        for field in fields:
            try:
                build(options, [field])
            except Exception as its_error:
                raise TypeError(f"parameter '{field.name}': {its_error}") from its_error
        raise TypeError(str(error)) from error


def _build_with_pydantic(options: _Options, fields: list[_Field]) -> _Decoder:
    parameters = {field.name: (field.hint, field.default) for field in fields}
    return _pydantic.build(options.name, parameters, strict=options.strict, closed=options.closed)


def _build(options: _Options, fields: list[_Field]) -> _Decoder:
    arguments = msgspec.defstruct(
        f"{options.name}_arguments",
        [_member(field) for field in fields],
        kw_only=True,
        forbid_unknown_fields=options.closed,
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
    return decoder.decode, schema, {}


def as_coroutine_function(function: Callable[..., Any], inline: bool = False) -> Callable[..., Any]:
    """The function as one that gives a coroutine.

    :param inline: call a plain one on the event loop; otherwise it runs on a worker thread.
    """
    if inspect.iscoroutinefunction(function):
        return function
    if inspect.iscoroutinefunction(getattr(function, "__call__", None)):
        return typing.cast("Callable[..., Any]", function.__call__)  # type: ignore[operator]

    if inline:

        async def on_loop(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result

        return on_loop

    from . import _threads

    async def in_thread(*args: Any, **kwargs: Any) -> Any:
        # A plain function may take its time: on the loop it would hold up every other call.
        result = await _threads.run(function, *args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    return in_thread
