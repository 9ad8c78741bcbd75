"""What a server and a client ask each other while a call runs: messages, elicitation, sampling, roots."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType

from . import _json, _wire
from ._errors import ProtocolError, printable
from ._types import Content, TextContent, UnknownContent, check_block, decode_block, decode_blocks, is_content

__all__ = [
    "ElicitRequest",
    "ElicitResult",
    "Message",
    "Root",
    "SampleRequest",
    "SampleResult",
]

T = TypeVar("T")
Action = Literal["accept", "decline", "cancel"]


class Message(Struct, omit_defaults=False):
    """A message of a prompt or of a sampling request.

    ``Message("text")`` is the user's; ``Message("text", "assistant")`` the model's.
    """

    content: Any
    """A string, a block of content, or a list of blocks."""
    role: Literal["user", "assistant"] = "user"

    @property
    def text(self) -> str:
        """The text of its text blocks, joined by line breaks."""
        return text_of(self.content)


class ElicitRequest(Struct, rename="camel", kw_only=True):
    """What a server asks the client's user for."""

    message: str
    mode: str = "form"
    """``"form"`` or ``"url"``."""
    requested_schema: dict[str, Any] = {}
    """The form, as a JSON Schema of an object with simple members."""
    url: str | None = None
    """What the user is to visit. Show it, and ask, before opening it."""
    elicitation_id: str | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class ElicitResult(Struct, Generic[T], omit_defaults=True):
    """What the user made of it."""

    action: Action
    content: T | None = None
    """What was filled in, if the action is ``"accept"``."""

    @property
    def accepted(self) -> bool:
        """Whether the user agreed."""
        return self.action == "accept"


class SampleRequest(Struct, rename="camel", kw_only=True):
    """What a server asks the client's model for."""

    messages: list[Message]
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: list[str] | None = None
    model_preferences: dict[str, Any] | None = None
    include_context: str | None = None
    metadata: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class SampleResult(Struct, rename="camel", omit_defaults=True):
    """What the model said."""

    content: Any
    """A string, a block of content, or a list of blocks."""
    model: str = ""
    role: Literal["user", "assistant"] = msgspec.field(default="assistant")
    stop_reason: str | UnsetType = UNSET

    @property
    def text(self) -> str:
        """The text of its text blocks, joined by line breaks."""
        return text_of(self.content)


class Root(Struct, omit_defaults=True):
    """A folder or file that the client lets the server work on."""

    uri: str
    name: str | UnsetType = UNSET


class _WireMessage(Struct):
    role: Literal["user", "assistant"]
    content: msgspec.Raw


class _WireSample(Struct, rename="camel"):
    role: Literal["user", "assistant"]
    content: msgspec.Raw
    model: str
    stop_reason: str | UnsetType = UNSET


class _WireRequest(SampleRequest, kw_only=True):
    messages: list[_WireMessage]  # type: ignore[assignment]


class _Roots(Struct):
    roots: list[Root]


_decode_sample = _wire.tolerant(msgspec.json.Decoder(_WireSample).decode)
_decode_request = _wire.tolerant(msgspec.json.Decoder(_WireRequest).decode)
_decode_message = _wire.tolerant(msgspec.json.Decoder(_WireMessage).decode)
_decode_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_roots = _wire.tolerant(msgspec.json.Decoder(_Roots).decode)


def text_of(content: Any) -> str:
    """The text of content."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(block.text for block in blocks if isinstance(block, TextContent))


def message_out(item: Any, where: str) -> dict[str, Any]:
    """A message as it goes out: from a string, a block, a `Message` or a dict."""
    if isinstance(item, dict) and "role" in item:
        return item
    if not isinstance(item, Message):
        item = Message(item)
    if item.role not in ("user", "assistant"):
        raise TypeError(f"{where}: the role is 'user' or 'assistant', not {item.role!r}")
    return {"role": item.role, "content": content_out(item.content, where)}


def messages_out(value: Any, what: str) -> list[dict[str, Any]]:
    """Messages as they go out: from one or a list of them."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [message_out(item, f"{what}[{index}]") for index, item in enumerate(items)]


