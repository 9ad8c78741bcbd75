"""Bytes, lines and characters on their way through real descriptors, and the arguments of commands."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peer import Peer, script, text

from oxmcp import AudioContent, BlobResourceContents, Client, EmbeddedResource, File, Image, ImageContent, Server

ALL_BYTES = bytes(range(256))
# Text that is a line's end somewhere, a sign of another plane, and what looks like an escape.
ODD = "a\u2028b\u2029c\x85d\r\ne\x0bf\x00g\U0001f402h\\u0041i\ufeffj"

# A server that writes what another one would hardly write, and it is valid all the same.
UNUSUAL = r"""
import base64, json, sys
out = sys.stdout.buffer
out.write(b"\xef\xbb\xbf")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "u", "version": "1"}}
    elif message.get("method") == "tools/call":
        data = base64.b64encode(bytes(range(256))).decode()
        result = {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}
    else:
        continue
    answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).replace("/", "\\/")
    out.write(answer.encode() + b"\r\n")
    out.flush()
"""


def test_a_byte_order_mark_and_carriage_returns_are_no_part_of_messages(tmp_path: Path) -> None:
    source = 'app = Server("marks")\n@app.tool\nasync def echo(text: str) -> str: return text\napp.run()'
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
    with Peer(script(tmp_path, source)) as peer:
        for before, id, method, params in (
            (b"\xef\xbb\xbf", 1, "initialize", about),
            (b"", 2, "tools/call", {"name": "echo", "arguments": {"text": "on\r"}}),
        ):
            message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            peer.send_bytes(before + json.dumps(message).encode() + b"\r\n")
            assert peer.receive()["id"] == id
        output, errors = peer.leave()
        assert (output, errors, peer.process.returncode) == (b"", "", 0)


def test_a_server_that_marks_its_output_and_escapes_slashes_is_understood() -> None:
    async def main() -> None:
        problems: list[Any] = []
        on_problem = lambda *problem: problems.append(problem)  # noqa: E731
        async with Client([sys.executable, "-c", UNUSUAL], mode="legacy", on_problem=on_problem) as client:
            (block,) = (await client.call_tool("x")).content
            assert isinstance(block, ImageContent) and (block.data, block.mime_type) == (ALL_BYTES, "image/png")
        assert problems == []

    asyncio.run(main())


def test_any_text_passes_both_ways_as_it_is(tmp_path: Path) -> None:
    source = 'app = Server("text")\n@app.tool\nasync def echo(text: str) -> list: return [text, {"text": text}]\napp.run()'
    path = script(tmp_path, source)

    async def main() -> None:
        async with Client([sys.executable, str(path)]) as client:
            assert json.loads((await client.call_tool("echo", {"text": ODD})).text) == [ODD, {"text": ODD}]

    asyncio.run(main())
    with Peer(path) as peer:
        peer.initialize()
        id = peer.request("tools/call", {"name": "echo", "arguments": {"text": ODD}})
        assert peer.process.stdout is not None
        line = peer.process.stdout.readline()
        # One line, whatever is in it, and no mark before it.
        assert json.loads(line)["id"] == id and line.count(b"\n") == 1 and b"\r" not in line and line[:1] == b"{"


@pytest.mark.parametrize("language", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_the_wire_is_utf_8_in_every_locale(language: str, tmp_path: Path) -> None:
    source = 'app = Server("locale")\n@app.tool\nasync def echo(text: str) -> str:\n    print(ascii(text))\n    return text\napp.run()'
    path = script(tmp_path, source)
    variables = {"LC_ALL": language, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    messages = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "é🐂"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n" for message in messages)
    done = subprocess.run(
        [sys.executable, str(path)], input=lines.encode(), capture_output=True, env={**os.environ, **variables}
    )
    answers = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert text(answers[1]["result"]) == "é🐂"
    assert done.returncode == 0 and done.stderr.decode() == "'\\xe9\\U0001f402'\n"


def test_every_byte_survives_in_every_place() -> None:
    app = Server("bytes")

    @app.tool
    async def turn(data: bytes) -> list[Any]:
        assert data == ALL_BYTES
        return [
            Image(data=data, format="png"),
            File(data=data, format="bin", name="all.bin"),
            AudioContent(data=data, mime_type="audio/mp3"),
        ]

    @app.resource("bytes://all")
    async def whole() -> bytes:
        return ALL_BYTES

    async def main() -> None:
        wire: list[str] = []
        async with Client(app, on_trace=lambda way, line: wire.append(str(line))) as client:
            result = await client.call_tool("turn", {"data": base64.b64encode(ALL_BYTES).decode()})
            image, file, audio = result.content
            assert isinstance(image, ImageContent) and isinstance(audio, AudioContent)
            assert image.data == audio.data == ALL_BYTES
            assert isinstance(file, EmbeddedResource) and base64.b64decode(file.resource["blob"]) == ALL_BYTES
            (contents,) = (await client.read_resource("bytes://all")).contents
            assert isinstance(contents, BlobResourceContents) and contents.blob == ALL_BYTES
        # In the standard alphabet, padded.
        padded = base64.b64encode(ALL_BYTES).decode()
        assert padded.endswith("=") and sum(padded in line for line in wire) == 3

    asyncio.run(main())


def test_the_arguments_of_a_command_arrive_as_they_were_given(tmp_path: Path) -> None:
    # Such as a shell would take apart.
    arguments = ['a "b" c&d', "", "it's", "$HOME", "*", "a\\b", "new\nline", "--x=1;2|3", "é🐂"]
    source = "import sys\napp = Server('argv')\n@app.tool\nasync def argv() -> list: return sys.argv[1:]\napp.run()"
    path = script(tmp_path, source)
    # A script without an ending that is found by PATH, as those that package managers install.
    program = tmp_path / "bin" / "my-server"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{path}' \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)

    async def main() -> None:
        found = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
        for command, env in (([sys.executable, str(path)], None), (["my-server"], found)):
            async with Client([*command, *arguments], env=env) as client:
                assert json.loads((await client.call_tool("argv")).text) == arguments

    asyncio.run(main())


def test_numbers_keep_all_their_digits() -> None:
    app = Server("digits")

    @app.tool
    async def turn(whole: int, inside: dict[str, Any]) -> dict[str, Any]:
        return {"whole": whole, "inside": inside}

    async def main() -> None:
        numbers = {"whole": 2**53 + 1, "inside": {"z": [-(2**63), 2**64 - 1, 10**40], "a": 0.1, "e": 1e-7}}
        for mode in ("auto", "legacy"):
            async with Client(app, mode=mode) as client:  # type: ignore[arg-type]
                assert (await client.call_tool("turn", numbers)).structured_content == numbers

    asyncio.run(main())
