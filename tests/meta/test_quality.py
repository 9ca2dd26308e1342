"""Whether replies are good enough: the verdict, its interval, and what it says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.meta.quality import Quality, quality
from rejoinder.meta.quality_answer import answer
from rejoinder.scorer import Card, Scores


class Sure:
    """Scores a reply by its letters, with an interval two wide; has no score for a question, notes what is loud."""

    card = Card("sure", "", "judge", frozenset(), (None, None), "")
    scale = (1, 5)
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        values = np.array([math.nan if "?" in one.response else len(one.response) or math.nan for one in examples])
        reasons = {row: "a question" for row, value in enumerate(values) if math.isnan(value)}
        notes = {row: ("loud",) for row, one in enumerate(examples) if "!" in one.response}
        return Scores(values, reasons, warnings=notes, low=values - 1, high=values + 1)


def letters(examples: list[Example]) -> list[float]:
    """How long a reply is; no interval."""
    return [float(len(one.response)) for one in examples]


def replies(*texts: str) -> list[Example]:
    return [Example((f"context {place}",), text, id=f"r{place}") for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("at_least", "verdict"), [(2, "passes"), (2.5, "cannot tell"), (4, "cannot tell"), (4.5, "fails")]
)
def test_the_interval_of_one_reply_is_the_scorers_own(at_least: float, verdict: str) -> None:
    found = quality(replies("abc"), at_least, Sure())
    assert (found.value, found.low, found.high, found.n, found.verdict) == (3, 2, 4, 1, verdict)


def test_the_intervals_of_few_replies_come_together() -> None:
    found = quality(replies("abc", "abcd", "abc", "abcd"), 3, Sure())
    assert found.value == 3.5 and found.low == pytest.approx(3) and found.high == pytest.approx(4)
    assert found.verdict == "passes"


def test_copies_of_a_reply_make_nothing_surer() -> None:
    line = {"context": ["Any pets?"], "response": "abc"}
    once, often = quality([line], 2.5, Sure()), quality([line] * 50, 2.5, Sure())
    assert (often.value, often.low, often.high, often.verdict) == (once.value, once.low, once.high, "cannot tell")
    assert often.n == 50
    alone = [{"response": "abc", "dialogue_id": str(place)} for place in range(50)]
    assert quality(alone, 2.5, Sure()).ends == once.ends, "without a context, or each in its own conversation"
    mixed = quality([line, line, line, {**line, "response": "abcdefg"}], 3, Sure())
    assert mixed.value == 4 and mixed.low == pytest.approx(4 - math.sqrt(3**2 + 1) / 4)


def test_of_five_contexts_and_more_contexts_are_resampled() -> None:
    texts = ["abc", "abcdefg", "abcde", "a", "abcd"] * 4
    found = quality(replies(*texts), 3, Sure())
    assert found.value == 4 and 2.9 < found.low < 3.4 and 4.6 < found.high < 5.2
    assert "resamples of contexts" in found.method and math.isnan(found.p)
    shared = [Example((f"context {place // 4}",), text, id=str(place)) for place, text in enumerate(texts)]
    wider = quality(shared, 3, letters)
    assert wider.contexts == 5 and wider.high - wider.low != found.high - found.low
    assert quality(replies(*texts), 3, Sure()) == found, "the seed decides"


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        lengths = rng.integers(1, 10, size=12)
        found = quality(replies(*("a" * length for length in lengths)), 5, letters, resamples=200)
        held += found.low <= 5 <= found.high
    assert 0.91 <= held / 200 <= 0.99


def test_a_scorer_without_intervals_is_taken_at_its_word() -> None:
    assert quality(replies("abc"), 3, letters).verdict == "passes"
    assert quality(replies("abc"), 3.1, letters).verdict == "fails"
    assert not quality(replies("abc"), 3, letters).has_interval


def test_an_empty_reply_is_the_worst() -> None:
    found = quality(replies(""), 2, Sure())
    assert (found.value, found.empty, found.verdict) == (1, 1, "fails")
    assert "reply: (empty)" in answer(found)
    among = quality(replies("", "abcde"), 3, Sure())
    assert among.value == 3 and "\n  empty, which counts as the worst reply: 1 of 2\n" in answer(among)


def test_too_few_scores_show_nothing_good() -> None:
    found = quality(replies("abcdef", "why?"), 1, Sure())
    assert found.verdict == "cannot tell" and found.reason == "1 of 2 have no score; most often: a question"
    assert quality(replies("ab", "why?"), 4, Sure()).verdict == "fails"
    nothing = quality(replies("why?"), 1, Sure())
    assert nothing.verdict == "cannot tell" and nothing.lowest is None
    assert answer(nothing).splitlines() == [
        "cannot tell whether the replies are good enough: no score by sure, asked for: 1",
        "  1 of 1 have no score; most often: a question",
    ]


def test_the_answer_says_score_interval_notes_and_the_worst_reply() -> None:
    lines = replies("abcd", "a!", "abcde")
    assert answer(quality(lines, 6, Sure())).splitlines() == [
        "the replies are not good enough: "
        "mean score 3.67 [3.09, 4.24] by sure of 3 replies to 3 contexts, asked for: 6",
        '  1 of 3 replies is noted as "loud" (sure)',
        "  the lowest of them, 2.00 [1.00, 3.00], is r1",
        "    after: context 1",
        "    reply: a!",
        "    noted: loud",
    ]


def test_the_judge_in_the_box_says_what_moved_it() -> None:
    found: Quality = quality({"context": ["do you have any pets ?"], "response": "I do not know ."}, 5)
    assert found.verdict == "fails" and found.lowest is not None
    assert "moved by: " in answer(found) and found.lowest.why in answer(found)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(UsageError, match="length does not say that higher is better"):
        quality(replies("a"), 1, "length")
    with pytest.raises(UsageError, match="at_least is nan, expected a finite number on the scale of sure"):
        quality(replies("a"), math.nan, Sure())
    for odd, said in (("3", "'3'"), (None, "missing"), (True, "True")):
        with pytest.raises(UsageError, match=f"at_least is {said}, expected a finite number on the scale of sure"):
            quality(replies("a"), odd, Sure())  # type: ignore[arg-type]
    assert quality(replies("abcd"), np.float32(2), Sure()).verdict == "passes"  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no reply to judge"):
        quality([], 1, Sure())
    with pytest.raises(DataError, match="id 'r0'"):
        quality(replies("a") * 2, 1, Sure())
