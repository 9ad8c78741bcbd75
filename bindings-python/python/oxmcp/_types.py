"""The protocol's types that a program meets. Fields are named in Python's way, the wire in the
specification's (`mimeType`). What this package does not know survives: see `UnknownContent`."""

from __future__ import annotations

from typing import Any, Callable, Generic, TypeVar, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType

from . import _json, _wire
from ._errors import ProtocolError

T = TypeVar("T")

__all__ = [
    "AudioContent",
    "CallToolResult",
    "Content",
    "EmbeddedResource",
    "ImageContent",
    "Page",
    "Progress",
    "ResourceLink",
    "TextContent",
    "Tool",
    "UnknownContent",
]


class _Block(Struct, tag_field="type", rename="camel", omit_defaults=True, kw_only=True):
    annotations: dict[str, Any] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class TextContent(_Block, tag="text"):
    """Text."""

    text: str


class ImageContent(_Block, tag="image"):
    """A picture; `data` holds its bytes, which are base64 on the wire (RFC 4648 §4)."""

    data: bytes
    mime_type: str


class AudioContent(_Block, tag="audio"):
    """Sound; `data` holds its bytes, which are base64 on the wire (RFC 4648 §4)."""

    data: bytes
    mime_type: str


class ResourceLink(_Block, tag="resource_link"):
    """The address of a resource that the client may read."""

    uri: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    size: int | UnsetType = UNSET


class EmbeddedResource(_Block, tag="resource"):
    """A resource with its contents, as the specification writes them."""

    resource: dict[str, Any]


class UnknownContent(Struct):
    """A block of a kind this package does not know: the whole object as it came."""

    type: str
    raw: dict[str, Any]


Content = Union[TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource, UnknownContent]
"""One block of a tool's result."""

_KNOWN = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource)
_BLOCKS = (*_KNOWN, UnknownContent)


def _no_content() -> list[Any]:
    return []


class CallToolResult(Struct, rename="camel", omit_defaults=True):
    """What a tool gave."""

    # Peers demand it also when it is empty. An empty list from `list` itself would be left out.
    content: list[Any] = msgspec.field(default_factory=_no_content)
    """The blocks of `Content`, in order. A server's tool may put strings among them."""
    structured_content: Any = UNSET
    """The result as data, if the tool gives one."""
    is_error: bool = False
    """Whether the tool failed; then the content says why."""
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")

    @property
    def text(self) -> str:
        """The text of all text blocks, joined by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


class Tool(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A tool that a server offers."""

    name: str
    input_schema: dict[str, Any]
    """A JSON Schema of an object: the arguments."""
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    output_schema: dict[str, Any] | UnsetType = UNSET
    annotations: dict[str, Any] | UnsetType = UNSET
    icons: list[dict[str, Any]] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class Page(Struct, Generic[T]):
    """A page of a list."""

    items: list[T]
    next_cursor: str | None = None
    """What names the next page; None at the end of the list."""


class _Cursor(Struct, rename="camel"):
    next_cursor: str | None = None


_decode_cursor = msgspec.json.Decoder(_Cursor).decode


def next_cursor(text: bytes) -> str | None:
    """What a page of a list says of the next one."""
    return _decode_cursor(text).next_cursor


class Progress(Struct, rename="camel"):
    """How far a call has come."""

    progress: float
    """Grows from report to report."""
    total: float | None = None
    """What it grows to, where that is known."""
    message: str | None = None
    """For a person."""


_Known = Union[TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource]


class _KnownResult(Struct, rename="camel"):
    content: list[_Known] = []
    structured_content: Any = UNSET
    is_error: bool = False
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _WireResult(Struct, rename="camel"):
    content: list[msgspec.Raw] = []
    structured_content: Any = UNSET
    is_error: bool = False
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _Kind(Struct):
    type: str


_decode_known_result = msgspec.json.Decoder(_KnownResult).decode
_decode_result = _wire.tolerant(msgspec.json.Decoder(_WireResult).decode)
_decode_kind = msgspec.json.Decoder(_Kind).decode
_decode_known: Callable[[msgspec.Raw], Content] = msgspec.json.Decoder(_Known).decode
_TAGS = frozenset(kind.__struct_config__.tag for kind in _KNOWN)


def is_content(value: Any) -> bool:
    """Whether `value` is a block of content."""
    return isinstance(value, _BLOCKS)


def check_block(block: Any, where: str) -> None:
    """Raises `TypeError` if a block, or a dict in its place, would be no valid one on the wire. Structs
    are checked here since msgspec checks the types of their members only when it decodes."""
    try:
        _decode_strictly(msgspec.Raw(_json.encode(block)))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where} is no valid block of content: {error}") from None


def decode_call_result(result: bytes) -> CallToolResult:
    """Decodes a result; unknown blocks and members do no harm.

    Raises `ProtocolError` when it is no `CallToolResult`.
    """
    try:
        known = _decode_known_result(result)
        return CallToolResult(known.content, known.structured_content, known.is_error, known.meta)
    except msgspec.DecodeError:
        pass  # it holds a block of another kind, or is broken
    try:
        wire = _decode_result(result)
        content = decode_blocks(wire.content, "content")
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the server's result of tools/call is broken: {error}", fault="peer") from error
    return CallToolResult(content, wire.structured_content, wire.is_error, wire.meta)


def decode_blocks(blocks: list[msgspec.Raw], where: str) -> list[Content]:
    """Blocks as they came. Raises `msgspec.DecodeError` that says which one is none."""
    decoded: list[Content] = []
    for index, block in enumerate(blocks):
        try:
            decoded.append(decode_block(block))
        except msgspec.DecodeError as error:
            raise msgspec.ValidationError(_wire.placed(error, f"{where}[{index}]")) from error
    return decoded


def _decode_strictly(block: Any) -> Content:
    kind = _decode_kind(block).type
    if kind in _TAGS:
        return _decode_known(block)
    return UnknownContent(kind, _json.decode(bytes(block)))


decode_block = _wire.tolerant(_decode_strictly)
"""A block as it came. Raises `msgspec.DecodeError` when it is none."""
