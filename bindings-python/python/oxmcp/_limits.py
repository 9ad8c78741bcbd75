"""Bounds on what the other side can make a program hold, in the names that the core has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from ._errors import UsageError, unknown_option


class ClientLimits(TypedDict, total=False):
    """What a server can make a client hold."""

    message: int
    """Bytes of a message; 16 MiB by default. A larger one is dropped, and told of by ``on_problem``; the call
    that it answers fails."""
    depth: int
    """How deep the JSON of a message may nest; 128 by default."""


class ServerLimits(ClientLimits, total=False):
    """What a client can make a server hold."""

    in_flight: int
    """Calls that wait for an answer at the same time; 65,536 by default."""
    drain: float
    """How many seconds accepted calls may go on after the client has left; 5 by default."""
    subscriptions: int
    """Streams and subscriptions of one client; 1024 by default."""


def settings(limits: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """The limits as the core takes them. Raises `UsageError` for one that there is not, or that is no such number."""
    if not isinstance(limits, Mapping):
        raise UsageError(f'limits= is a dict such as {{"message": 1048576}}, not {limits!r}')
    known = kind.__required_keys__ | kind.__optional_keys__
    given: dict[str, Any] = {}
    for name, value in limits.items():
        if name not in known:
            raise UsageError(unknown_option("limits=", str(name), known))
        if name == "drain":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise UsageError(f"limits= has drain, which is a number of seconds from 0 up, not {value!r}")
            given["drain"] = round(value * 1000)
        else:
            given["inFlight" if name == "in_flight" else name] = count(value, f"limits= has {name}, which")
    return given


def count(value: Any, what: str) -> int:
    """A whole number from 1 up."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**53:
        raise UsageError(f"{what} is a whole number from 1 up, not {value!r}")
    return value
