"""What a client is pointed at, as objects: ``fastmcp.client.transports``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "ClientTransport",
    "FastMCPTransport",
    "NodeStdioTransport",
    "PythonStdioTransport",
    "SSETransport",
    "StdioTransport",
    "StreamableHttpTransport",
]


class ClientTransport:
    """A target of `oxmcp.Client`, and options that go with it."""

    def __init__(self, target: Any, **options: Any) -> None:
        self.target = target
        self.options = {name: value for name, value in options.items() if value is not None}


class FastMCPTransport(ClientTransport):
    """A server in memory."""

    def __init__(self, mcp: Any, raise_exceptions: bool = False) -> None:
        super().__init__(mcp)
        self.server = mcp


class StdioTransport(ClientTransport):
    """A program, over its standard streams."""

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        keep_alive: bool | None = None,
        log_file: Any = None,
    ) -> None:
        super().__init__([command, *args], env=env, cwd=cwd, stderr=log_file)
        self.command, self.args, self.env = command, list(args), env


class PythonStdioTransport(StdioTransport):
    """A script in Python."""

    def __init__(
        self,
        script_path: str | os.PathLike[str],
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        python_cmd: str = sys.executable,
        **options: Any,
    ) -> None:
        super().__init__(python_cmd, [os.fspath(script_path), *args], env, cwd, **options)


class NodeStdioTransport(StdioTransport):
    """A script in JavaScript."""

    def __init__(
        self,
        script_path: str | os.PathLike[str],
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        node_cmd: str = "node",
        **options: Any,
    ) -> None:
        super().__init__(node_cmd, [os.fspath(script_path), *args], env, cwd, **options)


class StreamableHttpTransport(ClientTransport):
    """A server over HTTP."""

    def __init__(self, url: Any, headers: Mapping[str, str] | None = None, auth: str | None = None, **_: Any) -> None:
        fields = {**(headers or {}), **({"Authorization": f"Bearer {auth}"} if auth else {})}
        super().__init__(str(url), headers=fields or None)
        self.url, self.headers = str(url), fields


class SSETransport(StreamableHttpTransport):
    """The same; the older form of HTTP is found out by itself."""
