"""OpenTelemetry spans, for programs that use it: this is imported once `opentelemetry.trace` is.

A span goes around each handler, as a child of the caller's by the W3C trace context in ``_meta`` (2026-07-28,
`traceparent`, `tracestate`, `baggage`; other revisions leave the keys free), and around each call of a client, which
sends its own along.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ._errors import McpError, ToolError, UsageError
from ._native import version
from ._server import Source
from ._types import CallToolResult

if TYPE_CHECKING:
    from ._describe import Plan

_METHODS = {
    "tool": "tools/call",
    "prompt": "prompts/get",
    "resource": "resources/read",
    "template": "resources/read",
    "completion": "completion/complete",
}
_NAMES = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name", "resources/read": "mcp.resource.uri"}


def _tracer() -> trace.Tracer:
    # Asked for each time: a program may set its provider late.
    return trace.get_tracer("oxmcp", version())


def served(source: Source, plan: Plan) -> Plan:
    """The plan with a span around its function."""
    method = _METHODS.get(source.kind, source.key)
    name = source.key if source.kind in _METHODS else None
    at = plan.context

    async def call(context: Any, *values: Any, **keywords: Any) -> Any:
        arguments = list(values)
        if at is not None:
            arguments.insert(at, context)
        parent, revision = _caller(context)
        # One handler may serve all calls of a method.
        told = values[0] if name is None and method in _NAMES and values else None
        named = (told.get("name") or told.get("uri")) if isinstance(told, dict) else name
        with span(method, named, SpanKind.SERVER, parent) as current:
            if revision is not None:
                current.set_attribute("mcp.protocol.version", revision)
            result = await plan.function(*arguments, **keywords)
            if isinstance(result, CallToolResult) and result.is_error:
                failed(current, "tool_error")
            return result

    return plan._replace(function=call, context=0)


@contextlib.contextmanager
def span(method: str, name: str | None, kind: SpanKind, parent: Any = None) -> Iterator[trace.Span]:
    """A span for a method of the protocol, which takes note of what is raised in it."""
    attributes = {"mcp.method.name": method}
    if name is not None:
        attributes[_NAMES.get(method, "mcp.name")] = name
    title = method if name is None or method == "resources/read" else f"{method} {name}"
    with _tracer().start_as_current_span(
        title, parent, kind, attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.record_exception(error)
            code = getattr(error, "code", None) if isinstance(error, McpError) else None
            if code is not None:
                current.set_attribute("rpc.response.status_code", str(code))
            failed(current, "tool_error" if isinstance(error, ToolError) else type(error).__qualname__, str(error))
            raise


def failed(current: trace.Span, kind: str, text: str | None = None) -> None:
    """Marks a span as one of a failure."""
    current.set_attribute("error.type", kind)
    current.set_status(Status(StatusCode.ERROR, text))


def _caller(context: Any) -> tuple[Any, str | None]:
    """The span that a call is part of, and its revision. Neither is known where the program calls its own handler, or
    where the call was given up before its handler began."""
    if context is None:
        return None, None
    try:
        return propagate.extract(_carrier(context.meta)), context.protocol_version
    except UsageError:
        return None, None


def _carrier(meta: Any) -> dict[str, str]:
    return {} if not isinstance(meta, dict) else {key: value for key, value in meta.items() if isinstance(value, str)}


def inject(meta: dict[str, Any]) -> None:
    """Adds the trace context of the current span to a ``_meta``."""
    propagate.inject(meta)
