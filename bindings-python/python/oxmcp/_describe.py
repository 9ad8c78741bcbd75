"""From registered functions to what lists say of them, and to how they are called.

Imported when a peer first needs a handler: type hints and msgspec are the slow part of a start.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
import typing
from typing import Any, Callable, NamedTuple

import msgspec

from . import _json, _refine, _schema, _signature
from ._errors import report
from ._native import Entry as NativeEntry
from ._native import Registry, Schema
from ._server import Entry, Server, Source, changing

_TAGS = "dev.oxmcp/tags"
# Held while a handler is described, which runs code of the program.
_describing = threading.RLock()
_VARIABLES = re.compile(r"\{[+#./;?&]?([^{}]*)\}")
# Where the types are that no schema is made of for the results of a tool: they have a form of their own. They are told
# by name, as importing them would slow the start of programs without them.
_OWN_FORMS = ("oxmcp._types", "oxmcp._offers", "oxmcp._dialog")


Caller = Callable[[_signature.Signature, Any, Any], Any]
"""Calls a function with decoded arguments and a context; gives a coroutine."""


class Plan(NamedTuple):
    """How a handler is called: see `NativeEntry.prepare`."""

    function: Callable[..., Any]
    decode: Callable[[bytes], Any] | None
    arguments: list[str]
    keywords: tuple[str, ...] | None = None
    context: int | None = None


class Described(NamedTuple):
    """A handler, ready to be called and listed."""

    plan: Plan
    descriptor: dict[str, Any]
    has_output: bool = False
    checks_input: bool = False


class _Read(msgspec.Struct):
    """The params of a resource's handler, as the core gives them."""

    uri: str
    variables: msgspec.Raw = msgspec.Raw(b"{}")


class _Argument(msgspec.Struct):
    name: str
    value: str


class _CompletionContext(msgspec.Struct):
    arguments: dict[str, str] = {}


class _Complete(msgspec.Struct):
    argument: _Argument
    context: _CompletionContext = msgspec.field(default_factory=_CompletionContext)


class _Decoded:
    """What a plan takes as two arguments."""

    __slots__ = ("first", "second")

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second


_decode_read = msgspec.json.Decoder(_Read).decode
_decode_complete = msgspec.json.Decoder(_Complete).decode
_decode_strings = msgspec.json.Decoder(dict[str, str]).decode


def describe_all(app: Server, kind: str) -> None:
    """Describes every entry of a kind that was not described yet."""
    with changing:
        entries = [entry for entry in app._entries.values() if entry.kind == kind and not entry.is_listed]
    for entry in entries:
        # Whoever finds it under way on another thread waits for that, so that all are described in the end.
        with _describing:
            if not entry.is_listed:
                _list_entry(app, entry)


def _list_entry(app: Server, entry: Entry) -> None:
    try:
        describe(app._registry, entry)
    except Exception as error:
        report(error, f"describing {entry.kind} {entry.key!r}")
    finally:
        entry.is_listed = True


def call(plan: Plan, decoded: Any, context: Any) -> Any:
    """Calls a plan as the native module does; gives a coroutine."""
    values = [getattr(decoded, name) for name in plan.arguments]
    if plan.context is not None:
        values.insert(plan.context, context)
    if plan.keywords is None:
        return plan.function(*values)
    split = len(values) - len(plan.keywords)
    return plan.function(*values[:split], **dict(zip(plan.keywords, values[split:])))


