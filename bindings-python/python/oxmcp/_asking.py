"""What a handler says to its caller and asks of it: the methods of `Context` that need JSON and types.

One code for both eras. In revisions with a handshake a question is a request of its own. In 2026-07-28
the core ends the call with the question and cancels the handler; the client makes the call again with
the answer, the handler runs from its start, and the same question is then answered at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from . import _dialog, _forms, _json, _wire
from ._errors import CallCancelledError, ProtocolError, UsageError
from ._native import Context

T = TypeVar("T")


class _Elicited(msgspec.Struct):
    action: _dialog.Action
    content: msgspec.Raw = msgspec.Raw(b"null")


_decode_elicited = _wire.tolerant(msgspec.json.Decoder(_Elicited).decode)


def encode(value: Any) -> str:
    """The JSON text of what a program hands over. Raises `UsageError` when there is none."""
    try:
        return _json.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"it has no JSON form: {error}") from error


def notify(context: Context, method: str, params: Any) -> Any:
    """`Context.notify`."""
    return context._notify(method, None if params is None else encode(params))


async def elicit(context: Context, message: str, schema: Any, key: str | None, timeout: float | None) -> Any:
    """`Context.elicit`."""
    form = _forms.read(schema)
    params = {"message": message, "requestedSchema": form.schema}
    answer = await _elicit(context, params, key, timeout)
    if answer.action != "accept":
        return _dialog.ElicitResult(answer.action)
    try:
        return _dialog.ElicitResult("accept", form.read(_json.decode(bytes(answer.content))))
    except ValueError as error:
        raise ProtocolError(f"the content of the elicitation does not fit its form: {error}", fault="peer") from error


async def elicit_url(
    context: Context, message: str, url: str, elicitation_id: str | None, key: str | None, timeout: float | None
) -> Any:
    """`Context.elicit_url`."""
    import uuid

    # Revisions that have no such id leave it out.
    elicitation_id = elicitation_id or str(uuid.uuid4())
    params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
    answer = await _elicit(context, params, key, timeout)
    return _dialog.ElicitResult(answer.action)


async def sample(
    context: Context,
    messages: Any,
    *,
    max_tokens: int = 1024,
    system_prompt: str | None = None,
    temperature: float | None = None,
    stop_sequences: list[str] | None = None,
    model_preferences: dict[str, Any] | None = None,
    include_context: str | None = None,
    metadata: dict[str, Any] | None = None,
    tools: list[Any] | None = None,
    tool_choice: dict[str, Any] | None = None,
    key: str | None = None,
    timeout: float | None = None,
) -> _dialog.SampleResult:
    """`Context.sample`."""
    try:
        shown = _dialog.messages_out(messages, "messages")
    except TypeError as error:
        raise UsageError(str(error)) from error
    params = {
        "messages": shown,
        "maxTokens": max_tokens,
        "systemPrompt": system_prompt,
        "temperature": temperature,
        "stopSequences": stop_sequences,
        "modelPreferences": model_preferences,
        "includeContext": include_context,
        "metadata": metadata,
        "tools": tools,
        "toolChoice": tool_choice,
    }
    given = {name: value for name, value in params.items() if value is not None}
    return _dialog.decode_sample(await _ask(context, "sampling/createMessage", given, key, timeout))


async def list_roots(context: Context, key: str | None, timeout: float | None) -> list[_dialog.Root]:
    """`Context.list_roots`."""
    return _dialog.decode_roots(await _ask(context, "roots/list", None, key, timeout))


def wait(context: Context, awaitable: Coroutine[Any, Any, T]) -> T:
    """`Context.wait`."""
    loop = context._loop
    if asyncio._get_running_loop() is not None or loop is None:
        awaitable.close()
        if loop is None:
            raise CallCancelledError("the connection is closed", code=None)
        raise UsageError("wait() is for plain handlers; an async one awaits it")
    from . import _threads

    try:
        with _threads.waiting():
            return asyncio.run_coroutine_threadsafe(awaitable, loop).result()
    except concurrent.futures.CancelledError:
        raise CallCancelledError("the call is over, or is made again with the answer", code=None) from None


async def _elicit(context: Context, params: dict[str, Any], key: str | None, timeout: float | None) -> _Elicited:
    result = await _ask(context, "elicitation/create", params, key, timeout)
    try:
        return _decode_elicited(result)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the client's result of elicitation/create is broken: {error}", fault="peer") from error


async def _ask(context: Context, method: str, params: Any, key: str | None, timeout: float | None) -> bytes:
    text = None if params is None else encode(params)
    loop = context._loop
    if loop is not None and asyncio.get_running_loop() is not loop:
        raise UsageError("a question is asked on the loop that serves the call; a plain handler asks by ctx.wait(...)")
    id, future = context._ask(method, text, key, timeout)
    try:
        return await future
    except (asyncio.CancelledError, GeneratorExit):
        context._withdraw(id)
        raise
