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
def test_the_server_and_the_client_of_a_page(page: Path, tmp_path: Path) -> None:
    server, client = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "library.py").write_text(server, encoding="utf-8")
    # A page says python3; here it is the interpreter under test. And nobody waits for 500 pages.
    client = client.replace('"python3"', repr(sys.executable)).replace('"pages": 500', '"pages": 2')
    done = subprocess.run([sys.executable, "-c", client], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "A book about oxen" in done.stdout


def test_the_examples() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / "client.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in (
        "connected to calculator by revision 2025-11-25",
        "2 + 3 = 5.0",
        "1 / 0 : b is zero; give another divisor (the tool says so)",
        "primes: {'count': 303, 'largest': 1999}",
        "timeout: tools/call got no answer within 0.2 s",
        "cancelled: CancelledError",
        "no such tool: Unknown tool: multiply (-32602)",
    ):
        assert line in done.stdout
