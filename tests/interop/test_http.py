"""The official Python SDK and our Rust crate over HTTP, with servers that are real processes."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import expected
import pytest
from served import served

PROGRAMS = Path(__file__).parent / "programs"
NAMES = ("PEER_PYTHON", "NODE", "HTTP_SERVER", "HTTP_CLIENT")
THEIRS, NODE, SERVER, CLIENT = (os.environ[f"OXMCP_{name}"] for name in NAMES)

PYTHON_SERVER = [THEIRS, str(PROGRAMS / "official_http_server.py")]
TYPESCRIPT_SERVER = [NODE, str(PROGRAMS / "official_http_server.mjs")]
SERVERS = {
    "our Rust server": [SERVER, "tools"],
    "official Python server": [*PYTHON_SERVER, "tools"],
    "official TypeScript server": [*TYPESCRIPT_SERVER, "v2"],
    "official TypeScript server, v1": [*TYPESCRIPT_SERVER, "v1"],
}
# They say that a tool is not there in a result.
RESULTS_FOR_UNKNOWN_TOOLS = ["official Python server", "official TypeScript server, v1"]
# It knows no revision without a handshake.
LEGACY = "official TypeScript server, v1"
# It makes a server anew for each request of a revision with a handshake: none can be told to cancel another.
STATELESS = "official TypeScript server"


def run(*command: str, until: Callable[[], bool] = lambda: True) -> Any:
    """What a client program saw. Its standard input ends when `until` is true."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as client:
        try:
            while not until() and client.poll() is None:
                time.sleep(0.01)
            stdout, stderr = client.communicate(timeout=60)
        finally:
            client.kill()
    assert client.returncode == 0, stderr
    return json.loads(stdout)


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_tools_for_the_official_client(mode: str, revision: str) -> None:
    with served(SERVER, "tools") as (url, said):
        seen = run(THEIRS, str(PROGRAMS / "official_client.py"), mode, url, until=lambda: "cancelled" in said.read_text())
        assert seen == expected.tools(revision)
        assert said.read_text().splitlines() == ["waiting", "cancelled"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_surface_for_the_official_client(mode: str) -> None:
    with served(SERVER, "surface") as (url, said):
        assert run(THEIRS, str(PROGRAMS / "official_surface_client.py"), mode, url) == expected.surface(mode)
        assert said.read_text() == ""


def test_sessions_and_streams_for_the_official_client() -> None:
    with served(SERVER, "surface") as (url, said):
        seen = run(THEIRS, str(PROGRAMS / "official_http_client.py"), "legacy", url)
        session = seen.pop("session")
        assert seen == {
            "rejoin": "rejoined",
            "told": ["notifications/tools/list_changed"],
            "requests": ["DELETE 204", "GET 200", "GET for the rest 200", "POST 200", "POST 202"],
        }
        assert ping(url, session) == 404, "the session has ended"
        assert said.read_text() == ""


def test_subscriptions_for_the_official_client() -> None:
    with served(SERVER, "surface") as (url, said):
        assert run(THEIRS, str(PROGRAMS / "official_http_client.py"), "auto", url) == {
            "rejoin": "rejoined",
            "changes": ["ResourceUpdated", "ToolsListChanged"],
            "requests": ["POST 200"],
            "session": None,
        }
        assert said.read_text() == ""


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
@pytest.mark.parametrize("name", SERVERS)
def test_tools_for_our_client(name: str, mode: str, revision: str) -> None:
    revision = "2025-11-25" if name == LEGACY else revision
    with served(*SERVERS[name]) as (url, said):
        last = "waiting" if (name, mode) == (STATELESS, "legacy") else "cancelled"
        seen = run(CLIENT, "tools", mode, url, until=lambda: last in said.read_text())
        wanted = expected.tools(revision)
        if name in RESULTS_FOR_UNKNOWN_TOOLS:
            assert "nope" in seen["unknown"]
            wanted["unknown"] = seen["unknown"]
        failed, why = seen.pop("fail")
        assert failed and why.endswith(wanted.pop("fail")[1])
        assert seen == wanted
        if name == LEGACY:
            assert said.read_text().split() == ["waiting", "cancelled", "closed"], "the session has ended"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("server", [[SERVER], PYTHON_SERVER], ids=["our Rust server", "official Python server"])
def test_the_surface_for_our_client(server: list[str], mode: str) -> None:
    with served(*server, "surface") as (url, _):
        seen = run(CLIENT, "surface", mode, url)
        wanted = expected.surface("legacy") | {"rejoin": "rejoined"}
        if server == PYTHON_SERVER:
            assert list(seen["form"]["properties"]) == ["name", "age"]
            wanted["form"] = seen["form"]
            # It declares neither log messages in one era nor changes of lists in the other.
            wanted["told" if mode == "legacy" else "logged"] = []
        assert seen == wanted


def ping(url: str, session: str) -> int:
    """The status of a ping in a session."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
        "Mcp-Session-Id": session,
    }
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
