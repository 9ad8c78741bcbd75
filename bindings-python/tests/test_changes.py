"""What changes while a server runs, who is told of it, and how often."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Literal

import pytest
from peer import Peer, script, text

from oxmcp import CapabilityError, Client, ResponseError, Server, UsageError

SERVER = """
    import asyncio, threading

    app = Server("changes", subscriptions=True)

    def extra(x: int = 0) -> int:
        "Comes and goes."
        return x

    @app.tool
    async def add(count: int = 1) -> str:
        for number in range(count):
            app.add_tool(extra, name=f"extra{number}", title=f"Extra {number}")
        return "added"

    @app.tool
    def add_from_thread() -> str:
        app.add_tool(extra, name="late")
        app.add_resource(lambda: "x", "late://x", name="late")
        app.add_prompt(lambda: "x", name="late")
        return "added"

    @app.tool
    async def remove(name: str) -> list:
        return [app.remove_tool(name), app.remove_tool(name)]

    @app.tool
    async def switch(on: bool) -> str:
        for _ in range(2):
            (app.enable if on else app.disable)(tool="add")
            (app.enable if on else app.disable)(resource="config://a")
            (app.enable if on else app.disable)(resource="family://{a}")
            (app.enable if on else app.disable)(prompt="greet")
        return "switched"

    @app.tool
    async def updated(uri: str) -> bool:
        return app.notify_resource_updated(uri)

    @app.tool
    def updated_from_thread(uri: str) -> bool:
        return app.notify_resource_updated(uri)

    @app.tool
    async def notifies(ctx: Context) -> str:
        for params in (None, None, {"n": 1}, {"n": 1}):
            ctx.notify("notifications/tools/list_changed", params)
        return "notified"

    @app.tool
    async def remove_itself() -> str:
        app.remove_tool("remove_itself")
        await asyncio.sleep(0)
        return "gone"

    @app.resource("config://a")
    def config() -> str: return "a"

    @app.resource("family://{a}")
    def family(a: str) -> str: return a

    @app.prompt
    def greet() -> str: return "hello"

    app.run()
