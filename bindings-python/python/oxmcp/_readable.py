"""Dataclasses with fields that they make themselves (``init=False``), as a decoder can read them: it would demand these
fields, or let a caller set them, and would not call ``__init__``."""

from __future__ import annotations

import dataclasses
import threading
import types
import typing
from typing import Any

import msgspec

from . import _schema

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_made: dict[type, Any] = {}
# Held while one of them is made or described: types may contain themselves, which is no other thread's to see.
_making = threading.RLock()


class _Mirror(type):
    """Stands for a dataclass in a decoder: it reads what ``__init__`` takes, and gives what that makes of it."""

    kind: type
    struct: type[msgspec.Struct]
    is_described: bool

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.kind)

    def __oxmcp_read__(cls, value: Any) -> Any:
        read = msgspec.convert(value, cls.struct, dec_hook=_schema.dec_hook)
        return cls.kind(**{name: getattr(read, name) for name in cls.struct.__struct_fields__})

    def __oxmcp_schema__(cls) -> dict[str, Any]:
        with _making:
            if cls.is_described:
                raise TypeError(f"the dataclass {cls.__name__!r} contains itself, and makes fields itself (init=False)")
            cls.is_described = True
            try:
                return _schema.flat(cls.struct)
            finally:
                cls.is_described = False


def readable(hint: Any) -> Any:
    """The type with such dataclasses replaced."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _mirror(hint) if isinstance(hint, type) and _makes_fields(hint, set()) else hint
    if origin is typing.Literal:
        return hint
    if origin is typing.Annotated:
        inner = readable(arguments[0])
        annotated = (inner, *arguments[1:])
        return hint if inner is arguments[0] else typing.cast(Any, typing.Annotated)[annotated]
    parts = tuple(readable(part) for part in arguments)
    if all(part is before for part, before in zip(parts, arguments)):
        return hint
    return typing.cast(Any, typing.Union)[parts] if origin in _UNIONS else origin[parts]


def _makes_fields(hint: Any, seen: set[Any]) -> bool:
    if not isinstance(hint, type) or not dataclasses.is_dataclass(hint):
        return any(_makes_fields(part, seen) for part in typing.get_args(hint) if not isinstance(part, (str, int)))
    if hint in seen:
        return False
    seen.add(hint)
    if any(not field.init for field in dataclasses.fields(hint)):
        return True
    try:
        hints = typing.get_type_hints(hint, include_extras=True)
    except Exception:
        return False
    return any(_makes_fields(hints.get(field.name), seen) for field in dataclasses.fields(hint))


def _mirror(kind: Any) -> Any:
    with _making:
        return _made[kind] if kind in _made else _new_mirror(kind)


def _new_mirror(kind: Any) -> Any:
    mirror: Any = _Mirror(kind.__name__, (), {"kind": kind, "is_described": False})
    _made[kind] = mirror
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
        fields: list[Any] = []
        for field in dataclasses.fields(kind):
            if not field.init:
                continue
            hint, default = readable(hints[field.name]), field.default
            if field.default_factory is not dataclasses.MISSING:
                fields.append((field.name, hint, msgspec.field(default_factory=field.default_factory)))
            elif isinstance(default, (list, dict, set)) or default is dataclasses.MISSING:
                fields.append((field.name, hint))
            else:
                fields.append((field.name, hint, default))
        mirror.struct = msgspec.defstruct(kind.__name__, fields, kw_only=True)
    except BaseException:
        del _made[kind]
        raise
    return mirror
