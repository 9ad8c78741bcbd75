"""Real programs of other people, written for `mcp` and `fastmcp`: none of them is in this repository.

The folder that ``OXMCP_PROGRAMS`` names holds their repositories, as ``owner+name``: a work tree, or a git repository
(also as ``owner+name/repo``) whose HEAD is taken::

    git clone https://github.com/modelcontextprotocol/servers "$OXMCP_PROGRAMS/modelcontextprotocol+servers"

A program whose own dependencies are not installed is skipped. What was tried last is in the table.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from oxmcp import Client

FOLDER = os.environ.get("OXMCP_PROGRAMS")

# "Only the imports changed": these names mean this package, and then the program's own entry point runs.
START = """
import sys
import oxmcp.compat
oxmcp.compat.install()
module, _, path = sys.argv.pop(1).partition(":")
__import__(module)
run = sys.modules[module]
for name in path.split("."):
    run = getattr(run, name)
if __import__("inspect").iscoroutinefunction(run):
    __import__("asyncio").run(run())
else:
    run()
"""


class Program(NamedTuple):
    repository: str
    commit: str
    """With which it was tried last."""
    folder: str
    """Where in the repository its modules are."""
    entry: str
    """Module and function that start it."""
    tools: list[str]
    """Some of its tools."""
    calls: list[tuple[str, dict[str, Any], str]]
    """Tool, arguments, and what its text holds. ``{tmp}`` is a folder, ``{repo}`` a git repository in it."""
    argv: list[str] = []
    env: dict[str, str] = {}
    prompts: list[str] = []


NOWHERE = "http://127.0.0.1:9/"

PROGRAMS = [
    Program(
        "modelcontextprotocol/servers", "76d64c822f51", "src/time/src", "mcp_server_time:main",
        ["get_current_time", "convert_time"],
        [
            ("get_current_time", {"timezone": "UTC"}, '"timezone": "UTC"'),
            ("get_current_time", {"timezone": "Nowhere/Land"}, "Invalid timezone"),
            ("get_current_time", {}, "timezone"),
        ],
        argv=["--local-timezone", "UTC"],
    ),
    Program(
        "modelcontextprotocol/servers", "76d64c822f51", "src/git/src", "mcp_server_git:main",
        ["git_status", "git_log"],
        [("git_log", {"repo_path": "{repo}"}, "first commit"), ("git_status", {"repo_path": "{repo}"}, "On branch")],
        argv=["--repository", "{repo}"],
    ),
    Program(
        "modelcontextprotocol/servers", "76d64c822f51", "src/fetch/src", "mcp_server_fetch:main",
        ["fetch"], [("fetch", {"url": NOWHERE}, "127.0.0.1:9")], prompts=["fetch"],
    ),
    Program(
        "nickclyde/duckduckgo-mcp-server", "959bb84c3f6a", "src", "duckduckgo_mcp_server.server:main",
        ["search", "fetch_content"], [("fetch_content", {"url": NOWHERE}, "Error")],
    ),
    Program(
        "LaurieWired/GhidraMCP", "27f316f80139", "", "bridge_mcp_ghidra:main",
        ["list_methods", "decompile_function", "rename_variable"],
        [("list_methods", {"limit": 1}, "Request failed"), ("decompile_function", {"name": "f"}, "Request failed")],
        argv=["--ghidra-server", NOWHERE],
    ),
    Program(
        "MarkusPfundstein/mcp-obsidian", "eb33932a66ee", "src", "mcp_obsidian:main",
        ["obsidian_list_files_in_vault", "obsidian_get_file_contents"],
        [("obsidian_list_files_in_vault", {}, "Caught Exception"), ("obsidian_list_files_in_dir", {}, "dirpath")],
        env={"OBSIDIAN_API_KEY": "none", "OBSIDIAN_PORT": "9"},
    ),
    Program(
        "GongRzhe/Office-Word-MCP-Server", "568d8d8a1f70", "", "word_document_server.main:main",
        ["create_document", "add_table", "get_document_text"],
        [
            ("create_document", {"filename": "{tmp}/a.docx", "title": "T"}, "created successfully"),
            ("add_paragraph", {"filename": "{tmp}/a.docx", "text": "Hello, oxen."}, "added"),
            ("get_document_text", {"filename": "{tmp}/a.docx"}, "Hello, oxen."),
        ],
    ),
    Program(
        "haris-musa/excel-mcp-server", "f0c0ecdcd7e5", "src", "excel_mcp.server:run_stdio",
        ["create_workbook", "write_data_to_excel"],
        [
            ("create_workbook", {"filepath": "{tmp}/a.xlsx"}, "Created workbook"),
            (
                "write_data_to_excel",
                {"filepath": "{tmp}/a.xlsx", "sheet_name": "Sheet1", "data": [["a", 1]]},
                "Data written",
            ),
            ("read_data_from_excel", {"filepath": "{tmp}/a.xlsx", "sheet_name": "Sheet1"}, "A1"),
        ],
    ),
    Program(
        "ahujasid/blender-mcp", "da4e16d2069c", "src", "blender_mcp.server:main",
        ["get_scene_info", "get_viewport_screenshot"],
        [("get_scene_info", {"user_prompt": "x"}, "Error getting scene info")],
        env={"DISABLE_TELEMETRY": "true", "BLENDER_PORT": "9"}, prompts=["asset_creation_strategy"],
    ),
    Program(
        "designcomputer/mysql_mcp_server", "e25be7fc4e9e", "src", "mysql_mcp_server.server:main",
        ["execute_sql", "get_schema_info"], [("execute_sql", {"query": "SELECT 1"}, "rror")],
        env={"MYSQL_USER": "u", "MYSQL_PASSWORD": "p", "MYSQL_HOST": "127.0.0.1", "MYSQL_PORT": "9"},
    ),
    Program(
        "lharries/whatsapp-mcp", "a45960fdbf9c", "whatsapp-mcp-server", "main:mcp.run",
        ["search_contacts", "send_message"],
        [("send_message", {"recipient": "1", "message": "x"}, "success")],
    ),
    Program(
        "motherduckdb/mcp-server-motherduck", "adef923b4242", "src", "mcp_server_motherduck:main",
        ["execute_query", "list_tables"],
        [("execute_query", {"sql": "SELECT 42 AS answer"}, "42"), ("execute_query", {"sql": "SELEKT"}, "SELEKT")],
        argv=["--db-path", ":memory:", "--read-write"],
    ),
    Program(
        "blazickjp/arxiv-mcp-server", "78eaa8418ee8", "src", "arxiv_mcp_server:main",
        ["search_papers", "list_papers"], [("list_papers", {}, '"total_papers": 0')], prompts=["summarize_paper"],
    ),
    Program(
        "adhikasp/mcp-git-ingest", "cd392d5bee56", "src", "mcp_git_ingest.main:mcp.run",
        ["git_directory_structure", "git_read_important_files"],
        [("git_directory_structure", {"repo_url": "file://{repo}"}, "README.md")],
    ),
    Program(
        "githejie/mcp-server-calculator", "a07908b443aa", "src", "mcp_server_calculator:main",
        ["calculate"], [("calculate", {"expression": "6 * 7"}, "42"), ("calculate", {}, "expression")],
    ),
    Program(
        "tumf/mcp-shell-server", "b0404b1c3b02", "src", "mcp_shell_server:main",
        ["shell_execute"],
        [
            ("shell_execute", {"command": ["echo", "oxen"], "directory": "{tmp}"}, "oxen"),
            ("shell_execute", {"command": ["rm", "x"], "directory": "{tmp}"}, "not allowed"),
        ],
        env={"ALLOW_COMMANDS": "echo"},
    ),
    Program(
        "ktanaka101/mcp-server-duckdb", "2cc7c29e22b5", "src", "mcp_server_duckdb:main",
        ["query"], [("query", {"query": "SELECT 42 AS answer"}, "42")], argv=["--db-path", "{tmp}/a.duckdb"],
    ),
    Program(
        "erithwik/mcp-hn", "a454f624e6b1", "src", "mcp_hn:main",
        ["get_stories", "search_stories"], [("get_stories", {"story_type": "none"}, "story_type must be one of")],
    ),
    Program(
        "GongRzhe/terminal-controller-mcp", "a224da101ccd", "", "terminal_controller:main",
        ["execute_command", "read_file", "write_file"],
        [
            ("execute_command", {"command": "echo oxen"}, "oxen"),
            ("write_file", {"path": "{tmp}/a", "content": "one\ntwo\n"}, "Successfully wrote"),
            ("read_file", {"path": "{tmp}/a"}, "two"),
        ],
    ),
    Program(
        "voska/hass-mcp", "bd6ae37b1b51", "", "app.run:main",
        ["get_entity", "list_entities", "search_entities_tool"],
        # It says that it gives a list, and gives an object.
        [("list_entities", {}, "Output validation error"), ("get_entity", {"entity_id": "a.b"}, "Cannot connect")],
        env={"HA_URL": NOWHERE, "HA_TOKEN": "t"}, prompts=["create_automation"],
    ),
    Program(
        "yzfly/mcp-python-interpreter", "84ac42d33a6e", "", "mcp_python_interpreter.main:main",
        ["run_python_code", "write_file", "read_file"],
        [
            ("run_python_code", {"code": "print(6 * 7)"}, "42"),
            ("write_file", {"file_path": "{tmp}/a.txt", "content": "oxen"}, "Successfully wrote"),
            ("read_file", {"file_path": "{tmp}/a.txt"}, "oxen"),
        ],
        argv=["--dir", "{tmp}"], prompts=["debug_python_error"],
    ),
    Program(
        "pab1it0/prometheus-mcp-server", "4885f271ec1b", "src", "prometheus_mcp_server.main:run_server",
        ["execute_query", "list_metrics"],
        [("execute_query", {"query": "up"}, "Error executing tool execute_query"), ("health_check", {}, "prometheus")],
        env={"PROMETHEUS_URL": NOWHERE},
    ),
    Program(
        "smn2gnt/MCP-Salesforce", "3f0521006377", "src", "salesforce:main",
        ["run_soql_query", "get_record"], [("run_soql_query", {}, "query")],
        env={"SALESFORCE_ACCESS_TOKEN": "t", "SALESFORCE_INSTANCE_URL": NOWHERE},
    ),
    Program(
        "lanbaoshen/mcp-jenkins", "6a7af43e1321", "src", "mcp_jenkins:main",
        ["get_item", "build_item"],
        [
            ("get_all_items", {}, "127.0.0.1"),
            ("get_build_artifact_url", {"fullname": "x", "relative_path": "y", "number": 1}, "/job/x/1/artifact/y"),
        ],
        argv=["--jenkins-url", NOWHERE, "--jenkins-username", "u", "--jenkins-password", "p"],
    ),
    Program(
        "ahujasid/ableton-mcp", "f0bbf4ea5b9e", "", "MCP_Server.server:main",
        ["get_session_info", "create_midi_track"], [("get_session_info", {}, "Error getting session info")],
        env={"DISABLE_TELEMETRY": "true"},
    ),
    Program(
        "isdaniel/mcp_weather_server", "69b4ae08553b", "src", "mcp_weather_server:main",
        ["get_current_weather", "convert_time"],
        [("get_current_datetime", {"timezone_name": "UTC"}, "UTC"), ("get_current_weather", {}, "city")],
    ),
    Program(
        "microsoft/markitdown", "a51f725d7ff4", "packages/markitdown-mcp/src", "markitdown_mcp.__main__:main",
        ["convert_to_markdown"], [("convert_to_markdown", {"uri": "data:text/plain,oxen"}, "oxen")],
    ),
    Program(
        "elevenlabs/elevenlabs-mcp", "c93b790e8ce1", "", "elevenlabs_mcp.server:main",
        ["text_to_speech", "search_voices"], [("text_to_speech", {}, "text")], env={"ELEVENLABS_API_KEY": "k"},
    ),
    Program(
        "chroma-core/chroma-mcp", "078dc678636b", "src", "chroma_mcp:main",
        ["chroma_list_collections", "chroma_create_collection"], [("chroma_list_collections", {}, "COLLECTIONS")],
        argv=["--client-type", "ephemeral", "--dotenv-path", "{tmp}/none"],
    ),
    Program(
        "54yyyu/zotero-mcp", "f331646da6d5", "src", "zotero_mcp.cli:main",
        ["zotero_search_items", "zotero_get_item_metadata"], [("zotero_search_items", {}, "query")],
        argv=["serve"], env={"ZOTERO_LOCAL": "false", "ZOTERO_API_KEY": "k", "ZOTERO_LIBRARY_ID": "1"},
        prompts=["zotero_literature_review"],
    ),
    Program(
        "neo4j-contrib/mcp-neo4j", "dbc01ba78f17", "servers/mcp-neo4j-data-modeling/src", "mcp_neo4j_data_modeling:main",
        ["validate_data_model", "get_example_data_model"],
        [("list_example_data_models", {}, "example"), ("validate_node", {"node": {}}, "label")],
    ),
    Program(
        "awslabs/mcp", "100b55b6d92f", "src/aws-documentation-mcp-server", "awslabs.aws_documentation_mcp_server.server:main",
        ["read_documentation", "search_documentation"], [("read_documentation", {"url": NOWHERE}, "supported domains")],
    ),
    Program(
        "awslabs/mcp", "100b55b6d92f", "src/iam-mcp-server", "awslabs.iam_mcp_server.server:main",
        ["list_users", "create_user"], [("list_users", {}, "ctx")], env={"AWS_REGION": "us-east-1"},
    ),
    Program(
        "awslabs/mcp", "100b55b6d92f", "src/aws-support-mcp-server", "awslabs.aws_support_mcp_server.server:main",
        ["create_support_case", "describe_services"], [("create_support_case", {}, "subject")],
        env={"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": NOWHERE},
    ),
]


def unpack(program: Program, into: Path) -> Path:
    """The program's files; skips when they are not there."""
    if FOLDER is None:
        pytest.skip("OXMCP_PROGRAMS names no folder with the programs")
    place = Path(FOLDER) / program.repository.replace("/", "+")
    if (place / "repo").is_dir():
        place /= "repo"
    if not place.is_dir():
        pytest.skip(f"{place} is not there")
    if not (place / "HEAD").exists():
        return place
    archive = into / "program.tar"
    # A large repository may have more than was fetched.
    wanted = [program.folder] if program.folder else []
    subprocess.run(["git", "-C", str(place), "archive", "-o", str(archive), "HEAD", *wanted], check=True)
    with tarfile.open(archive) as tar:
        tar.extractall(into / "program", **({"filter": "data"} if sys.version_info >= (3, 12) else {}))
    return into / "program"


