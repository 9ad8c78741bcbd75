"""Content from files and bytes: what tools return in place of blocks written by hand."""

from __future__ import annotations

import os
from typing import Any, Union

from ._types import AudioContent, EmbeddedResource, ImageContent

__all__ = ["Audio", "File", "Image"]

_IMAGES = {"jpg": "jpeg", "svg": "svg+xml", "ico": "x-icon", "tif": "tiff"}
_SOUNDS = {"mp3": "mpeg", "m4a": "mp4", "oga": "ogg"}


class _Media:
    """Bytes, or a file that is read when they are needed."""

    _family = ""
    _default = ""
    _names: dict[str, str] = {}

    def __init__(
        self,
        path: Union[str, os.PathLike[str], None] = None,
        data: bytes | None = None,
        format: str | None = None,
        *,
        mime_type: str | None = None,
        annotations: dict[str, Any] | None = None,
    ) -> None:
        if (path is None) == (data is None):
            raise ValueError(f"{type(self).__name__} takes either path= or data=")
        if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"the data of {type(self).__name__} is bytes, not {type(data).__name__}")
        self.path = None if path is None else os.fspath(path)
        self.data = data
        self.format = format
        self.annotations = annotations
        self._mime_type = mime_type

    @property
    def mime_type(self) -> str:
        """What was given, or what follows from the format or the name of the file."""
        if self._mime_type is not None:
            return self._mime_type
        name = self.format
        if name is None and self.path is not None:
            name = os.path.splitext(self.path)[1]
            if not name:
                return "application/octet-stream"
        name = (name or self._default).lower().lstrip(".")
        return name if "/" in name else f"{self._family}/{self._names.get(name, name)}"

    def read(self) -> bytes:
        """The bytes."""
        if self.path is None:
            return bytes(self.data or b"")
        with open(self.path, "rb") as file:
            return file.read()

    def _optional(self) -> dict[str, Any]:
        return {} if self.annotations is None else {"annotations": self.annotations}

    def to_content(self) -> Any:
        """The block of content."""
        raise NotImplementedError

    def __repr__(self) -> str:
        what = f"path={self.path!r}" if self.path is not None else f"{len(self.data or b'')} bytes"
        return f"{type(self).__name__}({what}, {self.mime_type})"


class Image(_Media):
    """A picture, from a file or from bytes::

        return Image("chart.png")
        return Image(data=png, format="png")
    """

    _family, _default, _names = "image", "png", _IMAGES

    def to_content(self) -> ImageContent:
        return ImageContent(data=self.read(), mime_type=self.mime_type, **self._optional())


class Audio(_Media):
    """Sound, from a file or from bytes: ``Audio("hello.mp3")``."""

    _family, _default, _names = "audio", "wav", _SOUNDS

    def to_content(self) -> AudioContent:
        return AudioContent(data=self.read(), mime_type=self.mime_type, **self._optional())


class File(_Media):
    """A file, embedded as a resource: as text where its type says so and it is UTF-8, otherwise as a blob::

        return File("report.pdf")
        return File(data=b"a,b", format="csv", name="table.csv")

    :param name: under which it is shown; the file's own by default.
    """

    _family, _default = "application", "octet-stream"

    def __init__(
        self,
        path: Union[str, os.PathLike[str], None] = None,
        data: bytes | None = None,
        format: str | None = None,
        *,
        name: str | None = None,
        mime_type: str | None = None,
        annotations: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, data, format, mime_type=mime_type, annotations=annotations)
        self.name = name or (os.path.basename(self.path) if self.path is not None else f"file.{format or 'bin'}")

    @property
    def mime_type(self) -> str:
        if self._mime_type is not None:
            return self._mime_type
        import mimetypes

        name = self.name if self.format is None else f"file.{self.format}"
        return mimetypes.guess_type(name)[0] or "application/octet-stream"

    def to_content(self) -> EmbeddedResource:
        import base64
        import pathlib
        import urllib.parse

        data, kind = self.read(), self.mime_type
        uri = f"file:///{urllib.parse.quote(self.name)}"
        if self.path is not None:
            uri = pathlib.Path(self.path).absolute().as_uri()
        resource: dict[str, Any] = {"uri": uri, "mimeType": kind}
        text = None
        if kind.startswith("text/") or kind.endswith(("json", "xml", "javascript")):
            try:
                text = data.decode()
            except UnicodeDecodeError:
                pass
        if text is None:
            resource["blob"] = base64.b64encode(data).decode()
        else:
            resource["text"] = text
        return EmbeddedResource(resource=resource, **self._optional())
