"""Programs without a change: `mcp` and `fastmcp` as names of this package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from peer import Peer, text

PROGRAM = """
import mcp
import mcp.server.stdio
import mcp.types as types
from mcp.server import FastMCP as FromServer, MCPServer, NotificationOptions, Server
from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.prompts import base
from mcp.server.fastmcp.tools.base import Tool
from mcp.server.fastmcp.utilities.logging import get_logger
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import MCPServer as Newer
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.context import RequestContext
from mcp.shared.exceptions import McpError
from fastmcp import FastMCP as Other
from fastmcp.exceptions import ToolError as OtherError
from fastmcp.tools.tool import ToolResult
from fastmcp.utilities.types import Image as OtherImage
import sys

assert FastMCP is Other is FromServer is MCPServer is Newer and OtherError is ToolError
assert mcp.types.Tool is types.Tool and mcp.server.stdio.stdio_server and mcp.McpError is McpError

app = FastMCP("unchanged")

@app.tool()
def echo(text: str) -> str:
    return f"{text} {sys.argv[1:]} {__name__}"

if __name__ == "__main__":
    app.run()
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_a_program_runs_without_a_change(as_module: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unchanged.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    target = ["-m", "unchanged"] if as_module else ["unchanged.py"]
    start = tmp_path / "start.py"
    start.write_text(
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv[1:] = {[*target, '--its', 'own']!r}; "
        "runpy.run_module('oxmcp.compat', run_name='__main__', alter_sys=True)",
        encoding="utf-8",
    )
    with Peer(start) as peer:
        assert text(peer.initialize().tool("echo", {"text": "hi"})) == "hi ['--its', 'own'] __main__"


def test_what_there_is_nothing_for_is_told() -> None:
    code = (
        "import oxmcp.compat as compat; compat.install(); compat.install()\n"
        "try:\n"
        "    import mcp.client.stdio\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error.name, '|', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "mcp.client | oxmcp has nothing in place of mcp.client; see 'Moving over' in its documentation\n", done
    code = "import sys, types; sys.modules['mcp'] = types.ModuleType('mcp'); import oxmcp.compat; oxmcp.compat.install()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "RuntimeError: mcp was imported already; install() comes first" in done.stderr


def test_without_a_program_its_use_is_told() -> None:
    done = subprocess.run([sys.executable, "-m", "oxmcp.compat"], capture_output=True, text=True)
    assert done.returncode == 1 and "usage: python -m oxmcp.compat server.py" in done.stderr


def test_the_name_mcp_for_this_package() -> None:
    import oxmcp.compat as mcp

    assert mcp.types.Tool(name="x", inputSchema={}).name == "x"
    assert mcp.server.stdio.stdio_server and mcp.server.Server and mcp.shared.exceptions.McpError
    with pytest.raises(AttributeError, match="has no attribute 'ClientSession'"):
        mcp.ClientSession  # noqa: B018
