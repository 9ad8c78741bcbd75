"""What a server is told of the sessions of its clients."""

from __future__ import annotations

import asyncio
import copy
import logging
from pathlib import Path
from typing import Any

import pytest
from http_peer import LEGACY, MODERN, HttpPeer, peer_of, serving
from peer import Peer, script

from oxmcp import CapabilityError, Client, ConnectionClosedError, Root, Server, ServerSession, UsageError

HOW = pytest.mark.parametrize("how", ["port", "uvicorn"])


class Log:
    """The hooks of a server, and what they were told."""

    def __init__(self) -> None:
        self.said: list[tuple[str, ServerSession]] = []
        self.changed = asyncio.Event()

    def connected(self, session: ServerSession) -> None:
        self.said.append(("connected", session))
        self.changed.set()

    async def disconnected(self, session: ServerSession) -> None:
        await asyncio.sleep(0)
        self.said.append(("disconnected", session))
        self.changed.set()

    def server(self, **options: Any) -> Server:
        app = Server("told", on_connect=self.connected, on_disconnect=self.disconnected, **options)

        @app.tool
        async def hello() -> str:
            return "hello"

        return app

    async def until(self, count: int) -> None:
        while len(self.said) < count:
            self.changed.clear()
            await self.changed.wait()

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.said]


def test_a_client_in_memory_comes_and_goes() -> None:
    async def main() -> None:
        log = Log()
        app = log.server()
        for number in (1, 2):
            async with Client(app, name="guest", version="3", mode="legacy", roots=["file:///data"]) as client:
                await log.until(2 * number - 1)
                kind, session = log.said[-1]
                assert kind == "connected"
                assert session.client_info["name"] == "guest" and session.client_info["version"] == "3"
                assert session.protocol_version == client.protocol_version == LEGACY
                assert session.client_capabilities["roots"] == {"listChanged": True} and session.session_id is None
                assert "guest 3" in repr(session)
            # The server has ended when its client has left.
            assert log.kinds == ["connected", "disconnected"] * number
            assert log.said[-1][1] is session

    asyncio.run(main())


def test_revisions_without_a_handshake_have_no_sessions() -> None:
    async def main() -> None:
        log = Log()
        app = log.server()
        async with Client(app) as client:
            assert client.protocol_version == MODERN
            assert (await client.call_tool("hello")).text == "hello"
        assert log.said == []

    asyncio.run(main())


def test_a_session_asks_and_tells_its_client() -> None:
    async def main() -> None:
        log, notified, logged = Log(), [], []
        roots = [Root(uri="file:///data", name="data")]
        client = Client(
            log.server(),
            mode="legacy",
            roots=roots,
            on_log=lambda *message: logged.append(message),
            on_notification=lambda method, params: notified.append((method, params)),
        )
        async with client:
            await log.until(1)
            _, session = log.said[0]
            await session.ping()
            assert await session.list_roots() == roots
            assert (await session.request("roots/list"))["roots"] == [{"uri": "file:///data", "name": "data"}]
            with pytest.raises(CapabilityError):
                await session.request("sampling/createMessage", {"messages": [], "maxTokens": 1})
            with pytest.raises(UsageError, match="no JSON form"):
                session.notify("notifications/x", object())
            with pytest.raises(ValueError, match="no level"):
                session.log("loud", "x")
            session.notify("notifications/x", {"a": 1})
            session.log("warning", {"disk": "full"})
            await client.ping()
            assert ("notifications/x", {"a": 1}) in notified
            assert len(logged) == 1 and "full" in repr(logged[0])
            with pytest.raises(TypeError, match="cannot be copied"):
                copy.copy(session)
            waits = asyncio.ensure_future(session.ping(timeout=5))
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
        with pytest.raises(ConnectionClosedError):
            await session.ping()
        with pytest.raises(ConnectionClosedError):
            session.notify("notifications/x")
        session.close()  # it is over already

    asyncio.run(main())


def test_the_server_ends_a_session() -> None:
    async def main() -> None:
        log = Log()
        async with Client(log.server(), mode="legacy") as client:
            await log.until(1)
            log.said[0][1].close()
            await log.until(2)
            with pytest.raises(ConnectionClosedError):
                await client.ping()

    asyncio.run(main())


def test_a_session_is_used_on_its_loop() -> None:
    async def main() -> ServerSession:
        log = Log()
        async with Client(log.server(), mode="legacy"):
            await log.until(1)
        return log.said[0][1]

    session = asyncio.run(main())
    with pytest.raises(UsageError, match="another event loop"):
        session.notify("notifications/x")


