"""Systems by one scorer alone: by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rejoinder.example import Example
from rejoinder.meta.conclusions import Conclusion, conclusions_of
from rejoinder.meta.systems import systems_of
from sets import NONE, array, rated, scored

COUNTS = ("pairs", "same", "neither", "only_scorer", "only_people", "reversed")
TURNS = 10
SWING = np.tile([1.0, -1.0], TURNS // 2)
MADE = np.array([np.full(TURNS, 1.0), np.full(TURNS, 2.0), np.full(TURNS, 3.0), 3 + SWING])  # people, a to d
SPOKEN = [Example((f"turn {n % TURNS}",), "r", system="abcd"[n // TURNS]) for n in range(4 * TURNS)]
SYSTEMS = rated(SPOKEN, MADE.ravel().tolist(), [*range(TURNS)] * 4, np.repeat(range(4), TURNS).tolist())
OWN = np.array([np.full(TURNS, 2.0), np.full(TURNS, 1.0), 1 + SWING / 2, np.zeros(TURNS)]).ravel()


def counts(found: Conclusion) -> tuple[int, ...]:
    return tuple(getattr(found, name) for name in COUNTS)


def conclusions(resamples: int = 300, **scores: np.ndarray) -> dict[str, Conclusion]:
    found = conclusions_of(scored(SYSTEMS, scores, resamples))
    return {one.scorer: one for one in found}


def test_conclusions_from_one_scorer_by_hand() -> None:
    found = conclusions(own=OWN, like=MADE.ravel())
    assert list(found) == ["people", "own", "like"]
    assert counts(found["people"]) == counts(found["like"]) == (6, 5, 1, 0, 0, 0), "c and d stay open"
    # a b, a c, a d, b d reversed; c d only by the scorer; b c only by people
    assert counts(found["own"]) == (6, 0, 0, 1, 1, 4)
    order = [(one.system, one.mean.value, one.ahead) for one in found["own"].systems]
    assert order == [("a", 2, True), ("b", 1, False), ("c", 1, True), ("d", 0, False)]
    third = found["own"].systems[2].mean
    assert 0.5 <= third.low < 1 < third.high <= 1.5 and third.n == TURNS


def test_people_are_asked_about_the_lines_that_the_scorer_scored() -> None:
    found = conclusions(some=np.where(SYSTEMS.systems == 3, NONE, OWN))["some"]
    assert (found.n, counts(found)) == (30, (3, 0, 0, 0, 1, 2))


def test_a_system_that_answered_one_context_is_told_from_none() -> None:
    """However many contexts the others answered: no resample of its one line says how another line would be."""
    own = SYSTEMS.at(np.array([*range(TURNS), TURNS, 2 * TURNS, *range(3 * TURNS, 4 * TURNS)]))  # b and c: turn 0 alone
    people, *_ = conclusions_of(scored(own, {}, 300))
    ends = {one.system: (one.mean.has_interval, one.ahead) for one in people.systems}
    assert ends["b"] == ends["c"] == (False, False) and ends["a"] == (True, False)
    assert counts(people) == (6, 1, 5, 0, 0, 0), "a and d alone"
    rows = {row.system: row.rating.has_interval for row in systems_of(scored(own, {}, 300)).rows}
    assert rows == {"a": True, "b": False, "c": False, "d": True}


@pytest.mark.parametrize(
    ("resamples", "scores", "reason"),
    [
        (300, np.full(40, 2.0), "the score is the same on all 40 lines (2)"),
        (300, np.full(40, NONE), "0 lines of 0 systems and 0 contexts, 300 resamples; "),
        (300, np.array([1.0, 2.0, *[NONE] * 38]), "2 lines of 1 systems and 2 contexts, 300 resamples; "),
        (0, OWN, "40 lines of 4 systems and 10 contexts, 0 resamples; "),
    ],
)
def test_nothing_follows_where_nothing_can(resamples: int, scores: np.ndarray, reason: str) -> None:
    found = conclusions(resamples, own=scores)["own"]
    need = "three lines, two systems, two contexts and resamples are needed"
    assert found.reason == (reason + need if reason.endswith("; ") else reason)
    assert counts(found) == (0,) * 6 and found.systems == ()


def test_without_two_named_systems_there_is_no_conclusion() -> None:
    one = rated(SPOKEN, [1.0, 2.0, 3.0], [0, 1, 2], [0, 0, 0])
    for here in (one, replace(one, systems=np.full(3, -1))):
        assert conclusions_of(scored(here, {"own": array(1, 2, 3)}, 50)) == ()
