"""From what a tool returns to a `CallToolResult`."""

from __future__ import annotations

from typing import Any

import msgspec

from . import _json
from ._errors import printable
from ._types import CallToolResult, TextContent, UnknownContent, check_block, is_content


class Whole:
    """A result that is written already."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def encode_data(value: Any) -> bytes:
    """The same as `encode` for a tool whose output schema is not one of an object: what it gives is data, whatever it
    is, but for a result that is written as such."""
    if isinstance(value, (CallToolResult, Whole)):
        return encode(value)
    text = _encode_data(list(value) if hasattr(type(value), "__next__") else value)
    shown = _text(value) if isinstance(value, str) else TextContent(text=text.decode())
    return msgspec.json.encode({"content": [shown], "structuredContent": msgspec.Raw(text)})


def encode_any(value: Any) -> bytes:
    """The same as `encode`, also for a string and None."""
    if value is None:
        return b'{"content":[]}'
    return encode(value)


def encode(value: Any) -> bytes:
    """The JSON of the result. Called by the native module for what is neither a string nor None.

    - a `CallToolResult` is taken as it is, with strings among its content made text blocks;
    - a content block, a helper such as `Image`, or a list of those and strings, becomes the content;
    - a string of a subclass, such as a member of ``class E(str, Enum)``, is text;
    - an object (dict, dataclass, Struct, pydantic model) becomes structured content, and its JSON
      the text for clients that know only text;
    - anything else becomes its JSON as text, what is iterated over as a list.

    Raises `TypeError` or `ValueError` for what would be no valid result.
    """
    if isinstance(value, CallToolResult):
        return _encode_result(value)
    if isinstance(value, Whole):
        return value.text
    if isinstance(value, str):
        return _json.encode({"content": [_text(value)]})
    value = _made(value)
    if hasattr(type(value), "__next__"):
        value = list(value)
    if is_content(value):
        return _json.encode({"content": _blocks([value])})
    if isinstance(value, (list, tuple)) and any(is_content(item) or hasattr(item, "to_content") for item in value):
        # Beside blocks, data is shown as text.
        value = [_made(item) for item in value]
        shown = [item if is_content(item) or isinstance(item, str) else _json.encode(item).decode() for item in value]
        return _json.encode({"content": _blocks(shown)})
    text = _encode_data(value)
    content = [TextContent(text=text.decode())]
    if text[:1] != b"{":
        return _json.encode({"content": content})
    # Checked already, so not once more: its text is all that can be null in it.
    return msgspec.json.encode({"content": content, "structuredContent": msgspec.Raw(text)})


def _encode_data(value: Any) -> bytes:
    try:
        return _json.encode(value)
    except TypeError as error:
        raise TypeError(
            f"{error}; return str, numbers, bool, None, dict, list, a dataclass, a Struct, a pydantic model "
            "or content blocks"
        ) from None


def _made(value: Any) -> Any:
    """A helper such as `Image` as its block."""
    make = getattr(value, "to_content", None)
    return value if make is None or isinstance(value, type) else make()


def _encode_result(result: CallToolResult) -> bytes:
    if not isinstance(result.content, (list, tuple)):
        raise TypeError(
            f"the content of a CallToolResult is a list of blocks and strings, not {type(result.content).__name__}"
        )
    if not isinstance(result.is_error, bool):
        raise TypeError(f"is_error of a CallToolResult is a bool, not {type(result.is_error).__name__}")
    if result.meta is not msgspec.UNSET and not isinstance(result.meta, dict):
        raise TypeError(f"meta of a CallToolResult is a dict, not {type(result.meta).__name__}")
    return _json.encode(
        CallToolResult(_blocks(result.content), result.structured_content, result.is_error, result.meta)
    )


def _blocks(content: list[Any] | tuple[Any, ...]) -> list[Any]:
    return [_block(item, f"content[{index}]") for index, item in enumerate(content)]


def _block(item: Any, where: str) -> Any:
    item = _made(item)
    if isinstance(item, str):
        return _text(item)
    block = item.raw if isinstance(item, UnknownContent) else item
    if not isinstance(block, dict) and not is_content(block):
        raise TypeError(f"{where} is of type {type(block).__name__}; content is made of blocks and strings")
    check_block(block, where)
    return block


def _text(value: str) -> TextContent:
    return TextContent(text=printable(str.__str__(value)))
