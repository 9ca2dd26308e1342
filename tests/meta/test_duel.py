"""Which of two scorers is nearer to people, line by line: by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np
import pytest

from rejoinder.example import Example
from rejoinder.meta.duel import Duel, duel_of
from sets import NONE, array, rated, scored

RESPONSES = ("a", "a b", "a b c", "x x x x x x x x")
LINES = [
    Example(("one two",) if n < 2 else ("one two three", "four"), RESPONSES[n], references=("a b",), id=f"line-{n}")
    for n in range(4)
]
FIRST, SECOND = array(0, 2, 1, 5), array(1, 3, 1, 3)


def duel(scale: tuple[float, float] | None = None, order: Sequence[str] = ("metric", "judge")) -> Duel:
    scores = {"judge": FIRST, "metric": SECOND, "length": SECOND}
    return held(LINES, scores, [1, 3, 2, 4], scale=scale, order=order, resamples=500)


def held(
    lines: Sequence[Example],
    scores: Mapping[str, np.ndarray],
    ratings: Sequence[float],
    contexts: Sequence[int] = (0, 0, 1, 1),
    scale: tuple[float, float] | None = None,
    order: Sequence[str] = ("judge", "metric"),
    resamples: int = 50,
) -> Duel:
    on_scale = [replace(one, scales={"overall": scale} if scale else {}) for one in lines]
    found = duel_of(scored(rated(on_scale, ratings, contexts), scores, resamples, order))
    assert found is not None
    return found


def test_the_nearer_of_two_by_hand() -> None:
    """Distances of the judge .5, .5, 0, 2 and of the metric 1, 1, 1, 1."""
    found = duel()
    assert (found.first, found.second) == ("judge", "metric")
    assert found.chosen == "the best judge against the best metric"
    assert (found.n, found.contexts, found.n_first, found.n_second, found.value) == (4, 2, 3, 1, 0.75)
    assert (found.low, found.high) == (0.5, 1.0), "all of one context, half of the other"
    assert "fitted to the other contexts" in found.method and not found.reason and found.extremes is None


def test_no_score_lies_outside_the_scale() -> None:
    found = duel((1, 5))
    assert (found.n_first, found.n_second, found.value) == (3, 0, 0.875), "6 becomes 5, as near as 3: counted half"


def test_what_the_lines_have_in_common_by_hand() -> None:
    traits = {one.what: one for one in duel().traits}
    figures = {what: (one.mean_first, one.mean_second, one.apart.value) for what, one in traits.items()}
    assert figures["words in the response"] == (2.0, 8.0, -6.0)
    assert figures["words in the context"] == pytest.approx((8 / 3, 4, -4 / 3))
    assert figures["words shared with a reference, F1"] == pytest.approx((37 / 45, 0, 37 / 45))
    assert figures["rating"] == (2.0, 4.0, -2.0)
    assert all((one.n_first, one.n_second) == (3, 1) for one in traits.values())
    nowhere = {one.what: one for one in duel((1, 5)).traits}["rating"]
    assert (
        not nowhere.apart.known
        and nowhere.apart.reason == "3 lines on one side and 0 on the other; one of each is needed"
    )


def test_lines_without_a_reference_share_no_words_with_one() -> None:
    bare = [replace(one, references=(), context=()) for one in LINES]
    found = held(bare, {"judge": FIRST, "metric": SECOND}, [1, 3, 2, 4])
    nothing = "0 lines on one side and 0 on the other; one of each is needed"
    reasons = {one.what: one.apart.reason for one in found.traits if not np.isfinite(one.apart.value)}
    assert reasons == dict.fromkeys(("words shared with a reference, F1", "words in the context"), nothing)


def test_a_side_of_one_context_has_no_interval() -> None:
    known = {one.what: one.apart for one in duel().traits}
    assert "only one context" in known["rating"].reason and not known["rating"].has_interval


def test_the_lines_that_one_gets_right_come_both_ways() -> None:
    shown = [(one.scorer, one.id, one.rating, round(one.first, 9), round(one.second, 9)) for one in duel().examples]
    assert shown[0] == ("judge", "line-2", 2.0, 2.0, 1.0) and shown[-1] == ("metric", "line-3", 4.0, 6.0, 3.0)
    assert {one[1] for one in shown[1:3]} == {"line-0", "line-1"} and len(shown) == 4


def test_good_responses_that_one_finds_bad() -> None:
    right, wrong = array(0, 1, 0, 1), array(1, 0, 1, 0)
    for judge, metric, expected in ((right, wrong, (2, 2, 2, 0, 0)), (wrong, right, (2, 0, 0, 2, 2))):
        found = held(LINES, {"judge": judge, "metric": metric}, [1, 5, 1, 5], scale=(1, 5))
        assert found.extremes is not None and astuple(found.extremes) == expected


def test_without_a_judge_the_leading_two_stand() -> None:
    found = duel(order=("metric", "length"))
    assert (found.first, found.second) == ("metric", "length")
    assert found.chosen == "no judge with a correlation here, so the leading two scorers" and found.value == 0.5
    assert duel(order=("length", "judge")).chosen.startswith("no metric with a correlation here")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (["judge"], "scorers that have a correlation with people: 1; two are needed"),
        ([], "scorers that have a correlation with people: 0; two are needed"),
    ],
)
def test_one_scorer_has_nobody_to_be_nearer_than(order: list[str], reason: str) -> None:
    found = duel(order=order)
    assert found.reason == reason and math.isnan(found.value) and (found.examples, found.traits) == ((), ())


@pytest.mark.parametrize(("contexts", "lost"), [([0, 0, 0, 0], 0), ([0, 0, 1, 1], 2)])
def test_few_lines_or_one_context(contexts: list[int], lost: int) -> None:
    judge = FIRST.copy()
    judge[:lost] = NONE
    found = held(LINES, {"judge": judge, "metric": SECOND}, [1, 3, 2, 4], contexts)
    assert found.reason == f"both score {4 - lost} lines of 1 contexts; three lines and two contexts are needed"
