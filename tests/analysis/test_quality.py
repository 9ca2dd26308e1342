"""Whether replies are good enough: the verdict, its interval, and what it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from judges_of_domain import NarrowJudge
from judges_of_domain import replies as of_domain
from rejoinder.analysis.quality import quality
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, Verdict
from rejoinder.example import Example
from rejoinder.integrations.pytest_plugin import assert_reply_quality
from rejoinder.scorer import FACTS_NOT_CHECKED, Card, Scores

HIGH = [5 + place % 4 for place in range(40)]


class Letters:
    """Scores a reply by its letters, with an interval of width two; gives no score to a question, warns of "!"."""

    card = Card("letters", "", "judge", frozenset(), (None, None), "")
    scale = (1, 5)
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        lengths = [math.nan if "?" in line.response else len(line.response) or math.nan for line in examples]
        reasons = {row: "a question" for row, value in enumerate(lengths) if math.isnan(value)}
        loud = {row: ("loud",) for row, line in enumerate(examples) if "!" in line.response}
        values = np.array(lengths)
        return Scores(values, reasons, warnings=loud, low=values - 1, high=values + 1)


def exact(examples: list[Example]) -> list[float]:
    return [float(len(line.response)) for line in examples]


def replies(*texts: str) -> list[Example]:
    return [Example((f"context {place}",), text, id=f"r{place}") for place, text in enumerate(texts)]


def mean_of(lines: Any, at_least: Any, scorer: Any = None, **options: int) -> Estimate:
    return quality(lines, at_least, scorer or Letters(), **options).one(statistic="mean score")


def test_the_verdict_is_that_of_the_whole_interval() -> None:
    lines = replies("abc", "abcd", "abcde", "abcd", "abc", "abcde")
    for at_least, verdict in ((3, "above"), (4, "inconclusive"), (5, "below")):
        results = quality(lines, at_least, Letters())
        mean = results.one(statistic="mean score")
        assert (mean.value, mean.n, mean.verdict) == (4, 6, verdict) and 3 < mean.low < 4 < mean.high < 5
        assert results.gate is not None and results.gate.passed is (verdict == "above")


def test_under_four_contexts_there_is_no_verdict() -> None:
    results = quality(replies("abc", "abcd", "abcdefghi"), 1, Letters())
    mean = results.one(statistic="mean score")
    assert (mean.verdict, mean.has_interval) == ("inconclusive", False) and "4 are needed" in mean.reason
    assert mean.value == pytest.approx(16 / 3) and results.gate is not None and not results.gate.passed
    assert mean_of(replies("abc", "abcd", "abcd", "abcde"), 1).verdict == "above"


def test_copies_of_a_reply_give_no_verdict() -> None:
    line = {"context": ["Any pets?"], "response": "abc"}
    copies = mean_of([line] * 50, 1)
    assert (copies.value, copies.verdict, copies.n, copies.has_interval) == (3, "inconclusive", 50, False)
    dialogues = [{"response": "abc", "dialogue_id": str(place)} for place in range(50)]
    assert mean_of(dialogues, 1).reason == "no interval: 1 different reply, 4 are needed"


def test_the_error_of_the_scorer_is_the_same_for_any_number_of_replies() -> None:
    for count in (1, 100):
        results = quality(replies(*["abc", "abcde"] * count), 3, Letters())
        error = results.one(statistic="mean prediction interval")
        assert (error.value, *error.ends) == (4, 3, 5)
        assert any("go from 3.00 to 5.00 on average" in line for line in results.answer)
    assert len(quality(replies("abc"), 3, exact).estimates) == 1


def test_contexts_are_resampled() -> None:
    texts = ["abc", "abcdefg", "abcde", "a", "abcd"] * 4
    mean = mean_of(replies(*texts), 3)
    assert mean.value == 4 and 2.9 < mean.low < 3.4 and 4.6 < mean.high < 5.2
    assert "resamples of contexts" in mean.method and math.isnan(mean.p) and mean.seed == 0
    shared = [Example((f"context {place // 4}",), text, id=str(place)) for place, text in enumerate(texts)]
    wider = mean_of(shared, 3, exact)
    assert wider.contexts == 5 and wider.ends != mean.ends
    assert mean_of(replies(*texts), 3).ends == mean.ends


def test_coverage_of_the_interval() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        lengths = rng.integers(1, 10, size=12)
        mean = mean_of(replies(*("a" * length for length in lengths)), 5, exact, resamples=200)
        held += mean.low <= 5 <= mean.high
    assert 0.91 <= held / 200 <= 0.99


def test_an_empty_reply_is_the_worst() -> None:
    results = quality(replies(""), 2, Letters())
    assert (results.estimates[0].value, results.about.counts["empty"]) == (1, 1)
    assert "reply: (empty)" in str(results)
    among = quality(replies("", "abcde"), 3, Letters())
    assert among.estimates[0].value == 3 and "1 of 2 replies is empty and counts as the worst reply." in among.answer


def test_too_few_scores_are_never_good_enough() -> None:
    lines = replies("abcdef", "abcdefg", "abcde", "abcdefgh", "why?")
    mean = mean_of(lines, 1)
    assert mean.verdict == "inconclusive" and mean.reason == "1 of 5 have no score; most frequent reason: a question"
    assert (mean.n, mean.unscored) == (4, 1)
    assert mean_of(lines, 9).verdict == "below"
    nothing = quality(replies("why?"), 1, Letters())
    assert nothing.estimates[0].verdict is Verdict.UNDEFINED and nothing.cases == ()
    assert nothing.answer[0] == "Inconclusive: no score by letters, required: 1."


def test_the_cases_are_the_lowest_replies() -> None:
    results = quality(replies("abcd", "a!", "abcde", "abcdefghi"), 6, Letters())
    assert [case.values["id"] for case in results.cases] == ["r1", "r0", "r2"]
    assert results.cases[0].values["score"] == 2 and results.cases[0].values["warnings"] == ["loud"]
    assert str(results).splitlines()[0].startswith("Inconclusive: mean score 5.00 [")
    assert str(results).splitlines()[1] == "1 of 4 replies: loud."
    assert "r1: 2.00 [1.00, 3.00]; loud\n  – context 1\n  reply: a!" in str(results)
    assert [case.values["id"] for case in quality(replies("abcd", "ab"), 0, Letters()).cases] == ["r1"]


def test_the_bundled_judge_explains_a_low_score() -> None:
    results = quality({"context": ["do you have any pets ?"], "response": "I do not know ."}, 5)
    assert results.cases[0].values["explanation"] and results.cases[0].values["explanation"] in str(results)


def test_refused() -> None:
    with pytest.raises(UsageError, match="length does not declare that higher is better"):
        quality(replies("a"), 1, "length")
    for value, text in ((math.nan, "nan"), ("3", "'3'"), (None, "missing"), (True, "True")):
        with pytest.raises(UsageError, match=f"at_least is {text}, expected a finite number on the scale of letters"):
            mean_of(replies("a"), value)
    assert mean_of(replies("abcd"), np.float32(2)).value == 4
    with pytest.raises(DataError, match="no reply to judge"):
        mean_of([], 1)
    with pytest.raises(DataError, match="id 'r0'"):
        mean_of(replies("a") * 2, 1)


def test_a_conversation_has_no_explanation_of_its_last_reply() -> None:
    talk = Example(("hi there", "what a lovely day it is", "is it"), "No.", extra={"level": "dialogue"})
    assert quality([talk], 1).cases[0].values["explanation"] == ""


def test_out_of_domain_replies_have_no_verdict() -> None:
    for outside in (5, 40):
        results = quality(of_domain(HIGH, outside), 1, NarrowJudge())
        assert results.estimates[0].low > 1 and results.estimates[0].verdict == "out of domain"
        assert f"{outside} of 40 replies" in results.answer[0] and results.warnings[0] == FACTS_NOT_CHECKED
        assert results.gate is not None and not results.gate.passed and results.cases == ()
    assert mean_of(of_domain(HIGH, 40), 9, NarrowJudge()).verdict == "out of domain"
    assert mean_of(of_domain(HIGH, 4), 1, NarrowJudge()).verdict == "above"
    assert mean_of(of_domain(HIGH, 40), 1, NarrowJudge(domain="", unread=())).verdict == "above"


@pytest.mark.parametrize("unsure", ["fail", "warn"])
def test_the_fixture_fails_on_out_of_domain_replies(unsure: Literal["fail", "warn"]) -> None:
    with pytest.raises(AssertionError, match="cannot judge these replies"):
        assert_reply_quality(of_domain(HIGH, 40), at_least=1, scorer=NarrowJudge(), unsure=unsure)
