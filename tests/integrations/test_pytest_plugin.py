"""What a user's own run of pytest makes of the fixture: passes, failures, warnings, and no time spent by others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.integrations.pytest_plugin import UnsureWarning, assert_reply_quality
from rejoinder.scorer import FACTS_NOT_CHECKED

pytest_plugins = ["pytester"]
PLUGIN = "rejoinder.integrations.pytest_plugin"
THEIRS = """
def letters(examples):
    return [len(one.response) for one in examples]

def test_long(assert_reply_quality):
    lines = [{"prompt": f"Tea {place}?", "answer": "Yes, please" + "." * place} for place in range(4)]
    assert_reply_quality(lines, at_least=4, scorer=letters)

def test_short(assert_reply_quality):
    lines = [{"prompt": f"Why {place}?", "answer": "." * (place + 1)} for place in range(4)]
    assert_reply_quality(lines, at_least=9, scorer=letters)

def test_file(assert_reply_quality):
    mean = assert_reply_quality("replies.jsonl", at_least=4, scorer=letters).one(statistic="mean score")
    assert mean.n == 6 and mean.low > 4 and mean.verdict == "above"
"""


def letters(examples: list[Example]) -> list[float]:
    return [float(len(one.response)) for one in examples]


def spread(at_least: float, unsure: str = "fail") -> object:
    """Replies of one to nine letters in answer to nine contexts."""
    lines = [{"context": [f"context {place}"], "response": "a" * place} for place in range(1, 10)]
    return assert_reply_quality(lines, at_least=at_least, scorer=letters, unsure=unsure)  # type: ignore[arg-type]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other plugin is loaded, and ours by name, whether or not it is installed with its entry point."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_fixture_that_fails_and_says_why(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_theirs=THEIRS)
    lines = [f'{{"prompt": "context {place}", "answer": "{"a" * (5 + place)}"}}' for place in range(6)]
    (pytester.path / "replies.jsonl").write_text("\n".join(lines))
    ran = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider")  # numpy loads once in a process
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(
        [
            ">       assert_reply_quality(*",
            "E       AssertionError: The replies are not good enough: mean score 2.50 [[]*[]] by letters, required: 9.",
            "E       examples:item 1: 1.00",
            "E         – Why 0?",
            "E         reply: .",
        ]
    )
    assert "quality.py" not in ran.stdout.str(), "the traceback ends where the user's test does"


JUDGED = """
import numpy as np
from rejoinder.scorer import OUT_OF_DOMAIN, Card, Scores

class Marking:
    card = Card("marking", "words", "judge", frozenset(), (0, 9), "a test", domain="calm words", unread=("facts",))
    options = {}

    def score_batch(self, examples):
        notes = {row: (OUT_OF_DOMAIN, "loud") for row, one in enumerate(examples) if "!" in one.response}
        return Scores(np.array([float(len(one.response.split())) for one in examples]), warnings=notes)

def replies(words):
    return [{"prompt": f"Tea {place}?", "answer": words + " please" * place} for place in range(4)]

def test_good(assert_reply_quality):
    assert_reply_quality(replies("Yes, I would like some."), at_least=4, scorer=Marking())

def test_short(assert_reply_quality):
    assert_reply_quality(replies("No."), at_least=6, scorer=Marking())

def test_loud(assert_reply_quality):
    assert_reply_quality(replies("Yes! I would like some."), at_least=4, scorer=Marking(), unsure="warn")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("chosen", "outcomes"), [("good", {"passed": 1}), ("good or short or loud", {"passed": 1, "failed": 2})]
)
def test_a_run_says_once_that_facts_were_not_checked(
    pytester: pytest.Pytester, chosen: str, outcomes: dict[str, int]
) -> None:
    pytester.makepyfile(test_theirs=JUDGED)
    ran = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider", "-k", chosen)
    ran.assert_outcomes(**outcomes)
    assert ran.stdout.str().count(f"\nmarking: {FACTS_NOT_CHECKED}") == 1, "at the end, also where all tests passed"
    if "failed" in outcomes:
        ran.stdout.fnmatch_lines(["E *The replies are not good enough*", f"E *{FACTS_NOT_CHECKED}"])
        ran.stdout.fnmatch_lines(["E *marking cannot judge these replies*"])


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_run_over_several_processes_says_it_too(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_theirs=JUDGED)
    ran = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "xdist", "-n", "2", "-p", "no:cacheprovider", "-k", "good")
    ran.assert_outcomes(passed=1)
    assert ran.stdout.str().count(f"\nmarking: {FACTS_NOT_CHECKED}") == 1


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_run_without_such_a_scorer_says_nothing_of_facts(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_theirs=THEIRS)
    ran = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider", "-k", "long")
    assert "acts were not checked" not in ran.stdout.str()


@pytest.mark.parametrize("text", ["Ja, ich habe zwei Hunde und eine Katze.", "def pets():\n    return dogs[0].name\n"])
def test_what_the_shipped_judge_cannot_judge_does_not_pass(text: str) -> None:
    with pytest.raises(AssertionError, match="cannot judge"):
        assert_reply_quality({"prompt": "Do you have any pets?", "answer": text}, at_least=-9)


@pytest.mark.usefixtures("alone")
def test_the_fixture_is_listed(pytester: pytest.Pytester) -> None:
    ran = pytester.runpytest_inprocess("-p", PLUGIN, "--fixtures", "-p", "no:cacheprovider")
    ran.stdout.fnmatch_lines(["assert_reply_quality*session scope*", "*Fail unless replies are good enough*"])


def test_the_plugin_imports_nothing_by_itself() -> None:
    code = f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rejoinder", "rejoinder.integrations", PLUGIN, "rejoinder.version"]


def test_an_inconclusive_result_fails_or_warns() -> None:
    with pytest.raises(AssertionError, match="Inconclusive: mean score 5.00"):
        spread(5)
    with pytest.warns(UnsureWarning, match="The interval includes the required score"):
        spread(5, "warn")
    assert spread(2)
    with pytest.raises(AssertionError, match="The replies are not good enough"):
        spread(9, "warn")
    with pytest.raises(UsageError, match="unsure is 'skip', expected 'fail' or 'warn'"):
        spread(5, "skip")
