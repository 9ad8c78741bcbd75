"""oxmcp from Python, over HTTP."""

import sys

from oxmcp import Server

app = Server("bench")


@app.tool
async def echo(text: str) -> str:
    """Answer with the text that was given."""
    return text


if __name__ == "__main__":
    # Where it is served is said to people, and the generator is to read it.
    sys.stderr = sys.stdout
    app.run("http", port=0, max_sessions=20_000)
