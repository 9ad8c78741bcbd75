"""Messages and prompts: ``mcp.server.fastmcp.prompts``."""

from . import base
from .base import AssistantMessage, Message, Prompt, UserMessage

__all__ = ["AssistantMessage", "Message", "Prompt", "UserMessage", "base"]