def test_the_hooks_of_a_session_come_one_after_the_other(caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []

    async def main() -> None:
        may_go_on = asyncio.Event()

        async def connected(session: ServerSession) -> None:
            said.append("connecting")
            await may_go_on.wait()
            said.append("connected")
            raise LookupError("no such guest")

        def disconnected(session: ServerSession) -> None:
            said.append("disconnected")
            raise LookupError("nobody left")

        app = Server("told", on_connect=connected, on_disconnect=disconnected)
        async with Client(app, mode="legacy") as client:
            await client.ping()
            assert said == ["connecting"]
            asyncio.get_running_loop().call_later(0.05, may_go_on.set)

    with caplog.at_level(logging.ERROR, "oxmcp"):
        asyncio.run(main())
    assert said == ["connecting", "connected", "disconnected"]
    assert [record.getMessage() for record in caplog.records] == ["connected failed", "disconnected failed"]


@HOW
def test_sessions_over_http(how: str) -> None:
    async def main() -> None:
        log = Log()
        async with serving(log.server(), how) as port:
            first, second = await peer_of(port, LEGACY), await peer_of(port, LEGACY)
            await log.until(2)
            assert {session.session_id for _, session in log.said} == {first.session, second.session}
            assert await (await peer_of(port, MODERN)).tool("hello") == "hello"
            assert log.kinds == ["connected"] * 2

            session = next(session for _, session in log.said if session.session_id == first.session)
            stream = await first.stream()
            ping = asyncio.ensure_future(session.ping())
            question = await stream.message()
            assert question["method"] == "ping"
            await first.post({"id": question["id"], "result": {}})
            await ping
            session.notify("notifications/x")
            assert (await stream.message())["method"] == "notifications/x"

            fields = {"mcp-session-id": str(first.session), "mcp-protocol-version": LEGACY}
            assert (await (await first.open("DELETE", fields)).begin()).status in (200, 204)
            await log.until(3)
            assert log.said[-1] == ("disconnected", session)
            with pytest.raises(ConnectionClosedError):
                await session.ping()
        # The other one ends with the server.
        assert log.kinds == ["connected"] * 2 + ["disconnected"] * 2
        assert log.said[-1][1].session_id == second.session

    asyncio.run(main())


def test_a_session_that_is_never_initialized_is_told_of_at_its_end() -> None:
    async def main() -> None:
        log = Log()
        async with log.server().serve_http() as serving:
            peer = HttpPeer(serving.address[1])
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
            reply = await peer.post({"id": 0, "method": "initialize", "params": params})
            assert (await reply.answer())["result"]["protocolVersion"] == LEGACY
            reply.leave()
            assert log.said == []
        assert log.kinds == ["disconnected"]

    asyncio.run(main())


def test_servers_without_sessions_are_told_of_none() -> None:
    async def main() -> None:
        log = Log()
        async with log.server().serve_http(stateless=True) as serving:
            async with Client(serving.url, mode="legacy") as client:
                assert (await client.call_tool("hello")).text == "hello"
        assert log.said == []

    asyncio.run(main())


def test_a_hook_that_never_ends_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oxmcp._http.LAST_WORDS", 0.05)
    cancelled: list[bool] = []

    async def stuck(session: ServerSession) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main() -> None:
        async with Server("stuck", on_disconnect=stuck).serve_http() as serving:
            async with Client(serving.url, mode="legacy") as client:
                await client.ping()
        assert cancelled == [True]

    asyncio.run(main())


SERVER = """
    import sys
    def connected(session):
        print("connected", session.client_info["name"], session.session_id, file=sys.stderr, flush=True)
    async def disconnected(session):
        print("disconnected", session.client_info["name"], file=sys.stderr, flush=True)
    app = Server("told", on_connect=connected, on_disconnect=disconnected)
    app.run()
"""


def test_over_standard_streams(tmp_path: Path) -> None:
    with Peer(script(tmp_path, SERVER)) as peer:
        peer.initialize()
        assert peer.error_line() == "connected peer None"
        assert peer.call("ping")["result"] == {}
        assert peer.leave() == (b"", "disconnected peer\n")


def test_over_standard_streams_the_end_by_a_signal(tmp_path: Path) -> None:
    import signal

    with Peer(script(tmp_path, SERVER)) as peer:
        peer.initialize()
        assert peer.error_line() == "connected peer None"
        peer.process.send_signal(signal.SIGINT)
        assert peer.leave() == (b"", "disconnected peer\n")
        assert peer.process.returncode == 0
