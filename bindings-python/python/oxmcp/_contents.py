"""From what the handlers of resources, prompts, completions and methods return to the JSON of their results."""

from __future__ import annotations

from typing import Any

import msgspec

from . import _json
from ._dialog import messages_out
from ._errors import printable
from ._offers import (
    BlobResourceContents,
    Completion,
    PromptResult,
    ResourceResult,
    TextResourceContents,
)

_BYTES = (bytes, bytearray, memoryview)
_CONTENTS = (TextResourceContents, BlobResourceContents)


def resource(value: Any, uri: str, mime_type: str | None) -> bytes:
    """The result of `resources/read`.

    - a string is text, bytes are a blob;
    - contents are taken as they are; one that names no URI or type has those of the resource;
    - a list with bytes or contents in it is several contents;
    - a dict with a list ``contents`` is a whole result;
    - anything else becomes its JSON as text.
    """
    meta: Any = msgspec.UNSET
    if isinstance(value, dict) and isinstance(value.get("contents"), list):
        return _json.encode(value)
    if isinstance(value, ResourceResult):
        items, meta = list(value.contents), value.meta
    elif isinstance(value, (list, tuple)) and any(isinstance(item, (*_CONTENTS, *_BYTES)) for item in value):
        items = list(value)
    else:
        items = [value]
    result = {"contents": [_contents(item, uri, mime_type) for item in items]}
    if meta is not msgspec.UNSET:
        result["_meta"] = meta
    return _json.encode(result)


def _contents(item: Any, uri: str, mime_type: str | None) -> dict[str, Any]:
    shown: dict[str, Any]
    if isinstance(item, _CONTENTS):
        shown = {**msgspec.to_builtins(item, builtin_types=_BYTES[:2])}
        shown = {"uri": item.uri or uri, "mimeType": mime_type, **shown}
        shown["uri"] = item.uri or uri
        return {name: member for name, member in shown.items() if member is not None}
    if isinstance(item, _BYTES):
        return {"uri": uri, "mimeType": mime_type or "application/octet-stream", "blob": bytes(item)}
    if isinstance(item, str):
        return {"uri": uri, "mimeType": mime_type or "text/plain", "text": printable(str.__str__(item))}
    return {"uri": uri, "mimeType": mime_type or "application/json", "text": _json.encode(item).decode()}


def prompt(value: Any, description: str | None) -> bytes:
    """The result of `prompts/get`: from a string, a `Message`, a list of such, or a `PromptResult`."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return _json.encode(value)
    result: dict[str, Any] = {}
    if isinstance(value, PromptResult):
        description = value.description if isinstance(value.description, str) else description
        if value.meta is not msgspec.UNSET:
            result["_meta"] = value.meta
        value = value.messages
    if description is not None:
        result["description"] = description
    return _json.encode({**result, "messages": messages_out(value, "messages")})


def completion(value: Any) -> bytes:
    """The result of `completion/complete`: from a list of strings or a `Completion`."""
    if value is None:
        value = []
    if not isinstance(value, Completion):
        if isinstance(value, (str, bytes, dict)):
            raise TypeError(f"a completion returns a list of strings, not {type(value).__name__}")
        value = Completion(list(value))
    values = value.values
    if not all(isinstance(item, str) for item in values):
        raise TypeError("a completion returns strings only")
    # A struct of its own would leave an empty list out, which the specification requires.
    whole: dict[str, Any] = {"values": [printable(str.__str__(item)) for item in values]}
    for name, more in (("total", value.total), ("hasMore", value.has_more)):
        if more is not msgspec.UNSET:
            whole[name] = more
    return _json.encode({"completion": whole})


def method(value: Any) -> bytes:
    """The result of a method of the program's own: an object, or nothing."""
    if value is None:
        return b"{}"
    result = _json.encode(value)
    if result[:1] != b"{":
        raise TypeError(f"a method returns an object or None, not {type(value).__name__}")
    return result
