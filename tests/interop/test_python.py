"""Our Python package and the official SDKs, on either side of real pipes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

import expected
import pytest

from oxmcp import Client, ResponseError

PROGRAMS = Path(__file__).parent / "programs"
OURS, THEIRS, NODE = (os.environ[f"OXMCP_{name}"] for name in ("PYTHON", "PEER_PYTHON", "NODE"))

SERVERS = {
    "our Python server": [OURS, str(PROGRAMS / "our_server.py")],
    "official Python server": [THEIRS, str(PROGRAMS / "official_server.py")],
    "official TypeScript server": [NODE, str(PROGRAMS / "official_server.mjs")],
}


async def saying(file: Path, what: str) -> None:
    """Waits until a server has said something on its standard error. The test's own timeout bounds it."""
    while what not in file.read_text():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
@pytest.mark.parametrize("command", SERVERS.values(), ids=SERVERS)
def test_our_client(command: list[str], mode: Literal["legacy", "auto"], revision: str) -> None:
    async def main() -> None:
        with tempfile.NamedTemporaryFile() as stderr:
            async with Client(command, stderr=stderr.file, mode=mode) as client:
                assert client.protocol_version == revision
                assert client.server_info["name"] == "interop"
                assert client.instructions == "For tests."
                tools = await client.list_tools()
                assert [tool.name for tool in tools] == ["add", "count", "wait", "fail"]
                assert tools[0].description == "Adds two numbers."
                assert (await client.call_tool("add", {"a": 2, "b": 3})).text == "5"

                progress: list[tuple[object, ...]] = []
                result = await client.call_tool("count", {"to": 3}, on_progress=lambda *it: progress.append(it))
                assert result.text == "counted"
                assert progress == [(step, 3, f"step {step}") for step in (1, 2, 3)]

                failed = await client.call_tool("fail")
                assert failed.is_error and "on purpose" in failed.text

                call = asyncio.ensure_future(client.call_tool("wait"))
                await saying(Path(stderr.name), "waiting")
                call.cancel()
                await saying(Path(stderr.name), "cancelled")
                with pytest.raises(asyncio.CancelledError):
                    await call
                with pytest.raises(ResponseError) as error:
                    await client.request("no/such")
                assert error.value.code == -32601
                assert (await client.call_tool("add", {"a": 1, "b": 1})).text == "2"

    asyncio.run(main())


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_python_client(mode: str, revision: str) -> None:
    done = subprocess.run(
        [THEIRS, str(PROGRAMS / "official_client.py"), mode, *SERVERS["our Python server"]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "waiting" in done.stderr and "cancelled" in done.stderr
    assert json.loads(done.stdout) == expected.tools(revision)
