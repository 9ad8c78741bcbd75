"""Tools that need input before they can be served, in rounds (2026-07-28)."""

from __future__ import annotations

import asyncio
from typing import Any

from oxmcp import Context, McpError, Server

MISSING_CAPABILITY = -32021


def form(field: str, kind: str = "string") -> dict[str, Any]:
    return {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}


async def ask(ctx: Context, key: str, field: str) -> Any:
    """Asks the person for one value, under this key."""
    answer = await ctx.elicit("Please fill this in.", form(field), key=key)
    return answer.content[field] if answer.content else None


async def elicitation(ctx: Context) -> str:
    "Asks for a name."
    return f"Hello, {await ask(ctx, 'user_name', 'name')}!"


async def sampling(ctx: Context) -> str:
    "Asks the model."
    answer = await ctx.sample("What is the capital of France?", max_tokens=100)
    return str(answer.content.text)


async def list_roots(ctx: Context) -> str:
    "Asks for the roots."
    return f"{len(await ctx.list_roots())} roots"


async def state(ctx: Context) -> str:
    "Keeps a state."
    await ctx.elicit("Go on?", form("ok", "boolean"), key="confirm")
    return "state-ok"


async def multiple_inputs(ctx: Context) -> str:
    "Asks for three things."
    await asyncio.gather(
        ctx.elicit("Who are you?", form("name"), key="user_name"),
        ctx.sample("Write a greeting.", max_tokens=50, key="greeting"),
        ctx.list_roots(key="client_roots"),
    )
    return "all inputs came"


async def multi_round(ctx: Context) -> str:
    "Asks twice."
    name = await ask(ctx, "step1", "name")
    color = await ask(ctx, "step2", "color")
    return f"{name} likes {color}"


async def capabilities(ctx: Context) -> str:
    "Asks for what the client can do."
    questions = []
    if "sampling" in ctx.client_capabilities:
        questions.append(ctx.sample("Write a greeting.", max_tokens=50, key="capital"))
    if "elicitation" in ctx.client_capabilities:
        questions.append(ctx.elicit("Who are you?", form("name"), key="user_name"))
    await asyncio.gather(*questions)
    return "nothing is open"


async def missing_capability(ctx: Context) -> str:
    "Needs a client that can sample."
    if "sampling" in ctx.client_capabilities:
        return "The client can sample."
    why = "this tool needs a client that can sample"
    raise McpError(why, MISSING_CAPABILITY, {"requiredCapabilities": {"sampling": {}}})


async def user_context(ctx: Context) -> str:
    "Asks for context."
    return f"Mind this: {await ask(ctx, 'user_context', 'context')}"


def add(app: Server) -> None:
    app.add_tool(missing_capability, name="test_missing_capability")
    app.add_tool(elicitation, name="test_streaming_elicitation")
    for function in (elicitation, sampling, list_roots, multiple_inputs, multi_round, capabilities):
        app.add_tool(function, name=f"test_input_required_result_{function.__name__}")
    for name in ("request_state", "tampered_state"):
        app.add_tool(state, name=f"test_input_required_result_{name}")
    app.add_prompt(user_context, name="test_input_required_result_prompt")
