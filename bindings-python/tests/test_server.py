"""A Python server over its real standard streams."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from peer import INITIALIZE, Peer, script, text

TOOLS = """
    import asyncio, sys, threading

    app = Server("test", version="1.2", title="Test", instructions="Use it well.")
    gate = threading.Event()
    opened = asyncio.Event()

    @app.tool
    async def echo(text: str) -> str:
        "Gives the text back."
        return text

    @app.tool()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.tool(name="renamed", title="A title", description="Said here.")
    async def _(x: int) -> dict:
        return {"x": x}

    @app.tool
    async def nothing() -> None: ...

    @app.tool
    async def chatty() -> str:
        print("stray print")
        return "said"

    @app.tool
    def blocks() -> str:
        gate.wait()
        return "through"

    @app.tool
    async def opens() -> str:
        gate.set()
        return "opened"

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
    async def stubborn() -> str:
        print("waiting", file=sys.stderr, flush=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
        return "answered all the same"

    @app.tool
    async def raises(kind: str) -> str:
        if kind == "tool":
            raise ToolError("no such city")
        if kind == "mcp":
            raise McpError("out of stock", code=-7, data={"left": 0})
        if kind == "self-cancel":
            raise asyncio.CancelledError
        raise ValueError("kaputt")

    @app.tool
    async def counts(ctx: Context, to: int) -> bool:
        for step in range(1, to + 1):
            await ctx.report_progress(step, to, f"step {step}")
        return ctx.wants_progress

    @app.tool
    def counts_in_thread(to: int, ctx: Context) -> int:
        for step in range(1, to + 1):
            ctx.report_progress(step / 2)
        return to

    @app.tool
    async def stats() -> list:
        return list(app._served.connection.stats())

    app.run()
"""

# What the tool `stats` sees when nothing else is left. A task that starts eagerly is not listed yet.
ONLY_THIS_CALL = ("[1,0,0,1,0]", "[1,0,0,0,0]")


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    with Peer(script(tmp_path, TOOLS)) as peer:
        yield peer


def test_handshake_names_the_server(peer: Peer) -> None:
    result = peer.call("initialize", {"protocolVersion": "2025-06-18", **INITIALIZE})["result"]
    assert result == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "serverInfo": {"name": "test", "title": "Test", "version": "1.2"},
        "instructions": "Use it well.",
    }


def test_tools_are_listed_in_the_order_of_their_definition(peer: Peer) -> None:
    tools = peer.initialize().call("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools][:3] == ["echo", "add", "renamed"]
    assert tools[0] == {
        "name": "echo",
        "description": "Gives the text back.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    }
    assert (tools[2]["title"], tools[2]["description"]) == ("A title", "Said here.")


def test_results(peer: Peer) -> None:
    peer.initialize()
    assert peer.tool("echo", {"text": "hä \u2028 \"\n"}) == {"content": [{"type": "text", "text": "hä \u2028 \"\n"}]}
    assert text(peer.tool("add", {"a": 1})) == "3"
    assert peer.tool("nothing") == {"content": []}
    assert peer.tool("renamed", {"x": 2**60 + 1}) == {
        "content": [{"type": "text", "text": '{"x":1152921504606846977}'}],
        "structuredContent": {"x": 1152921504606846977},
    }


def test_a_text_that_looks_like_a_number_stays_text(peer: Peer) -> None:
    assert text(peer.initialize().tool("echo", {"text": "00123"})) == "00123"


def test_ids_come_back_as_they_were(peer: Peer) -> None:
    peer.initialize()
    for id in ["1", "abc", 0, -5, 2**70]:
        peer.send({"id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}})
        assert peer.receive()["id"] == id


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({}, "missing required field `a`"),
        ({"a": "x"}, "Expected `int`, got `str` - at `$.a`"),
        ({"a": 1, "c": 2}, "unknown field `c`"),
    ],
)
def test_arguments_that_do_not_fit(peer: Peer, arguments: dict[str, object], what: str) -> None:
    error = peer.initialize("2025-06-18").call("tools/call", {"name": "add", "arguments": arguments})["error"]
    assert error["code"] == -32602
    assert what in error["message"] and "tool add" in error["message"]


def test_arguments_that_do_not_fit_are_told_to_the_model_from_2025_11_25_on(peer: Peer) -> None:
    result = peer.initialize("2025-11-25").tool("add", {})
    assert result["isError"] is True
    assert "(-32602)" in text(result) and "missing required field `a`" in text(result)


def test_what_a_tool_raises(peer: Peer) -> None:
    peer.initialize()
    assert peer.tool("raises", {"kind": "tool"}) == {
        "content": [{"type": "text", "text": "no such city"}],
        "isError": True,
    }
    assert peer.tool("raises", {"kind": "mcp"})["error"] == {
        "code": -7,
        "message": "out of stock",
        "data": {"left": 0},
    }
    failed = peer.tool("raises", {"kind": "other"})
    assert failed["isError"] is True
    assert text(failed) == "Error executing tool raises (-32603): kaputt"
    assert peer.tool("raises", {"kind": "self-cancel"})["error"]["code"] == -32603
    _, errors = peer.leave()
    assert "ValueError: kaputt" in errors


def test_a_stray_print_lands_on_standard_error(peer: Peer) -> None:
    assert text(peer.initialize().tool("chatty")) == "said"
    assert peer.error_line() == "stray print"
    assert peer.leave()[0] == b""


def test_a_plain_function_holds_up_nothing(peer: Peer) -> None:
    peer.initialize()
    blocked = peer.request("tools/call", {"name": "blocks"})
    assert peer.call("ping") == {"result": {}}
    peer.request("tools/call", {"name": "opens"})
    answers = {answer["id"]: text(answer["result"]) for answer in (peer.receive(), peer.receive())}
    assert answers[blocked] == "through"


def test_a_cancel_arrives_as_cancelled_error_and_gets_no_answer(peer: Peer) -> None:
    peer.initialize()
    id = peer.request("tools/call", {"name": "waits"})
    assert peer.error_line() == "waiting"
    peer.send({"method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}})
    assert peer.error_line() == "cancelled"
    assert peer.call("ping") == {"result": {}}
    assert peer.leave()[0] == b""


def test_a_cancel_before_the_start_means_no_start(peer: Peer) -> None:
    peer.initialize()
    peer.send(
        {"id": 50, "method": "tools/call", "params": {"name": "waits"}},
        {"method": "notifications/cancelled", "params": {"requestId": 50}},
    )
    assert peer.call("ping") == {"result": {}}
    output, errors = peer.leave()
    assert (output, "cancelled" in errors) == (b"", sys.version_info >= (3, 12) and "waiting" in errors)


def test_an_answer_after_the_cancel_is_not_written(peer: Peer) -> None:
    peer.initialize()
    id = peer.request("tools/call", {"name": "stubborn"})
    assert peer.error_line() == "waiting"
    peer.send({"method": "notifications/cancelled", "params": {"requestId": id}})
    assert text(peer.tool("echo", {"text": "next"})) == "next"
    assert text(peer.tool("stats")) in ONLY_THIS_CALL
    assert peer.leave()[0] == b""


@pytest.mark.parametrize("token", ["abc", 7, "7"])
def test_progress_comes_before_the_answer_and_echoes_the_token(peer: Peer, token: object) -> None:
    peer.initialize()
    id = peer.request(
        "tools/call", {"name": "counts", "arguments": {"to": 3}, "_meta": {"progressToken": token}}
    )
    for step in (1, 2, 3):
        assert peer.receive() == {
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"},
        }
    answer = peer.receive()
    assert (answer["id"], text(answer["result"])) == (id, "true")


def test_progress_from_a_thread(peer: Peer) -> None:
    peer.initialize()
    peer.request(
        "tools/call", {"name": "counts_in_thread", "arguments": {"to": 50}, "_meta": {"progressToken": 1}}
    )
    seen = [peer.receive() for _ in range(51)]
    assert [message["params"]["progress"] for message in seen[:50]] == [step / 2 for step in range(1, 51)]
    assert text(seen[50]["result"]) == "50"


def test_without_a_token_no_progress_is_sent(peer: Peer) -> None:
    assert text(peer.initialize().tool("counts", {"to": 3})) == "false"


def test_protocol_errors_leave_the_connection_as_it_was(peer: Peer) -> None:
    peer.send_bytes(b"no JSON\n")
    assert peer.receive()["error"]["code"] == -32700
    assert peer.call("tools/list")["error"]["data"] == "initialize first"
    peer.initialize()
    assert peer.call("no/such")["error"]["code"] == -32601
    assert peer.tool("missing")["error"] == {"code": -32602, "message": "Unknown tool: missing"}
    assert peer.call("tools/call", {"name": 5})["error"]["code"] == -32602
    assert text(peer.tool("echo", {"text": "still here"})) == "still here"


def test_one_shot_use_through_a_pipe_gets_all_answers(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **INITIALIZE}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "blocks"}},
        {"id": 3, "method": "tools/call", "params": {"name": "opens"}},
    ]
    data = "\n".join(json.dumps({"jsonrpc": "2.0", **line}) for line in lines)
    with Peer(script(tmp_path, TOOLS)) as peer:
        output, errors = peer.process.communicate(data.encode())
    answers = {json.loads(line)["id"] for line in output.splitlines()}
    assert (answers, peer.process.returncode, errors) == ({1, 2, 3}, 0, b"")


def test_plain_files_as_standard_streams(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **INITIALIZE}},
        {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "from a file"}}},
    ]
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines))
    with source.open() as stdin, target.open("w") as stdout:
        subprocess.run(
            [sys.executable, script(tmp_path, TOOLS)], stdin=stdin, stdout=stdout, check=True
        )
    answers = [json.loads(line) for line in target.read_text().splitlines()]
    assert text(answers[1]["result"]) == "from a file"


def test_socketpairs_as_standard_streams(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([sys.executable, script(tmp_path, TOOLS)], stdin=theirs, stdout=theirs)
        theirs.close()
        stream = ours.makefile("rwb")
        for message in (
            {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **INITIALIZE}},
            {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x" * 300_000}}},
        ):
            stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            stream.flush()
            answer = json.loads(stream.readline())
        assert text(answer["result"]) == "x" * 300_000
        ours.shutdown(socket.SHUT_WR)
        assert process.wait() == 0


def test_a_reader_that_falls_behind_gets_all_in_the_end(peer: Peer) -> None:
    # Far more than pipes hold: the server has to keep what cannot be written yet, and stays responsive.
    peer.initialize()
    big = "x" * 100_000
    ids = [peer.request("tools/call", {"name": "echo", "arguments": {"text": big}}) for _ in range(10)]
    answers = [peer.receive() for _ in ids]
    assert [answer["id"] for answer in answers] == ids
    assert all(text(answer["result"]) == big for answer in answers)


@pytest.mark.parametrize("warm", [False, True], ids=["before the loop", "on the loop"])
def test_ctrl_c_ends_an_idle_server_without_a_trace(peer: Peer, warm: bool) -> None:
    peer.initialize()
    if warm:
        peer.tool("nothing")
    peer.process.send_signal(signal.SIGINT)
    assert peer.leave() == (b"", "")
    assert peer.process.returncode == 0


def test_a_timer_of_the_program_does_not_keep_the_process(tmp_path: Path) -> None:
    source = """
        import asyncio
        app = Server("timer")
        async def tick():
            while True:
                await asyncio.sleep(0.01)
        tasks = []
        @app.tool
        async def start() -> str:
            tasks.append(asyncio.ensure_future(tick()))
            return "started"
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize().tool("start")
        assert peer.leave() == (b"", "")
        assert peer.process.returncode == 0


def test_a_child_of_a_handler_cannot_take_the_input(tmp_path: Path) -> None:
    source = """
        import subprocess, sys
        app = Server("children")
        @app.tool
        def child() -> str:
            read = "import sys; print(len(sys.stdin.read()))"
            subprocess.run([sys.executable, "-c", read], check=True)
            return subprocess.run([sys.executable, "-c", read], check=True, capture_output=True, text=True).stdout
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        assert text(peer.initialize().tool("child")).strip() == "0"
        assert peer.call("ping") == {"result": {}}


def test_one_bad_signature_spoils_one_tool(tmp_path: Path) -> None:
    source = """
        app = Server("bad")
        @app.tool
        async def bad(x: "NoSuchType") -> str: ...
        @app.tool
        async def many(*args: int) -> str: ...
        @app.tool
        async def good(x: int) -> int: return x
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        tools = peer.initialize().call("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["bad", "many", "good"]
        assert peer.tool("bad", {"x": 1})["isError"] is True
        assert text(peer.tool("good", {"x": 1})) == "1"
        _, errors = peer.leave()
        assert "NoSuchType" in errors and "'*args: int'" in errors


def test_the_core_answers_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    source = """
        import sys
        app = Server("cold")
        @app.tool
        async def loaded() -> str: return ""
        class Watch:
            def find_spec(self, name, path=None, target=None):
                if name in ("asyncio", "msgspec"):
                    print("import", name, file=sys.stderr, flush=True)
        sys.meta_path.insert(0, Watch())
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        assert peer.call("ping") == {"result": {}}
        peer.request("tools/list")
        assert peer.error_line().startswith("import ")


def test_many_calls_leave_nothing_behind(peer: Peer) -> None:
    peer.initialize()
    for _ in range(100):
        calls = []
        for index in range(100):
            name, arguments = ("echo", {"text": "x"}) if index % 2 else ("raises", {"kind": "tool"})
            calls.append({"id": f"c{index}", "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        peer.send(*calls)
        assert {peer.receive()["id"] for _ in calls} == {call["id"] for call in calls}
    assert text(peer.tool("stats")) in ONLY_THIS_CALL


def test_duplicate_and_empty_names_are_refused() -> None:
    from oxmcp import Server

    app = Server("names")

    @app.tool
    def twice() -> None: ...

    with pytest.raises(ValueError, match='"twice" exists already'):
        app.tool(twice)
    with pytest.raises(ValueError, match="name="):
        app.tool(lambda: None)
    with pytest.raises(TypeError, match=r"@app.tool\(name=...\)"):
        app.tool("twice")  # type: ignore[type-var]
    with pytest.raises(ValueError, match="not empty"):
        Server("")


def test_the_decorator_gives_the_function_back() -> None:
    from oxmcp import Server

    app = Server("same")

    def double(x: int) -> int:
        return 2 * x

    plain: Callable[[int], int] = app.tool(double)
    named = app.tool(name="other")(double)
    assert plain is double and named is double and double(2) == 4


@pytest.mark.parametrize("hook", ["on_problem", "on_trace"])
def test_a_hook_that_raises_is_logged_and_does_no_harm(tmp_path: Path, hook: str) -> None:
    source = f"""
        import logging, sys
        logging.basicConfig(format="%(name)s: %(message)s", stream=sys.stderr)
        def broken(*_): raise ValueError("in a hook")
        app = Server("hooks", {hook}=broken)
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.send_bytes(b"no JSON\n")
        assert peer.receive()["error"]["code"] == -32700
        peer.initialize()
        output, errors = peer.leave()
        assert (output, peer.process.returncode) == (b"", 0)
        assert f"oxmcp: {hook} failed" in errors and "ValueError: in a hook" in errors
