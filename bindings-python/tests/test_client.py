"""The Python client, against servers that are real processes."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from peer import script

from oxmcp import (
    CallToolResult,
    CapabilityError,
    Client,
    ConnectionClosedError,
    ImageContent,
    McpError,
    ProtocolError,
    RequestTimeoutError,
    ResponseError,
    TextContent,
    UnknownContent,
    UsageError,
)
from oxmcp.testing import advance

SERVER = """
    import asyncio, os, sys

    app = Server("test", version="1.2", instructions="Use it well.")

    @app.tool
    async def echo(text: str) -> str:
        "Gives the text back."
        return text

    @app.tool
    async def counts(ctx: Context, to: int) -> str:
        for step in range(1, to + 1):
            await ctx.report_progress(step, to, f"step {step}")
        return "done"

    @app.tool
    async def waits() -> str:
        print("waiting", file=sys.stderr, flush=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("cancelled", file=sys.stderr, flush=True)
            raise
        return "never"

    @app.tool
    async def raises(kind: str) -> str:
        if kind == "mcp":
            raise McpError("out of stock", code=-7, data={"left": 0})
        raise ToolError("no such city")

    @app.tool
    async def dies(status: int) -> str:
        os._exit(status)

    app.run()
"""

# A server that is no more than what it writes: one line of Python for each line it reads.
WIRE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    def send(text): print(text, flush=True)
    def answer(result): send(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))
    if method == "initialize":
        answer({"protocolVersion": VERSION, "capabilities": CAPABILITIES, "serverInfo": {"name": "w", "version": "1"}})
    elif method == "tools/call":
        name = message["params"]["name"]
        exec(TOOLS[name])
    elif method == "notifications/cancelled":
        print("cancelled", message["params"]["requestId"], file=sys.stderr, flush=True)
    elif method == "ping":
        answer({})
    elif id is not None:
        send(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}))
"""


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SERVER)


def wire(
    tmp_path: Path, tools: dict[str, str], version: str = "2025-11-25", capabilities: object = {"tools": {}}
) -> list[str]:
    path = tmp_path / "wire.py"
    path.write_text(f"TOOLS, VERSION, CAPABILITIES = {tools!r}, {version!r}, {capabilities!r}\n{WIRE}")
    return [sys.executable, str(path)]


class Stderr:
    """The standard error of a server, line by line."""

    def __init__(self) -> None:
        self._read, self.fd = os.pipe()
        self._file = os.fdopen(self._read)

    def close_ours(self) -> None:
        os.close(self.fd)

    async def line(self) -> str:
        return (await asyncio.to_thread(self._file.readline)).rstrip("\n")

    def __enter__(self) -> Stderr:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def test_what_the_server_says_of_itself(server: Path) -> None:
    async def main() -> None:
        async with Client(server, mode="legacy") as client:
            assert client.protocol_version == "2025-11-25"
            assert client.server_info == {"name": "test", "version": "1.2"}
            assert client.server_capabilities == {"tools": {"listChanged": True}, "logging": {}}
            assert client.instructions == "Use it well."
            await client.ping()
            tools = await client.list_tools()
            assert [tool.name for tool in tools] == ["echo", "counts", "waits", "raises", "dies"]
            assert tools[0].description == "Gives the text back."
            assert tools[0].input_schema["required"] == ["text"]

    run(main)


