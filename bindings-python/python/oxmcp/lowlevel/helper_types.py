"""What handlers of the low level return."""

from __future__ import annotations

import dataclasses
from typing import Any, Union

__all__ = ["ReadResourceContents"]


@dataclasses.dataclass
class ReadResourceContents:
    """Contents of a resource: text, or bytes."""

    content: Union[str, bytes]
    mime_type: str | None = None
    meta: dict[str, Any] | None = None
