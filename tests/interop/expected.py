"""What the client programs on the official Python SDK see, whichever way they reach a server of ours."""

from __future__ import annotations

from typing import Any


def tools(revision: str) -> dict[str, Any]:
    """For `official_client.py`."""
    return {
        "revision": revision,
        "instructions": "For tests.",
        "tools": ["add", "count", "wait", "fail"],
        "add": "5",
        "count": "counted",
        "progress": [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]],
        "fail": [True, "on purpose"],
        "unknown": -32602,
        "cancelled": True,
        "after": "2",
    }


def surface(mode: str) -> dict[str, Any]:
    """For `official_surface_client.py`."""
    return {
        "resources": ["config://app", "bytes://all"],
        "templates": ["note://{id}"],
        "config": "on",
        "bytes": True,
        "note": "note 00123",
        "prompt": ["greet", [["name", True], ["tone", False]]],
        "messages": [["user", "Greet Ada in a warm way."], ["assistant", "Hello."]],
        "completed": ["Ada", "Alan"],
        "form": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 30}},
            "required": ["name"],
        },
        "ask": "accept Ada 30",
        "think": "thought of Think.",
        "folders": "file:///work",
        "logs": "logged",
        "logged": [["warning", {"n": 1}, "part"]],
        # In 2026-07-28 a client is told of changes on the streams that it opens.
        "told": ["notifications/resources/updated", "notifications/tools/list_changed"] if mode == "legacy" else [],
        "grown": True,
    }
