"""Content from files and bytes: ``mcp.server.fastmcp.utilities.types``."""

from __future__ import annotations

import base64
from typing import Any

from ... import _helpers, types

__all__ = ["Audio", "File", "Image"]


class _Media(_helpers._Media):
    @property
    def _format(self) -> str | None:
        return self.format

    def to_data_uri(self) -> str:
        """The bytes as a URI."""
        return f"data:{self.mime_type};base64,{base64.b64encode(self.read()).decode()}"


class Image(_Media, _helpers.Image):
    """A picture, from a file or from bytes."""

    def to_image_content(self, mime_type: str | None = None, annotations: Any = None) -> types.ImageContent:
        """The block of content."""
        data = base64.b64encode(self.read()).decode()
        return types.ImageContent(data=data, mimeType=mime_type or self.mime_type, annotations=annotations)


class Audio(_Media, _helpers.Audio):
    """Sound, from a file or from bytes."""

    def to_audio_content(self, mime_type: str | None = None, annotations: Any = None) -> types.AudioContent:
        """The block of content."""
        data = base64.b64encode(self.read()).decode()
        return types.AudioContent(data=data, mimeType=mime_type or self.mime_type, annotations=annotations)


class File(_Media, _helpers.File):
    """A file, embedded as a resource."""

    def to_resource_content(self, mime_type: str | None = None, annotations: Any = None) -> types.EmbeddedResource:
        """The block of content."""
        resource = dict(self.to_content().resource)
        if mime_type is not None:
            resource["mimeType"] = mime_type
        return types.EmbeddedResource(resource=resource, annotations=annotations)  # type: ignore[arg-type]
