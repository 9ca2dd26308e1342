"""Simulated raters are what they are said to be, and models of raters find out."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.papers.simulated import crowd, rate
from rejoinder.stats.rater_models import mace


def test_raters_know_as_often_as_is_said() -> None:
    rng = np.random.default_rng(0)
    people = crowd(3, 2, rng)
    assert people.spammers.tolist() == [False] * 3 + [True] * 2
    truth = rng.integers(0, 5, 4000)
    given = rate(truth, people, 5, rng)
    assert given.shape == (4000, 5, 5) and len(given.lines) == 20000
    right = np.array([(given.labels == truth[given.lines])[given.raters == who].mean() for who in range(5)])
    lucky = (1 - people.competence) / 5
    assert right == pytest.approx(people.competence + lucky, abs=0.04)


def test_each_line_has_different_raters() -> None:
    rng = np.random.default_rng(0)
    given = rate(np.zeros(50, dtype=np.int64), crowd(6, 2, rng), 3, rng)
    assert all(len(set(given.raters[given.lines == line].tolist())) == 3 for line in range(50))


@pytest.mark.parametrize("seed", range(3))
def test_mace_finds_the_planted_spammers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = crowd(8, 2, rng)
    given = rate(rng.integers(0, 5, 300), people, 5, rng)
    found = mace(given, rng, restarts=2)
    assert (found.competence[people.spammers] < 0.2).all() and (found.competence[~people.spammers] > 0.2).all()
    belief = found.belief.argmax(axis=1)
    assert np.isfinite(found.likelihood) and len(belief) == 300
