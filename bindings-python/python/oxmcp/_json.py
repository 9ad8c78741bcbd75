"""JSON both ways, where msgspec alone would let through what is none, or refuse what is."""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from typing import Any

import msgspec

from ._errors import printable

# What is written as an array beside what msgspec knows.
_ARRAYS = (deque, Sequence, Set, KeysView, ValuesView)
_BYTES = (bytes, bytearray, memoryview)
# What msgspec asks for only where it stands as a key.
_KNOWN = (dict, list, tuple, set, frozenset)


def enc_hook(value: Any) -> Any:
    """How types that msgspec does not know are written: pydantic models dump themselves."""
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass, which msgspec knows as enum only
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)  # only `to_builtins` does not know it
    import numbers  # few programs get here

    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, numbers.Rational)):
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, _KNOWN):
        raise TypeError(f"a {type(value).__name__} is no key of a JSON object")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, _ARRAYS) and not isinstance(value, _BYTES):
        return list(value)
    if isinstance(value, Iterator):
        raise TypeError(f"a {type(value).__name__} inside of a value can be read only once; make it a list")
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encode = msgspec.json.Encoder(enc_hook=enc_hook).encode


def encode(value: Any) -> bytes:
    """The JSON of a value, in which half of a surrogate pair, which has no UTF-8 form, is U+FFFD.

    Raises `TypeError` or `ValueError` that say what has no JSON form, and where.
    """
    try:
        return encode_exact(value)
    except UnicodeEncodeError:
        return encode_exact(mended(msgspec.to_builtins(value, enc_hook=enc_hook, str_keys=True)))


def encode_exact(value: Any) -> bytes:
    """The same, but for half of a surrogate pair, which raises `UnicodeEncodeError`."""
    try:
        text = _encode(value)
    except TypeError as error:
        raise TypeError(blame(value, error, _encode)) from None
    # msgspec writes NaN as null without a word.
    if b"null" in text:
        refuse_not_finite(msgspec.to_builtins(value, enc_hook=enc_hook))
    return text


def mended(value: Any) -> Any:
    """A value made of dicts and lists, in which half of a surrogate pair is U+FFFD."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {mended(key): mended(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [mended(item) for item in value]
    return value


def blame(value: Any, error: TypeError, write: Callable[[Any], bytes]) -> str:
    """What is said of a value that cannot be written: which part of it is to blame."""
    what, path = str(error), "$"
    while True:
        part = _part_to_blame(value, write)
        if part is None:
            return what if path == "$" else f"{what} - at `{path}`"
        if isinstance(part, str):
            return f"{part} - at `{path}`"
        step, value, what = part
        path += step


def _part_to_blame(value: Any, write: Callable[[Any], bytes]) -> str | tuple[str, Any, str] | None:
    """What is wrong with a key, or the step to the part that cannot be written, that part and what is said of it."""
    if isinstance(value, Mapping):
        for key in value:
            try:
                write({key: 0})
            except TypeError:
                return f"the key {key!r} is of type {type(key).__name__}, and the keys of a JSON object are strings"
            except ValueError:
                pass
        parts = [(f".{key}", member) for key, member in value.items()]
    elif isinstance(value, (Sequence, Set, deque)) and not isinstance(value, (str, *_BYTES)):
        parts = [(f"[{index}]", item) for index, item in enumerate(value)]
    else:
        names: Any = getattr(value, "__struct_fields__", getattr(value, "__dataclass_fields__", ()))
        parts = [(f".{name}", getattr(value, name)) for name in tuple(names) if hasattr(value, name)]
    for step, part in parts:
        try:
            write(part)
        except TypeError as error:
            return step, part, str(error)
        except (ValueError, RecursionError):
            pass
    return None


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
    """The value of a JSON text. A lone surrogate, which JSON allows as an escape, is U+FFFD in it."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        import json

        return json.loads(well_formed(text.encode("utf-8", "replace") if isinstance(text, str) else text))


# A whole pair, half of one, or any other escape.
_ESCAPES = re.compile(
    rb"\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL
)
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?', re.DOTALL)
# Digits of what is read as an integer: those of the largest number that a float can hold.
_DIGITS = 310


def well_formed(text: bytes) -> bytes:
    """A JSON text in which an escape that is half of a surrogate pair is that of U+FFFD."""

    def replace(found: re.Match[bytes]) -> bytes:
        return rb"\ufffd" if len(found[1]) == 5 and found[1][:1] == b"u" and found[1][1:2] in b"dD" else found[0]

    return _ESCAPES.sub(replace, text) if b"\\u" in text else text


def lenient(text: bytes) -> bytes:
    """A JSON text for decoders that are stricter than JSON: well formed, and with integers written as such:
    JSON Schema calls ``5.0`` and ``1e3`` integers."""
    import decimal

    def replace(found: re.Match[bytes]) -> bytes:
        token: bytes = found[0]
        if token[:1] == b'"' or token.lstrip(b"-").isdigit():
            return token
        number = decimal.Decimal(token.decode())
        if number and number.adjusted() >= _DIGITS or number != number.to_integral_value():
            return token
        return b"%d" % int(number)

    return _TOKENS.sub(replace, well_formed(text))
