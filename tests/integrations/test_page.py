"""Every piece of Python in docs/integrations.md runs where the tool that it is about is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import PROJECT
from test_docs import blocks, lay_out

pytest_plugins = ["pytester"]
PAGE = PROJECT / "docs" / "integrations.md"
# The headings of the page, and what is imported where the tool is there.
TOOLS = {
    "pytest": "pytest",
    "deepeval": "deepeval",
    "MLflow": "mlflow",
    "Inspect": "inspect_ai",
    "promptfoo": "rejoinder",  # which calls this Python, and is no part of it
    "Hugging Face evaluate": "evaluate",
    "TRL": "rejoinder",
}


def sections() -> dict[str, str]:
    """The text under each heading."""
    parts = re.split(r"^## (.+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_tool_has_its_section() -> None:
    assert {*TOOLS, "GitHub Actions"} == set(sections())


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("tool", TOOLS)
def test_python_runs(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(TOOLS[tool])
    own = tmp_path / "own.md"
    own.write_text(sections()[tool], encoding="utf-8")
    lay_out(own, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    pieces = blocks(own, "python")
    assert pieces, "there is nothing to run"
    for code in pieces:
        exec(compile(code, tool, "exec"), {"__name__": "__main__"})


@pytest.mark.slow
def test_the_tests_on_the_page_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    lay_out(PAGE, pytester.path)
    ran = pytester.runpytest_subprocess("-p", "rejoinder.integrations.pytest_plugin", "test_bot.py")
    ran.assert_outcomes(passed=2)
