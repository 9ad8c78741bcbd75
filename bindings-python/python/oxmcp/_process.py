"""A server as a child process: its start, and its end by steps."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import IO, Any, Union

from ._errors import ConnectionClosedError
from ._native import ChildShutdown, inherited_variables


class ServerProcess:
    """A child process in a process group of its own, so that its end reaches its own children."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: Union[str, os.PathLike[str], None],
        stderr: Union[int, IO[Any], None],
    ) -> None:
        options: dict[str, Any]
        if sys.platform == "win32":
            options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
        else:
            options = {"start_new_session": True}
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                cwd=cwd,
                env={**_inherited(), **(env or {})},
                **options,
            )
        except OSError as error:
            raise _cannot_start(command, cwd, error) from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self.input = self._process.stdout.fileno()
        self.output = self._process.stdin.fileno()
        # Our ends of the pipes are ours alone, so their flags are too.
        if sys.platform != "win32":
            os.set_blocking(self.output, False)
        self._exit: asyncio.Future[int] | None = None
        # A child never outlives its client, also when that is forgotten or the program ends.
        self._kill = weakref.finalize(self, _kill, self._process)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    async def exited(self, timeout: float) -> bool:
        """Waits for the process to exit, `timeout` seconds at most."""
        if self._process.poll() is not None:
            return True
        if self._exit is None:
            self._exit = asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        done, _ = await asyncio.wait([self._exit], timeout=timeout)
        return bool(done)

    def describe_exit(self) -> str:
        """How the process ended, for an error message."""
        status = self._process.poll()
        if status is None:
            return "the server closed its output"
        if status < 0:
            return f"the server process was ended by signal {signal.Signals(-status).name}"
        return f"the server process exited with status {status}"

    async def close(self) -> None:
        """Ends the process: closes its input, then SIGTERM, then SIGKILL, two seconds apart."""
        clock = asyncio.get_running_loop().time
        shutdown = ChildShutdown()
        assert self._process.stdin is not None and self._process.stdout is not None
        while self._process.poll() is None:
            step = shutdown.poll(clock())
            if step == "close_input":
                self._process.stdin.close()
            elif step is not None:
                _signal(self._process, terminate=step == "terminate")
            due = shutdown.poll_timeout()
            await self.exited(60.0 if due is None else max(0.0, due - clock()))
        self._process.stdin.close()
        self._process.stdout.close()
        self._kill.detach()


def _inherited() -> dict[str, str]:
    # A value that starts so is a function of a shell's, not data.
    return {name: value for name in inherited_variables() if not (value := os.environ.get(name, "()")).startswith("()")}


def _kill(process: subprocess.Popen[bytes]) -> None:
    _signal(process, terminate=False)
    process.wait()


def _signal(process: subprocess.Popen[bytes], *, terminate: bool) -> None:
    """Signals the child's whole group, unless the child is gone."""
    if process.poll() is not None:
        return
    try:
        if sys.platform == "win32":
            process.terminate() if terminate else process.kill()
        else:
            os.killpg(process.pid, signal.SIGTERM if terminate else signal.SIGKILL)
    except ProcessLookupError:
        pass


def _cannot_start(
    command: Sequence[str], cwd: Union[str, os.PathLike[str], None], error: OSError
) -> ConnectionClosedError:
    program = command[0]
    if cwd is not None and not os.path.isdir(cwd):
        why = f"the working directory {os.fspath(cwd)!r} does not exist"
    elif isinstance(error, FileNotFoundError):
        where = "at that path" if os.sep in program else "on PATH"
        why = f"there is no such program {where}; check the command, or give its full path"
    elif isinstance(error, PermissionError):
        why = "the file is not executable; check its mode, or name its interpreter first"
    else:
        why = str(error)
    return ConnectionClosedError(
        f"cannot start the server {program!r}: {why}", code=None, fault="local", retryable=False
    )