def content_out(content: Any, where: str) -> Any:
    """Content as it goes out: from a string, a block or a list of blocks."""
    if isinstance(content, (list, tuple)):
        return [content_out(item, where) for item in content]
    if isinstance(content, str):
        return TextContent(text=printable(str.__str__(content)))
    make = getattr(content, "to_content", None)
    if make is not None:
        content = make()
    block = content.raw if isinstance(content, UnknownContent) else content
    if not isinstance(block, dict) and not is_content(block):
        raise TypeError(f"{where} is of type {type(content).__name__}; a message is a string, a block or a Message")
    check_block(block, where)
    return block


def content_in(raw: msgspec.Raw, where: str = "content") -> Union[Content, list[Content]]:
    """Content as it came, which stands at `where`; blocks of unknown kinds are kept."""
    if bytes(raw).lstrip()[:1] == b"[":
        return decode_blocks(_decode_raws(raw), where)
    try:
        return decode_block(raw)
    except msgspec.DecodeError as error:
        raise msgspec.ValidationError(_wire.placed(error, where)) from error


def decode_message(raw: msgspec.Raw, where: str) -> Message:
    """A message as it came."""
    try:
        wire = _decode_message(raw)
    except msgspec.DecodeError as error:
        raise msgspec.ValidationError(_wire.placed(error, where)) from error
    return Message(content_in(wire.content, f"{where}.content"), wire.role)


def decode_sample(result: bytes) -> SampleResult:
    """A result of `sampling/createMessage`. Raises `ProtocolError` when it is none."""
    try:
        wire = _decode_sample(result)
        return SampleResult(content_in(wire.content), wire.model, wire.role, wire.stop_reason)
    except msgspec.DecodeError as error:
        what = f"the client's result of sampling/createMessage is broken: {error}"
        raise ProtocolError(what, fault="peer") from error


def decode_request(params: bytes) -> SampleRequest:
    """The params of `sampling/createMessage`. Raises `msgspec.DecodeError` when they are none."""
    wire = _decode_request(params)
    messages = [
        Message(content_in(message.content, f"messages[{index}].content"), message.role)
        for index, message in enumerate(wire.messages)
    ]
    return SampleRequest(**{**msgspec.structs.asdict(wire), "messages": messages})


def decode_roots(result: bytes) -> list[Root]:
    """A result of `roots/list`. Raises `ProtocolError` when it is none."""
    try:
        return _decode_roots(result).roots
    except msgspec.DecodeError as error:
        raise ProtocolError(f"the client's result of roots/list is broken: {error}", fault="peer") from error


def sample_out(value: Any) -> bytes:
    """The result of `sampling/createMessage`: from a string, a block, a `SampleResult` or a dict."""
    if isinstance(value, dict) and "role" in value:
        return _json.encode(value)
    if not isinstance(value, SampleResult):
        value = SampleResult(value)
    result: dict[str, Any] = {
        "role": value.role,
        "content": content_out(value.content, "the content"),
        "model": value.model or "unknown",
    }
    if value.stop_reason is not UNSET:
        result["stopReason"] = value.stop_reason
    return _json.encode(result)


def elicit_out(value: Any) -> bytes:
    """The result of `elicitation/create`: an `ElicitResult`, an action, or the content of an accepted form."""
    if value is None:
        value = ElicitResult("cancel")
    elif isinstance(value, str):
        value = ElicitResult(value)  # type: ignore[arg-type]
    elif not isinstance(value, ElicitResult):
        value = ElicitResult("accept", value)
    if value.action not in ("accept", "decline", "cancel"):
        raise TypeError(f"the action of an elicitation is 'accept', 'decline' or 'cancel', not {value.action!r}")
    result: dict[str, Any] = {"action": value.action}
    if value.content is not None and value.accepted:
        result["content"] = value.content
    return _json.encode(result)
