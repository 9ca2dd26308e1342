"""Items drawn by chance, evenly over a score, with how much each stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.stats.prediction_powered import powered, sample_of
from rejoinder.stats.strata import shares, stratified


@given(items=st.integers(1, 90), part=st.floats(0, 1), seed=st.integers(0, 2**32), ties=st.integers(1, 90))
def test_as_many_as_were_wanted_from_all_over_the_range(items: int, part: float, seed: int, ties: int) -> None:
    count = max(1, round(part * items))
    rng = np.random.default_rng(seed)
    rows, weights = stratified(rng.integers(0, ties, items).astype(float), count, rng)
    assert len(rows) == count == len(set(rows.tolist())) and rows.tolist() == sorted(rows)
    assert weights.mean() == pytest.approx(1) and weights.min() > 0


def test_every_stretch_of_the_scores_gives_two_or_more() -> None:
    rows, weights = stratified(np.arange(200.0), 23, np.random.default_rng(1))
    assert all(2 <= ((rows >= start) & (rows < start + 20)).sum() <= 3 for start in range(0, 200, 20))
    stood = [weights[(rows >= start) & (rows < start + 20)].sum() for start in range(0, 200, 20)]
    assert stood == pytest.approx([2.3] * 10), "each stretch stands for a tenth of the items, however many it gave"


def test_every_item_has_its_chance_and_weights_set_right_what_chance_gave() -> None:
    drawn, means = np.zeros(31), list[float]()
    values = np.arange(31.0) ** 2
    rng = np.random.default_rng(2)
    for _ in range(4000):
        rows, weights = stratified(np.arange(31.0), 7, rng)
        drawn[rows] += 1 / 4000
        means.append(float(np.average(values[rows], weights=weights)))
    assert drawn == pytest.approx(np.full(31, 7 / 31), abs=0.05)
    assert np.mean(means) == pytest.approx(values.mean(), rel=0.01)


def test_drawn_so_ratings_tell_more_than_by_lot() -> None:
    """50 of 400: the mean of the ratings alone is nearer to that of all, and intervals with the scores hold."""
    rng, errors, held = np.random.default_rng(3), [list[float](), list[float]()], list[bool]()
    for _ in range(200):
        truth = rng.normal(size=400)
        scores = truth + rng.normal(size=400)
        rows, weights = stratified(scores, 50, rng)
        lot = rng.permutation(400)[:50]
        errors[0].append(float(np.average(truth[rows], weights=weights)) - truth.mean())
        errors[1].append(float(truth[lot].mean()) - truth.mean())
        stands, ratings = np.ones(400), np.full(400, np.nan)
        stands[rows], ratings[rows] = weights, truth[rows]
        found = powered(sample_of(ratings, scores, stands, np.ones(400, bool), np.arange(400)))
        held.append(not found.powered.excludes(0))
    assert np.std(errors[0]) < 0.85 * np.std(errors[1]) and abs(np.mean(errors[0])) < 0.02
    assert np.mean(held) == pytest.approx(0.95, abs=0.025)


def test_groups_become_even() -> None:
    rng = np.random.default_rng(4)
    assert shares([10, 10, 10], [5, 0, 2], 11, rng) == [1, 6, 4]
    assert shares([10, 2, 10], [0, 0, 0], 10, rng) == [4, 2, 4]
    assert shares([1, 0], [0, 0], 99, rng) == [1, 0]
    assert sum(shares([5] * 10, [0] * 10, 3, rng)) == 3
