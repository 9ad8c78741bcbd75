"""Messages and prompts as objects: ``mcp.server.fastmcp.prompts.base``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...types import ContentBlock, Role, TextContent
from ...types._model import Model

__all__ = ["AssistantMessage", "Message", "Prompt", "UserMessage"]


class Message(Model):
    """A message of a prompt."""

    role: Role = "user"
    content: ContentBlock

    def __init__(self, content: Any, role: Role | None = None, **data: Any) -> None:
        if isinstance(content, str):
            content = TextContent(text=content)
        super().__init__(content=content, **data, **({} if role is None else {"role": role}))


class UserMessage(Message):
    """A message of the user's."""

    role: Role = "user"


class AssistantMessage(Message):
    """A message of the model's."""

    role: Role = "assistant"


class Prompt:
    """A function with what is said of it. `FastMCP.add_prompt` takes it."""

    def __init__(self, fn: Callable[..., Any], options: dict[str, Any]) -> None:
        self.fn, self.options = fn, options

    @classmethod
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Prompt:
        """Makes a prompt of a function."""
        return cls(fn, {"name": name, **options})

    @property
    def name(self) -> str:
        return str(self.options.get("name") or getattr(self.fn, "__name__", ""))
