"""Resources of a FastMCP server as objects: ``mcp.server.fastmcp.resources``."""

from __future__ import annotations

import inspect
import os
import pathlib
from collections.abc import Callable
from typing import Any, Optional, Union

from ..types import AnyUrl
from ..types._model import Model

__all__ = ["BinaryResource", "DirectoryResource", "FileResource", "FunctionResource", "Resource", "TextResource"]


class Resource(Model):
    """A resource. `FastMCP.add_resource` takes it."""

    uri: AnyUrl
    name: Optional[str] = None
    title: Optional[str] = None
    description: Optional[str] = None
    mime_type: str = "text/plain"
    icons: Optional[list[Any]] = None
    annotations: Optional[Any] = None
    meta: Optional[dict[str, Any]] = None

    async def read(self) -> Union[str, bytes]:
        """The contents."""
        raise NotImplementedError(f"{type(self).__name__} has no read()")


class TextResource(Resource):
    """Text."""

    text: str

    async def read(self) -> str:
        return self.text


class BinaryResource(Resource):
    """Bytes."""

    data: Any

    async def read(self) -> bytes:
        return bytes(self.data)


class FunctionResource(Resource):
    """What a function gives."""

    fn: Any

    async def read(self) -> Any:
        result = self.fn()
        return await result if inspect.isawaitable(result) else result

    @classmethod
    def from_function(cls, fn: Callable[..., Any], uri: str, **options: Any) -> FunctionResource:
        """Makes a resource of a function."""
        options.setdefault("name", getattr(fn, "__name__", uri))
        options.setdefault("description", inspect.getdoc(fn))
        return cls(uri=AnyUrl(uri), fn=fn, **options)


class FileResource(Resource):
    """A file, read anew each time."""

    path: Any
    is_binary: bool = False

    async def read(self) -> Union[str, bytes]:
        path = pathlib.Path(self.path)
        text = not self.is_binary and self.mime_type.startswith("text/")
        return path.read_text(encoding="utf-8") if text else path.read_bytes()


class DirectoryResource(Resource):
    """The names of the files in a folder, as JSON."""

    path: Any
    recursive: bool = False
    pattern: Optional[str] = None
    mime_type: str = "application/json"

    def list_files(self) -> list[pathlib.Path]:
        """The files."""
        folder, pattern = pathlib.Path(self.path), self.pattern or "*"
        if not os.path.isdir(folder):
            raise NotADirectoryError(f"{folder} is no folder")
        return sorted(folder.rglob(pattern) if self.recursive else folder.glob(pattern))

    async def read(self) -> str:
        from .._json import encode

        files = [str(path.relative_to(self.path)) for path in self.list_files() if path.is_file()]
        return encode({"files": files}).decode()
