"""From functions of a FastMCP program to handlers of the core."""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from .. import _describe, _json, _offers, _results, _signature, types
from .._errors import _PASSED_ON, ToolError, text_of
from .._errors import McpError as AnyMcpError
from .._native import Context as NativeContext
from .._native import Schema
from .._server import Source
from ..lowlevel.session import context_of
from ..lowlevel.session import current as current_request
from ..types._model import Model
from . import _convert
from .context import Context, current

if TYPE_CHECKING:
    from .server import FastMCP

logger = logging.getLogger("oxmcp")


async def invoke(server: FastMCP[Any], signature: _signature.Signature, decoded: Any, native: Any) -> Any:
    """Calls a function with a context of its own kind, which is the current one meanwhile."""
    context: Context[Any, Any, Any] = Context(native, server)
    token = current.set(context)
    request = None if native is None else current_request.set(context_of(native, server._server))
    try:
        return await signature.call(decoded, context)
    finally:
        current.reset(token)
        if request is not None:
            current_request.reset(request)


def tool(server: FastMCP[Any], source: Source) -> _describe.Described:
    """Reads a tool."""
    options = source.options
    signature = _signature.read(source.function, strict=False, closed=False, inline=not server.threads)
    schema, wraps = _convert.output_schema(signature, options.get("structured_output"), options.get("output_schema"))
    # What does not fit is a failure of the tool, as there; the core would call it an error of the server.
    check = None if schema is None else Schema(_json.encode(schema).decode()).check
    name = source.key

    async def call(decoded: Any, native: NativeContext | None) -> Any:
        try:
            result = await invoke(server, signature, decoded, native)
            return _results.Whole(_convert.encode(result, check, wraps))
        except AnyMcpError as error:
            if error.code in _PASSED_ON:
                raise
            raise _failed(name, error.message, error) from error
        except ToolError as error:
            raise _failed(name, text_of(error), error) from error
        except Exception as error:
            logger.debug("tool %r failed", name, exc_info=error)
            raise _failed(name, text_of(error), error) from error

    decode = None if signature.decode is None else _Lenient(signature.decode, signature.schema)
    descriptor = _describe._descriptor(source, inputSchema=signature.schema, outputSchema=schema)
    plan = _describe.Plan(call, _Whole(decode), ["value"], None, 1)
    return _describe.Described(plan, descriptor)


def _failed(name: str, text: str, error: Exception) -> ToolError:
    return ToolError(f"Error executing tool {name}: {text or type(error).__name__}")


class _Decoded:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Whole:
    """A decoder whose value is one argument."""

    def __init__(self, decode: Any) -> None:
        self._decode = decode

    def __call__(self, text: bytes) -> _Decoded:
        return _Decoded(None if self._decode is None else self._decode(text))


class _Lenient:
    """Reads arguments that clients sent as JSON inside of strings."""

    def __init__(self, decode: Any, schema: dict[str, Any]) -> None:
        self._decode = decode
        properties = schema.get("properties", {})
        self._nested = [name for name, member in properties.items() if not _takes_strings(member)]

    def __call__(self, text: bytes) -> Any:
        try:
            return self._decode(text)
        except msgspec.DecodeError:
            changed = self._unpacked(text)
            if changed is None:
                raise
            try:
                return self._decode(changed)
            except msgspec.DecodeError:
                pass
            raise

    def _unpacked(self, text: bytes) -> bytes | None:
        try:
            given = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return None
        changed = False
        for name in self._nested:
            value = given.get(name) if isinstance(given, dict) else None
            if isinstance(value, str):
                try:
                    given[name] = msgspec.json.decode(value.encode())
                    changed = True
                except (msgspec.DecodeError, UnicodeEncodeError):
                    pass
        return _json.encode(given) if changed else None


def _takes_strings(member: dict[str, Any]) -> bool:
    kinds = member.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return "string" in kinds or any(_takes_strings(choice) for choice in member.get("anyOf", []))


def resource(server: FastMCP[Any], source: Source) -> _describe.Described:
    """Reads a resource or a template."""
    signature = _signature.read(source.function, strict=False, inline=not server.threads)
    mime_type = source.options.get("mime_type") or "text/plain"

    async def call(signature: _signature.Signature, decoded: Any, native: NativeContext | None) -> Any:
        value = await invoke(server, signature, decoded, native)
        if isinstance(value, types.Result):
            return value.model_dump(mode="json", by_alias=True, exclude_none=True)
        items = value if isinstance(value, list) and value and all(map(_is_contents, value)) else [value]
        return [_contents(item, mime_type) for item in items]

    source.options["mime_type"] = mime_type
    return _describe.resource_with(source, signature, call)


def _is_contents(item: Any) -> bool:
    return isinstance(item, types.ResourceContents) or hasattr(item, "content") and hasattr(item, "mime_type")


def _contents(item: Any, mime_type: str) -> _offers.TextResourceContents | _offers.BlobResourceContents:
    uri = ""  # that which is read
    if isinstance(item, types.ResourceContents):
        uri, mime_type = item.uri, item.mimeType or mime_type
        item = item.text if isinstance(item, types.TextResourceContents) else base64.b64decode(item.blob)
    elif _is_contents(item):
        item, mime_type = item.content, item.mime_type or mime_type
    if isinstance(item, (bytes, bytearray)):
        return _offers.BlobResourceContents(blob=bytes(item), uri=uri, mime_type=mime_type)
    return _offers.TextResourceContents(text=_convert.text(item), uri=uri, mime_type=mime_type)


def prompt(server: FastMCP[Any], source: Source) -> _describe.Described:
    """Reads a prompt."""
    signature = _signature.read(source.function, strict=False, inline=not server.threads)

    async def call(signature: _signature.Signature, decoded: Any, native: NativeContext | None) -> Any:
        value = await invoke(server, signature, decoded, native)
        if isinstance(value, types.Result):
            return value.model_dump(mode="json", by_alias=True, exclude_none=True)
        items = value if isinstance(value, (list, tuple)) else [value]
        return {**about, "messages": [_message(item) for item in items]}

    described = _describe.prompt_with(source, signature, call)
    about = {name: text for name, text in described.descriptor.items() if name == "description"}
    return described


def _message(item: Any) -> dict[str, Any]:
    if isinstance(item, Model):
        item = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    if hasattr(item, "to_content"):
        return {"role": "user", "content": item.to_content()}
    if isinstance(item, dict) and "role" in item:
        content = item.get("content")
        content = {"type": "text", "text": content} if isinstance(content, str) else content
        return {"role": item["role"], "content": content}
    if isinstance(item, dict) and "type" in item:
        return {"role": "user", "content": item}
    role, content = getattr(item, "role", "user"), getattr(item, "content", item)
    return {"role": role, "content": {"type": "text", "text": _convert.text(content)}}
