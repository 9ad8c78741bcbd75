"""A server of notes: a resource template, a prompt, completion, and a question to the user.

Run it from any MCP client, for example `python notes_client.py notes.py`.
"""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from oxmcp import Context, McpError, Server, ToolError

app = Server("notes", version="1.0.0", instructions="Read a note before you change it.", subscriptions=True)

NOTES = {"groceries": "bread, milk", "garden": "water the beans"}


@dataclass
class Confirmation:
    """What the user is asked before a note is thrown away."""

    sure: Annotated[bool, Meta(title="Throw it away")]
    reason: str = ""


@app.resource("notes://all", title="All notes")
def all_notes() -> list[str]:
    "The titles of all notes."
    return sorted(NOTES)


@app.resource("notes://note/{title}", mime_type="text/plain")
def note(title: str) -> str:
    "One note."
    if title not in NOTES:
        raise McpError(f"there is no note {title!r}", code=-32002)
    return NOTES[title]


@app.prompt
def summarize(title: str, words: int = 20) -> str:
    "Asks for a summary of a note."
    return f"Summarize this note in {words} words:\n{NOTES.get(title, '')}"


@app.completion(note, "title")
@app.completion(summarize, "title")
def titles(value: str) -> list[str]:
    return [title for title in sorted(NOTES) if title.startswith(value)]


@app.tool(annotations={"idempotentHint": True})
async def write(title: str, text: str, ctx: Context) -> str:
    "Writes a note, or overwrites it."
    NOTES[title] = text
    app.notify_resource_updated(f"notes://note/{title}")
    await ctx.info({"written": title})
    return f"Wrote {title}."


@app.tool(annotations={"destructiveHint": True})
async def discard(title: str, ctx: Context) -> str:
    "Throws a note away, once the user has agreed."
    if title not in NOTES:
        raise ToolError(f"there is no note {title!r}; there are {', '.join(sorted(NOTES))}")
    # Ask first, act then: in 2026-07-28 this function runs anew with the answer.
    answer = await ctx.elicit(f"Throw away {title!r}?", Confirmation)
    if not (answer.accepted and answer.content and answer.content.sure):
        return f"Kept {title}."
    del NOTES[title]
    return f"Threw {title} away. {answer.content.reason}".strip()


app.run()
