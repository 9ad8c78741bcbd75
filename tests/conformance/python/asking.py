"""Tools that ask the client for something while they run (2025-11-25)."""

from __future__ import annotations

import json
from typing import Any

from oxmcp import Context, Server


async def sampling(prompt: str, ctx: Context) -> str:
    "Asks the model."
    answer = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {answer.content.text}"


async def elicit(ctx: Context, message: str, schema: dict[str, Any], told: str) -> str:
    """Asks the person, and tells what came."""
    answer = await ctx.elicit(message, schema)
    return f"{told}: action={answer.action}, content={json.dumps(answer.content)}"


async def elicitation(message: str, ctx: Context) -> str:
    "Asks the person."
    response = {"type": "string", "description": "Your answer"}
    schema = {"type": "object", "properties": {"response": response}, "required": ["response"]}
    return await elicit(ctx, message, schema, "User response")


async def elicitation_sep1034_defaults(ctx: Context) -> str:
    "Asks with defaults."
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    schema = {"type": "object", "properties": properties, "required": []}
    return await elicit(ctx, "Please check the defaults.", schema, "Elicitation completed")


async def elicitation_sep1330_enums(ctx: Context) -> str:
    "Asks for choices."
    options = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{number}", "title": f"{name} Option"}
        for number, name in enumerate(("First", "Second", "Third"), start=1)
    ]
    properties = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    schema = {"type": "object", "properties": properties, "required": []}
    return await elicit(ctx, "Please choose.", schema, "Elicitation completed")


def add(app: Server) -> None:
    for function in (sampling, elicitation, elicitation_sep1034_defaults, elicitation_sep1330_enums):
        app.add_tool(function, name=f"test_{function.__name__}")
