"""What analyses are given: each is worked out once, in whatever order they ask for each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rejoinder.example import Example
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.meta.yardsticks import OF_SYSTEM, Kind
from sets import rated, scored

KINDS: dict[str, Kind] = {"judge": "judge", OF_SYSTEM: "reads ratings"}
LINES = [Example((f"turn {n}",), "yes " * n, id=f"line-{n}") for n in range(4)]


def made() -> ScoredSet:
    scores = {"judge": np.array([1.0, 2, 2, 4]), OF_SYSTEM: np.ones(4)}
    return replace(scored(rated(LINES, [1, 2, 3, 4], range(4)), scores, 50), kinds=KINDS)


def test_an_analysis_is_worked_out_once() -> None:
    calls = []

    def first(one: ScoredSet) -> int:
        calls.append("first")
        return len(one.rated)

    def second(one: ScoredSet) -> int:
        calls.append("second")
        return one.result(first) + 1

    one = made()
    assert (one.result(second), one.result(first), one.result(second)) == (5, 4, 5)
    assert calls == ["second", "first"]
    assert made().result(first) == 4 and calls == ["second", "first", "first"], "of another set anew"


def test_an_analysis_that_says_nothing_is_not_asked_again() -> None:
    calls = []

    def nothing(one: ScoredSet) -> None:
        calls.append(len(one.rated))

    one = made()
    assert one.result(nothing) is None is one.result(nothing)
    assert calls == [4]


def test_scorers_that_read_ratings_are_not_compared() -> None:
    assert list(made().blind) == ["judge"]


def test_a_set_with_other_scores_knows_nothing_yet() -> None:
    def best(one: ScoredSet) -> float:
        return float(one.scores["judge"].max())

    one = made()
    assert one.result(best) == 4
    assert replace(one, scores={"judge": np.zeros(4)}).result(best) == 0
