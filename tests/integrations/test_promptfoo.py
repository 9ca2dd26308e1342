"""The assertion as promptfoo calls it, and in a run of promptfoo where that is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.errors import UsageError
from rejoinder.integrations.promptfoo import get_assert
from rejoinder.scorer import FACTS_NOT_CHECKED
from rejoinder.scoring.domain import INSTEAD

ASKED, GOOD, BAD = "do you have any pets ?", "yes , i have two dogs .", "The engine of this bus needs new oil."


def asked(prompt: str = ASKED, config: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """What promptfoo hands over beside the reply."""
    return {"prompt": prompt, "vars": given, "config": {"at_least": 3} if config is None else config}


def test_a_reply_passes_by_the_scorers_own_scale() -> None:
    (value,) = rejoinder.score([{"context": [ASKED], "response": GOOD}]).values
    found = get_assert(GOOD, asked(config={"at_least": 3}))
    assert found["pass"] is True and found["namedScores"] == {"rejoinder": value}
    assert found["score"] == min(1, (value - 1.2) / 3.6) and found["reason"].startswith(f"{value:.2f} [")
    assert FACTS_NOT_CHECKED in found["reason"]
    bad = get_assert(BAD, asked(config={"at_least": 3}))
    assert bad["pass"] is False and 0 < bad["score"] < 0.2 and FACTS_NOT_CHECKED in bad["reason"]


def test_prompts_are_texts_chats_or_variables() -> None:
    chat = json.dumps([{"role": "system", "content": "be kind"}, {"role": "user", "content": ASKED}])
    plain = get_assert(GOOD, asked())
    assert get_assert(GOOD, asked(chat)) == plain
    assert get_assert(GOOD, asked("Answer: ...", {"at_least": 3, "context": "question"}, question=ASKED)) == plain


def test_references_are_a_variable() -> None:
    config = {"scorer": "bleu-2", "references": "expected", "at_least": 0.9}
    found = get_assert(GOOD, asked(config=config, expected=GOOD))
    assert found["pass"] is True and found["score"] == 1
    none = {"pass": False, "score": 0.0, "reason": "no score: no reference"}
    assert get_assert(GOOD, asked(config=config, expected="")) == none


def test_a_scorer_without_bounds_is_refused() -> None:
    with pytest.raises(UsageError, match="length does not declare that higher is better"):
        get_assert(GOOD, asked(config={"scorer": "length", "at_least": 3}))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "at_least is missing, expected a finite number on the scale of rejoinder"),
        ({"at_least": None}, "at_least is missing"),
        ({"at_least": "3"}, "at_least is '3', expected a finite number"),
        ({"at_least": True}, "at_least is True, expected a finite number"),
        ({"atLeast": 3}, "holds 'atLeast', expected at_least, scorer, context, references"),
        ({"at_least": 3, "references": "gold"}, "says references: gold, but there is no such variable .found: topic"),
        ({"at_least": 3, "references": ["topic"]}, "says references: .'topic'., but there is no such variable"),
        ({"at_least": 3, "context": "asked"}, "says context: asked, but there is no such variable"),
    ],
)
def test_a_config_that_asks_for_nothing_is_refused(config: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        get_assert(BAD, asked(config=config, topic="pets"))


def test_what_the_judge_cannot_judge_does_not_pass() -> None:
    found = get_assert("Ja, ich habe zwei Hunde und eine Katze.", asked(config={"at_least": -9}))
    assert found["pass"] is False and found["score"] == 0 and "namedScores" not in found
    assert found["reason"].startswith("cannot tell: out of domain (not English): ") and INSTEAD in found["reason"]


CONFIG = {
    "prompts": ["{{question}}", json.dumps([{"role": "user", "content": "{{question}}"}])],
    "providers": ["file://bot.py"],
    "defaultTest": {"assert": [{"type": "python", "value": "file://judge.py", "config": {"at_least": 3}}]},
    "tests": [{"vars": {"question": ASKED, "reply": GOOD}}, {"vars": {"question": ASKED, "reply": BAD}}],
}


@pytest.mark.slow
def test_a_run_of_promptfoo_takes_it(tmp_path: Path) -> None:
    program = shutil.which("promptfoo")
    if program is None:
        pytest.skip("promptfoo is not installed (npm install --global promptfoo)")
    (tmp_path / "judge.py").write_text("from rejoinder.integrations.promptfoo import get_assert\n")
    (tmp_path / "bot.py").write_text(
        "def call_api(prompt, options, context):\n    return {'output': context['vars']['reply']}\n"
    )
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(CONFIG))
    quiet = {f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
    environment = {**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": str(tmp_path), "PROMPTFOO_PYTHON": sys.executable}
    call = [program, "eval", "-c", "promptfooconfig.json", "--no-cache", "-o", "out.json"]
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    results = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    (value,) = rejoinder.score([{"context": [ASKED], "response": GOOD}]).values
    assert [one["success"] for one in results] == [one["vars"]["reply"] == GOOD for one in results], done.stderr
    assert len(results) == 4 and {one["namedScores"].get("rejoinder") for one in results if one["success"]} == {value}
