"""Functions of the program around every operation of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Awaitable, Callable

import msgspec

from . import _json, _results
from ._errors import ArgumentsRefused, McpError
from ._native import Context
from ._server import Server, Source

if TYPE_CHECKING:
    from ._describe import Plan

__all__ = ["Request"]

_METHODS = {
    "tool": "tools/call",
    "prompt": "prompts/get",
    "resource": "resources/read",
    "template": "resources/read",
    "completion": "completion/complete",
}
_KINDS = {
    "tools/list": "tool",
    "resources/list": "resource",
    "resources/templates/list": "template",
    "prompts/list": "prompt",
}


class Request:
    """An operation on its way through a server's middleware::

        async def timed(request: Request, call_next: CallNext) -> dict[str, Any]:
            start = time.perf_counter()
            try:
                return await call_next(request)
            finally:
                print(request.method, request.name, time.perf_counter() - start)

        app = Server("demo", middleware=[timed])

    What `call_next` gives is the result as the specification writes it: ``{"content": [...]}``. It raises what the
    handler raised. Middleware may change params before and the result after, answer by itself, or raise.
    """

    __slots__ = ("context", "method", "params")

    def __init__(self, method: str, params: dict[str, Any], context: Context) -> None:
        self.method = method
        """``tools/list``, ``tools/call``, ``resources/read`` and so on, or a method of the program's own."""
        self.params = params
        """Without ``_meta``, which is `context.meta`."""
        self.context = context

    @property
    def name(self) -> str | None:
        """The name of the tool or prompt, or the URI of the resource."""
        name: str | None = self.params.get("name", self.params.get("uri"))
        return name

    def __repr__(self) -> str:
        return f"Request({self.method!r}, {self.params!r})"


CallNext = Callable[[Request], Awaitable[Any]]
Middleware = Callable[[Request, CallNext], Awaitable[Any]]


def run(middleware: tuple[Middleware, ...], request: Request, last: CallNext) -> Awaitable[Any]:
    """Sends a request through middleware, and then to `last`."""
    if not middleware:
        return last(request)
    first, rest = middleware[0], middleware[1:]
    return first(request, lambda request: run(rest, request, last))


class Undecoded:
    """Arguments as they came: middleware sees them before they are checked."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def wrapped(source: Source, plan: Plan, middleware: tuple[Middleware, ...]) -> Plan:
    """The plan with middleware around it."""
    from ._describe import Plan, call

    kind, key = source.kind, source.key
    method = _METHODS.get(kind, key)

    async def serve(text: bytes, context: Context) -> Any:
        given = _json.decode(text)

        async def last(request: Request) -> Any:
            try:
                decoded = None if plan.decode is None else plan.decode(_undone(kind, given, request.params))
            except msgspec.DecodeError as error:
                raise ArgumentsRefused(str(error)) from None
            result = await call(plan, decoded, context)
            return _json.decode(_results.encode_any(result) if kind == "tool" else result)

        request = Request(method, _params(kind, key, given), context)
        result = _json.encode(await run(middleware, request, last))
        return _results.Whole(result) if kind == "tool" else result

    return Plan(serve, Undecoded, ["text"], None, 1)


def _params(kind: str, key: str, given: Any) -> dict[str, Any]:
    if kind in ("tool", "prompt"):
        return {"name": key, "arguments": given}
    if kind in ("resource", "template"):
        return {"uri": given["uri"]}
    params: dict[str, Any] = {name: value for name, value in given.items() if name != "_meta"}
    return params


def _undone(kind: str, given: Any, params: dict[str, Any]) -> bytes:
    """What a plan decodes, from the params that middleware may have changed."""
    if kind in ("tool", "prompt"):
        return _json.encode(params.get("arguments") or {})
    if kind in ("resource", "template"):
        if params.get("uri") != given["uri"]:
            raise McpError("middleware cannot have another resource read; ask for it by a call of its own")
        return _json.encode(given)
    return _json.encode({**given, **params})


# The first revision in which the output of a tool may be something else than an object.
_ANY_OUTPUT = "2026-07-28"


def lists(source: Source) -> Plan:
    """The plan of a list that middleware wants to see."""
    from ._describe import Plan, describe_all

    server, method = source.owner, source.key
    assert server is not None

    async def serve(text: bytes, context: Context) -> bytes:
        async def last(request: Request) -> Any:
            describe_all(server, _KINDS[method])
            page = server._registry.list(_KINDS[method], request.params.get("cursor"))
            if page is None:
                raise McpError("Invalid cursor", code=-32602)
            shown = _json.decode(page)
            if context.protocol_version < _ANY_OUTPUT:
                for tool in shown.get("tools", ()):
                    if tool.get("outputSchema", {}).get("type") != "object":
                        tool.pop("outputSchema", None)
            return shown

        params = {name: value for name, value in _json.decode(text).items() if name != "_meta"}
        return _json.encode(await run(server._middleware, Request(method, params, context), last))

    return Plan(serve, Undecoded, ["text"], None, 1)
