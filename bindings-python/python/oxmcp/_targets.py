"""What a client can be pointed at."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ._errors import UsageError

if TYPE_CHECKING:
    from ._server import Server

Target = Union[str, "os.PathLike[str]", Sequence[str], Mapping[str, Any], "Server"]
"""A program and its arguments, the path of a script, a URL, a configuration, or a server in memory."""


class Resolved(NamedTuple):
    """A target: exactly one of `command`, `url` and `app` is set."""

    command: list[str] | None = None
    url: str | None = None
    app: Any = None
    env: dict[str, str] | None = None
    cwd: str | None = None
    headers: dict[str, str] | None = None
    script: str | None = None
    """The file that has to be there, where the target was a script."""


def resolve(target: Target, server: str | None = None) -> Resolved:
    """Finds out what a target is.

    :param server: which one of a configuration with several servers.

    Raises `UsageError` that says what would be right.
    """
    make = getattr(target, "__oxmcp_server__", None)
    if make is not None:
        resolved = Resolved(app=make())
    elif isinstance(target, Mapping):
        return _configured(target, server)
    elif isinstance(target, (str, os.PathLike)):
        resolved = _named(os.fspath(target))
    elif isinstance(target, Sequence) and not isinstance(target, (bytes, bytearray)):
        resolved = Resolved(command=[_word(part) for part in target])
    else:
        raise UsageError(
            "a client is pointed at a command (a list), the path of a script, a URL, a dict with mcpServers, or a "
            f"Server, not at {target!r}"
        )
    if server is not None:
        raise UsageError("server= names one of a configuration with mcpServers, and the target is none")
    if resolved.command is not None and not (resolved.command and resolved.command[0]):
        raise UsageError("a command needs at least the program's name, which is not empty")
    return resolved


def _word(part: Any) -> str:
    try:
        return os.fsdecode(part)
    except TypeError:
        raise UsageError(f"a command is a list of strings and paths; {part!r} is neither") from None


def _named(text: str | bytes) -> Resolved:
    name = os.fsdecode(text)
    if isinstance(text, str) and (scheme := _SCHEME.match(name)) and (scheme[2] or scheme[1].lower() in _SCHEMES):
        return Resolved(url=_url(name))
    interpreters = {".py": sys.executable, ".js": "node", ".mjs": "node"}
    interpreter = interpreters.get(os.path.splitext(name)[1])
    return Resolved(command=[name]) if interpreter is None else Resolved(command=[interpreter, name], script=name)


# Of two letters at least: a single one is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?")
_SCHEMES = ("http", "https")


def _url(text: str) -> str:
    """A URL of HTTP, with its scheme in lower case."""
    scheme, _, rest = text.partition(":")
    if scheme.lower() not in _SCHEMES:
        raise UsageError(f"a server is reached by http:// or https://, not by {scheme}://: {text!r}")
    if not rest.startswith("//") or rest[2:3] in ("", "/", "?", "#", ":"):
        raise UsageError(f"{text!r} is no URL: it is written like 'http://host:port/path'")
    return f"{scheme.lower()}:{rest}"


def _configured(config: Mapping[str, Any], server: str | None) -> Resolved:
    """One server of a configuration as programs keep them in files: ``{"mcpServers": {name: {...}}}``."""
    servers = config.get("mcpServers", config.get("servers"))
    if servers is None and ("command" in config or "url" in config):
        servers = {"": config}
    if not isinstance(servers, Mapping) or not servers:
        raise UsageError('a configuration is {"mcpServers": {"name": {"command": "…", "args": […]}}}')
    if server is None and len(servers) > 1:
        raise UsageError(f"the configuration has several servers; name one by server=: {', '.join(map(repr, servers))}")
    name = next(iter(servers)) if server is None else server
    entry = servers.get(name)
    where = f"the server {name!r} of the configuration"
    if entry is None:
        raise UsageError(f"the configuration has no server {name!r}; it has {', '.join(map(repr, servers))}")
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where} is a dict with command or url, not {entry!r}")
    if "url" in entry:
        return Resolved(url=_url(_text(entry["url"], f"url of {where}")), headers=_texts(entry, "headers", where))
    command, args = entry.get("command"), entry.get("args", [])
    if not command or not isinstance(args, Sequence) or isinstance(args, str):
        raise UsageError(f'{where} needs "command", a string that is not empty, and "args", a list of strings')
    words = [_text(command, f"command of {where}"), *(_text(part, f"args of {where}") for part in args)]
    cwd = entry.get("cwd")
    return Resolved(
        command=words, env=_texts(entry, "env", where), cwd=None if cwd is None else _text(cwd, f"cwd of {where}")
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: a string is needed, not {value!r}")
    return value


def _texts(entry: Mapping[str, Any], name: str, where: str) -> dict[str, str] | None:
    values = entry.get(name)
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise UsageError(f"{name} of {where} is a dict of strings, not {values!r}")
    return {key: _text(value, f"{name}.{key} of {where}") for key, value in values.items()}
