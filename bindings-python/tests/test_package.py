"""The package as it is installed: it loads, quickly, and says which version it is."""

import subprocess
import sys
from importlib.metadata import version

import oxmcp

HEAVY = ("asyncio", "msgspec", "typing_extensions", "pydantic", "logging", "json")


def test_version_is_that_of_the_distribution() -> None:
    assert oxmcp.__version__ == version("oxmcp")


def test_import_loads_nothing_heavy() -> None:
    # Imports are most of a cold start, so a server pays for asyncio and msgspec when a handler first needs them.
    code = "import sys, oxmcp; print(*sorted(set(sys.argv[1:]) & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []
