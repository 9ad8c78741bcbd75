"""The other end of a server's standard streams, written by hand: what goes over the wire is what the
tests say, and what they see."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}


def script(folder: Path, source: str) -> Path:
    """Writes a server's program into a file."""
    path = folder / "server.py"
    path.write_text("from oxmcp import Context, McpError, Server, ToolError\n" + textwrap.dedent(source), encoding="utf-8")
    return path


class Peer:
    """A server process and its streams."""

    def __init__(self, path: Path, *options: str, arguments: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *options, str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._next = 0

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: dict[str, Any]) -> None:
        """Sends messages in one write."""
        lines = [json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages]
        self.send_bytes("".join(lines).encode())

    def request(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Sends a request, does not wait."""
        self._next += 1
        self.send({"id": self._next, "method": method, **({} if params is None else {"params": params})})
        return self._next

    def receive(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(self.stderr())
        message: dict[str, Any] = json.loads(line)
        assert message.pop("jsonrpc") == "2.0"
        return message

    def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a request and gives its answer, which must come next."""
        id = self.request(method, params)
        answer = self.receive()
        assert answer.pop("id") == id
        return answer

    def tool(self, name: str, arguments: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Calls a tool and gives the result."""
        if arguments is not None:
            params["arguments"] = arguments
        answer = self.call("tools/call", {"name": name, **params})
        result: dict[str, Any] = answer.get("result", answer)
        return result

    def initialize(self, revision: str = "2025-11-25") -> Peer:
        answer = self.call("initialize", {"protocolVersion": revision, **INITIALIZE})
        assert answer["result"]["protocolVersion"] == revision
        self.send({"method": "notifications/initialized"})
        return self

    def error_line(self) -> str:
        """The next line of standard error."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode().rstrip("\n")

    def stderr(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def leave(self) -> tuple[bytes, str]:
        """Closes the server's input; gives the rest of its output and its standard error."""
        output, errors = self.process.communicate()
        return output, errors.decode()

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()


def text(result: dict[str, Any]) -> str:
    """The text of a tool's result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])
