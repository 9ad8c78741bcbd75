"""What is wrong with what is said of a server and its handlers is found where it is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from oxmcp import Client, Server
from oxmcp.fastmcp import FastMCP

WRONG = [
    ({"description": 5}, "description= of a {kind} is a string, not 5"),
    ({"title": 5}, "title= of a {kind} is a string, not 5"),
    ({"meta": 5}, "meta= of a {kind} is a dict, not 5"),
    ({"icons": ["x"]}, "icons= of a {kind} is a list of dicts"),
    ({"icons": [{"mimeType": "image/png"}]}, "is none"),
    ({"icons": "x"}, "not 'x'"),
    ({"tags": "read"}, "tags= of a {kind} is a list of strings, not 'read'"),
    ({"tags": [5]}, "5 is none"),
]


@pytest.mark.parametrize("kind", ["tool", "prompt", "resource"])
@pytest.mark.parametrize(("options", "what"), WRONG)
def test_members_of_the_wrong_type(kind: str, options: Any, what: str) -> None:
    app = Server("x")
    with pytest.raises(TypeError) as error:
        if kind == "resource":
            app.resource("x://a", **{"name": "x", **options})(lambda: "x")
        else:
            getattr(app, kind)(lambda: "x", **{"name": "x", **options})
    assert what.format(kind=kind) in str(error.value)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"annotations": 5}, "annotations= of a tool is a dict, not 5"),
        ({"input_schema": "x"}, "input_schema= of a tool is a dict"),
        ({"output_schema": 5}, "output_schema= of a tool is a JSON Schema as a dict, True or False, not 5"),
    ],
)
def test_members_of_tools_of_the_wrong_type(options: Any, what: str) -> None:
    with pytest.raises(TypeError) as error:
        Server("x").tool(lambda: "x", name="x", **options)
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"mime_type": 5}, "mime_type= of a resource is a string"),
        ({"size": "5"}, "size= of a resource is a number of bytes, not '5'"),
        ({"size": -1}, "size= of a resource is a number of bytes"),
    ],
)
def test_members_of_resources_of_the_wrong_type(options: Any, what: str) -> None:
    with pytest.raises(TypeError) as error:
        Server("x").resource("x://a", name="x", **options)(lambda: "x")
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"version": 5}, "version= of a server is a string, not 5"),
        ({"title": 5}, "title= of a server"),
        ({"description": 5}, "description= of a server"),
        ({"website_url": 5}, "website_url= of a server"),
        ({"instructions": 5}, "instructions= of a server"),
        ({"icons": ["x"]}, "icons= of a server"),
        ({"capabilities": []}, "capabilities= of a server is a dict"),
        ({"state_keys": "x" * 32}, "state_keys= of a server is a list of strings"),
    ],
)
def test_members_of_servers_of_the_wrong_type(options: Any, what: str) -> None:
    with pytest.raises(TypeError) as error:
        Server("x", **options)
    assert what in str(error.value)
    with pytest.raises(TypeError, match="the name of a server is a string, not 5"):
        Server(5)  # type: ignore[arg-type]


def test_so_it_is_for_fastmcp() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    with pytest.raises(TypeError, match="description= of a tool is a string, not 5"):
        mcp.tool(name="x", description=5)(lambda: "x")  # type: ignore[arg-type]


def test_methods_of_all_kinds() -> None:
    app = Server("methods")

    class Greeter:
        def greet(self, name: str) -> str:
            return f"Hello, {name}"

        @classmethod
        def kind(cls) -> str:
            return cls.__name__

        @app.tool
        @staticmethod
        def plain() -> str:
            return "plain"

    assert Greeter.plain() == "plain"
    with pytest.raises(TypeError, match=r"below that: app.prompt\(.*Greeter.kind\)"):
        app.prompt(Greeter.__dict__["kind"])
    app.tool(Greeter().greet)
    app.tool(Greeter.kind)

    async def main() -> None:
        async with Client(app) as client:
            assert [tool.name for tool in await client.list_tools()] == ["plain", "greet", "kind"]
            assert (await client.call_tool("greet", {"name": "Ada"})).text == "Hello, Ada"
            assert (await client.call_tool("kind")).text == "Greeter"

    asyncio.run(main())
