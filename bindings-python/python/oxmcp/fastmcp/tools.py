"""Tools of a FastMCP server as objects: ``mcp.server.fastmcp.tools``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import types
from ._convert import ToolResult

if TYPE_CHECKING:
    from .server import FastMCP

__all__ = ["Tool", "ToolManager", "ToolResult"]


class Tool:
    """A function with what is said of it. `FastMCP.add_tool` takes it."""

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any]) -> None:
        self.fn, self.options = fn, options
        self.shown: types.Tool | None = None

    @classmethod
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Tool:
        """Makes a tool of a function."""
        return cls(fn, {"name": name, **options})

    @property
    def name(self) -> str:
        return str(self.options.get("name") or getattr(self.fn, "__name__", ""))

    @property
    def description(self) -> str | None:
        description: str | None = self.options.get("description")
        return self.shown.description if description is None and self.shown is not None else description

    @property
    def parameters(self) -> dict[str, Any]:
        """The input schema."""
        if self.shown is not None:
            return self.shown.inputSchema
        from .._signature import read

        return read(self.fn, strict=False, closed=False).schema

    @property
    def annotations(self) -> Any:
        return self.options.get("annotations")

    async def run(self, arguments: dict[str, Any]) -> Any:
        """Calls the function."""
        result = self.fn(**arguments)
        return await result if hasattr(result, "__await__") else result


class ToolManager:
    """The tools of a server, for programs that look behind it."""

    def __init__(self, server: FastMCP[Any]) -> None:
        self._server = server

    @property
    def _tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.list_tools()}

    def list_tools(self) -> list[Tool]:
        """All tools."""
        shown = {tool.name: tool for tool in self._server._listed("tool")}
        tools = []
        for (kind, key), entry in list(self._server._server._entries.items()):
            if kind == "tool" and key in shown:
                tool = Tool(entry.function, entry.options)
                tool.shown = shown[key]
                tools.append(tool)
        return tools

    def get_tool(self, name: str) -> Tool | None:
        """The tool of this name."""
        return self._tools.get(name)

    def add_tool(self, fn: Callable[..., Any], **options: Any) -> Tool:
        """Adds a tool."""
        self._server.add_tool(fn, **options)
        return Tool(fn, options)

    def remove_tool(self, name: str) -> None:
        """Removes a tool."""
        self._server.remove_tool(name)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None, **_: Any) -> Any:
        """Calls a tool."""
        return await self._server.call_tool(name, arguments)