"""
CHANGED = {kind: {"method": f"notifications/{kind}/list_changed"} for kind in ("tools", "resources", "prompts")}


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return script(tmp_path, SERVER)


def names(peer: Peer, kind: str = "tools") -> list[str]:
    return [entry["name"] for entry in peer.call(f"{kind}/list")["result"][kind]]


def test_two_hundred_tools_are_one_notification_before_the_answer(server: Path) -> None:
    with Peer(server) as peer:
        before = names(peer.initialize())
        id = peer.request("tools/call", {"name": "add", "arguments": {"count": 200}})
        assert peer.receive() == CHANGED["tools"]
        answer = peer.receive()
        assert (answer["id"], text(answer["result"])) == (id, "added")
        tools = peer.call("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == before + [f"extra{number}" for number in range(200)]
        assert (tools[-1]["title"], tools[-1]["description"]) == ("Extra 199", "Comes and goes.")
        assert text(peer.tool("extra199", {"x": 4})) == "4"
        assert peer.leave()[0] == b""


def test_what_has_params_is_sent_each_time(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize().request("tools/call", {"name": "notifies"})
        seen = [peer.receive() for _ in range(4)]
        assert seen[:3] == [CHANGED["tools"], *[{**CHANGED["tools"], "params": {"n": 1}}] * 2]
        assert text(seen[3]["result"]) == "notified"


def test_a_thread_may_change_what_is_offered(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize().request("tools/call", {"name": "add_from_thread"})
        seen = [peer.receive() for _ in range(4)]
        assert "result" in seen[-1] and all(CHANGED[kind] in seen[:3] for kind in CHANGED)
        assert "late" in names(peer) and "late" in names(peer, "resources") and "late" in names(peer, "prompts")
        assert peer.call("prompts/get", {"name": "late"})["result"]["messages"][0]["content"]["text"] == "x"


def test_a_change_is_told_before_the_server_needs_its_loop(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    source = f"""
        import sys, threading
        app = Server("early")
        @app.tool
        async def first() -> str: return "asyncio" in sys.modules
        def add():
            open({str(gate)!r}).close()
            app.add_tool(first, name="second")
        threading.Thread(target=add).start()
        app.run()
    """
    with Peer(script(tmp_path, source)) as peer:
        peer.initialize()
        assert peer.call("ping") == {"result": {}}
        gate.open("w").close()
        assert peer.receive() == CHANGED["tools"]
        assert names(peer) == ["first", "second"]
        assert peer.leave() == (b"", "")


def test_a_tool_that_was_removed_is_unknown(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize().request("tools/call", {"name": "remove", "arguments": {"name": "add"}})
        assert peer.receive() == CHANGED["tools"]
        assert text(peer.receive()["result"]) == "[true,false]"
        assert "add" not in names(peer)
        assert peer.tool("add")["error"]["message"] == "Unknown tool: add"


def test_a_call_that_comes_with_the_removal_of_its_tool_is_answered(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize()
        remove = {"name": "remove", "arguments": {"name": "add"}}
        peer.send(
            {"id": "remove", "method": "tools/call", "params": remove},
            {"id": "add", "method": "tools/call", "params": {"name": "add", "arguments": {"count": 0}}},
        )
        seen = [peer.receive() for _ in range(3)]
        answers = {message["id"]: message for message in seen if "id" in message}
        assert CHANGED["tools"] in seen and text(answers["remove"]["result"]) == "[true,false]"
        # Which of the two came first is the loop's affair.
        assert "result" in answers["add"] or answers["add"]["error"]["code"] == -32602


def test_a_call_that_runs_goes_on_when_its_tool_is_removed(server: Path) -> None:
    with Peer(server) as peer:
        peer.initialize().request("tools/call", {"name": "remove_itself"})
        seen = [peer.receive(), peer.receive()]
        assert CHANGED["tools"] in seen
        assert [text(message["result"]) for message in seen if "result" in message] == ["gone"]


def test_what_is_disabled_is_hidden_and_keeps_its_place(server: Path) -> None:
    with Peer(server) as peer:
        before = {kind: names(peer.initialize() if kind == "tools" else peer, kind) for kind in CHANGED}
        for on in (False, True):
            peer.request("tools/call", {"name": "switch", "arguments": {"on": on}})
            # Each of them once, although each was switched twice.
            seen = [peer.receive() for _ in range(4)]
            assert all(seen[:3].count(changed) == 1 for changed in CHANGED.values())
            assert text(seen[3]["result"]) == "switched"
            if not on:
                assert peer.tool("add")["error"]["message"] == "Unknown tool: add"
                for uri in ("config://a", "family://b"):
                    assert peer.call("resources/read", {"uri": uri})["error"]["code"] == -32002
                assert peer.call("prompts/get", {"name": "greet"})["error"]["code"] == -32602
                assert names(peer, "prompts") == []
        assert {kind: names(peer, kind) for kind in CHANGED} == before
        assert peer.leave()[0] == b""


def test_a_server_that_declares_no_list_changed_sends_none(tmp_path: Path) -> None:
    source = SERVER.replace('subscriptions=True', 'capabilities={"tools": {"listChanged": False}}')
    with Peer(script(tmp_path, source)) as peer:
        id = peer.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}})
        capabilities = peer.receive()["result"]["capabilities"]
        assert id and capabilities["tools"] == {"listChanged": False} and capabilities["prompts"] == {"listChanged": True}
        peer.send({"method": "notifications/initialized"})
        assert text(peer.tool("add")) == "added"
        assert "extra0" in names(peer)


def test_a_change_before_any_client_is_no_news(tmp_path: Path) -> None:
    with Peer(script(tmp_path, SERVER.replace("app.run()", "app.add_tool(extra)\n    app.run()"))) as peer:
        assert "extra" in names(peer.initialize())


@pytest.mark.parametrize("tool", ["updated", "updated_from_thread"])
def test_only_who_subscribed_is_told_of_an_update(server: Path, tool: str) -> None:
    told = {"method": "notifications/resources/updated", "params": {"uri": "config://a"}}
    with Peer(server) as peer:
        peer.initialize()
        assert text(peer.tool(tool, {"uri": "config://a"})) == "false"
        assert peer.call("resources/subscribe", {"uri": "config://a"}) == {"result": {}}
        peer.request("tools/call", {"name": tool, "arguments": {"uri": "config://a"}})
        assert peer.receive() == told
        assert text(peer.receive()["result"]) == "true"
        assert text(peer.tool(tool, {"uri": "config://b"})) == "false"
        assert peer.call("resources/unsubscribe", {"uri": "config://a"}) == {"result": {}}
        assert text(peer.tool(tool, {"uri": "config://a"})) == "false"


def test_updates_need_a_server_with_subscriptions(tmp_path: Path) -> None:
    app = Server("none")
    with pytest.raises(CapabilityError, match=r'"resources.subscribe"; make it with subscriptions=True'):
        app.notify_resource_updated("config://a")
    assert Server("some", subscriptions=True).notify_resource_updated("config://a") is False
    with Peer(script(tmp_path, SERVER.replace(", subscriptions=True", ""))) as peer:
        peer.initialize()
        assert peer.call("resources/subscribe", {"uri": "config://a"})["error"]["code"] == -32601
        failed = peer.tool("updated", {"uri": "config://a"})
        assert failed["isError"] is True and "resources.subscribe" in text(failed)


def test_a_client_of_the_handshake_subscribes(server: Path) -> None:
    async def main() -> None:
        seen: list[Any] = []
        async with Client(server, mode="legacy", on_notification=lambda *it: seen.append(it)) as client:
            await client.subscribe("config://a")
            await client.call_tool("updated", {"uri": "config://a"})
            await client.unsubscribe("config://a")
            await client.call_tool("updated", {"uri": "config://a"})
            await client.call_tool("add")
        assert seen == [
            ("notifications/resources/updated", {"uri": "config://a"}),
            ("notifications/tools/list_changed", None),
        ]

    asyncio.run(main())


def test_a_client_of_2026_07_28_listens(server: Path) -> None:
    async def main() -> None:
        others: list[Any] = []
        async with Client(server, on_notification=lambda *it: others.append(it)) as client:
            changes = client.listen(tools=True, updates=["config://a", "config://b"])
            async with changes:
                assert changes.honoured == {"toolsListChanged": True, "resourceSubscriptions": ["config://a", "config://b"]}
                # What waits already is not added again.
                for _ in range(3):
                    await client.call_tool("updated", {"uri": "config://a"})
                await client.call_tool("updated", {"uri": "config://c"})
                await client.call_tool("add")
                seen = [await changes.__anext__() for _ in range(2)]
                assert [method for method, _ in seen] == [
                    "notifications/resources/updated",
                    "notifications/tools/list_changed",
                ]
                assert seen[0][1]["uri"] == "config://a"
            # Both sides have forgotten the stream.
            assert (await client.call_tool("updated", {"uri": "config://a"})).text == "false"
            assert client._streams == {} and client._connection is not None
            assert client._connection.stats()[1] == 0 and others == []
            with pytest.raises(UsageError, match="entered once"):
                async with changes:
                    pass
            for call in (client.subscribe("config://a"), client.unsubscribe("config://a")):
                with pytest.raises(CapabilityError, match="no such method"):
                    await call

    asyncio.run(main())


def test_the_end_of_a_connection_ends_its_streams(server: Path) -> None:
    async def main() -> None:
        from oxmcp import ConnectionClosedError

        client = Client(server)
        await client.connect()
        async with client.listen(prompts=True, resources=True) as changes:
            waiting = asyncio.ensure_future(changes.__anext__())
            await client.ping()
            await client.close()
            with pytest.raises(ConnectionClosedError):
                await waiting

    asyncio.run(main())


def test_a_stream_that_nobody_reads_is_bounded(tmp_path: Path) -> None:
    flood = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
    meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}
    if method == "server/discover":
        send({"id": id, "result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}})
    elif method == "subscriptions/listen":
        send({"method": "notifications/subscriptions/acknowledged", "params": {**meta, "notifications": {}}})
        for number in range(1030):
            send({"method": "notifications/x", "params": {**meta, "n": number}})
        send({"id": id, "result": {"resultType": "complete"}})
"""

    async def main() -> None:
        import sys

        problems: list[str] = []
        command = [sys.executable, "-c", flood]
        async with Client(command, on_problem=lambda kind, _: problems.append(kind)) as client:
            async with client.listen() as changes:
                assert changes._call is not None
                await changes._call
                seen = [params["n"] async for _, params in changes]
        assert seen == list(range(1024)) and problems == ["too_large"] * 6

    asyncio.run(main())


