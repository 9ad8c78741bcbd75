"""A Python server over HTTP: on a port of its own, and under uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from http_peer import LEGACY, MODERN, HttpPeer, close_all, counts, peer_of, serving

from oxmcp import Client, Context, HttpOptions, ListenOptions, Server, ToolError

HOW = pytest.mark.parametrize("how", ["port", "uvicorn"])
ERA = pytest.mark.parametrize("revision", [LEGACY, MODERN])


@HOW
@ERA
def test_calls_of_both_eras(how: str, revision: str) -> None:
    app = Server("test", version="1.2")

    @app.tool
    async def add(a: int, b: int) -> str:
        return str(a + b)

    @app.tool
    def plain() -> str:
        return threading.current_thread().name

    @app.tool
    async def fails() -> str:
        raise ToolError("no")

    async def main() -> None:
        async with serving(app, how) as port:
            peer = await peer_of(port, revision)
            assert (peer.session is None) == (revision == MODERN)
            assert await peer.tool("add", a=1, b=2) == "3"
            assert await peer.tool("plain") != threading.current_thread().name
            failed = await peer.call("tools/call", name="fails", arguments={})
            assert failed["result"]["isError"] and failed["result"]["content"][0]["text"] == "no"
            wrong = await peer.call("tools/call", name="add", arguments={"a": "x"})
            assert wrong["result"]["isError"]
            listed = await peer.call("tools/list")
            assert [tool["name"] for tool in listed["result"]["tools"]] == ["add", "plain", "fails"]
            assert counts(app) == (0, 0, 0)

    asyncio.run(main())


@HOW
@ERA
def test_what_a_handler_says_comes_before_its_answer(how: str, revision: str) -> None:
    app = Server("test")

    @app.tool
    async def works(ctx: Context) -> str:
        for step in (1, 2):
            await ctx.report_progress(step, 2)
        return "done"

    async def main() -> None:
        async with serving(app, how) as port:
            peer = await peer_of(port, revision)
            for _ in range(20):
                reply = await peer.begin("tools/call", name="works", arguments={}, _meta={"progressToken": "t"})
                messages = [message async for message in (await reply.begin()).messages()]
                assert [message.get("params", {}).get("progress") for message in messages] == [1, 2, None]
                assert messages[-1]["result"]["content"][0]["text"] == "done"

    asyncio.run(main())


@HOW
@ERA
def test_a_client_that_leaves_cancels_its_call_only_where_that_is_how_to_cancel(how: str, revision: str) -> None:
    app = Server("test")

    async def main() -> None:
        started, cancelled, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

        @app.tool
        async def waits() -> str:
            started.set()
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
            ended.set()
            return "ended"

        ended = asyncio.Event()
        async with serving(app, how) as port:
            peer = await peer_of(port, revision)
            reply = await peer.begin("tools/call", name="waits", arguments={})
            await started.wait()
            reply.leave()
            if revision == MODERN:
                await cancelled.wait()
            else:
                # Its session goes on, and so does the call, until it is cancelled in so many words.
                assert await peer.call("ping") and not cancelled.is_set()
                may_end.set()
                await ended.wait()

    asyncio.run(main())


@HOW
def test_a_cancel_of_the_peer_cancels_the_task(how: str) -> None:
    app = Server("test")

    async def main() -> None:
        started, cancelled = asyncio.Event(), asyncio.Event()

        @app.tool
        async def waits() -> str:
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return "never"

        async with serving(app, how) as port:
            peer = await peer_of(port, LEGACY)
            await peer.begin("tools/call", name="waits", arguments={})
            await started.wait()
            await peer.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
            await cancelled.wait()
            assert await peer.call("ping")
            assert counts(app)[0] == 0

    asyncio.run(main())


@HOW
@ERA
def test_a_handler_asks_its_client(how: str, revision: str) -> None:
    app = Server("test")

    @app.tool
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Sure?", {"type": "object", "properties": {"yes": {"type": "boolean"}}})
        return f"{answer.action} {answer.content}"

    form = {"action": "accept", "content": {"yes": True}}

    async def legacy(peer: HttpPeer) -> str:
        reply = await (await peer.begin("tools/call", name="ask", arguments={})).begin()
        question = await reply.message()
        assert question["method"] == "elicitation/create"
        assert (await peer.post({"id": question["id"], "result": form})).status == 202
        return str((await reply.answer())["result"]["content"][0]["text"])

    async def modern(peer: HttpPeer) -> str:
        can = {"elicitation": {"form": {}}}
        reply = await (await peer.begin("tools/call", can, name="ask", arguments={})).begin()
        result = (await reply.answer())["result"]
        assert result["resultType"] == "input_required"
        answers = {key: form for key in result["inputRequests"]}
        state = {"inputResponses": answers, "requestState": result["requestState"]}
        reply = await (await peer.begin("tools/call", can, name="ask", arguments={}, **state)).begin()
        return str((await reply.answer())["result"]["content"][0]["text"])

    async def main() -> None:
        async with serving(app, how) as port:
            peer = HttpPeer(port, revision)
            if revision == LEGACY:
                await peer.initialize(elicitation={"form": {}})
                assert await legacy(peer) == "accept {'yes': True}"
            else:
                assert await modern(peer) == "accept {'yes': True}"
            assert counts(app)[:2] == (0, 0)

    asyncio.run(main())


@HOW
def test_questions_that_are_asked_together_go_out_together(how: str) -> None:
    app = Server("test")

    @app.tool
    async def ask(ctx: Context) -> str:
        one, two = await asyncio.gather(ctx.elicit("One?", key="one"), ctx.list_roots(key="two"))
        return f"{one.action} {len(two)}"

    async def main() -> None:
        async with serving(app, how) as port:
            peer = HttpPeer(port, MODERN)
            reply = await peer.begin("tools/call", {"elicitation": {}, "roots": {}}, name="ask", arguments={})
            result = (await (await reply.begin()).answer())["result"]
            assert result["inputRequests"].keys() == {"one", "two"}

    asyncio.run(main())


@HOW
def test_a_handler_gives_its_stream_up_and_its_client_comes_back_for_the_rest(how: str) -> None:
    app = Server("test")

    async def main() -> None:
        may_end = asyncio.Event()

        @app.tool
        async def ends(ctx: Context) -> str:
            ctx.end_stream()
            await may_end.wait()
            return "the rest"

        async with serving(app, how) as port:
            peer = await peer_of(port, LEGACY)
            reply = await (await peer.begin("tools/call", name="ends", arguments={})).begin()
            seen = (await reply.chunk()).decode()
            while chunk := await reply.chunk():
                seen += chunk.decode()
            (last,) = [line[3:].strip() for line in seen.split("\n") if line.startswith("id:")]
            may_end.set()
            rest = await peer.stream(last)
            assert (await rest.message())["result"]["content"][0]["text"] == "the rest"
            rest.leave()

    asyncio.run(main())


@HOW
@ERA
def test_all_clients_are_told_of_changes(how: str, revision: str) -> None:
    app = Server("test", subscriptions=True)

    @app.tool
    async def first() -> str:
        return "1"

    @app.resource("data://x")
    async def data() -> str:
        return "x"

    async def listen(peer: HttpPeer) -> Any:
        if revision == LEGACY:
            assert await peer.call("resources/subscribe", uri="data://x")
            return await peer.stream()
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["data://x"]}
        reply = await (await peer.begin("subscriptions/listen", notifications=wanted)).begin()
        assert (await reply.message())["method"] == "notifications/subscriptions/acknowledged"
        return reply

    async def main() -> None:
        async with serving(app, how) as port:
            streams = [await listen(await peer_of(port, revision)) for _ in range(3)]
            for number in range(200):
                app.add_tool(first, name=f"tool{number}")
            for stream in streams:
                assert (await stream.message())["method"] == "notifications/tools/list_changed"
            assert app.notify_resource_updated("data://x") and not app.notify_resource_updated("data://y")
            for stream in streams:
                message = await stream.message()
                while message["method"] == "notifications/tools/list_changed":
                    message = await stream.message()
                assert message["method"] == "notifications/resources/updated"
                assert message["params"]["uri"] == "data://x"
                stream.leave()

    asyncio.run(main())


@ERA
def test_a_handler_that_keeps_the_interpreter_busy_delays_no_ping_and_no_list(
    revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lists that have spans are the loop's to answer, and another test may have asked for some.
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    app = Server("test")
    answered = threading.Event()

    @app.tool
    async def hogs() -> str:
        hogging.set()
        while not answered.is_set():
            pass
        return "done"

    hogging = threading.Event()

    async def client(port: int) -> str:
        try:
            return await talk(port)
        finally:
            await close_all()

    async def talk(port: int) -> str:
        peer = await peer_of(port, revision)
        call = await peer.begin("tools/call", name="hogs", arguments={})
        await asyncio.to_thread(hogging.wait)
        if revision == LEGACY:
            assert (await peer.call("ping"))["result"] == {}
        assert (await peer.call("tools/list"))["result"]["tools"]
        answered.set()
        return str((await (await call.begin()).answer())["result"]["content"][0]["text"])

    async def main() -> str:
        async with serving(app, "port") as port:
            # Another loop, on another thread: this one is kept busy.
            return await asyncio.to_thread(asyncio.run, client(port))

    assert asyncio.run(main()) == "done"


@HOW
def test_plain_handlers_run_at_the_same_time(how: str) -> None:
    app = Server("test")
    meet = threading.Barrier(8)

    @app.tool
    def meets() -> str:
        meet.wait()
        return "met"

    async def main() -> None:
        async with serving(app, how) as port:
            peers = [HttpPeer(port, MODERN) for _ in range(8)]
            assert await asyncio.gather(*(peer.tool("meets") for peer in peers)) == ["met"] * 8

    asyncio.run(main())


@HOW
def test_nothing_is_left_of_calls_whatever_became_of_them(how: str) -> None:
    app = Server("test")

    @app.tool
    async def quick(fail: bool) -> str:
        if fail:
            raise ValueError("no")
        return "ok"

    @app.tool
    async def slow(ctx: Context) -> str:
        await ctx.report_progress(1)
        await asyncio.Event().wait()
        return "never"

    async def cancelled(peer: HttpPeer) -> None:
        reply = await peer.begin("tools/call", name="slow", arguments={}, _meta={"progressToken": 1})
        await (await reply.begin()).message()
        reply.leave()

    async def main() -> None:
        async with serving(app, how) as port:
            peer = await peer_of(port, MODERN)
            for _ in range(10):
                arguments = [{"fail": fail} for fail in [False, True] * 10]
                calls = [peer.begin("tools/call", name="quick", arguments=each) for each in arguments]
                for reply in await asyncio.gather(*calls):
                    assert "result" in await (await reply.begin()).answer()
                await asyncio.gather(*(cancelled(HttpPeer(port, MODERN)) for _ in range(10)))
            while counts(app) != (0, 0, 0):
                await asyncio.sleep(0.01)
            ours = {asyncio.current_task()}
            handlers = [task for task in asyncio.all_tasks() - ours if "Handler" in repr(task.get_coro())]
            assert handlers == []
        assert app._endpoints == set()

    asyncio.run(main())


@HOW
def test_the_lifespan_surrounds_all_calls_once(how: str) -> None:
    story: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Server) -> AsyncIterator[dict[str, int]]:
        story.append("begin")
        yield {"n": 5}
        story.append("end")

    app = Server("test", lifespan=lifespan)

    @app.tool
    async def tells(ctx: Context) -> str:
        return str(ctx.state["n"])

    @app.tool
    async def waits() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            story.append("handler")
        return "never"

    async def main() -> None:
        nonlocal started
        started = asyncio.Event()
        async with serving(app, how) as port:
            peers = [await peer_of(port, revision) for revision in (LEGACY, MODERN, LEGACY)]
            assert [await peer.tool("tells") for peer in peers] == ["5"] * 3
            if how == "port":
                await peers[0].begin("tools/call", name="waits", arguments={})
                await started.wait()

    started = asyncio.Event()
    asyncio.run(main())
    assert story == (["begin", "handler", "end"] if how == "port" else ["begin", "end"])


@HOW
def test_requests_for_other_hosts_are_refused(how: str) -> None:
    app = Server("test")

    async def main() -> None:
        async with serving(app, how, hosts=["mcp.example.com"]) as port:
            peer = HttpPeer(port, MODERN)
            message = {"id": 1, "method": "server/discover", "params": {}}
            assert (await peer.post(message, host="evil.test")).status == 421
            assert (await peer.post(message, host="mcp.example.com", origin="https://evil.test")).status == 403
            assert (await peer.post(message, host="mcp.example.com")).status == 400

    asyncio.run(main())


@HOW
def test_a_body_over_the_limit_is_refused_before_it_has_come(how: str) -> None:
    app = Server("test")

    async def main() -> None:
        async with serving(app, how, body_limit=1000) as port:
            peer = HttpPeer(port, MODERN)
            message = {"method": "ping"}
            reply = await peer.open("POST", peer.fields(message), b"x" * 2000, promised=1_000_000)
            assert (await reply.begin()).status == 413
            reply.leave()

    asyncio.run(main())


@HOW
def test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_said(how: str) -> None:
    app = Server("test")

    async def main() -> None:
        async with serving(app, how, body_timeout=0.1) as port:
            peer = HttpPeer(port, MODERN)
            reply = await peer.open("POST", peer.fields({"method": "ping"}), b"{", promised=100)
            assert (await reply.begin()).status == 408
            reply.leave()

    asyncio.run(main())


@HOW
def test_every_option_is_taken(how: str) -> None:
    app = Server("options")

    @app.tool
    async def add(a: int, b: int) -> int:
        return a + b

    options: dict[str, Any] = {
        "hosts": ["mcp.example.com"],
        "any_host": False,
        "origins": ["https://app.example.com"],
        "stateless": False,
        "json_only": True,
        "http_sse": False,
        "max_sessions": 10,
        "session_idle": 60.5,
        "resumable": True,
        "retry": 0.5,
        "keep_alive": 20,
        "body_limit": 1_000_000,
        "body_timeout": 100,
    }
    assert options.keys() == HttpOptions.__optional_keys__
    if how == "port":
        options |= {"max_connections": 100, "head_timeout": 100, "write_timeout": 100.5, "route_timeout": 100}
        assert options.keys() == ListenOptions.__optional_keys__

    async def main() -> None:
        async with serving(app, how, **options) as port:
            for mode in ("auto", "legacy"):
                async with Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:  # type: ignore[arg-type]
                    assert await client.list_tools()

    asyncio.run(main())