def test_both_eras(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            assert client.protocol_version == "2026-07-28"
            assert client.server_info["name"] == "test"
            assert client.instructions == "Use it well."
            await client.ping()
            assert [tool.name for tool in await client.list_tools()][:2] == ["echo", "counts"]
            seen: list[float] = []
            result = await client.call_tool("counts", {"to": 2}, on_progress=lambda *it: seen.append(it[0]))
            assert (result.text, seen) == ("done", [1, 2])
            with pytest.raises(CapabilityError, match="no such method"):
                await client.request("ping")

    run(main)


def test_a_server_of_the_handshake_is_asked_once(tmp_path: Path) -> None:
    async def main() -> None:
        command = wire(tmp_path, {})
        for probes in (1, 0):
            sent: list[str] = []
            async with Client(command, on_trace=lambda way, line: sent.append(line) if way == "sent" else None) as client:
                assert client.protocol_version == "2025-11-25"
            assert sum('"server/discover"' in line for line in sent) == probes
        with pytest.raises(UsageError, match="mode is"):
            Client(command, mode="modern")  # type: ignore[arg-type]

    run(main)


def test_an_era_that_led_nowhere_is_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        command = wire(tmp_path, {})
        async with Client(command):
            pass
        program = Path(command[1]).read_text()
        Path(command[1]).write_text("")
        with pytest.raises(ConnectionClosedError):
            await Client(command).connect()
        Path(command[1]).write_text(program)
        sent: list[str] = []
        async with Client(command, on_trace=lambda way, line: sent.append(line)):
            assert '"server/discover"' in sent[0]

    run(main)


def test_results_and_errors(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            result = await client.call_tool("echo", {"text": "hä"})
            assert (result.text, result.is_error, result.content) == ("hä", False, [TextContent(text="hä")])
            failed = await client.call_tool("raises", {"kind": "tool"})
            assert (failed.is_error, failed.text) == (True, "no such city")
            with pytest.raises(ResponseError) as error:
                await client.call_tool("raises", {"kind": "mcp"})
            assert (error.value.code, error.value.message, error.value.data) == (-7, "out of stock", {"left": 0})
            assert (error.value.fault, error.value.retryable) == ("peer", False)
            with pytest.raises(ResponseError, match=r"Unknown tool: nope \(-32602\)"):
                await client.call_tool("nope")
            with pytest.raises(ResponseError) as error:
                await client.request("no/such")
            assert error.value.code == -32601
            with pytest.raises(UsageError, match="must be a JSON object"):
                await client.call_tool("echo", ["text"])

    run(main)


def test_progress_comes_in_order_before_the_result(server: Path) -> None:
    async def main() -> None:
        seen: list[tuple[float, float | None, str | None]] = []
        async with Client(server) as client:
            result = await client.call_tool(
                "counts", {"to": 3}, on_progress=lambda *progress: seen.append(progress)
            )
        assert result.text == "done"
        assert seen == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]

    run(main)


def test_a_progress_callback_that_raises_does_no_harm(server: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        def bad(*_: object) -> None:
            raise ValueError("in the callback")

        async with Client(server) as client:
            assert (await client.call_tool("counts", {"to": 1}, on_progress=bad)).text == "done"

    run(main)
    assert "in the callback" in caplog.text


def test_many_calls_at_once(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            results = await asyncio.gather(*(client.call_tool("echo", {"text": str(n)}) for n in range(500)))
            assert [result.text for result in results] == [str(n) for n in range(500)]
            assert stats(client) == (0, 0, 0, 0, 0)

    run(main)


def stats(client: Client) -> tuple[int, ...]:
    assert client._connection is not None
    return client._connection.stats()


@pytest.mark.parametrize("how", ["task", "wait_for", "collected"])
def test_a_cancelled_task_cancels_the_call(server: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        with Stderr() as errors:
            async with Client(server, stderr=errors.fd) as client:
                errors.close_ours()
                call = client.call_tool("waits")
                if how == "task":
                    task = asyncio.ensure_future(call)
                    assert await errors.line() == "waiting"
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                elif how == "wait_for":
                    waits = asyncio.ensure_future(asyncio.wait_for(call, 3600))
                    assert await errors.line() == "waiting"
                    loop = asyncio.get_running_loop()
                    time = loop.time
                    with monkeypatch.context() as patch, pytest.raises(asyncio.TimeoutError):
                        patch.setattr(loop, "time", lambda: time() + 3600)
                        await waits
                else:
                    call.send(None)
                    assert await errors.line() == "waiting"
                    call.close()
                    gc.collect()
                assert await errors.line() == "cancelled"
                assert stats(client) == (0, 0, 0, 0, 0)
                assert (await client.call_tool("echo", {"text": "next"})).text == "next"

    run(main)


def test_a_late_answer_is_dropped_in_silence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        with Stderr() as errors:
            late = "send(json.dumps({'jsonrpc': '2.0', 'id': late, 'result': {}})); answer({'content': []})"
            tools = {"late": "late = id", "flush": late}
            async with Client(wire(tmp_path, tools), stderr=errors.fd) as client:
                errors.close_ours()
                task = asyncio.ensure_future(client.call_tool("late"))
                await asyncio.sleep(0)
                task.cancel()
                assert (await errors.line()).startswith("cancelled")
                await client.call_tool("flush")

    run(main)
    assert caplog.text == ""


def test_a_result_that_is_none_is_the_servers_fault(tmp_path: Path) -> None:
    async def main() -> None:
        tools = {"bad": "answer({'content': 5})", "list": "answer([])"}
        async with Client(wire(tmp_path, tools)) as client:
            for name in tools:
                with pytest.raises(ProtocolError) as error:
                    await client.call_tool(name)
                assert error.value.fault == "peer"

    run(main)


def test_timeouts(tmp_path: Path) -> None:
    async def main() -> None:
        with Stderr() as errors:
            begins = "token, open, beats = message['params']['_meta']['progressToken'], id, 0"
            beat = (
                "beats += 1; send(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/progress',"
                " 'params': {'progressToken': token, 'progress': beats}})); answer({'content': []})"
            )
            ends = "late = id; id = open; answer({'content': []}); id = late; answer({'content': []})"
            command = wire(tmp_path, {"silent": "pass", "begins": begins, "beat": beat, "ends": ends})
            async with Client(command, stderr=errors.fd, timeout=900) as client:
                errors.close_ours()

                async def begin(tool: str, **options: Any) -> asyncio.Future[Any]:
                    call = asyncio.ensure_future(client.call_tool(tool, **options))
                    await client.ping()
                    return call

                # An hour passes at once, and nothing but that.
                call = await begin("silent")
                advance(client, 3600)
                with pytest.raises(RequestTimeoutError, match="within 900 s") as error:
                    await call
                assert (error.value.code, error.value.retryable) == (-32001, True)
                assert isinstance(error.value, TimeoutError)
                assert (await errors.line()).startswith("cancelled")

                async def hours(call: asyncio.Future[Any], count: int) -> None:
                    for _ in range(count):
                        advance(client, 3600)
                        await client.call_tool("beat")
                        assert not call.done()

                # Progress is asked for, though nobody here listens to it.
                reset: Any = {"reset_timeout_on_progress": True, "timeout": 4000}
                call = await begin("begins", **reset)
                await hours(call, 5)
                await client.call_tool("ends")
                assert (await call).content == []
                call = await begin("begins", **reset, max_total_timeout=9000)
                await hours(call, 2)
                advance(client, 3600)
                with pytest.raises(RequestTimeoutError, match="total timeout of 9000 s"):
                    await call
                # Without it, progress is no reason to wait longer.
                call = await begin("begins", timeout=4000, on_progress=lambda *_: None)
                await hours(call, 1)
                advance(client, 3600)
                with pytest.raises(RequestTimeoutError, match="within 4000 s"):
                    await call

    run(main)


@pytest.mark.parametrize("bad", [-1, float("nan")])
def test_a_timeout_that_is_no_time(server: Path, bad: float) -> None:
    async def main() -> None:
        async with Client(server) as client:
            with pytest.raises(ValueError, match="number of seconds"):
                await client.call_tool("echo", {"text": ""}, timeout=bad)

    run(main)


def test_a_server_that_dies_in_mid_call(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            calls = [client.call_tool("waits"), client.call_tool("dies", {"status": 3})]
            for result in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(result, ConnectionClosedError)
                assert "exited with status 3" in result.message
                assert (result.code, result.fault, result.retryable) == (-32000, "transport", True)
            with pytest.raises(ConnectionClosedError):
                await client.ping()

    run(main)


def test_a_server_that_is_killed(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            task = asyncio.ensure_future(client.call_tool("waits"))
            await client.ping()
            assert client._process is not None
            os.kill(client._process.pid, signal.SIGKILL)
            with pytest.raises(ConnectionClosedError, match="SIGKILL"):
                await task

    run(main)


@pytest.mark.parametrize(
    ("command", "cwd", "what"),
    [
        (["no-such-program-at-all"], None, "no such program on PATH"),
        (["/no/such/program"], None, "no such program at that path"),
        ("no_such_script.py", None, "no_such_script.py': there is no such file"),
        ("python3 server.py", None, r"no such file.* A command with arguments is a list: \['python3', 'server.py'\]"),
        ("no-such-program run", None, r"PATH.* A command with arguments is a list: \['no-such-program', 'run'\]"),
        ([sys.executable, "-c", ""], "/no/such/folder", "working directory '/no/such/folder' does not exist"),
        ([os.path.dirname(__file__)], None, "not executable"),
        ([sys.executable, "-c", "raise SystemExit(4)"], None, "exited with status 4"),
        ([sys.executable, "-c", "print('hello'); input()"], None, "exited with status 0"),
    ],
)
def test_a_command_that_is_no_server(command: Any, cwd: str | None, what: str) -> None:
    async def main() -> None:
        with pytest.raises(ConnectionClosedError, match=what):
            async with Client(command, cwd=cwd, on_problem=lambda kind, message: None):
                pass

    run(main)


def test_a_server_that_never_answers_the_handshake() -> None:
    async def main() -> None:
        client = Client([sys.executable, "-c", "import sys; sys.stdin.read()"], mode="legacy")
        with pytest.raises(RequestTimeoutError, match="initialize got no answer within 0.2 s"):
            await client.connect(timeout=0.2)
        await client.close()

    run(main)


def test_a_server_of_another_revision(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(ProtocolError, match="speaks revision 1999-01-01"):
            async with Client(wire(tmp_path, {}, version="1999-01-01")):
                pass

    run(main)


def test_nothing_is_sent_that_was_not_negotiated(tmp_path: Path) -> None:
    async def main() -> None:
        async with Client(wire(tmp_path, {}, capabilities={})) as client:
            with pytest.raises(CapabilityError, match='capability "tools"'):
                await client.call_tool("echo")

    run(main)


def test_unknown_content_survives(tmp_path: Path) -> None:
    async def main() -> None:
        content = [
            {"type": "text", "text": "a", "x-new": 1},
            {"type": "hologram", "depth": 9007199254740993},
            {"type": "image", "data": "AAH/", "mimeType": "image/png"},
        ]
        async with Client(wire(tmp_path, {"all": f"answer({{'content': {content}, 'x-more': 1}})"})) as client:
            result = await client.call_tool("all")
        assert result == CallToolResult(
            content=[
                TextContent(text="a"),
                UnknownContent("hologram", {"type": "hologram", "depth": 9007199254740993}),
                ImageContent(data=b"\x00\x01\xff", mime_type="image/png"),
            ]
        )

    run(main)


def test_problems_reach_the_hook_and_the_connection_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        problems: list[str] = []
        tools = {
            "noisy": "send('log line'); send('{\"level\":\"info\"}');"
            "send('{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}'); answer({'content': []})"
        }
        async with Client(wire(tmp_path, tools), on_problem=lambda kind, _: problems.append(kind)) as client:
            await client.call_tool("noisy")
        assert problems == ["not_json", "not_a_message", "unknown_response"]

    run(main)


def test_notifications_reach_the_hook(tmp_path: Path) -> None:
    async def main() -> None:
        seen: list[tuple[str, Any]] = []
        tools = {
            "tell": "send('{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"a\":1}}');"
            "answer({'content': []})"
        }
        async with Client(wire(tmp_path, tools), on_notification=lambda *it: seen.append(it)) as client:
            await client.call_tool("tell")
        assert seen == [("notifications/x", {"a": 1})]

    run(main)


def test_the_wire_can_be_traced(server: Path) -> None:
    async def main() -> None:
        seen: list[tuple[str, str]] = []
        async with Client(server, mode="legacy", on_trace=lambda *it: seen.append(it)) as client:
            await client.ping()
        kinds = [(direction, sorted(json.loads(line))) for direction, line in seen]
        assert kinds == [
            ("sent", ["id", "jsonrpc", "method", "params"]),
            ("received", ["id", "jsonrpc", "result"]),
            ("sent", ["jsonrpc", "method"]),
            ("sent", ["id", "jsonrpc", "method"]),
            ("received", ["id", "jsonrpc", "result"]),
        ]

    run(main)


def test_closing_ends_calls_and_may_be_done_by_anyone_any_number_of_times(server: Path) -> None:
    async def main() -> None:
        client = Client(server)
        await client.close()
        client = Client(server)
        await client.connect()
        call = asyncio.ensure_future(client.call_tool("waits"))
        await client.ping()
        await asyncio.gather(client.close(), client.close(), client.close())
        with pytest.raises(ConnectionClosedError, match="the client closed the connection"):
            await call
        await client.close()
        with pytest.raises(ConnectionClosedError):
            await client.ping()
        with pytest.raises(UsageError):
            await client.connect()

    run(main)


def test_a_server_that_ignores_the_end_of_its_input_is_terminated() -> None:
    code = (
        "import json, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('term', file=sys.stderr, flush=True), sys.exit(0)))\n"
        "id = json.loads(sys.stdin.readline())['id']\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': {'protocolVersion': '2025-11-25',"
        " 'capabilities': {}, 'serverInfo': {'name': 'x', 'version': '1'}}}), flush=True)\n"
        "signal.pause()\n"
    )

    async def main() -> None:
        with Stderr() as errors:
            async with Client([sys.executable, "-c", code], stderr=errors.fd, mode="legacy"):
                errors.close_ours()
            assert await errors.line() == "term"

    run(main)


def test_a_child_does_not_outlive_a_program_that_forgot_to_close_it(tmp_path: Path) -> None:
    source = f"""
import asyncio, sys
from oxmcp import Client
async def main():
    client = Client({str(script(tmp_path, SERVER))!r})
    await client.connect()
    print(client._process.pid, flush=True)
asyncio.run(main())
"""

    async def main() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        # communicate() returned, so no process holds the output any more; and the child is gone.
        with pytest.raises(ProcessLookupError):
            os.kill(int(output), 0)

    run(main)


def test_using_a_client_before_it_is_connected() -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="async with"):
            await Client(["x"]).ping()
        with pytest.raises(UsageError, match="program's name"):
            Client([])

    run(main)


def test_all_errors_are_one_tree() -> None:
    import oxmcp

    kinds = [getattr(oxmcp, name) for name in oxmcp.__all__ if name.endswith("Error") and name != "ToolError"]
    assert len(kinds) >= 8 and all(issubclass(kind, McpError) for kind in kinds)


def test_a_loop_that_ends_with_a_call_pending_is_quiet(server: Path, tmp_path: Path) -> None:
    source = f"""
import asyncio
from oxmcp import Client
async def main():
    client = Client({str(server)!r})
    await client.connect()
    asyncio.ensure_future(client.call_tool("waits"))
    await client.ping()
asyncio.run(main())
"""

    async def main() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert errors.decode().split() in ([], ["waiting"], ["waiting", "cancelled"])

    run(main)
