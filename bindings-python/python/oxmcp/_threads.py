"""Threads for plain tools.

The event loop's own executor is small, shared with the program, and joined when the loop ends: one
tool that is stuck would keep the whole process. These threads end with the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

# Calls beyond this number wait for one to end, or to wait for something itself.
_LIMIT = 64
# Threads without work that stay for the next call.
_KEPT = 4


class _Job(NamedTuple):
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class Threads:
    """Daemon threads, started as they are needed, `limit` at most."""

    def __init__(self, limit: int = _LIMIT, kept: int = _KEPT) -> None:
        self._limit, self._kept = limit, kept
        self._jobs: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._running = self._idle = 0

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
        """Calls a function on a thread, with the context variables of the caller.

        The future belongs to the running loop. If it is cancelled before a thread is free, the
        function is not called.
        """
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        job = _Job(lambda: context.run(function, *args, **kwargs), loop, loop.create_future())
        with self._changed:
            self._jobs.append(job)
            if len(self._jobs) <= self._idle:
                self._changed.notify()
            elif self._running < self._limit:
                self._start()
        return job.future

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """While one of its threads only waits for an event loop, another one may run in its place."""
        if getattr(_local, "threads", None) is not self:
            yield
            return
        with self._changed:
            self._limit += 1
            if len(self._jobs) > self._idle and self._running < self._limit:
                self._start()
        try:
            yield
        finally:
            with self._changed:
                self._limit -= 1

    def _start(self) -> None:
        thread = threading.Thread(target=self._serve, name="oxmcp-tool", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system gives no more threads; those that run will come to this job.
            if self._running == 0:
                self._jobs.pop()
                raise
        else:
            self._running += 1

    def _serve(self) -> None:
        _local.threads = self
        while (job := self._next()) is not None:
            if not job.future.cancelled():
                _run(job)
            # What the job holds must not live until the next one comes.
            del job

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._jobs:
                if self._idle >= self._kept or self._running > self._limit:
                    self._running -= 1
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return self._jobs.popleft()


def _run(job: _Job) -> None:
    result: Any = None
    failure: BaseException | None = None
    try:
        result = job.work()
    except StopIteration as error:
        # A future cannot carry it: where it is awaited it would mean a return.
        failure = RuntimeError("the tool raised StopIteration, perhaps by next() on an iterator that was at its end")
        failure.__cause__ = error
    except KeyboardInterrupt as error:
        # No thread but the main one is interrupted, and a loop would end by it.
        failure = RuntimeError("the tool raised KeyboardInterrupt")
        failure.__cause__ = error
    except BaseException as error:
        failure = error
    try:
        job.loop.call_soon_threadsafe(_settle, job.future, result, failure)
    except RuntimeError:
        pass  # the loop is closed, so nobody waits any more
    finally:
        # The traceback holds this frame.
        del failure


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():
        return  # its task was cancelled
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)


_local = threading.local()
_shared = Threads()
run = _shared.run
"""`Threads.run` of the pool that all servers of the process share."""
waiting = _shared.waiting
"""`Threads.waiting` of that pool."""
