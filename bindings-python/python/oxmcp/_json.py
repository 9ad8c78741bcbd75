"""JSON both ways, where msgspec alone would let through what is none, or refuse what is."""

from __future__ import annotations

import math
from typing import Any

import msgspec


def enc_hook(value: Any) -> Any:
    """How types that msgspec does not know are written: pydantic models dump themselves."""
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass, which msgspec knows as enum only
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)  # only `to_builtins` does not know it
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encode = msgspec.json.Encoder(enc_hook=enc_hook).encode


def encode(value: Any) -> bytes:
    """The JSON of a value. Raises `TypeError` or `ValueError` that say what has no JSON form."""
    try:
        text = _encode(value)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"a string holds {error.object[error.start]!r}, half of a surrogate pair, which has no UTF-8 form"
        ) from None
    # msgspec writes NaN as null without a word.
    if b"null" in text:
        refuse_not_finite(msgspec.to_builtins(value, enc_hook=enc_hook))
    return text


def refuse_not_finite(value: Any) -> None:
    """Raises `ValueError` if there is a NaN or an infinity in a value made of dicts and lists."""
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, dict):
            pending += [(f"{path}.{key}", member) for key, member in item.items()]
        elif isinstance(item, (list, tuple)):
            pending += [(f"{path}[{index}]", member) for index, member in enumerate(item)]
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"JSON has no {item}, which stands at {path}; use None or a string")


def decode(text: bytes | str) -> Any:
    """The value of a JSON text, also of one with lone surrogates, which JSON allows as escapes."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        import json

        return json.loads(text)
