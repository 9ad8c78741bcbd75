"""The standard streams, while they belong to the protocol."""

from __future__ import annotations

import os
import sys

from ._native import Stdio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_CLOSED = (
    "standard input or output is closed, and a server speaks over them; start it by a client, or with both open: "
    "redirect one that is not used from or to /dev/null"
)


class StandardStreams:
    """Takes the descriptors of standard input and output for the protocol, as long as it is entered.

    Meanwhile ``print`` writes to standard error, line by line, and standard input reads as empty.
    Nothing that was printed before or meanwhile reaches the protocol's stream.
    """

    def __init__(self) -> None:
        self._stdio: Stdio | None = None
        self._changed: list[tuple[Any, bool]] = []

    @property
    def input(self) -> int:
        """Where the peer's messages come from."""
        assert self._stdio is not None
        return self._stdio.input

    @property
    def output(self) -> int:
        """Where ours go."""
        assert self._stdio is not None
        return self._stdio.output

    def __enter__(self) -> StandardStreams:
        if sys.__stdin__ is None or sys.__stdout__ is None:
            raise OSError(_CLOSED)
        try:
            os.fstat(2)
        except OSError:
            _open_standard_error()
        try:
            self._stdio = Stdio()
        except OSError as error:
            raise OSError(error.errno, f"{_CLOSED} ({error.strerror})") from error
        try:
            # Prints would otherwise wait in a buffer that was meant for the pipe. What waits there
            # already goes to standard error now.
            for stream in _writers():
                reconfigure = getattr(stream, "reconfigure", None)
                if reconfigure is not None:
                    self._changed.append((stream, stream.line_buffering))
                    reconfigure(line_buffering=True)
            _flush()
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._restore()

    def _restore(self) -> None:
        try:
            _flush()
            for stream, line_buffering in self._changed:
                if not stream.closed:
                    stream.reconfigure(line_buffering=line_buffering)
        except (OSError, ValueError):
            pass  # standard error takes nothing any more
        finally:
            if self._stdio is not None:
                self._stdio.close()


def _writers() -> list[Any]:
    streams = [sys.__stdout__] if sys.stdout is sys.__stdout__ else [sys.__stdout__, sys.stdout]
    return [stream for stream in streams if stream is not None and not getattr(stream, "closed", False)]


def _flush() -> None:
    for stream in _writers():
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


def _open_standard_error() -> None:
    """Without a standard error the prints of tools have nowhere to go, and the next file opened would
    get its number."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != 2:
        os.dup2(null, 2)
        os.close(null)
