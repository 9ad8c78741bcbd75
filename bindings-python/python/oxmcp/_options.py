"""Finds what is wrong with what is said of a server and its handlers where it was written, and not when a client first
asks, or refuses it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TEXTS = ("title", "description", "mime_type", "website_url", "instructions", "version")
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def check(what: str, options: Mapping[str, Any]) -> None:
    """Raises `TypeError` that names the option and what it should be.

    :param what: whose options they are, such as ``"a tool"``.
    """
    for name in _TEXTS:
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name}= of {what} is a string, not {value!r}")
    for name in ("meta", "annotations", "capabilities", "input_schema"):
        value = options.get(name)
        if value is not None and not isinstance(value, dict):
            raise TypeError(f"{name}= of {what} is a dict, not {value!r}")
    size = options.get("size")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise TypeError(f"size= of {what} is a number of bytes, not {size!r}")
    _check_icons(what, options.get("icons"))
    for name in ("tags", "state_keys"):
        _check_strings(what, name, options.get(name))
    schema = options.get("output_schema", True)
    if schema is not None and not isinstance(schema, (dict, bool)):
        raise TypeError(f"output_schema= of {what} is a JSON Schema as a dict, True or False, not {schema!r}")


def _check_icons(what: str, icons: Any) -> None:
    wanted = f'icons= of {what} is a list of dicts such as {{"src": "https://example.com/icon.png"}}'
    if icons is None:
        return
    if not isinstance(icons, (list, tuple)):
        raise TypeError(f"{wanted}, not {icons!r}")
    for icon in icons:
        if not isinstance(icon, dict) or not isinstance(icon.get("src"), str):
            raise TypeError(f"{wanted}; {icon!r} is none")


def _check_strings(what: str, name: str, values: Any) -> None:
    if values is None:
        return
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name}= of {what} is a list of strings, not {values!r}")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name}= of {what} is a list of strings; {value!r} is none")


def check_handler(kind: str, options: Mapping[str, Any]) -> None:
    """The same for a handler, with more that only tools have."""
    check(f"a {kind}", options)
    annotations = options.get("annotations")
    if kind == "tool" and annotations:
        known = {hint.lower(): hint for hint in _HINTS}
        for name in annotations:
            meant = known.get(str(name).replace("_", "").lower())
            if meant is not None and name != meant:
                raise TypeError(f"annotations have no {name!r}; it is {meant!r}")
    schema = options.get("output_schema")
    if isinstance(schema, dict):
        from ._describe import check_output_schema

        check_output_schema(schema)
