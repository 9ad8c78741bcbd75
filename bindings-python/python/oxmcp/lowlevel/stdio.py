"""The standard streams as the two ends of a connection: the module ``mcp.server.stdio``."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from .._stdio import StandardStreams

__all__ = ["stdio_server"]


class StdioStream:
    """One end; `Server.run` takes both."""

    def __init__(self, streams: StandardStreams) -> None:
        self.streams = streams


@contextlib.asynccontextmanager
async def stdio_server(stdin: Any = None, stdout: Any = None) -> AsyncIterator[tuple[StdioStream, StdioStream]]:
    """Takes standard input and output for the protocol, until it is left::

        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    """
    if stdin is not None or stdout is not None:
        raise TypeError("stdio_server() takes the process's own standard input and output, and no other streams")
    with StandardStreams() as streams:
        yield StdioStream(streams), StdioStream(streams)
