"""The client for programs without an event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import sys
import threading
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._client import Client, ProgressCallback
from ._errors import UsageError
from ._targets import Target

if TYPE_CHECKING:
    from ._answers import Roots
    from ._offers import Completion, Prompt, PromptResult, Resource, ResourceResult, ResourceTemplate
    from ._streams import Notifications
    from ._types import CallToolResult, Page, Tool

T = TypeVar("T")

# Where a wait cannot be interrupted, Ctrl-C is looked for this often.
_LOOK = 0.1


class SyncClient:
    """`Client` with plain methods, for scripts, notebooks and threads::

        with SyncClient(["python", "server.py"]) as client:
            print(client.call_tool("add", {"a": 1, "b": 2}).text)

    It takes what `Client` takes. The connection lives on a thread of its own, so it may be used from any thread, also
    by several at once, and inside of a program that has an event loop elsewhere. Handlers of this side are called on
    that thread or on worker threads, never on yours. Ctrl-C cancels the call that waits.
    """

    def __init__(self, target: Target, **options: Any) -> None:
        self._client = Client(target, **options)
        self._worker: _Worker | None = None
        self._changing = threading.RLock()
        self._forgotten: weakref.finalize[Any, SyncClient] | None = None

    def __enter__(self) -> SyncClient:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def connect(self, *, timeout: float | None = None) -> None:
        """Starts the server and completes the handshake: see `Client.connect`."""
        with self._changing:
            worker = self._worker
            if worker is None:
                worker = self._worker = _Worker()
                self._forgotten = weakref.finalize(self, _forget, worker, self._client)
                self._forgotten.atexit = False
        try:
            worker.run(self._client.connect(timeout=timeout))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection and the server. May be called more than once, from any thread."""
        worker = self._worker
        if worker is not None and worker.is_here:
            return self._end(worker)  # who closes it on another thread waits for this one
        # Whoever comes second waits until it is closed.
        with self._changing:
            worker = self._worker
            if worker is not None and not worker.is_over:
                self._end(worker)

    def _end(self, worker: _Worker) -> None:
        if self._forgotten is not None:
            self._forgotten.detach()
        try:
            worker.run(self._client.close())
        finally:
            worker.stop()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a SyncClient is one connection, which cannot be copied or pickled; make a new one")

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        if self._worker is None or self._worker.is_over:
            call.close()
            raise UsageError("the client is not connected; use 'with', or connect() first")
        return self._worker.run(call)

    @property
    def protocol_version(self) -> str | None:
        """The revision both sides speak, once connected."""
        return self._client.protocol_version

    @property
    def server_info(self) -> dict[str, Any]:
        """Who the server says it is."""
        return self._client.server_info

    @property
    def server_capabilities(self) -> dict[str, Any]:
        """What the server offers."""
        return self._client.server_capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for a model."""
        return self._client.instructions

    def list_tools(self, *, timeout: float | None = None) -> list[Tool]:
        """All tools of the server."""
        return self._run(self._client.list_tools(timeout=timeout))

    def list_resources(self, *, timeout: float | None = None) -> list[Resource]:
        """All resources of the server."""
        return self._run(self._client.list_resources(timeout=timeout))

    def list_resource_templates(self, *, timeout: float | None = None) -> list[ResourceTemplate]:
        """All resource templates of the server."""
        return self._run(self._client.list_resource_templates(timeout=timeout))

    def list_prompts(self, *, timeout: float | None = None) -> list[Prompt]:
        """All prompts of the server."""
        return self._run(self._client.list_prompts(timeout=timeout))

    def list_tools_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Tool]:
        """One page of the server's tools: the first, or the one that the `next_cursor` of a `Page` names."""
        return self._run(self._client.list_tools_page(cursor, timeout=timeout))

    def list_resources_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Resource]:
        """One page of the server's resources, as in `list_tools_page`."""
        return self._run(self._client.list_resources_page(cursor, timeout=timeout))

    def list_resource_templates_page(
        self, cursor: str | None = None, *, timeout: float | None = None
    ) -> Page[ResourceTemplate]:
        """One page of the server's resource templates, as in `list_tools_page`."""
        return self._run(self._client.list_resource_templates_page(cursor, timeout=timeout))

    def list_prompts_page(self, cursor: str | None = None, *, timeout: float | None = None) -> Page[Prompt]:
        """One page of the server's prompts, as in `list_tools_page`."""
        return self._run(self._client.list_prompts_page(cursor, timeout=timeout))

    def call_tool(
        self,
        name: str,
        arguments: Any = None,
        *,
        timeout: float | None = None,
        max_total_timeout: float | None = None,
        reset_timeout_on_progress: bool = False,
        on_progress: ProgressCallback | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Calls a tool: see `Client.call_tool`."""
        return self._run(
            self._client.call_tool(
                name,
                arguments,
                timeout=timeout,
                max_total_timeout=max_total_timeout,
                reset_timeout_on_progress=reset_timeout_on_progress,
                on_progress=on_progress,
                meta=meta,
            )
        )

    def read_resource(self, uri: str, *, timeout: float | None = None) -> ResourceResult:
        """Reads a resource."""
        return self._run(self._client.read_resource(uri, timeout=timeout))

    def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> PromptResult:
        """Gets the messages of a prompt."""
        return self._run(self._client.get_prompt(name, arguments, timeout=timeout))

    def complete(
        self,
        argument: str,
        value: str = "",
        *,
        prompt: str | None = None,
        template: str | None = None,
        arguments: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Completion:
        """Asks for values of an argument: see `Client.complete`."""
        return self._run(
            self._client.complete(
                argument, value, prompt=prompt, template=template, arguments=arguments, timeout=timeout
            )
        )

    def subscribe(self, uri: str, *, timeout: float | None = None) -> None:
        """Has the server tell when a resource changes (revisions with a handshake)."""
        self._run(self._client.subscribe(uri, timeout=timeout))

    def unsubscribe(self, uri: str, *, timeout: float | None = None) -> None:
        """Ends a `subscribe`."""
        self._run(self._client.unsubscribe(uri, timeout=timeout))

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool = False,
        updates: Sequence[str] = (),
    ) -> SyncNotifications:
        """Has the server tell of changes (2026-07-28)::

            with client.listen(tools=True) as changes:
                for method, params in changes:
                    ...
        """
        return SyncNotifications(
            self, self._client.listen(tools=tools, prompts=prompts, resources=resources, updates=updates)
        )

    def set_logging_level(self, level: str, *, timeout: float | None = None) -> None:
        """Sets the mildest log messages that the server is to send."""
        self._run(self._client.set_logging_level(level, timeout=timeout))

    def set_roots(self, roots: Roots) -> None:
        """Replaces the roots, and tells the server."""
        self._run(_called(self._client.set_roots, roots))

    def ping(self, *, timeout: float | None = None) -> None:
        """Returns when the server has answered."""
        self._run(self._client.ping(timeout=timeout))

    def request(self, method: str, params: Any = None, *, timeout: float | None = None) -> Any:
        """Makes any call; gives the decoded result."""
        return self._run(self._client.request(method, params, timeout=timeout))

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        self._run(_called(self._client.notify, method, params))


class SyncNotifications:
    """What a server tells of, as long as it is entered; made by `SyncClient.listen`."""

    def __init__(self, client: SyncClient, stream: Notifications) -> None:
        self._client, self._stream = client, stream

    @property
    def honoured(self) -> dict[str, Any]:
        """The part of what was asked for that the server tells of."""
        return self._stream.honoured

    def __enter__(self) -> SyncNotifications:
        self._client._run(self._stream.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client._run(self._stream.__aexit__(kind, error, traceback))

    def __iter__(self) -> SyncNotifications:
        return self

    def __next__(self) -> tuple[str, Any]:
        change = self._client._run(_next(self._stream))
        if change is None:
            raise StopIteration
        return change


async def _next(stream: Notifications) -> tuple[str, Any] | None:
    # StopAsyncIteration does not pass through a future of another thread.
    async for change in stream:
        return change
    return None


async def _called(function: Any, *arguments: Any) -> Any:
    return function(*arguments)


class _Worker:
    """An event loop on a thread that ends with the process."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self.is_over = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="oxmcp-sync", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        return threading.current_thread() is self._thread

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine there and waits for it. If the wait is interrupted, it is cancelled."""
        if os.getpid() != self._pid:
            call.close()
            raise UsageError("the client was connected before a fork; make a new one in the child")
        if self.is_here:
            call.close()
            raise UsageError("a handler cannot wait for its own client; make it async and use oxmcp.Client")
        try:
            # Before the loop is told to stop, so that it comes to this as well.
            with self._lock:
                if self.is_over:
                    raise RuntimeError
                future = asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:
            call.close()
            raise UsageError("the client is closed; make a new one") from None
        try:
            return _waited(future)
        except concurrent.futures.CancelledError:
            raise UsageError("the client was closed while the call waited") from None
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Ends the loop. What still runs there is cancelled."""
        with self._lock:
            if self.is_over:
                return
            self.is_over = True
        if os.getpid() == self._pid:
            self._loop.call_soon_threadsafe(self._loop.stop)
            if not self.is_here:
                self._thread.join()


def _waited(future: concurrent.futures.Future[T]) -> T:
    while sys.platform == "win32":
        done, _ = concurrent.futures.wait([future], timeout=_LOOK)
        if done:
            break
    return future.result()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(_end_all())
    finally:
        loop.close()


async def _end_all() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    # Who waits for what was done in the loop's last turn is told in the next one.
    await asyncio.sleep(0)


def _forget(worker: _Worker, client: Client) -> None:
    """Ends what a dropped client left behind, from any thread."""

    async def end() -> None:
        try:
            await client.close()
        finally:
            with worker._lock:
                worker.is_over = True
            asyncio.get_running_loop().stop()

    if os.getpid() == worker._pid and not worker.is_over:
        call = end()
        try:
            asyncio.run_coroutine_threadsafe(call, worker._loop)
        except RuntimeError:
            call.close()
