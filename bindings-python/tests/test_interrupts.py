"""Ctrl-C ends a server, and what a handler raises by itself does not."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from pathlib import Path

import pytest
from peer import Peer, script, text

SERVER = """
    import asyncio, os, sys, time
    app = Server("interrupts")

    def say(word): os.write(2, word.encode() + b"\\n")

    @app.tool
    async def raises() -> str: raise KeyboardInterrupt
    @app.tool
    async def raises_later() -> str:
        await asyncio.sleep(0)
        raise KeyboardInterrupt
    @app.tool
    def plain() -> str: raise KeyboardInterrupt("by hand")
    @app.tool
    async def waits() -> str:
        say("waits")
        await asyncio.Event().wait()
        return "never"
    @app.tool
    async def busy() -> str:
        say("busy")
        end = time.monotonic() + 30
        while time.monotonic() < end: pass
        return "never"
    app.run()
"""


@pytest.mark.parametrize("tool", ["raises", "raises_later", "plain"])
def test_an_interrupt_that_a_tool_raises_is_its_failure(tmp_path: Path, tool: str) -> None:
    with Peer(script(tmp_path, SERVER)) as peer:
        result = peer.initialize().tool(tool)
        assert result["isError"] is True and "KeyboardInterrupt" in text(result) or "by hand" in text(result)
        assert peer.call("ping") == {"result": {}}
        peer.request("tools/call", {"name": "waits"})
        while peer.error_line() != "waits":
            pass  # the traceback of the first one
        peer.process.send_signal(signal.SIGINT)
        assert peer.process.wait() == 0


def test_the_second_interrupt_ends_a_server_that_is_busy(tmp_path: Path) -> None:
    with Peer(script(tmp_path, SERVER)) as peer:
        peer.initialize().request("tools/call", {"name": "busy"})
        assert peer.error_line() == "busy"
        # The first one asks the loop, which does not come round.
        while peer.process.poll() is None:
            peer.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                peer.process.wait(0.2)
        assert peer.process.returncode in (0, 1, -signal.SIGINT, 130)


def test_an_interrupt_in_the_moment_in_which_the_loop_goes_to_sleep(tmp_path: Path) -> None:
    for _ in range(15):
        with Peer(script(tmp_path, SERVER)) as peer:
            peer.initialize().request("tools/call", {"name": "waits"})
            assert peer.error_line() == "waits"
            peer.process.send_signal(signal.SIGINT)
            assert peer.process.wait() == 0
