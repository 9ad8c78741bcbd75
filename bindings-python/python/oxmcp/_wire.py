"""Decoders for what a peer sends. They take what a strict one would refuse and a reader understands: ``null`` for a
member that may be absent, and half of a surrogate pair, which becomes U+FFFD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import msgspec

from . import _json

T = TypeVar("T")

# Members with more of the protocol's types inside. What is in others is the program's.
_NESTED = frozenset(
    ("resource", "resources", "resourceTemplates", "tools", "prompts", "arguments", "icons")
    + ("contents", "content", "messages", "roots", "completion")
)
# Members in which null is a value.
_ANY = frozenset(("structuredContent", "data"))


def tolerant(decode: Callable[[Any], T]) -> Callable[[Any], T]:
    """A decoder that takes what is said above too. Raises `msgspec.DecodeError`."""

    def decode_tolerantly(text: Any) -> T:
        try:
            return decode(text)
        except msgspec.DecodeError as error:
            changed = _changed(bytes(text))
            if changed is None:
                raise
            first = error
        try:
            return decode(changed)
        except msgspec.DecodeError as error:
            raise error from first

    return decode_tolerantly


def _changed(text: bytes) -> bytes | None:
    """The text with both mended; None where there is nothing to mend."""
    try:
        value = _json.decode(text)
        stripped = _without_nulls(value)
        changed = _json.encode(stripped) if stripped != value else _json.well_formed(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return None if changed == text else changed


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_nulls(member) if name in _NESTED and isinstance(member, (dict, list)) else member
        for name, member in value.items()
        if member is not None or name in _ANY
    }


class Read(NamedTuple):
    """A list as far as it can be read, and what is wrong with each entry that was left out."""

    items: list[Any]
    problems: list[str]


def list_decoder(member: str, kind: Any) -> Callable[[bytes], Read]:
    """The decoder of a list's result: of its whole at once, and if that fails, of each entry by itself, so that one
    which is broken does not take the others along. Raises `msgspec.DecodeError` where there is no list."""
    whole = msgspec.defstruct("Whole", [("items", list[kind], msgspec.field(name=member))])
    parts = msgspec.defstruct("Parts", [("items", list[msgspec.Raw], msgspec.field(name=member))])
    decode_whole: Any = msgspec.json.Decoder(whole).decode
    decode_parts: Any = tolerant(msgspec.json.Decoder(parts).decode)
    decode_item = tolerant(msgspec.json.Decoder(kind).decode)

    def decode(text: bytes) -> Read:
        try:
            return Read(decode_whole(text).items, [])
        except msgspec.DecodeError:
            entries = decode_parts(text).items
        items: list[Any] = []
        problems: list[str] = []
        for index, entry in enumerate(entries):
            try:
                items.append(decode_item(entry))
            except msgspec.DecodeError as error:
                problems.append(f"{_named(entry, f'{member}[{index}]')} is left out: {error}")
        return Read(items, problems)

    return decode


def _named(entry: msgspec.Raw, where: str) -> str:
    value = _json.decode(bytes(entry))
    name = value.get("name") if isinstance(value, dict) else None
    return f"{where} ({name!r})" if isinstance(name, str) else where


def placed(error: msgspec.DecodeError, where: str) -> str:
    """What is wrong inside of a part that was decoded by itself, said in terms of the whole."""
    text, found, path = str(error).rpartition(" - at `$")
    return f"{text} - at `$.{where}{path}" if found else f"{error} - at `$.{where}`"
