"""Mean correlations over splits, their intervals, and the paired test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.paired import (
    Statistic,
    mean_correlation,
    mean_difference,
    mean_of_parts,
    paired_permutation,
    paired_permutations,
    two_sided,
)

Floats = NDArray[np.float64]


def sample(seed: int, lines: int = 120, noise: float = 1.0) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Scores, ratings, clusters of four lines."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, lines).astype(float)
    return ratings + noise * rng.normal(size=lines), ratings, np.arange(lines) // 4


@pytest.mark.parametrize(("statistic", "by_scipy"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)])
def test_the_mean_is_that_of_the_parts(statistic: Statistic, by_scipy: object) -> None:
    scores, ratings, clusters = sample(0)
    parts = np.arange(120) % 3
    scores[5] = np.nan
    counts = cluster_counts(30, 200, np.random.default_rng(0))
    found = mean_correlation(statistic, scores, ratings, parts, clusters, counts)
    expected = [
        by_scipy(scores[rows], ratings[rows]).statistic  # type: ignore[operator]
        for rows in (np.flatnonzero((parts == part) & np.isfinite(scores)) for part in range(3))
    ]
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert (found.n, found.parts) == (119, 3)
    assert found.low < found.value < found.high
    assert found.p == two_sided(np.ones(200), 30)  # no resample beyond zero


def test_a_resample_weighs_a_cluster_in_all_parts() -> None:
    """One resample by hand: the lines of a cluster that was drawn twice come twice, in every part."""
    scores, ratings, clusters = sample(1, 40)
    parts = np.arange(40) % 2
    counts = np.array([[2], [0], [1], [1], [1], [3], [0], [1], [1], [0]], dtype=np.uint16)
    rows = np.repeat(np.arange(40), counts[clusters, 0])
    expected = np.mean(
        [stats.pearsonr(scores[own], ratings[own]).statistic for own in (rows[parts[rows] == part] for part in (0, 1))]
    )
    found = mean_correlation("pearson", scores, ratings, parts, clusters, np.repeat(counts, 5, axis=1))
    assert [found.low, found.high] == pytest.approx([expected, expected])


def test_a_part_without_a_correlation_is_left_out() -> None:
    scores, ratings, clusters = sample(2)
    parts = np.arange(120) // 60
    scores[parts == 1] = 1.0
    counts = cluster_counts(30, 100, np.random.default_rng(0))
    found = mean_correlation("pearson", scores, ratings, parts, clusters, counts)
    assert found.parts == 1
    assert found.value == pytest.approx(stats.pearsonr(scores[:60], ratings[:60]).statistic)
    nothing = mean_correlation("pearson", np.full(120, 3.0), ratings, parts, clusters, counts)
    assert (np.isnan(nothing.value), np.isnan(nothing.p), nothing.parts, nothing.n) == (True, True, 0, 120)


def test_a_difference_is_of_both_on_each_resample() -> None:
    scores, ratings, clusters = sample(3, noise=2.0)
    worse = scores + 2 * np.random.default_rng(4).normal(size=120)
    parts = np.arange(120) % 3
    counts = cluster_counts(30, 200, np.random.default_rng(0))
    found = mean_difference("spearman", scores, worse, ratings, parts, clusters, counts)
    one, other = (mean_correlation("spearman", own, ratings, parts, clusters, counts) for own in (scores, worse))
    assert found.value == pytest.approx(one.value - other.value) and (found.n, found.parts) == (120, 3)
    assert found.low < found.value < found.high
    assert found.high - found.low < np.hypot(one.high - one.low, other.high - other.low), "the scores go together"
    once = np.repeat(counts[:, :1], 5, axis=1)
    by_hand = mean_difference("spearman", scores, worse, ratings, parts, clusters, once)
    each = [mean_correlation("spearman", own, ratings, parts, clusters, once).low for own in (scores, worse)]
    assert by_hand.low == pytest.approx(each[0] - each[1])
    none = mean_difference("spearman", scores, scores, ratings, parts, clusters, counts)
    assert (none.value, none.low, none.high, none.p) == (0, 0, 0, 1)


def test_a_line_without_one_of_two_scores_counts_for_neither() -> None:
    scores, ratings, clusters = sample(5)
    other = scores[::-1].copy()
    other[7] = np.nan
    kept = np.arange(120) != 7
    counts = cluster_counts(30, 50, np.random.default_rng(0))
    parts = np.zeros(120, np.int64)
    found = mean_difference("pearson", scores, other, ratings, parts, clusters, counts)
    expected = [stats.pearsonr(own[kept], ratings[kept]).statistic for own in (scores, other)]
    assert found.value == pytest.approx(expected[0] - expected[1]) and found.n == 119


def test_the_mean_of_parts_is_not_the_mean_of_lines() -> None:
    values, parts = np.array([1.0, 1.0, 1.0, 5.0]), np.array([0, 0, 0, 1])
    counts = cluster_counts(4, 50, np.random.default_rng(0))
    found = mean_of_parts(values, parts, np.arange(4), counts)
    assert found.value == 3.0
    assert 1.0 <= found.low <= found.high <= 5.0


def test_permutations_of_one_part_are_those_by_hand() -> None:
    """Every swap of three clusters, against the share that 4,000 random swaps find."""
    scores, ratings, _ = sample(3, 12)
    other, clusters = np.random.default_rng(9).normal(size=12), np.arange(12) // 4
    found = paired_permutation(
        "pearson", scores, other, ratings, np.zeros(12, int), clusters, np.random.default_rng(0), 4000
    )
    a, b = ((x - x.mean()) / x.std() for x in (scores, other))

    def difference(swap: tuple[bool, ...]) -> float:
        swapped = np.array(swap)[clusters]
        one, two = np.where(swapped, b, a), np.where(swapped, a, b)
        return float(stats.pearsonr(one, ratings).statistic - stats.pearsonr(two, ratings).statistic)

    every = np.array([difference(swap) for swap in product([False, True], repeat=3)])
    assert found.value == pytest.approx(every[0])
    assert found.p == pytest.approx((np.abs(every) >= abs(every[0]) - 1e-9).mean(), abs=0.03)


@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_a_far_better_scorer_is_found_and_an_equal_one_is_not(statistic: Statistic) -> None:
    good, ratings, clusters = sample(4, noise=0.3)
    bad = np.random.default_rng(5).normal(size=120)
    parts = np.arange(120) % 2
    args = (ratings, parts, clusters)
    better = paired_permutation(statistic, good, bad, *args, np.random.default_rng(0), 500)
    assert better.value > 0.5
    assert better.p == pytest.approx(1 / 500)
    # The same order on another scale, with its direction: nothing to tell apart.
    same = paired_permutation(statistic, good, 100 * good + 7, *args, np.random.default_rng(0), 500)
    assert same.value == pytest.approx(0, abs=1e-12)
    assert same.p == 1.0
    back = paired_permutation(statistic, bad, good, *args, np.random.default_rng(0), 500)
    assert [back.value, back.p] == pytest.approx([-better.value, better.p])


@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_many_scorers_at_once_are_all_their_pairs(statistic: Statistic) -> None:
    """One of them is constant in one part, as it would be alone."""
    good, ratings, clusters = sample(8)
    scores = np.stack([good, *np.random.default_rng(1).normal(size=(2, 120))], axis=1)
    parts = clusters % 3
    scores[parts == 1, 2] = 0.5
    found = paired_permutations(statistic, scores, ratings, parts, clusters, np.random.default_rng(0), 300)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for (one, other), pair in found.items():
        alone = paired_permutation(
            statistic, scores[:, one], scores[:, other], ratings, parts, clusters, np.random.default_rng(0), 300
        )
        assert (pair.value, pair.p) == pytest.approx((alone.value, alone.p), abs=1e-12)


def test_p_is_uniform_where_neither_is_better() -> None:
    ps = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ratings = rng.normal(size=80)
        one, other = ratings + 2 * rng.normal(size=(2, 80))
        ps.append(
            paired_permutation("spearman", one, other, ratings, np.zeros(80, int), np.arange(80) // 2, rng, 200).p
        )
    assert min(ps) > 0.0
    assert 0.3 < np.mean(ps) < 0.7
    assert np.mean(np.array(ps) < 0.05) < 0.15


def test_lines_without_a_score_count_for_neither() -> None:
    good, ratings, clusters = sample(6)
    other = good[::-1].copy()
    other[:40] = np.nan
    found = paired_permutation("pearson", good, other, ratings, np.zeros(120, int), clusters, np.random.default_rng(0))
    expected = [stats.pearsonr(values[40:], ratings[40:]).statistic for values in (good, other)]
    assert found.value == pytest.approx(expected[0] - expected[1])
    nothing = paired_permutation(
        "pearson", good, np.full(120, np.nan), ratings, np.zeros(120, int), clusters, np.random.default_rng(0)
    )
    assert np.isnan(nothing.value)
    assert np.isnan(nothing.p)


@pytest.mark.parametrize("clusters", [5, 30, 1000])  # of fewer, four thousand resamples cannot tell
def test_p_is_small_where_the_interval_leaves_zero_out(clusters: int) -> None:
    draws = np.random.default_rng(clusters).normal(size=4000)
    ends = percentile_interval(draws, clusters)
    for shift, small in ((0.3 - ends.low, True), (-0.3 - ends.low, False), (-ends.high - 0.3, True)):
        assert (two_sided(draws + shift, clusters) < 0.05) is small
    assert two_sided(draws - np.median(draws), clusters) > 0.9
    assert np.isnan(two_sided(draws, 1)) and np.isnan(two_sided(draws[:0], clusters))
