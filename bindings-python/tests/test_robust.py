"""What must not bring a connection down: floods, dead readers, hooks and tools that misbehave."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from peer import Peer, script, text

from oxmcp import Client, ConnectionClosedError, RequestTimeoutError

# A server that reads a line, answers it, and only then reads the next: as simple ones are written.
BLOCKING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "b", "version": "1"}}
    elif "id" in message:
        result = {"content": [{"type": "text", "text": "x" * 200_000}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

# The same, which reads nothing after the handshake.
DEAF = BLOCKING + "    import time; time.sleep(600)\n"


def test_more_requests_than_any_buffer_holds() -> None:
    async def main() -> None:
        async with Client([sys.executable, "-c", BLOCKING]) as client:
            big = "y" * 1_000_000
            results = await asyncio.gather(*(client.call_tool("x", {"text": big}) for _ in range(40)))
            assert all(len(result.text) == 200_000 for result in results)

    asyncio.run(main())


def test_what_a_closed_connection_had_to_say_goes_nowhere() -> None:
    # The descriptor of a closed pipe is the next one's number.
    async def main() -> None:
        first = Client([sys.executable, "-c", DEAF], mode="legacy")
        await first.connect()
        call = asyncio.ensure_future(first.call_tool("x", {"text": "Z" * 2_000_000}, timeout=0.3))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(first.close())
        async with Client([sys.executable, "-c", BLOCKING]) as second:
            with pytest.raises((ConnectionClosedError, RequestTimeoutError)):
                await call
            for _ in range(3):
                assert len((await second.call_tool("x")).text) == 200_000
            await closing
            assert len((await second.call_tool("x")).text) == 200_000

    asyncio.run(main())


@pytest.mark.parametrize("hook", ["on_trace=seen", "on_problem=broken", "on_trace=broken"])
def test_hooks_of_a_server(tmp_path: Path, hook: str) -> None:
    source = f"""
        def seen(*_): pass
        def broken(*_): raise ValueError("in a hook")
        app = Server("hooks", {hook})
        @app.tool
        async def echo(text: str) -> str: return text
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.send_bytes(b"no JSON\n")
        assert peer.receive()["error"]["code"] == -32700
        peer.initialize()
        assert peer.call("tools/list")["result"]["tools"][0]["name"] == "echo"
        peer.send_bytes(b"no JSON\n")
        assert peer.receive()["error"]["code"] == -32700
        assert text(peer.tool("echo", {"text": "on"})) == "on"
        output, errors = peer.leave()
        assert (output, "in a hook" in errors) == (b"", "broken" in hook)
        assert peer.process.returncode == 0


@pytest.mark.parametrize(
    "statement",
    [
        'raise ValueError("no file \\udcff")',
        'raise McpError("odd", data=object())',
        'raise McpError("odd", code="abc")',
        "raise Unprintable",
        "next(iter([]))",
        "raise SystemExit(3)",
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_whatever_a_tool_raises_its_call_is_answered(tmp_path: Path, kind: str, statement: str) -> None:
    source = f"""
        class Unprintable(Exception):
            def __str__(self): raise RuntimeError("no")
        app = Server("raises")
        @app.tool
        {kind} bad() -> str:
            {statement}
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        answer = peer.initialize().call("tools/call", {"name": "bad"})
        assert "error" in answer or answer["result"]["isError"] is True
        assert peer.call("ping") == {"result": {}}


def test_a_non_blocking_input_costs_no_time_to_wait_for(tmp_path: Path) -> None:
    path = script(tmp_path, "app = Server('idle')\napp.run()")
    read, write = os.pipe()
    os.set_blocking(read, False)
    process = subprocess.Popen([sys.executable, str(path)], stdin=read, stdout=subprocess.PIPE)
    os.close(read)
    assert process.stdout is not None
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    os.write(write, ping)
    assert b'"id":1' in process.stdout.readline()
    before = cpu_seconds(process.pid)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    # It waited, and did not spin.
    assert cpu_seconds(process.pid) - before < 0.2
    os.write(write, ping)
    assert b'"id":1' in process.stdout.readline()
    os.close(write)
    assert process.wait() == 0
    process.stdout.close()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
def test_a_loop_whose_tasks_start_at_once() -> None:
    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        code = BLOCKING.replace('result = {"content"', 'sys.exit(3); result = {"content"')
        async with Client([sys.executable, "-c", code], mode="legacy") as client:
            with pytest.raises(ConnectionClosedError, match="status 3"):
                await client.call_tool("x")

    asyncio.run(main())
