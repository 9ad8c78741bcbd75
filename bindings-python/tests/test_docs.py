"""What the documentation shows is run here as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "bindings-python" / "README.md"]
EXAMPLES = PROJECT / "examples" / "python"


@pytest.mark.parametrize("page", PAGES, ids=["project", "package"])
def test_the_servers_and_clients_of_a_page(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    seen = ""
    # Each server is followed by a client of it.
    for server, client in zip(blocks[::2], blocks[1::2], strict=True):
        (tmp_path / "library.py").write_text(server, encoding="utf-8")
        # A page says python3; here it is the interpreter under test. And nobody waits for 500 pages.
        client = client.replace('"python3"', repr(sys.executable)).replace('"pages": 500', '"pages": 2')
        done = subprocess.run([sys.executable, "-c", client], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        seen += done.stdout
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
