"""oxmcp from Python."""

from oxmcp import Server

app = Server("bench")


@app.tool
async def echo(text: str) -> str:
    """Answer with the text that was given."""
    return text


if __name__ == "__main__":
    app.run()
