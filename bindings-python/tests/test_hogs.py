"""A handler, or a thread, that keeps the interpreter for itself holds up nothing that the core can do alone.

What shows it is the order of messages: what was sent to a server that is busy is answered before it is done.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from http_peer import LEGACY, close_all, peer_of
from peer import Peer, script, text

SERVER = """
    import asyncio, mmap, os, sys, threading, time

    # What is under way for as long as a test needs it may finish, too.
    app = Server("hogs", limits={"drain": 600})

    def say(word): os.write(2, word.encode() + b"\\n")

    # A look at memory gives the interpreter to nobody.
    with open(sys.argv[1], "r+b") as file:
        memory = mmap.mmap(file.fileno(), 2)

    def hog(until=lambda: memory[0]):
        while not until(): pass

    @app.tool
    async def busy() -> str:
        say("busy")
        hog()
        return "done"

    @app.tool
    async def polls(ctx: Context) -> str:
        say("polls")
        hog(lambda: ctx.cancelled)
        say("cancelled")
        return "never"

    @app.tool
    async def asks(ctx: Context) -> str:
        try:
            await ctx.elicit("Well?", timeout=0.3)
        except Exception as error:
            return type(error).__name__
        return "answered"

    @app.tool
    async def selfish() -> str:
        def run():
            # Not before the answer of this tool is out.
            while not memory[1]: time.sleep(0.001)
            say("selfish")
            hog()
            say("generous")
        # From now on whoever has the interpreter's lock keeps it.
        sys.setswitchinterval(1000)
        threading.Thread(target=run, daemon=True).start()
        return "started"

    @app.tool
    async def echo(text: str) -> str:
        return text

    app.run()
"""


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    """A file that says how long what is busy is so: until `be_done`."""
    path = tmp_path / "flag"
    path.write_bytes(b"\0\0")
    return path


def be_done(flag: Path) -> None:
    tell(flag, 0)


def tell(flag: Path, place: int) -> None:
    with flag.open("r+b") as file:
        file.seek(place)
        file.write(b"\1")


@pytest.fixture
def peer(tmp_path: Path, flag: Path) -> Peer:
    return Peer(script(tmp_path, SERVER), arguments=[str(flag)])


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_a_busy_handler_holds_up_no_ping_and_no_list(peer: Peer, flag: Path) -> None:
    with peer:
        peer.initialize()
        call = peer.request("tools/call", {"name": "busy"})
        assert peer.error_line() == "busy"
        ping, tools = peer.request("ping"), peer.request("tools/list")
        later = peer.request("tools/call", {"name": "echo", "arguments": {"text": "later"}})
        answers = [peer.receive() for _ in range(2)]
        be_done(flag)
        answers += [peer.receive() for _ in range(2)]
        assert [answer["id"] for answer in answers] == [ping, tools, call, later]
        assert len(answers[1]["result"]["tools"]) == 5
        assert text(answers[3]["result"]) == "later"
        # And all is as before.
        assert text(peer.tool("echo", {"text": "on"})) == "on"
        assert peer.leave() == (b"", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_a_busy_handler_sees_its_cancel(peer: Peer) -> None:
    with peer:
        peer.initialize()
        call = peer.request("tools/call", {"name": "polls"})
        assert peer.error_line() == "polls"
        peer.send({"method": "notifications/cancelled", "params": {"requestId": call}})
        assert peer.error_line() == "cancelled"
        # Nothing was written for it.
        assert peer.call("ping") == {"result": {}}


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_a_busy_handler_holds_up_no_timeout(peer: Peer, flag: Path) -> None:
    with peer:
        answer = peer.call(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "p", "version": "1"},
            },
        )
        assert "result" in answer
        peer.send({"method": "notifications/initialized"})
        asks = peer.request("tools/call", {"name": "asks"})
        question = peer.receive()
        assert question["method"] == "elicitation/create"
        busy = peer.request("tools/call", {"name": "busy"})
        assert peer.error_line() == "busy"
        cancelled = peer.receive()
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == question["id"]
        be_done(flag)
        by_id = {answer["id"]: text(answer["result"]) for answer in (peer.receive(), peer.receive())}
        assert by_id == {busy: "done", asks: "RequestTimeoutError"}


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_a_thread_that_keeps_the_interpreter_holds_up_no_ping_and_no_list(peer: Peer, flag: Path) -> None:
    with peer:
        peer.initialize()
        assert text(peer.tool("selfish")) == "started"
        tell(flag, 1)
        assert peer.error_line() == "selfish"
        assert peer.call("ping") == {"result": {}}
        assert len(peer.call("tools/list")["result"]["tools"]) == 5
        be_done(flag)
        assert text(peer.tool("echo", {"text": "then"})) == "then"
        assert peer.error_line() == "generous"


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_a_client_that_leaves_a_busy_server_is_noticed(peer: Peer, flag: Path) -> None:
    with peer:
        peer.initialize()
        call = peer.request("tools/call", {"name": "busy"})
        assert peer.error_line() == "busy"
        assert peer.process.stdin is not None
        peer.process.stdin.close()
        peer.process.stdin = None
        be_done(flag)
        output, errors = peer.leave()
        # What it had begun is answered.
        assert [json.loads(line)["id"] for line in output.splitlines()] == [call]
        assert (errors, peer.process.returncode) == ("", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there a thread of Python's reads")
def test_more_than_the_core_takes_in_alone_waits_and_is_lost_nowhere(peer: Peer, flag: Path) -> None:
    with peer:
        peer.initialize()
        call = peer.request("tools/call", {"name": "busy"})
        assert peer.error_line() == "busy"
        count, big = 6000, "x" * 3000
        # The answers fit into no pipe, so somebody has to read meanwhile.
        reading = subprocess.Popen(
            [sys.executable, "-c", COUNT, str(count + 1)], stdin=peer.process.stdout, stdout=subprocess.PIPE
        )
        sent = 0

        def send() -> None:
            nonlocal sent
            for sent in range(count):
                arguments = {"text": f"{sent} {big}"}
                peer.send({"id": f"c{sent}", "method": "tools/call", "params": {"name": "echo", "arguments": arguments}})

        sender = threading.Thread(target=send)
        sender.start()
        # Nobody can tell when the core has taken in all that it takes: more than the pipe holds is some of it.
        while sent < 100:
            time.sleep(0)
        be_done(flag)
        sender.join()
        output, _ = reading.communicate()
        assert json.loads(output) == {"ids": count + 1, "first": call, "right": count}


COUNT = """
import json, sys
ids, right, first = set(), 0, None
for _ in range(int(sys.argv[1])):
    message = json.loads(sys.stdin.readline())
    first = first or message["id"]
    ids.add(message["id"])
    text = message["result"]["content"][0]["text"]
    right += str(message["id"]) == "c" + text.split()[0]
