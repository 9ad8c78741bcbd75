"""The least an MCP client over HTTP in Python can do: asyncio's streams, which are kept, and one POST per request."""

import asyncio
import json
import re
import time
from urllib.parse import urlsplit

from measure import listening, measure, plan

HEAD = (
    "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    "accept: application/json, text/event-stream\r\ncontent-length: "
)
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1.0.0"},
}


class Client:
    def __init__(self, url):
        self.url = urlsplit(url)
        self.head = HEAD.format(path=self.url.path, host=self.url.netloc).encode()
        self.idle = []
        self.last_id = 0

    async def send(self, message):
        """Gives the body of the response."""
        if self.idle:
            reader, writer = self.idle.pop()
        else:
            reader, writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        body = json.dumps(message, separators=(",", ":")).encode()
        writer.write(b"%b%d\r\n\r\n%b" % (self.head, len(body), body))
        length = LENGTH.search(await reader.readuntil(b"\r\n\r\n"))
        answer = await reader.readexactly(int(length[1])) if length else b""
        self.idle.append((reader, writer))
        return answer

    async def request(self, method, params):
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        return json.loads(await self.send(message))["result"]


async def main():
    settings = plan()
    url = listening(settings)
    begin = time.perf_counter()
    client = Client(url)
    await client.request("initialize", INITIALIZE)
    await client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    await measure(
        settings,
        time.perf_counter() - begin,
        lambda text: client.request("tools/call", {"name": "echo", "arguments": {"text": text}}),
        lambda result: result["content"][0]["text"],
    )
    for _, writer in client.idle:
        writer.close()


asyncio.run(main())
