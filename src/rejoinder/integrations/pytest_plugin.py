"""What pytest loads of rejoinder: a fixture. Every run of pytest imports this file, so it imports nothing by itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from rejoinder.example import Given
    from rejoinder.meta.quality import Quality
    from rejoinder.scorer import ScorerLike


_unchecked: dict[str, None] = {}
"""What the scorers of this run did not check, each once, for the end of the run."""


class UnsureWarning(UserWarning):
    """Whether replies are good enough cannot be told."""


def assert_reply_quality(
    examples: Given,
    *,
    at_least: float,
    scorer: ScorerLike = "rejoinder",
    unsure: Literal["fail", "warn"] = "fail",
) -> Quality:
    """Fail unless the mean score of replies is shown to be at least what is asked for.

    Args:
        examples: a reply or several: a dict with `context` and `response`, examples, chat messages, a data frame, or
            the name of a file with a line for each.
        at_least: the mean score that is asked for, on the scorer's own scale; of the judge in the box from 1 to 5.
        scorer: what judges, see `rejoinder.load_scorer`.
        unsure: what happens where the interval lies on both sides of `at_least`: "fail", or "warn" and go on.

    Returns:
        The scores' mean with its interval, and the verdict.

    Raises:
        AssertionError: the replies are not good enough, the scorer cannot judge them, or the result is unclear.
        UsageError, DataError: see `rejoinder.meta.quality.quality`.
    """
    __tracebackhide__ = True
    from rejoinder.errors import UsageError
    from rejoinder.meta.quality import quality
    from rejoinder.meta.quality_answer import answer

    if unsure not in ("fail", "warn"):
        raise UsageError(f"unsure is {unsure!r}, expected 'fail' or 'warn'")
    found = quality(examples, at_least, scorer)
    if found.facts:
        _unchecked[f"{found.scorer}: {found.facts}"] = None
    if found.verdict in ("fails", "out of domain") or (found.verdict == "cannot tell" and unsure == "fail"):
        raise AssertionError(answer(found))
    if found.verdict == "cannot tell":
        warnings.warn(answer(found), UnsureWarning, stacklevel=2)
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of pytest-xdist, hand over what the scorers did not check."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rejoinder_unchecked"] = list(_unchecked)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist hands over."""
    _unchecked.update(dict.fromkeys(getattr(node, "workeroutput", {}).get("rejoinder_unchecked", ())))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run what the scorers did not check, also where all tests passed."""
    if _unchecked:
        terminalreporter.section("rejoinder")
        for warning in _unchecked:
            terminalreporter.write_line(warning)


@pytest.fixture(name="assert_reply_quality", scope="session")
def _assert_reply_quality() -> object:
    """Fail unless replies are shown to be good enough: assert_reply_quality(examples, at_least=3)."""
    return assert_reply_quality
