"""From what a tool returns to a `CallToolResult`."""

from __future__ import annotations

from typing import Any

import msgspec

from ._types import CallToolResult, TextContent, is_content


def encode(value: Any) -> bytes:
    """The JSON of the result. Called by the native module for what is neither a string nor None.

    - a `CallToolResult` is taken as it is;
    - a content block, or a list of blocks and strings, becomes the content;
    - an object (dict, dataclass, Struct, pydantic model) becomes structured content, and its JSON
      the text for clients that know only text;
    - anything else becomes its JSON as text.
    """
    if isinstance(value, CallToolResult):
        return _encoder.encode(value)
    if is_content(value):
        return _encoder.encode(CallToolResult(content=[value]))
    if isinstance(value, (list, tuple)) and any(is_content(item) for item in value):
        blocks = [item if is_content(item) else TextContent(text=_text(item)) for item in value]
        return _encoder.encode(CallToolResult(content=blocks))
    text = _encoder.encode(value)
    structured = msgspec.Raw(text) if text[:1] == b"{" else None
    return _encoder.encode({
        "content": [{"type": "text", "text": text.decode()}],
        **({"structuredContent": structured} if structured is not None else {}),
    })


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _encoder.encode(value).decode()


def _enc_hook(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", by_alias=True)
    raise NotImplementedError(
        f"a tool returned a {type(value).__name__}, which is no JSON; return str, numbers, bool, None, "
        "dict, list, a dataclass, a Struct, a pydantic model or content blocks"
    )


_encoder = msgspec.json.Encoder(enc_hook=_enc_hook)
