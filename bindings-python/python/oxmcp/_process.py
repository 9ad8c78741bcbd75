"""A server as a child process: its start, and its end by steps."""

from __future__ import annotations

import asyncio
import functools
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import IO, Any, Callable, Union

from ._errors import ConnectionClosedError, UsageError
from ._native import ChildShutdown, inherited_variables

# How often to look whether processes are gone that nobody can wait for: children of a child.
_LOOK = 0.05
# What was killed is gone at once, unless the system holds it; then nobody can do anything.
_KILLED = 1.0


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
            process: Any = subprocess.Popen(
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
        except ValueError as error:
            raise UsageError(f"cannot start the server {command[0]!r}: {error}") from error
        self._process: subprocess.Popen[bytes] = process
        assert self._process.stdin is not None and self._process.stdout is not None
        self.input = self._process.stdout.fileno()
        self.output = self._process.stdin.fileno()
        # Our ends of the pipes are ours alone, so their flags are too.
        if sys.platform != "win32":
            os.set_blocking(self.output, False)
        self.release: Callable[[], None] = functools.partial(_close_pipes, self._process)
        """Closes our ends of the pipes. It does not keep this object alive."""
        # A child never outlives its client, also when that is forgotten or the program ends.
        self._kill = weakref.finalize(self, _kill, self._process)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def on_exit(self, call: Callable[[], None]) -> Callable[[], None]:
        """Has a function called on the loop when the process exits; gives one that takes that back."""
        return _watch(self._process, call)

    def has_output(self) -> bool:
        """Whether there is output that nobody has read yet. Where that cannot be told, there is none."""
        if sys.platform == "win32":
            return False
        poll = select.poll()
        poll.register(self.input, select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    async def exited(self, timeout: float) -> bool:
        """Waits for the process to exit, `timeout` seconds at most."""
        if self._process.poll() is not None:
            return True
        exit: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stop = _watch(self._process, lambda: None if exit.done() else exit.set_result(None))
        try:
            await asyncio.wait([exit], timeout=timeout)
        finally:
            stop()
        return self._process.poll() is not None

    def describe_exit(self) -> str:
        """How the process ended, for an error message."""
        status = self._process.poll()
        if status is None:
            return "the server closed its side of the connection"
        if status < 0:
            return f"the server process was ended by signal {_signal_name(-status)}"
        return f"the server process exited with status {status}"

    async def close(self) -> None:
        """Ends the process with all it started: closes its input, then SIGTERM, then SIGKILL, two
        seconds apart. If this is cancelled, SIGKILL comes at once."""
        try:
            await self._end()
        except BaseException:
            self._kill()
            raise
        finally:
            self.release()
        self._kill.detach()

    def kill(self) -> None:
        """Kills the process with all it started, unless that is over already. Waits for nothing."""
        if self._kill.alive:
            _signal(self._process, terminate=False)

    async def _end(self) -> None:
        clock = asyncio.get_running_loop().time
        shutdown = ChildShutdown()
        assert self._process.stdin is not None
        while not _is_gone(self._process):
            step = shutdown.poll(clock())
            if step == "close_input":
                self._process.stdin.close()
            elif step is not None:
                _signal(self._process, terminate=step == "terminate")
            due = shutdown.poll_timeout()
            if due is None:
                await self.exited(_KILLED)
                return
            left = max(0.0, due - clock())
            if await self.exited(left):
                # Its own children are left, whom nobody can wait for.
                await asyncio.sleep(min(left, _LOOK))


def _watch(process: subprocess.Popen[bytes], on_exit: Callable[[], None]) -> Callable[[], None]:
    """Has a function called when the process exits, once; gives the function that stops that.

    The loop's executor is not used: it is joined when the loop ends.
    """
    loop = asyncio.get_running_loop()
    stopped = False
    fd = -1

    def stop() -> None:
        nonlocal stopped
        if not stopped and fd >= 0:
            if not loop.is_closed():
                loop.remove_reader(fd)
            os.close(fd)
        stopped = True

    def exited() -> None:
        if not stopped:
            stop()
            on_exit()

    try:
        fd = os.pidfd_open(process.pid)  # type: ignore[attr-defined,unused-ignore]
        loop.add_reader(fd, exited)
        return stop
    except (AttributeError, NotImplementedError, OSError):
        if fd >= 0:
            os.close(fd)
            fd = -1

    def wait() -> None:
        process.wait()
        try:
            loop.call_soon_threadsafe(exited)
        except RuntimeError:
            pass  # the loop is closed

    try:
        threading.Thread(target=wait, name="oxmcp-exit", daemon=True).start()
    except RuntimeError:
        exited()  # the interpreter ends: there is no time to wait
    return stop


def _inherited() -> dict[str, str]:
    # A value that starts so is a function of a shell's, not data.
    return {name: value for name in inherited_variables() if not (value := os.environ.get(name, "()")).startswith("()")}


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.stdout.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    _signal(process, terminate=False)
    try:
        process.wait(_KILLED)
    except subprocess.TimeoutExpired:
        pass


def _signal(process: subprocess.Popen[bytes], *, terminate: bool) -> None:
    """Signals what is left of the child's group."""
    if _is_gone(process):
        return
    try:
        if sys.platform == "win32":
            process.terminate() if terminate else process.kill()
        else:
            os.killpg(process.pid, signal.SIGTERM if terminate else signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _is_gone(process: subprocess.Popen[bytes]) -> bool:
    """Whether the child and, where there are process groups, all of its group have exited."""
    if process.poll() is None:
        return False
    if sys.platform == "win32":
        return True
    try:
        # As long as one of them lives, the id of the group is not given to another.
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return True
    return not _has_living(process.pid)


def _has_living(group: int) -> bool:
    """Whether a group has a member that is no zombie. In a container those may stay for ever, as
    its first process need not wait for orphans. Where there is no /proc the answer is yes."""
    try:
        ids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return True
    if not ids:
        return True
    for id in ids:
        try:
            with open(f"/proc/{id}/stat", "rb") as file:
                state, _, its_group = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # gone meanwhile
        if int(its_group) == group and state not in (b"Z", b"X"):
            return True
    return False


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)  # a real-time signal has no name of its own


def check_script(path: str, cwd: Union[str, os.PathLike[str], None]) -> None:
    """Raises `ConnectionClosedError` when there is no such script: its interpreter would say so to standard error only."""
    if not os.path.exists(os.path.join(cwd or "", path)):
        why = "there is no such file; check the path, which starts from the working directory"
        raise _not_started(path, why + _as_words(path))


def _cannot_start(
    command: Sequence[str], cwd: Union[str, os.PathLike[str], None], error: OSError
) -> ConnectionClosedError:
    program = command[0]
    if cwd is not None and not os.path.isdir(cwd):
        why = f"the working directory {os.fspath(cwd)!r} does not exist"
    elif isinstance(error, FileNotFoundError):
        where = "at that path" if os.sep in program else "on PATH"
        why = f"there is no such program {where}; check the command, or give its full path"
        if len(command) == 1:
            why += _as_words(program)
    elif isinstance(error, PermissionError):
        why = "the file is not executable; check its mode, or name its interpreter first"
    else:
        why = str(error)
    return _not_started(program, why)


def _as_words(text: str) -> str:
    """What to say of a name that may be a whole command."""
    words = text.split()
    return f". A command with arguments is a list: {words!r}" if len(words) > 1 else ""


def _not_started(program: str, why: str) -> ConnectionClosedError:
    what = f"cannot start the server {program!r}: {why}"
    return ConnectionClosedError(what, code=None, fault="local", retryable=False)
