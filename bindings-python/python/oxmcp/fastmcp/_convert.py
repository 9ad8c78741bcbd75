"""From what functions of FastMCP programs return to results of the protocol."""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from .. import _describe, _helpers, _json, _results, _schema, _signature, _types, types
from ..types._model import Model

# What says too little of a result for a schema.
_BARE = (dict, list, tuple, set, frozenset)
# What makes the blocks of its items, as a list does.
_ITEMS = (list, tuple, deque)
# Types that have a form of their own, from which no output schema is made.
_OWN = (Model, _helpers._Media, _types.CallToolResult, *_types._BLOCKS)


class ToolResult:
    """A result in both forms: blocks of content, and data."""

    def __init__(
        self, content: Any = None, structured_content: dict[str, Any] | None = None, meta: dict[str, Any] | None = None
    ) -> None:
        if content is None and structured_content is None:
            raise ValueError("a ToolResult needs content or structured_content")
        self.content = structured_content if content is None else content
        self.structured_content, self.meta = structured_content, meta


def encode(value: Any, check: Callable[[str], str | None] | None, wraps: bool) -> bytes:
    """The JSON of a tool's result.

    :param check: says what is wrong with the JSON of structured content, if the tool has an output schema.
    :param wraps: the value is no object, and becomes the member ``result`` of one.
    """
    if isinstance(value, types.CallToolResult):
        if not value.isError:
            _check(value.structuredContent, check)
        return _json.encode(value.model_dump(mode="json", by_alias=True, exclude_none=True))
    if isinstance(value, _types.CallToolResult):
        if not value.is_error:
            _check(value.structured_content or None, check)
        return _results.encode(value)
    value = _settled(value)
    result: dict[str, Any] = {}
    if isinstance(value, ToolResult):
        result["content"] = list(blocks(value.content))
        if value.structured_content is not None:
            result["structuredContent"] = _plain(value.structured_content)
        _check(value.structured_content, check)
        if value.meta is not None:
            result["_meta"] = value.meta
        return _json.encode(result)
    result["content"] = list(blocks(value))
    if check is not None:
        result["structuredContent"] = {"result": _plain(value)} if wraps else _plain(value)
        _check(result["structuredContent"], check)
    elif _is_object(value):
        result["structuredContent"] = _plain(value)
    return _json.encode(result)


def _is_object(value: Any) -> bool:
    """Whether a value whose type was not said is one of data, and an object."""
    if isinstance(value, dict):
        return True
    is_model = hasattr(type(value), "model_fields") or dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct)
    return is_model and not isinstance(value, (type, *_OWN)) and not hasattr(value, "to_content")


def _check(structured: Any, check: Callable[[str], str | None] | None) -> None:
    if check is None:
        return
    if structured is None:
        raise ValueError("Output validation error: the tool has an output schema, and gave no structured content")
    wrong = check(_encode(structured).decode())
    if wrong is not None:
        raise ValueError(f"Output validation error: {wrong}")


def blocks(value: Any) -> Iterator[Any]:
    """The blocks of content that a value makes: a list makes those of its items."""
    if value is None:
        return
    if isinstance(value, Model):
        yield value.model_dump(mode="json", by_alias=True, exclude_none=True)
    elif hasattr(value, "to_content") and not isinstance(value, type):
        yield value.to_content()
    elif isinstance(value, _types.UnknownContent):
        yield value.raw
    elif _types.is_content(value):
        yield value
    elif isinstance(value, _ITEMS):
        for item in value:
            yield from blocks(item)
    else:
        yield {"type": "text", "text": text(value)}


def _settled(value: Any) -> Any:
    """The value with lists for what can be read only once."""
    if isinstance(value, Iterator):
        return [_settled(item) for item in value]
    if type(value) in (list, tuple):
        return type(value)(_settled(item) for item in value)
    return {key: _settled(item) for key, item in value.items()} if type(value) is dict else value


def text(value: Any) -> str:
    """A string as it is, anything else as its JSON."""
    if isinstance(value, str):
        return str.__str__(value)
    return msgspec.json.format(_encode(value), indent=2).decode()


def _shown(value: Any) -> Any:
    """What has no JSON form is shown as text."""
    try:
        return _json.enc_hook(value)
    except TypeError:
        return str(value)


_write = msgspec.json.Encoder(enc_hook=_shown).encode


def _encode(value: Any) -> bytes:
    try:
        text = _write(value)
    except UnicodeEncodeError:
        text = _write(_json.mended(msgspec.to_builtins(value, enc_hook=_shown, str_keys=True)))
    if b"null" in text:
        _json.refuse_not_finite(msgspec.to_builtins(value, enc_hook=_shown))
    return text


def _plain(value: Any) -> Any:
    return msgspec.json.decode(_encode(value))


def output_schema(
    signature: _signature.Signature, wanted: bool | None, given: Any
) -> tuple[dict[str, Any] | None, bool]:
    """The output schema of a tool, and whether it wraps what the tool gives.

    :param wanted: whether the program asked for one; None if it said nothing.
    :param given: the schema that it gave.
    """
    if isinstance(given, dict):
        return given, False
    hint = signature.result
    if wanted is False or given is False or hint in (None, type(None), Any, typing.NoReturn):
        if wanted:
            raise TypeError("structured output was asked for, and the function says not what it returns")
        return None, False
    if _has_own_form(hint) or hint in _BARE:
        return None, False
    schema = _describe._output_schema(True, hint)
    if schema is not None:
        return schema, False
    try:
        return _schema.flat(msgspec.defstruct("Result", [("result", hint)]), "serialization"), True
    except Exception:
        wrapped = _wrapped_by_pydantic(hint)
        if wanted and wrapped is None:
            raise
    return wrapped, wrapped is not None


def _wrapped_by_pydantic(hint: Any) -> dict[str, Any] | None:
    """The schema of an object with a result of this type, where pydantic is in use and knows more of it."""
    pydantic: Any = sys.modules.get("pydantic")
    if pydantic is None:
        return None
    try:
        model = pydantic.create_model("Result", result=(hint, ...))
        return _schema.of_model(model)
    except Exception:
        return None


def _has_own_form(hint: Any) -> bool:
    if isinstance(hint, type) and not typing.get_origin(hint):
        return issubclass(hint, (*_OWN, ToolResult))
    return any(_has_own_form(part) for part in typing.get_args(hint))


def read_back(result: bytes) -> tuple[list[Any], Any, bool]:
    """Content, structured content and whether it failed, of a result."""
    made = types.CallToolResult.model_validate_json(result)
    return made.content, made.structuredContent, made.isError
