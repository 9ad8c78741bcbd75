"""The least a stdio MCP server in Python can do: a blocking loop over lines with the json module."""

import json
import sys

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "bare", "version": "1.0.0"},
}
TOOLS = {
    "tools": [
        {
            "name": "echo",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }
    ]
}


def answer(request):
    method = request["method"]
    if method == "tools/call":
        result = {"content": [{"type": "text", "text": request["params"]["arguments"]["text"]}]}
    elif method == "initialize":
        result = INITIALIZE
    elif method == "tools/list":
        result = TOOLS
    elif method == "ping":
        result = {}
    else:
        error = {"code": -32601, "message": "Method not found"}
        return {"jsonrpc": "2.0", "id": request["id"], "error": error}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def main():
    readline = sys.stdin.buffer.readline
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    while line := readline():
        request = json.loads(line)
        if "id" in request:
            write(json.dumps(answer(request), separators=(",", ":")).encode() + b"\n")
            flush()


main()
