"""The step for GitHub Actions: its script, run here as the runner would, and what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT
from rejoinder.scorer import FACTS_NOT_CHECKED
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
    code, _, summary = step(tmp_path, **weeks, **{"fail-under": "-1.5"})
    assert code == 0 and summary.startswith("gate -1.5: passed")


def chat(path: Path, *replies: str) -> None:
    """Write thirty lines with these replies in turn."""
    lines = [
        {"id": str(place), "context": [f"do you have {place} pets ?"], "response": replies[place % len(replies)]}
        for place in range(30)
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_the_summary_says_that_facts_were_not_checked(tmp_path: Path) -> None:
    chat(tmp_path / "a.jsonl", "i have a dog .", "no , i do not .", "yes , two cats .")
    chat(tmp_path / "b.jsonl", "yes , i have two dogs .", "no , i am afraid of them .", "yes , two cats and a dog .")
    code, out, summary = step(tmp_path, a="a.jsonl", b="b.jsonl", **{"fail-under": "-9"})
    assert code == 0 and summary.startswith("gate -9: passed")
    assert FACTS_NOT_CHECKED in summary and FACTS_NOT_CHECKED in out


def test_replies_that_the_judge_cannot_judge_do_not_pass(tmp_path: Path) -> None:
    chat(tmp_path / "a.jsonl", "i have a dog .", "no , i do not .", "yes , two cats .")
    chat(tmp_path / "b.jsonl", "Ja, ich habe zwei Hunde und eine Katze.", "Nein, ich habe leider keine Tiere.")
    code, _, summary = step(tmp_path, a="a.jsonl", b="b.jsonl", **{"fail-under": "-9"})
    assert code == 6 and summary.startswith("gate -9: not passed")
    assert "cannot judge" in summary and "rejoinder fit" in summary
    assert "B is better" not in summary and "A is better" not in summary


def test_what_cannot_be_compared_fails_and_says_why(tmp_path: Path) -> None:
    write_weeks(tmp_path)
    code, out, summary = step(tmp_path, a="week1.csv", b="none.csv")
    assert code not in (0, 6) and "none.csv" in out
    assert summary.startswith(f"Nothing was compared (exit code {code}):") and "none.csv" in summary
