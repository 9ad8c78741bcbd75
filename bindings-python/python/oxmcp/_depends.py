"""Values that handlers get from functions of the program: `Depends`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Dependency:
    """What `Depends` makes of a function."""

    __slots__ = ("cached", "function")

    def __init__(self, function: Callable[..., Any], cached: bool) -> None:
        self.function, self.cached = function, cached

    def __repr__(self) -> str:
        return f"Depends({getattr(self.function, '__qualname__', self.function)!s})"


def Depends(function: Callable[..., Any], /, *, cached: bool = True) -> Any:
    """Has a parameter filled by a function of the program, and not by the caller::

        async def database(ctx: Context) -> AsyncIterator[Database]:
            async with connect(ctx.state.url) as database:
                yield database

        @app.tool
        async def count(table: str, db: Database = Depends(database)) -> int:
            return await db.count(table)

    The function may be async or plain. It may yield its value once: what follows the yield runs when the handler is
    done, and what the handler raised is raised there. It may ask for the `Context` and have dependencies of its own.

    :param cached: one value for all that depend on the function in one call.
    """
    if not callable(function):
        raise TypeError(f"Depends takes a function, not {function!r}")
    return Dependency(function, cached)
