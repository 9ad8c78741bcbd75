"""What servers offer beside tools: resources and prompts, with their contents, and completions."""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType

from . import _wire
from ._dialog import Message, decode_message
from ._errors import ProtocolError

__all__ = [
    "BlobResourceContents",
    "Completion",
    "Prompt",
    "PromptArgument",
    "PromptResult",
    "Resource",
    "ResourceResult",
    "ResourceTemplate",
    "TextResourceContents",
]


class _Offer(Struct, rename="camel", omit_defaults=True, kw_only=True):
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    icons: list[dict[str, Any]] | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class Resource(_Offer, kw_only=True):
    """A resource that a server offers."""

    uri: str
    mime_type: str | UnsetType = UNSET
    size: int | UnsetType = UNSET
    annotations: dict[str, Any] | UnsetType = UNSET


class ResourceTemplate(_Offer, kw_only=True):
    """A family of resources, by a URI template (RFC 6570)."""

    uri_template: str
    mime_type: str | UnsetType = UNSET
    annotations: dict[str, Any] | UnsetType = UNSET


class PromptArgument(Struct, omit_defaults=True, kw_only=True):
    """An argument of a prompt: a string."""

    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    required: bool = False


class Prompt(_Offer, kw_only=True):
    """A prompt that a server offers."""

    arguments: list[PromptArgument] = []


class TextResourceContents(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Contents that are text."""

    text: str
    uri: str = ""
    """In a server's handler: the URI that is read, where it says nothing."""
    mime_type: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class BlobResourceContents(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Contents that are bytes, which are base64 on the wire (RFC 4648 §4)."""

    blob: bytes
    uri: str = ""
    """In a server's handler: the URI that is read, where it says nothing."""
    mime_type: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


Contents = Union[TextResourceContents, BlobResourceContents]


class ResourceResult(Struct, omit_defaults=True):
    """What reading a resource gave."""

    contents: list[Contents] = []
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")

    @property
    def text(self) -> str:
        """The text of all contents that are text, joined by line breaks."""
        return "\n".join(item.text for item in self.contents if isinstance(item, TextResourceContents))

    @property
    def blob(self) -> bytes:
        """The bytes of all contents that are bytes, one after the other."""
        return b"".join(item.blob for item in self.contents if isinstance(item, BlobResourceContents))


class PromptResult(Struct, omit_defaults=True):
    """What getting a prompt gave."""

    messages: list[Message] = []
    description: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")

    @property
    def text(self) -> str:
        """The text of all messages, joined by line breaks."""
        return "\n".join(message.text for message in self.messages)


class Completion(Struct, rename="camel", omit_defaults=True):
    """Values that an argument may have."""

    values: list[str] = []
    total: int | UnsetType = UNSET
    """How many there are in all."""
    has_more: bool | UnsetType = UNSET


class _WireContents(Struct, rename="camel"):
    uri: str
    text: str | UnsetType = UNSET
    blob: bytes | UnsetType = UNSET
    mime_type: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _WireResource(Struct):
    contents: list[_WireContents]
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _WirePrompt(Struct):
    messages: list[msgspec.Raw]
    description: str | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _WireCompletion(Struct):
    completion: Completion


_decode_resource = _wire.tolerant(msgspec.json.Decoder(_WireResource).decode)
_decode_prompt = _wire.tolerant(msgspec.json.Decoder(_WirePrompt).decode)
_decode_completion = _wire.tolerant(msgspec.json.Decoder(_WireCompletion).decode)


def decode_resource(result: bytes) -> ResourceResult:
    """A result of `resources/read`. Raises `ProtocolError` when it is none."""
    try:
        wire = _decode_resource(result)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the server's result of resources/read is broken: {error}", fault="peer") from error
    return ResourceResult([_contents(item) for item in wire.contents], wire.meta)


def _contents(item: _WireContents) -> Contents:
    if not isinstance(item.blob, UnsetType):
        return BlobResourceContents(blob=item.blob, uri=item.uri, mime_type=item.mime_type, meta=item.meta)
    text = "" if isinstance(item.text, UnsetType) else item.text
    return TextResourceContents(text=text, uri=item.uri, mime_type=item.mime_type, meta=item.meta)


def decode_prompt(result: bytes) -> PromptResult:
    """A result of `prompts/get`. Raises `ProtocolError` when it is none."""
    try:
        wire = _decode_prompt(result)
        messages = [decode_message(message, f"messages[{index}]") for index, message in enumerate(wire.messages)]
        return PromptResult(messages, wire.description, wire.meta)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the server's result of prompts/get is broken: {error}", fault="peer") from error


def decode_completion(result: bytes) -> Completion:
    """A result of `completion/complete`. Raises `ProtocolError` when it is none."""
    try:
        return _decode_completion(result).completion
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the server's result of completion/complete is broken: {error}", fault="peer") from error
