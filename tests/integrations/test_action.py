"""The step for GitHub Actions: its script, run here as the runner would, and what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT
from samples import write_weeks

yaml = pytest.importorskip("yaml", reason="the test reads action.yml with pyyaml")
pytestmark = pytest.mark.slow


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    return found


def step(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Exit code, output and summary of the step with these inputs, the others at their defaults."""
    given = {name: one.get("default", "") for name, one in action()["inputs"].items()} | inputs
    *_, compare = action()["runs"]["steps"]
    wanted = {key: given[value.split("inputs.")[1].split()[0]] for key, value in compare["env"].items()}
    script, summary = folder / "step.sh", folder / "summary.md"
    script.write_text(compare["run"])
    summary.write_text("")
    environment = {**os.environ, **wanted, "GITHUB_STEP_SUMMARY": str(summary)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]  # as the runner calls it
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, summary.read_text()


def test_every_input_is_said_and_used() -> None:
    inputs = action()["inputs"]
    *_, compare = action()["runs"]["steps"]
    assert {f"${{{{ inputs.{name} }}}}" for name in inputs} == set(compare["env"].values())
    assert all(f"${name}" in compare["run"] or f"${{{name}" in compare["run"] for name in compare["env"])
    assert all(one["description"] for one in inputs.values())
    assert "${{" not in compare["run"], "what a user wrote is never part of the script"


def test_the_gate_closes_and_opens(tmp_path: Path) -> None:
    write_weeks(tmp_path)
    weeks = {"a": "week1.csv", "b": "week2.csv", "scorer": "column:judged"}
    code, out, summary = step(tmp_path, **weeks, by="intent")
    assert code == 6 and "A is better" in out
    assert summary.startswith("gate +0: not passed, exit code 6 (") and "| column:judged |" in summary
    code, _, summary = step(tmp_path, **weeks, threshold="-1.5")
    assert code == 0 and summary.startswith("gate -1.5: passed")


def test_what_cannot_be_compared_fails_and_says_why(tmp_path: Path) -> None:
    write_weeks(tmp_path)
    code, out, summary = step(tmp_path, a="week1.csv", b="none.csv")
    assert code not in (0, 6) and "none.csv" in out
    assert summary.startswith(f"Nothing was compared (exit code {code}):") and "none.csv" in summary