def test_a_client_of_the_handshake_cannot_listen(server: Path) -> None:
    async def main() -> None:
        async with Client(server, mode="legacy") as client:
            with pytest.raises(CapabilityError, match="from revision 2026-07-28 on"):
                async with client.listen(tools=True):
                    pass

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_list_is_whole_whatever_its_pages(tmp_path: Path, mode: Literal["auto", "legacy"]) -> None:
    source = """
        app = Server("pages", page_size=3)
        for number in range(10):
            app.add_tool(lambda: "x", name=f"t{number}")
            app.add_resource(lambda: "x", f"r://{number}", name=f"r{number}")
            app.add_resource(lambda a: "x", f"r{number}://{{a}}", name=f"r{number}")
            app.add_prompt(lambda: "x", name=f"p{number}")
        app.run()
    """

    async def main() -> None:
        sent: list[str] = []
        async with Client(script(tmp_path, source), mode=mode, on_trace=lambda way, line: sent.append(line)) as client:
            assert [tool.name for tool in await client.list_tools()] == [f"t{number}" for number in range(10)]
            assert sum('"method":"tools/list"' in line for line in sent) == 4
            assert len(await client.list_resources()) == 10
            assert len(await client.list_resource_templates()) == 10
            assert len(await client.list_prompts()) == 10

    asyncio.run(main())


def test_what_cannot_be_changed_is_refused() -> None:
    app = Server("refuses")
    app.add_tool(lambda: "x", name="x")
    with pytest.raises(KeyError, match="no tool 'y'"):
        app.disable(tool="y")
    with pytest.raises(KeyError, match="no template"):
        app.enable(resource="x://{a}")
    with pytest.raises(TypeError, match="one of tool="):
        app.disable(tool="x", prompt="y")
    with pytest.raises(TypeError, match="one of tool="):
        app.disable()
    assert (app.remove_prompt("x"), app.remove_resource("x://{a}"), app.remove_tool("x")) == (False, False, True)
    # Its name is free again.
    app.add_tool(lambda: "x", name="x")
    with pytest.raises(ValueError, match="one entry or more"):
        Server("pages", page_size=0)


def test_an_unknown_tool_is_an_error_of_the_protocol(server: Path) -> None:
    async def main() -> None:
        async with Client(server) as client:
            with pytest.raises(ResponseError, match="Unknown tool"):
                await client.call_tool("nobody")

    asyncio.run(main())
