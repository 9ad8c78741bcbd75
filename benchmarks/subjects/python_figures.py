"""Two figures of the Python packages that the benchmark has no column for: how long an import takes, and how many progress
notifications a second a tool can report over stdio.

    python python_figures.py [ROUNDS]

Run it with an interpreter that has the packages. Every round takes each package once, in a new process; figures are the
medians over the rounds. The time of an import is that of the process, without that of one which imports nothing. Progress is
counted by the client: from the write of the call to its answer, and each notification is looked at.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

IMPORTS = {
    "nothing": "pass",
    "oxmcp": "import oxmcp",
    "oxmcp, all of it": "import oxmcp; [getattr(oxmcp, name) for name in oxmcp.__all__]",
    "oxmcp.fastmcp": "import oxmcp.fastmcp",
    "official SDK": "import mcp",
    "FastMCP": "import fastmcp",
}
TOOL = """
async def steps(count: int, ctx: Context) -> str:
    for step in range(count):
        await ctx.report_progress(step + 1, count)
    return "done"
"""


class Server(NamedTuple):
    source: str
    count: int
    """So many notifications that a run takes about a second."""


SERVERS = {
    "oxmcp": Server(f"from oxmcp import Context, Server\n{TOOL}\napp = Server('p')\napp.tool(steps)\napp.run()", 200_000),
    "official SDK": Server(
        "from mcp.server import MCPServer\nfrom mcp.server.mcpserver import Context\n"
        f"{TOOL}\napp = MCPServer('p')\napp.tool()(steps)\napp.run()",
        2_000,
    ),
    "FastMCP": Server(
        f"from fastmcp import Context, FastMCP\n{TOOL}\napp = FastMCP('p')\napp.tool(steps)\napp.run(show_banner=False)", 2_000
    ),
}


def import_time(code: str) -> float:
    """Milliseconds."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def progress_rate(server: Server) -> float:
    """Notifications a second."""
    command = [sys.executable, "-c", server.source]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=1 << 20
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def send(message: dict[str, Any]) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()

        def call(id: int, count: int) -> int:
            params = {"name": "steps", "arguments": {"count": count}, "_meta": {"progressToken": id}}
            send({"id": id, "method": "tools/call", "params": params})
            notified = 0
            for line in process.stdout:
                if b'"notifications/progress"' not in line:
                    answer = json.loads(line)
                    if "method" in answer:
                        continue
                    assert answer["id"] == id and answer["result"]["content"][0]["text"] == "done", answer
                    return notified
                notified += 1
            raise EOFError("the server ended")

        who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "figures", "version": "1"}}
        send({"id": 0, "method": "initialize", "params": who})
        assert "result" in json.loads(process.stdout.readline())
        send({"method": "notifications/initialized"})
        call(1, server.count // 10)
        begin = time.perf_counter()
        notified = call(2, server.count)
        elapsed = time.perf_counter() - begin
        assert notified == server.count, f"{notified} of {server.count} came"
        process.stdin.close()
        return notified / elapsed


def medians(names: Any, rounds: int, measure: Callable[[Any], float]) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, what in names.items():
            found[name].append(measure(what))
    return {name: statistics.median(figures) for name, figures in found.items()}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    imports = medians(IMPORTS, rounds, import_time)
    nothing = imports.pop("nothing")
    for name, taken in imports.items():
        share = (taken - nothing) / (imports["official SDK"] - nothing)
        print(f"import of {name:20} {taken - nothing:8.1f} ms   {share:7.1%} of the official SDK's")
    rates = medians(SERVERS, rounds, progress_rate)
    for name, rate in rates.items():
        print(f"progress, {name:20} {rate:8,.0f} /s   {rate / rates['official SDK']:7.1f} x the official SDK's")


if __name__ == "__main__":
    main()
