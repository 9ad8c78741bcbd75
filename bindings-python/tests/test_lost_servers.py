"""Servers that leave in ways of their own: what they said last counts, and nobody waits for them."""

import asyncio
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