def check_output_schema(schema: dict[str, Any]) -> None:
    """Raises `ValueError` that says what is wrong with the output schema of a tool."""
    try:
        Schema(_json.encode(schema).decode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the output schema of a tool: {error}") from None


def describe(registry: Registry, entry: Entry) -> None:
    """Tells the core what lists say of an entry. One bad signature spoils one entry."""
    described = _read(entry)
    native = registry.entry(entry.kind, entry.id)
    if native is None:
        return  # removed meanwhile
    try:
        registry.describe(entry.kind, entry.id, _json.encode(described.descriptor).decode())
    except (TypeError, ValueError) as error:
        report(error, f"describing {entry.kind} {entry.key!r}")
        entry.described = described = _broken(entry, error)
        registry.describe(entry.kind, entry.id, _json.encode(described.descriptor).decode())
    native.prepare(*described.plan)
    if described.has_output or described.checks_input:
        registry.check(entry.id, described.checks_input, described.has_output)


def prepare(native: NativeEntry, source: Source) -> None:
    """Prepares a handler that is needed before its list is."""
    native.prepare(*_read(source).plan)


def _read(source: Source) -> Described:
    with _describing:
        if source.described is None:
            try:
                source.described = _surrounded(source, (source.reader or _READERS[source.kind])(source))
            except Exception as error:
                report(error, f"describing {source.kind} {source.key!r}")
                source.described = _broken(source, error)
        described: Described = source.described
    return described


def _surrounded(source: Source, described: Described) -> Described:
    """What middleware and telemetry put around a handler."""
    plan = described.plan
    if "opentelemetry.trace" in sys.modules:
        from . import _telemetry

        plan = _telemetry.served(source, plan)
    if source.kind != "list" and (middleware := _middleware_of(source)):
        from . import _middleware

        plan = _middleware.wrapped(source, plan, middleware)
    return described._replace(plan=plan)


def _middleware_of(source: Source) -> tuple[Any, ...]:
    server, owner = source.server, source.owner
    if server is None or server is owner or owner is None:
        return () if owner is None else owner._middleware
    return (*server._middleware, *owner._middleware)


def _list(source: Source) -> Described:
    from . import _middleware

    return Described(_middleware.lists(source), {})


def _broken(source: Source, error: Exception) -> Described:
    # Its schema is unknown, and to say nothing would be no help: it says why it is broken.
    signature = _signature.broken(f"{source.kind} {source.key} cannot be called: {error}")
    descriptor = {**_identity(source), "description": signature.description}
    if source.kind == "tool":
        descriptor["inputSchema"] = signature.schema
    return Described(Plan(signature.function, None, []), descriptor)


def _identity(source: Source) -> dict[str, Any]:
    key = {"resource": "uri", "template": "uriTemplate"}.get(source.kind, "name")
    return {"name": source.options.get("name") or source.key, key: source.key}


def _descriptor(source: Source, **own: Any) -> dict[str, Any]:
    options = source.options
    description = options.get("description")
    if description is None:
        description = _signature.description(source.function)
    meta = options.get("meta")
    if options.get("tags"):
        meta = {**(meta or {}), _TAGS: sorted(options["tags"])}
    described = {
        **_identity(source),
        "title": options.get("title"),
        "description": description,
        **own,
        "annotations": options.get("annotations"),
        "icons": options.get("icons"),
        "_meta": meta,
    }
    return {key: value for key, value in described.items() if value is not None}


def _tool(source: Source) -> Described:
    signature = _signature.read(source.function)
    if (schema := source.options.get("input_schema")) is not None:
        signature = _signature.whole(signature, schema)
    output = _result_schema(source.options.get("output_schema", True), signature.result)
    descriptor = _descriptor(source, inputSchema=signature.schema, outputSchema=output)
    function = signature.function
    if output is not None and output.get("type") != "object":
        function = _giving_data(function)
    plan = Plan(function, signature.decode, signature.arguments, signature.keywords, signature.context)
    return Described(plan, descriptor, output is not None, schema is not None)


def _giving_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a tool whose structured content may be no object."""
    from . import _results

    async def give(*args: Any, **kwargs: Any) -> _results.Whole:
        return _results.Whole(_results.encode_data(await function(*args, **kwargs)))

    return give


def _result_schema(wanted: Any, result: Any) -> dict[str, Any] | None:
    """`_output_schema`, and that of a union of such objects."""
    if wanted is True and typing.get_origin(result) is typing.Annotated:
        result = typing.get_args(result)[0]
    if wanted is not True or typing.get_origin(result) not in _refine._UNIONS:
        return _output_schema(wanted, result)
    choices = [_output_schema(True, part) for part in typing.get_args(result)]
    try:
        inlined = [_schema.inline(dict(choice)) for choice in choices if choice is not None]
    except TypeError:
        return None  # one contains itself
    return {"type": "object", "anyOf": inlined} if len(inlined) == len(choices) else None


def _output_schema(wanted: Any, result: Any) -> dict[str, Any] | None:
    """The schema of what a tool says that it returns, if that is an object with known members."""
    if isinstance(wanted, dict):
        return wanted
    if not wanted:
        return None
    if typing.get_origin(result) is typing.Annotated:
        result = typing.get_args(result)[0]
    kind = typing.get_origin(result) or result
    if not isinstance(kind, type) or any(base.__module__ in _OWN_FORMS for base in kind.__mro__):
        return None
    if hasattr(kind, "model_json_schema"):
        described = _schema.of_model(kind)
        return described if described.get("type") == "object" else None
    is_object = dataclasses.is_dataclass(kind) or issubclass(kind, msgspec.Struct) or _is_typed_dict(kind)
    if not is_object and not (kind is dict and len(typing.get_args(result)) == 2):
        return None
    try:
        schema = _schema.flat(result, "serialization")
    except Exception:
        return None  # what it returns may have a JSON form all the same
    return schema if schema.get("type") == "object" else None


def _is_typed_dict(kind: Any) -> bool:
    # Those of typing_extensions are of another class where Python is older than they are.
    return typing.is_typeddict(kind) or issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def _resource(source: Source) -> Described:
    return resource_with(source, _signature.read(source.function, strict=False), _signature.Signature.call)


def resource_with(source: Source, signature: _signature.Signature, call: Caller) -> Described:
    """The handler of a resource, whose function is called by `call`."""
    from . import _contents

    names = _variables(source.key) if source.kind == "template" else []
    _check_names(signature, names, f"the URI {source.key!r}")
    mime_type = source.options.get("mime_type")

    async def serve(uri: str, variables: Any, context: Any) -> bytes:
        return _contents.resource(await call(signature, variables, context), uri, mime_type)

    def decode(params: bytes) -> _Decoded:
        read = _decode_read(params)
        assert signature.decode is not None
        return _Decoded(read.uri, signature.decode(bytes(read.variables)))

    plan = Plan(serve, decode, ["first", "second"], None, 2)
    descriptor = _descriptor(source, mimeType=mime_type, size=source.options.get("size"))
    return Described(plan, descriptor)


def _variables(template: str) -> list[str]:
    """The names of the variables of a URI template (RFC 6570)."""
    expressions = _VARIABLES.findall(template)
    names = [re.sub(r"(\*|:\d+)$", "", name.strip()) for expression in expressions for name in expression.split(",")]
    return [name for name in names if name]


def _check_names(signature: _signature.Signature, names: list[str], what: str) -> None:
    parameters = signature.schema["properties"]
    required = signature.schema.get("required", [])
    missing = [name for name in required if name not in names]
    if missing:
        raise TypeError(f"parameter '{missing[0]}': {what} has no variable of this name, and there is no default")
    unused = [name for name in names if name not in parameters]
    if unused:
        raise TypeError(f"{what} has the variable '{unused[0]}', for which the function has no parameter")


def _prompt(source: Source) -> Described:
    return prompt_with(source, _signature.read(source.function, strict=False), _signature.Signature.call)


def prompt_with(source: Source, signature: _signature.Signature, call: Caller) -> Described:
    """The handler of a prompt, whose function is called by `call`."""
    from . import _contents

    properties = signature.schema["properties"]
    required = signature.schema.get("required", [])
    arguments = [_prompt_argument(name, member, name in required) for name, member in properties.items()]
    descriptor = _descriptor(source, arguments=arguments or None)
    definitions = signature.schema.get("$defs", {})
    nested = {name for name, member in properties.items() if _is_nested(member, definitions)}
    description = descriptor.get("description")

    async def serve(arguments: Any, _: Any, context: Any) -> bytes:
        return _contents.prompt(await call(signature, arguments, context), description)

    def decode(params: bytes) -> _Decoded:
        assert signature.decode is not None
        if nested:
            # A prompt's arguments are strings; those for lists and objects hold JSON.
            given = _decode_strings(params)
            parts = {name: msgspec.Raw(text.encode()) if name in nested else text for name, text in given.items()}
            params = msgspec.json.encode(parts)
        return _Decoded(signature.decode(params), None)

    return Described(Plan(serve, decode, ["first", "second"], None, 2), descriptor)


def _prompt_argument(name: str, member: dict[str, Any], required: bool) -> dict[str, Any]:
    shown = {"name": name, "title": member.get("title"), "description": member.get("description"), "required": required}
    return {key: value for key, value in shown.items() if value is not None}


def _is_nested(member: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Whether a string cannot be read as a member but as JSON."""
    if "$ref" in member:
        return _is_nested(definitions.get(member["$ref"].rsplit("/", 1)[-1], {}), definitions)
    choices = [choice for choice in member.get("anyOf", []) if choice.get("type") != "null"]
    if choices:
        return all(_is_nested(choice, definitions) for choice in choices)
    return member.get("type") in ("array", "object")


def _completion(source: Source) -> Described:
    """One handler for all arguments of a prompt or variables of a template: it asks the one of that name."""
    from . import _contents

    functions = {name: _completer(function) for name, function in source.options["arguments"].items()}

    async def serve(argument: _Argument, given: dict[str, str], context: Any) -> bytes:
        complete = functions.get(argument.name)
        if complete is None:
            return _contents.completion(None)
        return _contents.completion(await complete(argument.value, given, context))

    def decode(params: bytes) -> _Decoded:
        read = _decode_complete(params)
        return _Decoded(read.argument, read.context.arguments)

    return Described(Plan(serve, decode, ["first", "second"], None, 2), {})


def _completer(function: Callable[..., Any]) -> Callable[[str, dict[str, str], Any], Any]:
    signature = _signature.read(function)
    names = list(signature.arguments)
    if not 1 <= len(names) <= 2 or signature.keywords is not None:
        raise TypeError(
            "a completion takes the value so far, and if it wants them the arguments given already, "
            f"not {len(names)} parameters"
        )

    def complete(value: str, given: dict[str, str], context: Any) -> Any:
        return signature.call(_Values(names, [value, given]), context)

    return complete


class _Values:
    """Values by the names that a function has for them."""

    def __init__(self, names: list[str], values: list[Any]) -> None:
        self.__dict__.update(zip(names, values))


def _method(source: Source) -> Described:
    from . import _contents

    signature = _signature.read(source.function, closed=False)

    async def serve(params: Any, _: Any, context: Any) -> bytes:
        return _contents.method(await signature.call(params, context))

    def decode(params: bytes) -> _Decoded:
        assert signature.decode is not None
        return _Decoded(signature.decode(params), None)

    return Described(Plan(serve, decode, ["first", "second"], None, 2), {})


_READERS: dict[str, Callable[[Source], Described]] = {
    "tool": _tool,
    "resource": _resource,
    "template": _resource,
    "prompt": _prompt,
    "completion": _completion,
    "method": _method,
    "list": _list,
}
