"""Correlation within groups: the mean of what scipy finds in each, and what happens to groups without one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.stats.bootstrap import cluster_counts, percentile_interval, resample_correlations
from rejoinder.stats.paired import mean_correlation
from rejoinder.stats.within import within_correlations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sample(seed: int) -> tuple[Floats, Floats, Ints, Ints]:
    """40 contexts, three systems answering each; systems differ in both, lines of one system do in one."""
    rng = np.random.default_rng(seed)
    systems, contexts = np.tile(np.arange(3), 40), np.repeat(np.arange(40), 3)
    y = np.round(3.0 * systems + rng.normal(size=120), 1)
    return 3.0 * systems + 0.5 * (y - 3.0 * systems) + rng.normal(size=120), y, systems, contexts


@pytest.mark.parametrize(
    ("name", "by_scipy"),
    [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)],
)
def test_the_mean_is_that_of_the_groups(name: str, by_scipy: object) -> None:
    x, y, systems, contexts = sample(0)
    counts = cluster_counts(40, 200, np.random.default_rng(0))
    found = within_correlations(x, y, systems, contexts, counts)[name]
    expected = [by_scipy(x[systems == s], y[systems == s]).statistic for s in range(3)]  # type: ignore[operator]
    assert [one.value for one in found.each] == pytest.approx(expected, abs=1e-12)
    assert [one.n for one in found.each] == [40, 40, 40]
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.low < found.value < found.high
    assert (found.method, found.groups, found.reason) == (
        "95% expanded percentile interval, 200 resamples of clusters",
        3,
        "",
    )
    assert found.value < by_scipy(x, y).statistic - 0.1  # type: ignore[operator]


def test_the_interval_is_that_of_mean_correlation() -> None:
    x, y, systems, contexts = sample(1)
    counts = cluster_counts(40, 100, np.random.default_rng(0))
    other = mean_correlation("spearman", x, y, systems, contexts, counts)
    found = within_correlations(x, y, systems, contexts, counts)["spearman"]
    ends = [found.value, found.low, found.high]
    assert ends == pytest.approx([other.value, other.low, other.high], abs=1e-12)


def test_groups_without_a_correlation_are_left_out_with_a_reason() -> None:
    x, y, systems, contexts = sample(2)
    whole = within_correlations(x, y, systems, contexts, cluster_counts(40, 50, np.random.default_rng(0)))["pearson"]
    x, y = np.r_[x, 1.0, 2.0, 7.0, 7.0, 7.0, 1.0, 2.0, 3.0], np.r_[y, 1.0, 2.0, 1.0, 2.0, 3.0, 1.0, math.nan, 3.0]
    systems, contexts = np.r_[systems, 3, 3, 4, 4, 4, 6, 6, 6], np.r_[contexts, np.arange(8)]
    found = within_correlations(x, y, systems, contexts, cluster_counts(40, 50, np.random.default_rng(0)))["pearson"]
    assert [one.reason for one in found.each[3:]] == [
        "2 pairs of score and rating; three or more are needed",
        "the score is the same in all 3 pairs (7)",
        "0 pairs of score and rating; three or more are needed",
        "the rating is not a finite number in 1 of 3 pairs",
    ]
    assert replace(found, each=()) == replace(whole, each=())


def test_no_group_with_a_correlation_has_a_reason() -> None:
    x, y = np.arange(6.0), np.arange(6.0)
    counts = cluster_counts(6, 20, np.random.default_rng(0))
    for found in within_correlations(x, y, np.arange(6) // 2, np.arange(6), counts).values():
        assert math.isnan(found.value)
        assert math.isnan(found.low)
        assert found.groups == 0
        assert found.reason == (
            "none of 3 groups has a correlation, most often: 2 pairs of score and rating; three or more are needed"
        )
    nothing = np.zeros(0, dtype=np.int64)
    empty = within_correlations(np.zeros(0), np.zeros(0), nothing, nothing, counts)["kendall"]
    assert (empty.each, empty.reason) == ((), "none of 0 groups has a correlation")


def test_one_context_or_no_resamples_have_no_interval() -> None:
    x, y, systems, contexts = sample(3)
    found = within_correlations(x, y, systems, np.zeros_like(contexts), np.ones((1, 9), dtype=np.uint16))["kendall"]
    assert math.isfinite(found.value)
    assert found.reason == "no interval: there is only one cluster, and clusters are what is resampled"
    found = within_correlations(x, y, systems, contexts, np.zeros((40, 0), dtype=np.uint16))["kendall"]
    assert found.reason == "no interval: no resamples were asked for"


def test_the_interval_widens_for_the_contexts_that_count_and_no_others() -> None:
    """Contexts of groups without a correlation tell nothing; the ten that count make the interval's tails."""
    x, y, systems, contexts = (part[:30] for part in sample(4))
    others = np.arange(10, 40)
    x, y = np.r_[x, np.ones(30)], np.r_[y, np.arange(30.0)]
    systems, contexts = np.r_[systems, np.full(30, 3)], np.r_[contexts, others]
    counts = cluster_counts(40, 400, np.random.default_rng(0))
    found = within_correlations(x, y, systems, contexts, counts, ["pearson"])["pearson"]
    drawn = [
        resample_correlations(x[rows], y[rows], contexts[rows], counts, ["pearson"])["pearson"]
        for rows in (np.flatnonzero(systems == one) for one in range(3))
    ]
    expected = percentile_interval(np.nanmean(drawn, axis=0), 10)
    assert found.groups == 3
    assert found.ends == pytest.approx(expected.ends, abs=1e-12)
    assert expected.high - expected.low > np.diff(percentile_interval(np.nanmean(drawn, axis=0), 40).ends)[0]