print(json.dumps({"ids": len(ids), "first": first, "right": right}))
"""


def test_a_busy_client_answers_pings_and_gives_its_calls_up_in_time(tmp_path: Path) -> None:
    # It is busy until its server has seen both.
    server, flag = tmp_path / "pings.py", tmp_path / "seen"
    server.write_text(textwrap.dedent(PINGS), encoding="utf-8")
    program = [sys.executable, "-c", textwrap.dedent(BUSY), str(server), str(flag)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["the server saw it", "RequestTimeoutError", "on"]


PINGS = """
    import json, sys

    def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    seen = set()
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
            send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", **about}})
        elif message.get("id") == "ping":
            seen.add("ping")
        elif message.get("method") == "notifications/cancelled":
            seen.add("cancel")
            send({"id": "ping", "method": "ping"})
        elif message.get("method") == "tools/call" and message["params"]["name"] == "on":
            send({"id": message["id"], "result": {"content": [{"type": "text", "text": "on"}]}})
        if len(seen) == 2:
            open(sys.argv[1], "w").close()
"""

BUSY = """
    import asyncio, os, sys
    from oxmcp import Client

    async def main():
        flag = sys.argv[2]
        async with Client([sys.executable, sys.argv[1], flag], mode="legacy") as client:
            call = asyncio.ensure_future(client.call_tool("wait", timeout=0.2))
            await asyncio.sleep(0)
            while not os.path.exists(flag): pass
            print("the server saw it")
            try:
                await call
            except Exception as error:
                print(type(error).__name__)
            print((await client.call_tool("on")).text)

    asyncio.run(main())
"""


def test_a_busy_handler_sees_its_cancel_over_http(tmp_path: Path, flag: Path) -> None:
    path = script(tmp_path, SERVER.replace("app.run()", 'app.run("http", port=0)'))
    command = [sys.executable, str(path), str(flag)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    port = int(process.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])

    def line() -> str:
        assert process.stderr is not None
        return process.stderr.readline().decode().strip()

    async def main() -> None:
        peer = await peer_of(port, LEGACY)
        await peer.begin("tools/call", name="polls", arguments={})
        call = peer.last_id
        assert await asyncio.to_thread(line) == "polls"
        assert (await peer.call("ping"))["result"] == {}
        assert (await peer.call("tools/list"))["result"]["tools"]
        assert (await peer.post({"method": "notifications/cancelled", "params": {"requestId": call}})).status == 202
        assert await asyncio.to_thread(line) == "cancelled"
        await close_all()

    try:
        asyncio.run(main())
    finally:
        process.kill()
        process.communicate()
