"""Programs that serve over HTTP: each prints its address as its first line, and ends when its standard input does."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(*command: str) -> Iterator[tuple[str, Path]]:
    """The address of a server that runs meanwhile, and the file with what it says on standard error."""
    with tempfile.NamedTemporaryFile() as stderr:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr.file, text=True
        )
        assert server.stdin and server.stdout
        said = Path(stderr.name)
        try:
            url = server.stdout.readline().strip()
            assert url.startswith("http://"), said.read_text()
            yield url, said
            server.stdin.close()
            assert server.wait(30) == 0, said.read_text()
        finally:
            server.kill()
            server.wait()
            server.stdout.close()
