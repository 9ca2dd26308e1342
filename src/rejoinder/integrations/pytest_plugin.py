"""A fixture for pytest. Every run of pytest imports this file, so it imports nothing at the top."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from rejoinder.example import Given
    from rejoinder.report.results import Results
    from rejoinder.scorer import ScorerLike


_unchecked: dict[str, None] = {}
"""Warnings of the scorers of this run, each once, for its end."""


class UnsureWarning(UserWarning):
    """It is inconclusive whether replies are good enough."""


def assert_reply_quality(
    examples: Given, *, at_least: float, scorer: ScorerLike = "rejoinder", unsure: Literal["fail", "warn"] = "fail"
) -> Results:
    """Fail unless the mean score of replies is significantly at least the required score.

    Args:
        examples: replies to four contexts or more: dicts with `context` and `response`, examples, chat messages, a data
            frame, or the name of a file with a line for each.
        at_least: the required mean score, on the scorer's own scale; that of the bundled judge is 1 to 5.
        scorer: a name, a judge's folder or a function, see `rejoinder.load_scorer`.
        unsure: what happens if the result is inconclusive: "fail", or "warn" and go on.

    Returns:
        The results of `rejoinder.analysis.quality.quality`: the mean score with its interval and verdict.

    Raises:
        AssertionError: the replies are not good enough, the scorer cannot judge them, or the result is inconclusive.
        UsageError, DataError: see `rejoinder.analysis.quality.quality`.
    """
    __tracebackhide__ = True
    from rejoinder.analysis.quality import quality
    from rejoinder.errors import UsageError
    from rejoinder.scorer import FACTS_NOT_CHECKED

    if unsure not in ("fail", "warn"):
        raise UsageError(f"unsure is {unsure!r}, expected 'fail' or 'warn'")
    results = quality(examples, at_least, scorer)
    mean = results.one(statistic="mean score")
    if FACTS_NOT_CHECKED in results.warnings:
        _unchecked[f"{mean.scorer}: {FACTS_NOT_CHECKED}"] = None
    if mean.verdict in ("inconclusive", "undefined") and unsure == "warn":
        warnings.warn(str(results), UnsureWarning, stacklevel=2)
    elif mean.verdict != "above":
        raise AssertionError(str(results))
    return results


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over the warnings, if this is a worker of pytest-xdist."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rejoinder_unchecked"] = list(_unchecked)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the warnings of a worker of pytest-xdist."""
    _unchecked.update(dict.fromkeys(getattr(node, "workeroutput", {}).get("rejoinder_unchecked", ())))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the warnings at the end of a run, also if all tests passed."""
    if _unchecked:
        terminalreporter.section("rejoinder")
        for warning in _unchecked:
            terminalreporter.write_line(warning)


@pytest.fixture(name="assert_reply_quality", scope="session")
def _assert_reply_quality() -> object:
    """Fail unless replies are good enough: assert_reply_quality(examples, at_least=3)."""
    return assert_reply_quality
