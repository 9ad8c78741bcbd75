"""asyncio without TLS, until something needs it.

Importing asyncio imports ``ssl``, and that loads and sets OpenSSL up: four megabytes and a tenth of a server's start, for
what a server over standard streams seldom uses. Here asyncio is given stand-ins for ``ssl`` and for its own module about
it. The first look at one of them imports the real module. The rest of the program never sees a stand-in for ``ssl``.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PUT_OFF = ("ssl", "asyncio.sslproto")


class _StandIn(ModuleType):
    """A module that is imported when something of it is wanted."""

    def _real(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)  # another thread may have done so
        return importlib.import_module(self.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)  # the import system's
        else:
            setattr(self._real(), name, value)

    def __dir__(self) -> list[str]:
        return dir(self._real())


def load() -> None:
    """Imports asyncio, if the program has not done so."""
    if "asyncio" in sys.modules or any(name in sys.modules for name in _PUT_OFF) or not _has_tls():
        return
    stand_ins = {name: _StandIn(name) for name in _PUT_OFF}
    sys.modules.update(stand_ins)
    try:
        asyncio = importlib.import_module("asyncio")
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
    if not hasattr(asyncio, "sslproto"):
        setattr(asyncio, "sslproto", stand_ins["asyncio.sslproto"])


def _has_tls() -> bool:
    """Whether this Python was built with it; asyncio has to know."""
    return "_ssl" in sys.builtin_module_names or importlib.machinery.PathFinder.find_spec("_ssl") is not None
