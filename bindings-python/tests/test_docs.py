"""What the documentation shows is run here as it stands."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import oxmcp

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "bindings-python"
PAGES = [PROJECT / "README.md", PACKAGE / "README.md", *sorted((PACKAGE / "docs").glob("*.md"))]
# Beside those that their names say: what each page's programs print.
PRINTED = {
    "composing": [
        "['stock_count', 'catalogue']",
        "3",
        '{"item":"tea","count":3}',
        "['TextContent', 'TextContent', 'ImageContent', 'AudioContent', 'EmbeddedResource', 'ResourceLink']",
        '["ann"]',
        "info welcome, number 1 None",
    ],
    "http": ["looking", "A book about oxen 2026-07-28", "A book about cows 1", '{"id":"1","text":"Oxen are large."}', "A book about bulls for ann"],
    "clients": ["3", "tools/call got no answer within 3600 s; raise the timeout, or reset it on progress (-32001)", "as before", "4"],
    "names": [
        "['tour', 'ticket'] museum://hours museum://{room} topic True",
        "ticket",
        "ResourceLink",
        "{'price': 9}",
        "['TextResourceContents', 'BlobResourceContents'] Room 3",
        "A guide ['user', 'assistant']",
        "['masks', 'maps'] 2",
        "Thyme (herb) in the garden",
        "accept",
        "notifications/resources/updated garden://bed",
        'This client cannot be asked: roots/list was not sent: the peer does not declare the capability "roots"',
        "the program's: local",
        "-7 no tea left {'left': 0} peer",
        "https://example.com/login",
        "transport True",
        "['HandlerError', 'ProtocolError']",
        "3",
    ],
    "moving-over": ["A book about oxen", "Oxen. Chapter one.", "low"],
}
EXAMPLES = PROJECT / "examples" / "python"


def programs(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_the_servers_and_clients_of_a_page(page: Path, tmp_path: Path) -> None:
    blocks = programs(page)
    seen = ""
    # Each server is followed by a client of it.
    for server, client in zip(blocks[::2], blocks[1::2], strict=True):
        (tmp_path / "library.py").write_text(server, encoding="utf-8")
        # A page says python3; here it is the interpreter under test. And nobody waits for 500 pages.
        client = client.replace('"python3"', repr(sys.executable)).replace('"pages": 500', '"pages": 2')
        done = subprocess.run([sys.executable, "-c", client], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        seen += done.stdout
    if page.stem in PRINTED:
        assert [line for line in PRINTED[page.stem] if line not in seen.splitlines()] == [], seen
        return
    assert "A book about oxen" in seen
    if page.parent.name == "bindings-python":
        for line in (
            '{"item":"tea","count":3}',
            "Advertise tea in 5 words.",
            "['tea']",
            "info 1 left",
            "Ordered 2.",
            "notifications/resources/updated stock://tea",
            "notifications/tools/list_changed None",
        ):
            assert line in seen


def test_every_public_name_is_in_a_program_that_is_run() -> None:
    blocks = [block for page in PAGES for block in programs(page)]
    assert [name for name in oxmcp.__all__ if not any(re.search(rf"\b{name}\b", block) for block in blocks)] == []
    # And what it is, where it is defined.
    assert [name for name in oxmcp.__all__ if name[0] != "_" and name != "Content" and not getattr(oxmcp, name).__doc__] == []


def test_the_calculator() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / "client.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in (
        "connected to calculator by revision 2026-07-28",
        "2 + 3 = 5.0",
        "1 / 0 : b is zero; give another divisor (the tool says so)",
        "primes: {'count': 303, 'largest': 1999}",
        "timeout: tools/call got no answer within 0.2 s",
        "cancelled: CancelledError",
        "no such tool: Unknown tool: multiply (-32602)",
    ):
        assert line in done.stdout


def test_the_notes() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / "notes_client.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for line in (
        'notes: ["garden","groceries"]',
        "titles with g: ['garden', 'groceries']",
        "prompt: Summarize this note in 3 words: water the beans",
        "info: {'written': 'garden'}",
        "changed: notes://note/garden",
        "the server asks: Throw away 'groceries'? ['sure', 'reason']",
        "Threw groceries away. All bought.",
        "gone: there is no note 'groceries'",
    ):
        assert line in done.stdout


@pytest.mark.parametrize("server", ["http_server.py", "http_asgi.py"])
def test_the_shop_over_http(server: str) -> None:
    program = subprocess.Popen([sys.executable, str(EXAMPLES / server), "0"], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    with program.stdout as stdout:
        url = stdout.readline().strip()
        done = subprocess.run([sys.executable, str(EXAMPLES / "http_client.py"), url], capture_output=True, text=True)
        program.send_signal(signal.SIGINT)
    assert (done.returncode, done.stderr) == (0, "")
    for line in (
        "connected to shop by revision 2026-07-28",
        "packing: 1/3",
        "packing: 3/3",
        "Packed 3 of tea.",
        "the shop asks: Buy 2 of tea?",
        "Sold 2 of tea.",
        "changed: stock://tea",
        "nobody waits for a parcel: CancelledError",
    ):
        assert line in done.stdout, done.stdout
    assert program.wait() in (0, -signal.SIGINT, 130)
