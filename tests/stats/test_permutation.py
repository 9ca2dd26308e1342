"""Permutation tests: against all permutations, and by their level."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.estimates import Estimate
from rejoinder.stats.correlation import RANKED_BY, Ranked
from rejoinder.stats.permutation import cluster_means, drawn_swaps, step_down, swap_test, swapped_differences
from rejoinder.stats.resamples import number_of, renumbered

Floats = NDArray[np.float64]
both_statistics = pytest.mark.parametrize("statistic", RANKED_BY)


def sample(seed: int, lines: int = 120, noise: float = 1.0) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Scores, ratings from 1 to 5, clusters of four lines."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, lines).astype(float)
    return ratings + noise * rng.normal(size=lines), ratings, np.arange(lines) // 4


def all_pairs(
    statistic: Ranked, scores: Floats, ratings: Floats, parts: Any, clusters: Any, rng: Any, swaps: int
) -> dict[tuple[int, int], Estimate]:
    """The tests of all pairs of columns."""
    pairs, numbers = list(combinations(range(scores.shape[1]), 2)), renumbered(clusters)
    drawn = drawn_swaps(number_of(numbers), swaps, rng)
    differences = swapped_differences(statistic, dict(enumerate(scores.T)), ratings, parts, numbers, drawn, pairs)
    return {pair: swap_test(values) for pair, values in differences.items()}


def swapped(statistic: Ranked, first: Floats, second: Floats, ratings: Floats, clusters: Any, swaps: int) -> Estimate:
    both, rng = np.stack([first, second], axis=1), np.random.default_rng(0)
    return all_pairs(statistic, both, ratings, np.zeros(len(first), int), clusters, rng, swaps)[0, 1]


# two scorers


def test_p_is_the_share_of_all_swaps() -> None:
    """All swaps of three clusters, against the share that 4,000 random swaps find."""
    scores, ratings, _ = sample(3, 12)
    other, clusters = np.random.default_rng(9).normal(size=12), np.arange(12) // 4
    a, b = ((x - x.mean()) / x.std() for x in (scores, other))

    def difference(swap: tuple[bool, ...]) -> float:
        chosen = np.array(swap)[clusters]
        one, two = np.where(chosen, b, a), np.where(chosen, a, b)
        return float(stats.pearsonr(one, ratings).statistic - stats.pearsonr(two, ratings).statistic)

    every = np.array([difference(swap) for swap in product([False, True], repeat=3)])
    found = swapped("pearson", scores, other, ratings, clusters, 4000)
    assert found.value == pytest.approx(every[0])
    assert found.p == pytest.approx((np.abs(every) >= abs(every[0]) - 1e-9).mean(), abs=0.03)


@both_statistics
def test_a_far_better_scorer_is_found_and_an_equal_one_is_not(statistic: Ranked) -> None:
    good, ratings, clusters = sample(4, noise=0.3)
    bad = np.random.default_rng(5).normal(size=120)
    better = swapped(statistic, good, bad, ratings, clusters, 500)
    assert better.value > 0.5 and better.p == pytest.approx(1 / 500), "the observed swap counts"
    same = swapped(statistic, good, 100 * good + 7, ratings, clusters, 500)
    assert same.value == pytest.approx(0, abs=1e-12) and same.p == 1.0
    back = swapped(statistic, bad, good, ratings, clusters, 500)
    assert [back.value, back.p] == pytest.approx([-better.value, better.p])


@both_statistics
def test_many_scorers_have_the_swaps_of_each_pair_alone(statistic: Ranked) -> None:
    """One of them is constant in one part; another in all."""
    good, ratings, clusters = sample(8)
    scores = np.stack([good, *np.random.default_rng(1).normal(size=(2, 120)), np.ones(120)], axis=1)
    parts = clusters % 3
    scores[parts == 1, 2] = 0.5
    found = all_pairs(statistic, scores, ratings, parts, clusters, np.random.default_rng(0), 300)
    assert list(found) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for (one, other), figure in found.items():
        pair, rng = scores[:, [one, other]], np.random.default_rng(0)
        alone = all_pairs(statistic, pair, ratings, parts, clusters, rng, 300)[0, 1]
        expected = pytest.approx((alone.value, alone.p), abs=1e-12, nan_ok=True)
        assert (figure.value, figure.p) == expected and figure.known is (other != 3)


@pytest.mark.slow
def test_the_paired_test_keeps_its_level() -> None:
    """Two scorers equally good, in clusters that shift all three: a difference in 5 +- 2 % of 2,000 data sets."""
    rng, significant, lines = np.random.default_rng(0), 0, 90
    clusters, parts = np.arange(lines) // 3, np.zeros(lines, dtype=np.int64)
    matrix = [[1, 0.4, 0.4], [0.4, 1, 0.5], [0.4, 0.5, 1]]
    for _ in range(2000):
        ratings, *scores = rng.multivariate_normal([0, 0, 0], matrix, lines).T
        shift = rng.normal(size=(3, 30))[:, clusters]
        moved = np.stack([scores[0] + shift[0], scores[1] + shift[1]], axis=1)
        tests = all_pairs("pearson", moved, np.round(ratings + shift[2]), parts, clusters, rng, 400)
        significant += tests[0, 1].p < 0.05
    assert significant / 2000 == pytest.approx(0.05, abs=0.02)


# families


def test_step_down_by_hand() -> None:
    """Three tests after four swaps."""
    differences = np.array([[3.0, -3.0, 1.0, -1.0], [1.0, -1.0, 3.0, -3.0], [0.1, -0.1, 0.0, 0.0]])
    # In standard deviations: 1.34 1.34 .45 .45, .45 .45 1.34 1.34 and 1.41 1.41 0 0. So the last is tested first, with
    # the largest of all after each swap; then the first without it.
    assert step_down(differences) == pytest.approx([1.0, 1.0, 0.5])
    assert step_down(differences[:1]) == pytest.approx([0.5]), "alone it is the p of the swaps"
    assert step_down(np.zeros((2, 4))) == pytest.approx([1, 1]), "the same scorer twice"


def test_a_family_of_the_same_test_costs_nothing() -> None:
    """Holm would multiply p by five; where tests depend on each other, Westfall and Young do not."""
    once = np.random.default_rng(0).normal(size=(1, 2000))
    once[0, 0] = 2.5
    alone = float(step_down(once)[0])
    assert 0.005 < alone < 0.02
    assert step_down(np.repeat(once, 5, axis=0)) == pytest.approx([alone] * 5)


# means


def test_means_over_clusters() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, (2, 12))
    values[1, 3:7] = np.nan
    clusters = np.repeat(np.arange(6), 2)
    first, second = cluster_means(values, clusters, np.zeros(2), 2000, rng)
    assert [first.value, second.value] == pytest.approx([values[0].mean(), np.nanmean(values[1])])
    assert [(mean.n, mean.contexts) for mean in (first, second)] == [(12, 6), (8, 5)]
    sums = np.bincount(clusters, weights=values[0])
    flips = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=6)]
    assert first.p == pytest.approx(np.mean(np.array(flips) >= abs(sums.sum()) - 1e-9), abs=0.05)
    (nothing,) = cluster_means(np.full((1, 3), np.nan), np.arange(3), np.zeros(1), 100, rng)
    assert nothing.n == 0 and nothing.reason and math.isnan(nothing.p)
    (few,) = cluster_means(values[:1], np.repeat([0, 1], 6), np.zeros(1), 100, rng)
    assert math.isnan(few.p) and not few.has_interval


def test_intervals_of_means_hold_and_chance_is_rarely_significant() -> None:
    held, significant = 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(40), 3)
        values = (rng.random(40) < 0.5).astype(float)[clusters][None]  # the three of a cluster are one draw
        (mean,) = cluster_means(values, clusters, np.array([0.5]), 400, rng)
        held += mean.low <= 0.5 <= mean.high
        significant += mean.p < 0.05
    assert held >= 90 and significant <= 10