def make_repository(folder: Path) -> Path:
    """A git repository with one commit."""
    folder.mkdir()
    (folder / "README.md").write_text("Oxen.\n", encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first commit"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.entry.partition(":")[0])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_program_runs_with_only_its_imports_changed(program: Program, mode: Any, tmp_path: Path) -> None:
    files = unpack(program, tmp_path)
    places = {"tmp": str(tmp_path), "repo": str(make_repository(tmp_path / "repo"))}

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{tmp}", places["tmp"]).replace("{repo}", places["repo"])
        return {key: filled(item) for key, item in value.items()} if isinstance(value, dict) else value

    log = tmp_path / "log"
    command = [sys.executable, "-c", START, program.entry, *map(filled, program.argv)]
    path = os.pathsep.join([str(files / program.folder), *filter(None, sys.path)])
    env = {**os.environ, **program.env, "PYTHONPATH": path, "HOME": str(tmp_path)}
    env.pop("PYTHONUNBUFFERED", None)

    async def main() -> None:
        with log.open("wb") as stderr:
            async with Client(command, env=env, cwd=tmp_path, stderr=stderr, timeout=30, mode=mode) as client:
                tools = {tool.name: tool for tool in await client.list_tools()}
                assert set(program.tools) <= set(tools)
                assert all(tool.input_schema["type"] == "object" for tool in tools.values())
                # A signature that could not be read is told in the description.
                assert not [tool.name for tool in tools.values() if "Out of order" in str(tool.description)]
                for name, arguments, expected in program.calls:
                    result = await client.call_tool(name, filled(arguments))
                    assert expected in result.text, name
                if program.prompts:
                    assert set(program.prompts) <= {prompt.name for prompt in await client.list_prompts()}

    try:
        asyncio.run(main())
    except Exception:
        errors = log.read_text(encoding="utf-8", errors="replace")
        missing = [line for line in errors.splitlines() if line.startswith("ModuleNotFoundError: No module named")]
        if missing and not any(own in missing[-1] for own in ("'mcp", "'fastmcp", "'oxmcp")):
            pytest.skip(f"a dependency of the program is not installed: {missing[-1]}")
        print(errors)
        raise
