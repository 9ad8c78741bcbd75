"""FastMCP, as its documentation shows it."""

from fastmcp import FastMCP

app = FastMCP("bench")


@app.tool
async def echo(text: str) -> str:
    """Answer with the text that was given."""
    return text


if __name__ == "__main__":
    app.run()
