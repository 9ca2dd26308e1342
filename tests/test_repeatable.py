"""The tests themselves: what they are called depends on neither the second, nor the process, nor the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from conftest import PROJECT


@pytest.mark.slow
def test_tests_are_called_the_same_whenever_they_are_collected() -> None:
    """Workers that collect different names refuse to begin: a packed header's second, an object's place in memory."""

    def names(**variables: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "tests"],
            cwd=PROJECT,
            env={**os.environ, **variables},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return [line for line in done.stdout.splitlines() if "::" in line]

    first = names(PYTHONHASHSEED="1", TZ="UTC")
    time.sleep(1)
    assert len(first) > 1000
    assert names(PYTHONHASHSEED="2", TZ="Asia/Tokyo") == first
