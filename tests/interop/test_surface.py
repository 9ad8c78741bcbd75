"""Resources, prompts, completion and what servers ask of clients: our Python package and the official SDK."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Literal

import expected
import pytest

from oxmcp import Client, ElicitRequest

PROGRAMS = Path(__file__).parent / "programs"
OURS, THEIRS = (os.environ[f"OXMCP_{name}"] for name in ("PYTHON", "PEER_PYTHON"))
SERVERS = {
    "our Python server": [OURS, str(PROGRAMS / "surface.py")],
    "official Python server": [THEIRS, str(PROGRAMS / "official_surface_server.py")],
}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("name", SERVERS)
def test_our_client(name: str, mode: Literal["auto", "legacy"]) -> None:
    forms: list[list[str]] = []

    def on_elicit(request: ElicitRequest) -> dict[str, str]:
        forms.append(list(request.requested_schema["properties"]))
        return {"name": "Ada"}

    async def main() -> None:
        async with Client(SERVERS[name], mode=mode, on_elicit=on_elicit) as client:
            assert [resource.uri for resource in await client.list_resources()] == ["config://app", "bytes://all"]
            assert [template.uri_template for template in await client.list_resource_templates()] == ["note://{id}"]
            config = await client.read_resource("config://app")
            assert (config.text, config.contents[0].mime_type) == ("on", "text/plain")
            assert (await client.read_resource("bytes://all")).blob == bytes(range(256))
            assert (await client.read_resource("note://00123")).text == "note 00123"
            (prompt,) = await client.list_prompts()
            assert (prompt.name, prompt.description) == ("greet", "Greets a person.")
            assert [(argument.name, argument.required) for argument in prompt.arguments] == [("name", True), ("tone", False)]
            result = await client.get_prompt("greet", {"name": "Ada"})
            assert [(message.role, message.text) for message in result.messages] == [
                ("user", "Greet Ada in a warm way."),
                ("assistant", "Hello."),
            ]
            assert (await client.complete("name", "A", prompt="greet")).values == ["Ada", "Alan"]
            assert (await client.call_tool("ask")).text == "accept Ada 30"
            assert forms == [["name", "age"]]

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_python_client(mode: str) -> None:
    done = subprocess.run(
        [THEIRS, str(PROGRAMS / "official_surface_client.py"), mode, *SERVERS["our Python server"]],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected.surface(mode)
