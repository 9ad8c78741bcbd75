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
    options = {"mypy": ["--strict", "--cache-dir", str(tmp_path)], "pyright": ["--pythonpath", sys.executable]}[checker]
    done = subprocess.run([sys.executable, "-m", checker, *options, str(PROGRAM)], capture_output=True, text=True)
    if checker == "pyright" and "nodeenv" in done.stderr:
        pytest.skip("pyright cannot be run here")
    assert done.returncode == 0, done.stdout + done.stderr
