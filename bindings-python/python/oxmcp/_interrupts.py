"""The user's Ctrl-C, and what only looks like it: a `KeyboardInterrupt` that a handler raised by itself."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine on an event loop of its own, which every signal wakes."""
    if sys.version_info >= (3, 11):
        asyncio.run(_woken(work))
    else:
        with _counted():
            asyncio.run(_woken(work))


async def _woken(work: Coroutine[Any, Any, None]) -> None:
    # A signal that comes in the moment in which the loop goes to sleep would otherwise be noticed when it wakes.
    loop = asyncio.get_running_loop()
    receiver, sender = socket.socketpair()
    receiver.setblocking(False)
    sender.setblocking(False)
    is_set = False
    try:
        try:
            before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
            is_set = True
            loop.add_reader(receiver, receiver.recv, 4096)
        except (ValueError, NotImplementedError):
            pass  # not on the main thread, or not on this platform
        await work
    finally:
        if is_set:
            signal.set_wakeup_fd(before)
            loop.remove_reader(receiver)
        receiver.close()
        sender.close()


def is_real() -> bool:
    """Whether the exception may have come from the terminal. Only the main thread gets those, and only where its
    handler of the signal raises."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGINT)
    # Since Python 3.11 `asyncio.run` has a handler of its own, which cancels the main task at first, and counts.
    counted = getattr(handler, "func", handler)
    count = getattr(getattr(counted, "__self__", None), "_interrupt_count", None)
    return handler is signal.default_int_handler if count is None else count > 0


class _Counting:
    """A handler of the signal that counts, for Pythons whose `asyncio.run` does not."""

    def __init__(self) -> None:
        self._interrupt_count = 0

    def on_signal(self, number: int, frame: Any) -> None:
        self._interrupt_count += 1
        signal.default_int_handler(number, frame)


@contextmanager
def _counted() -> Iterator[None]:
    """Has interrupts counted, where Python itself would raise them."""
    counting = _Counting()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, counting.on_signal)
    except ValueError:  # not on the main thread, which alone gets them
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
