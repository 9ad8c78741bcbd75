"""Runs what handlers depend on: see `Depends`."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, Callable

from ._depends import Dependency


class Step:
    """A dependency that was read: how its function is called."""

    def __init__(
        self, dependency: Dependency, takes: dict[str, Step | None], manager: Callable[..., Any] | None
    ) -> None:
        self.dependency = dependency
        self.takes = takes
        """Its parameters: a dependency, or None for the context."""
        self.manager = manager
        """Makes a context manager, if the function yields."""


def read(dependency: Dependency, hints: Callable[[Any], dict[str, Any]], seen: tuple[Any, ...] = ()) -> Step:
    """Reads a dependency and all below it.

    :param hints: gives for each parameter of a function a `Dependency`, or None for a context, or raises `TypeError`.
    """
    function = dependency.function
    if function in seen:
        raise TypeError(f"{dependency!r} depends on itself")
    takes: dict[str, Step | None] = {}
    for name, source in hints(function).items():
        takes[name] = None if source is None else read(source, hints, (*seen, function))
    manager: Callable[..., Any] | None = None
    if inspect.isasyncgenfunction(function):
        manager = contextlib.asynccontextmanager(function)
    elif inspect.isgeneratorfunction(function):
        manager = contextlib.contextmanager(function)
    return Step(dependency, takes, manager)


class Scope:
    """The dependencies of one call."""

    def __init__(self, context: Any, stack: contextlib.AsyncExitStack) -> None:
        self._context, self._stack = context, stack
        self._made: dict[Any, Any] = {}

    async def value(self, step: Step) -> Any:
        """The value of a dependency."""
        function = step.dependency.function
        if step.dependency.cached and function in self._made:
            return self._made[function]
        given = {name: self._context if sub is None else await self.value(sub) for name, sub in step.takes.items()}
        value = await self._make(step, given)
        if step.dependency.cached:
            self._made[function] = value
        return value

    async def _make(self, step: Step, given: dict[str, Any]) -> Any:
        if step.manager is None:
            value = step.dependency.function(**given)
            return await value if inspect.isawaitable(value) else value
        manager = step.manager(**given)
        if hasattr(manager, "__aenter__"):
            return await self._stack.enter_async_context(manager)
        return self._stack.enter_context(manager)
