"""The package and typical programs, as type checkers see them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "typed" / "program.py"


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_typical_program_is_clean(checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker)
    options = {
        "mypy": ["--strict", "--cache-dir", str(tmp_path)],
        "pyright": ["--pythonpath", sys.executable, "--outputjson"],
    }[checker]
    done = subprocess.run([sys.executable, "-m", checker, *options, str(PROGRAM)], capture_output=True, text=True)
    if checker == "pyright" and not done.stdout.startswith("{"):
        # It is fetched when it is first run, which takes a network; what it says itself is always JSON.
        pytest.skip(f"pyright cannot be run here: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stdout + done.stderr
