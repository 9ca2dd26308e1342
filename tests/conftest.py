"""Fixtures that several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data (judgements, corpora); tests that need it skip where it is absent."""
    folder = Path(os.environ.get("REJOINDER_SHARED", PROJECT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the rated data sets; none at {folder} (set REJOINDER_SHARED)")
    return folder
