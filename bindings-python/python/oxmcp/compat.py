"""Programs for ``mcp`` and ``fastmcp`` without a change, for a first look::

    python -m oxmcp.compat server.py --its arguments
    python -m oxmcp.compat -m package

runs a program in which ``import mcp`` and ``import fastmcp`` find this package, in place of what may be installed under
these names. `install` does the same for the rest of a process. To move over for good, change the imports.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types as python_types
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import fastmcp, lowlevel, types
    from .lowlevel import exceptions

__all__ = ["install"]

# The longest name that fits counts; what follows it is the same on both sides.
_NAMES = {
    "fastmcp": "oxmcp.fastmcp",
    "fastmcp.prompts.prompt": "oxmcp.fastmcp.prompts",
    "fastmcp.resources.resource": "oxmcp.fastmcp.resources",
    "fastmcp.resources.types": "oxmcp.fastmcp.resources",
    "fastmcp.tools.tool": "oxmcp.fastmcp.tools",
    "mcp": "oxmcp.compat",
    "mcp.server": "oxmcp.lowlevel",
    "mcp.server.fastmcp": "oxmcp.fastmcp",
    "mcp.server.fastmcp.resources.types": "oxmcp.fastmcp.resources",
    "mcp.server.fastmcp.tools.base": "oxmcp.fastmcp.tools",
    "mcp.server.fastmcp.tools.tool_manager": "oxmcp.fastmcp.tools",
    "mcp.server.lowlevel": "oxmcp.lowlevel",
    "mcp.server.mcpserver": "oxmcp.fastmcp",
    "mcp.shared.context": "oxmcp.lowlevel.session",
    "mcp.shared.exceptions": "oxmcp.lowlevel.exceptions",
    "mcp.types": "oxmcp.types",
}


def __getattr__(name: str) -> Any:
    if name == "types":
        return importlib.import_module("oxmcp.types")
    if name == "server":
        return importlib.import_module("oxmcp.lowlevel")
    if name == "shared":
        return SimpleNamespace(exceptions=importlib.import_module("oxmcp.lowlevel.exceptions"))
    if name == "McpError":
        return importlib.import_module("oxmcp.lowlevel.exceptions").McpError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def install() -> None:
    """Has ``mcp`` and ``fastmcp`` mean this package from now on, in this process.

    Raises `RuntimeError` when one of them was imported already.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for name in ("mcp", "fastmcp"):
        if name in sys.modules:
            raise RuntimeError(f"{name} was imported already; install() comes first")
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in ("mcp", "fastmcp"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        name, rest = spec.name, ""
        while name not in _NAMES:
            name, _, last = name.rpartition(".")
            rest = f".{last}{rest}"
        if name == "mcp" and rest == ".shared":
            return python_types.ModuleType(spec.name)
        try:
            real = importlib.import_module(_NAMES[name] + rest)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"oxmcp has nothing in place of {spec.name}; see 'Moving over' in its documentation", name=spec.name
            ) from error
        made = _Alias(spec.name)
        made.__dict__.update({key: value for key, value in vars(real).items() if not key.startswith("__")})
        made.__real__ = real
        return made

    def exec_module(self, module: ModuleType) -> None: ...


class _Alias(python_types.ModuleType):
    __real__: ModuleType

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__real__, name)


def _main() -> None:
    import runpy

    install()
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit("usage: python -m oxmcp.compat server.py [arguments], or -m package [arguments]")
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, __import__("os").path.dirname(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    _main()
