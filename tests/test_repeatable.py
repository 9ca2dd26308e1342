"""The tests themselves: what they are called depends on neither the second, nor the process, nor the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from conftest import PROJECT


@pytest.mark.slow
def test_tests_are_called_the_same_whenever_they_are_collected(request: pytest.FixtureRequest) -> None:
    """Workers that collect different names refuse to begin: a packed header's second, an object's place in memory."""
    here = {item.nodeid for item in request.session.items}  # collected some time ago, with another seed of hashes
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "tests"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    elsewhere = {line for line in done.stdout.splitlines() if "::" in line}
    assert len(elsewhere) > 1000
    assert here <= elsewhere
