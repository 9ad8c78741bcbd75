"""What the standard streams of a server's process do, before, while and after it runs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from peer import Peer, script, text

from oxmcp import Server

RUN = {"run": "app.run()", "run_async": "import asyncio; asyncio.run(app.run_async())"}
PRINTS = """
    import io, os, sys
    app = Server("prints")
    @app.tool
    async def prints() -> str:
        print("meanwhile", end="")
        return "said"
"""


@pytest.fixture(autouse=True)
def buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was printed before the start and not buffered is out of anybody's hands.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.mark.parametrize("how", RUN)
def test_prints_never_reach_the_wire(tmp_path: Path, how: str) -> None:
    # None of these ends its line, so all of them wait in a buffer when the descriptors change.
    source = f"""{PRINTS}
    print("before", end=" ")
    {RUN[how]}
    print("after", end="")
"""
    with Peer(script(tmp_path, source)) as peer:
        assert text(peer.initialize().tool("prints")) == "said"
        assert peer.leave() == (b"after", "before meanwhile")


@pytest.mark.parametrize("how", RUN)
def test_a_replaced_standard_output_is_left_alone(tmp_path: Path, how: str) -> None:
    source = f"""{PRINTS}
    print("before", end="")
    sys.stdout = kept = io.StringIO()
    {RUN[how]}
    sys.stdout = sys.__stdout__
    print(kept.getvalue() + " kept")
"""
    with Peer(script(tmp_path, source)) as peer:
        assert text(peer.initialize().tool("prints")) == "said"
        assert peer.leave() == (b"meanwhile kept\n", "before")


def test_the_streams_come_back_when_a_start_fails(tmp_path: Path) -> None:
    source = """
    import os
    app = Server("fails")
    app.title = 5
    before = os.fstat(0).st_ino, os.fstat(1).st_ino, os.listdir("/proc/self/fd")
    try:
        app.run()
    except TypeError:
        after = os.fstat(0).st_ino, os.fstat(1).st_ino, os.listdir("/proc/self/fd")
        print(before == after)
"""
    with Peer(script(tmp_path, source)) as peer:
        assert peer.leave() == (b"True\n", "")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
@pytest.mark.parametrize("how", RUN)
def test_streams_that_are_closed(tmp_path: Path, how: str, closed: str) -> None:
    source = f"""
    import sys
    app = Server("closed")
    try:
        {RUN[how]}
    except OSError as error:
        print(error, file=sys.stderr)
"""
    path = script(tmp_path, source)
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$1" {closed}', sys.executable, str(path)], capture_output=True, text=True
    )
    assert "standard input or output is closed" in done.stderr and "/dev/null" in done.stderr


def test_a_closed_standard_error_is_no_obstacle(tmp_path: Path) -> None:
    path = script(tmp_path, f"{PRINTS}\n    app.run()")
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$1" 2>&-', sys.executable, str(path)], input=ping, stdout=subprocess.PIPE, text=True
    )
    assert (done.returncode, '"id":1' in done.stdout) == (0, True)


def test_run_inside_a_loop_says_what_to_do() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match=r"await app.run_async\(\)"):
            Server("inside").run()

    asyncio.run(main())


def test_a_server_runs_once_at_a_time_and_may_run_again(tmp_path: Path) -> None:
    source = """
        import asyncio, sys
        app = Server("twice")
        @app.tool
        async def again() -> str:
            try:
                await app.run_async()
            except RuntimeError as error:
                return str(error)
            return "ran"
        app.run()
        app.run()
        print("over", file=sys.stderr)
    """
    with Peer(script(tmp_path, source)) as peer:
        assert "runs already" in text(peer.initialize().tool("again"))
        assert peer.leave() == (b"", "over\n")
        assert peer.process.returncode == 0


def test_a_broken_tool_says_why(tmp_path: Path) -> None:
    source = """
        app = Server("broken")
        @app.tool
        async def bad(x: "NoSuchType") -> str: return ""
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        (tool,) = peer.initialize().call("tools/list")["result"]["tools"]
        assert "parameter 'x'" in tool["description"] and "NoSuchType" in tool["description"]
        result = peer.tool("bad", {"x": 1})
        assert result["isError"] is True and "parameter 'x'" in text(result)
