"""oxmcp from Python, over HTTP."""

import asyncio

from oxmcp import Server

app = Server("bench")


@app.tool
async def echo(text: str) -> str:
    """Answer with the text that was given."""
    return text


async def main() -> None:
    async with app.serve_http(max_sessions=20_000) as serving:
        print(serving.url, flush=True)
        await serving.wait_closed()


if __name__ == "__main__":
    asyncio.run(main())
