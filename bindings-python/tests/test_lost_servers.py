"""Servers that leave in ways of their own: what they said last counts, and nobody waits for them."""

import asyncio
import os
import pathlib
import sys
import textwrap

import pytest

from oxmcp import Client, ConnectionClosedError

HEAD = """
import json, os, subprocess, sys, time
def read():
    return json.loads(sys.stdin.readline())
def write(message, end="\\n"):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + end)
    sys.stdout.flush()
request = read()
write({"id": request["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                       "serverInfo": {"name": "s", "version": "1"}}})
read()
"""


def server(body: str) -> list[str]:
    return [sys.executable, "-c", HEAD + textwrap.dedent(body)]


STRICT = """
import json, os, sys
request = json.loads(sys.stdin.readline())
if request["method"] != "initialize":
    sys.exit("what is " + request["method"])
result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "strict", "version": str(os.getpid())}}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""


def test_a_server_that_leaves_at_the_first_question_is_started_again_for_the_handshake(tmp_path: pathlib.Path) -> None:
    async def main() -> None:
        for expected in (1, 0):  # the second time it is known
            said = tmp_path / f"stderr-{expected}"
            with said.open("w") as stderr:
                async with Client([sys.executable, "-c", STRICT], stderr=stderr) as client:
                    assert client.protocol_version == "2025-06-18"
                    assert client.server_info["name"] == "strict"
                    process = int(client.server_info["version"])
                    await client.ping()
            assert said.read_text().count("what is server/discover") == expected
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)

    asyncio.run(main())


def test_a_server_that_leaves_however_it_is_started_is_told_of() -> None:
    async def main() -> None:
        with pytest.raises(ConnectionClosedError, match="exited with status 3"):
            await Client([sys.executable, "-c", "raise SystemExit(3)"]).connect()

    asyncio.run(main())


def test_a_last_line_without_its_end_is_an_answer() -> None:
    async def main() -> None:
        command = server("""
            call = read()
            write({"id": call["id"], "result": {"content": [{"type": "text", "text": "last words"}]}}, end="")
        """)
        async with Client(command, mode="legacy") as client:
            result = await client.call_tool("any")
            assert result.content[0].text == "last words"

    asyncio.run(main())


def test_a_server_that_takes_nothing_any_more_is_not_waited_for() -> None:
    async def main() -> None:
        command = server("""
            os.close(0)
            write({"method": "notifications/message", "params": {"level": "info", "data": "closed"}})
            time.sleep(1000)
        """)
        closed = asyncio.Event()
        async with Client(command, mode="legacy", on_log=lambda *_: closed.set()) as client:
            await closed.wait()
            with pytest.raises(ConnectionClosedError, match="closed its side"):
                await client.call_tool("any")

    asyncio.run(main())


def test_a_server_that_died_is_not_waited_for_though_its_output_is_held_open() -> None:
    async def main() -> None:
        command = server("""
            read()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
            os._exit(5)
        """)
        async with Client(command, mode="legacy") as client:
            with pytest.raises(ConnectionClosedError, match="exited with status 5"):
                await client.call_tool("any")

    asyncio.run(main())
