"""What a FastMCP server shows of what it has: the rules of ``mcp.enable`` and ``mcp.disable``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..._server import Entry

__all__ = ["Rule", "is_shown"]

_KINDS = ("tool", "resource", "template", "prompt")


class Rule(NamedTuple):
    """What matches all that is said is shown, or not. The last rule that matches counts."""

    shows: bool
    names: frozenset[str] | None = None
    keys: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    components: frozenset[str] | None = None
    version: Any = None

    @classmethod
    def of(cls, shows: bool, components: Collection[str] | None = None, version: Any = None, **given: Any) -> Rule:
        """A rule of what a program gave."""
        for name, value in {**given, "components": components}.items():
            if isinstance(value, str):
                raise TypeError(f"{name} is a set of strings, not the string {value!r}")
        wrong = set(components or ()) - set(_KINDS)
        if wrong:
            raise ValueError(f"components are {', '.join(_KINDS)}, not {min(wrong)!r}")
        sets = {name: None if value is None else frozenset(value) for name, value in given.items()}
        return cls(shows, components=frozenset(components) if components else None, version=version, **sets)

    def matches(self, entry: Entry) -> bool:
        # Nothing here has a version, so what asks for one matches nothing.
        return (
            self.version is None
            and (self.components is None or entry.kind in self.components)
            and (self.names is None or bool(self.names & {entry.key, entry.options.get("name")}))
            and (self.keys is None or bool(self.keys & {f"{entry.kind}:{entry.key}", f"{entry.kind}:{entry.key}@"}))
            and (self.tags is None or bool(self.tags & set(entry.options.get("tags") or ())))
        )


def is_shown(rules: list[Rule], entry: Entry) -> bool:
    """Whether clients see an entry."""
    shown = [rule.shows for rule in rules if rule.matches(entry)]
    return shown[-1] if shown else entry.options.get("enabled") is not False
