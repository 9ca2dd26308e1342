"""Commands that work in a plain installation, without an extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CALLS = {
    "ratings": ["ratings", "@dstc7", "--resamples", "100"],
    "estimate": ["estimate", "@dstc7", "-s", "length"],
}


@pytest.mark.parametrize("command", CALLS)
def test_a_command_needs_no_database_library(command: str, tmp_path: Path) -> None:
    code = "import sys; sys.modules['sqlalchemy'] = None; from rejoinder.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *CALLS[command]], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
