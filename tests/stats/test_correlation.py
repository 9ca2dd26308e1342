"""Correlations and the cluster bootstrap: by hand, against scipy, and against resampling done literally."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from conftest import drawn
from rejoinder.errors import UsageError
from rejoinder.stats.bootstrap import (
    cluster_counts,
    expanded_tail,
    group_means,
    percentile_interval,
    resample_correlations,
    resample_group_correlations,
)
from rejoinder.stats.columns import COLUMNS
from rejoinder.stats.correlation import CORRELATIONS, kendall, pearson, spearman
from rejoinder.stats.figure import Figure
from rejoinder.stats.weighted import WEIGHTED

FloatArray = NDArray[np.float64]
ORACLES: dict[str, Callable[..., object]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
every_statistic = pytest.mark.parametrize("name", sorted(CORRELATIONS))

levels = st.integers(-4, 4).map(float)
reals = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
pairs = st.lists(st.tuples(st.one_of(levels, reals), levels), min_size=3, max_size=25)


def columns(rows: list[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    """The two variables of a list of pairs."""
    x, y = np.array(rows, dtype=np.float64).T
    return x, y


def rated(n: int, clusters: int, seed: int, ties: int = 1) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Scores, ratings with ties, and clusters that shift both."""
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    shift = rng.normal(size=clusters)[cluster]
    y = np.round((shift + rng.normal(size=n)) * ties) / ties
    return np.round(y + shift + rng.normal(size=n), 2), y, cluster


def literal(name: str, x: FloatArray, y: FloatArray, counts: NDArray[np.int64]) -> float:
    """The statistic on a resample written out line by line."""
    return CORRELATIONS[name](np.repeat(x, counts), np.repeat(y, counts)).value


# --- values ---


def test_by_hand() -> None:
    x, y = [1, 2, 3, 4], [1, 3, 2, 4]
    assert pearson(x, y).value == pytest.approx(0.8, abs=1e-15)  # covariance 4, both variances 5
    assert spearman(x, y).value == pytest.approx(0.8, abs=1e-15)  # 1 - 6 * 2 / (4 * 15)
    assert kendall(x, y).value == pytest.approx(2 / 3, abs=1e-15)  # 5 concordant, 1 discordant of 6
    # x has one tie of two: of 6 pairs 5 differ in x; 4 concordant, 1 discordant
    assert kendall([1, 1, 2, 3], [1, 2, 4, 3]).value == pytest.approx(3 / math.sqrt(5 * 6), abs=1e-15)
    # ranks 1.5 1.5 3 4 against 1 2 4 3: covariance 3.5, variances 4.5 and 5
    assert spearman([1, 1, 2, 3], [1, 2, 4, 3]).value == pytest.approx(3.5 / math.sqrt(4.5 * 5), abs=1e-15)


def test_p_values_by_hand() -> None:
    # r = .8, n = 4: t = r sqrt(2) / sqrt(1 - r^2) = 1.8856 with 2 degrees of freedom, where p = 1 - t / sqrt(2 + t^2)
    t = 0.8 * math.sqrt(2 / 0.36)
    assert pearson([1, 2, 3, 4], [1, 3, 2, 4]).p == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)
    # 24 orders of four: 1 + 3 of them reach five concordant pairs or more, and as many at the other end
    assert kendall([1, 2, 3, 4], [1, 3, 2, 4]).p == pytest.approx(8 / 24, abs=1e-12)


@every_statistic
@given(rows=pairs)
@drawn(60)
def test_equals_scipy(name: str, rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    found = CORRELATIONS[name](x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found.value)
        return
    expected = ORACLES[name](x, y)
    assert found.value == pytest.approx(expected.statistic, abs=1e-9)  # type: ignore[attr-defined]
    # near |r| = 1 three pairs have p = arccos|r| 2 / pi, which turns a rounding of 1e-16 in r into 1e-8
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-7)  # type: ignore[attr-defined]
    assert 0 < found.p <= 1 + 1e-12


@every_statistic
@pytest.mark.parametrize("n", [3, 7, 100, 5000])
def test_perfect_input_is_exactly_one(name: str, n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    up, down = CORRELATIONS[name](x, 0.3 * x + 7.1), CORRELATIONS[name](x, -1e5 * x - 0.1)
    assert (up.value, down.value, up.n, up.reason) == (1.0, -1.0, n, "")
    assert up.p > 0
    assert down.p > 0


def test_p_is_never_zero() -> None:
    x = np.arange(3000.0)
    assert pearson(x, x).p == spearman(x, x).p == np.finfo(np.float64).tiny
    assert kendall(x, x).p > 0


@every_statistic
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 pairs of score and rating; three or more are needed"),
        ([1], [2], "1 pair of score and rating; three or more are needed"),
        ([1, 2], [3, 4], "2 pairs of score and rating; three or more are needed"),
        ([2, 2, 2, 2], [1, 2, 3, 4], "the score is the same in all 4 pairs (2)"),
        ([1, 2, 3], [0.5, 0.5, 0.5], "the rating is the same in all 3 pairs (0.5)"),
        ([1, math.nan, 3, math.nan], [1, 2, 3, 4], "the score is not a finite number in 2 of 4 pairs"),
        ([1, 2, 3], [1, 2, -math.inf], "the rating is not a finite number in 1 of 3 pairs"),
    ],
)
def test_no_correlation_has_a_reason(name: str, x: list[float], y: list[float], reason: str) -> None:
    found = CORRELATIONS[name](x, y, names=("score", "rating"))
    assert math.isnan(found.value)
    assert math.isnan(found.p)
    assert (found.n, found.reason) == (len(x), reason)


@every_statistic
def test_shapes_must_agree(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"^a correlation needs two vectors of one length, not shapes \(3,\) and \(2,\)$"
    ):
        CORRELATIONS[name]([1, 2, 3], [1, 2])
    with pytest.raises(UsageError, match=r"not shapes \(1, 3\) and \(1, 3\)$"):
        CORRELATIONS[name]([[1, 2, 3]], [[1, 2, 3]])


def test_extreme_sizes_give_no_warning() -> None:
    y = [1.0, 2.0, 4.0, 3.0]
    expected = pearson([0, 1, 2, 3], y).value
    for x in (
        [-1.7e308, -0.6e308, 0.5e308, 1.6e308],
        [0, 5e-324, 1e-323, 1.5e-323],
        [1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9 + 3e-6],
    ):
        assert pearson(x, y).value == pytest.approx(expected, abs=0.1)
        assert spearman(x, y).value == pytest.approx(0.8)


# --- properties ---


@every_statistic
@given(rows=pairs, seed=st.integers(0, 99))
@drawn(40)
def test_order_of_lines_and_of_variables_does_not_matter(name: str, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = columns(rows)
    shuffled = np.random.default_rng(seed).permutation(len(x))
    found = CORRELATIONS[name](x, y).value
    assert CORRELATIONS[name](x[shuffled], y[shuffled]).value == pytest.approx(found, abs=1e-12, nan_ok=True)
    assert CORRELATIONS[name](y, x).value == pytest.approx(found, abs=1e-12, nan_ok=True)


@every_statistic
@given(rows=pairs)
@drawn(40)
def test_turning_a_variable_round_turns_the_sign(name: str, rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    found = CORRELATIONS[name](x, y).value
    assert CORRELATIONS[name](-x, y).value == pytest.approx(-found, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(rows=pairs)
@drawn(40)
def test_rank_correlations_see_order_alone(name: str, rows: list[tuple[float, float]]) -> None:
    x, y = columns(rows)
    found = CORRELATIONS[name](x, y).value
    assert CORRELATIONS[name](x**3 + x, np.exp(y)).value == pytest.approx(found, abs=1e-12, nan_ok=True)


# --- weights ---


@every_statistic
@given(rows=pairs, seed=st.integers(0, 9999))
@drawn(60)
def test_weighting_equals_repeating(name: str, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = columns(rows)
    weights = np.random.default_rng(seed).integers(0, 4, (len(x), 5))
    weights[:, 0] = 1
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    found = WEIGHTED[name](x, y, weights.astype(np.float64))
    expected = [literal(name, x, y, column) for column in weights.T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@every_statistic
def test_a_resample_far_from_the_rest_keeps_its_digits(name: str) -> None:
    x, y = np.array([1e8, 1e8 + 1, 1e8 + 2, 1e8 + 4, 0.0]), np.array([1.0, 3.0, 2.0, 4.0, -1e9])
    weights = np.array([[1, 1, 1, 1, 0], [1, 2, 0, 3, 0], [1, 1, 1, 1, 1]]).T
    found = WEIGHTED[name](x, y, weights.astype(np.float64))
    np.testing.assert_allclose(found, [literal(name, x, y, column) for column in weights.T], rtol=0, atol=1e-9)


@every_statistic
def test_weightings_without_a_correlation_are_nan(name: str) -> None:
    x, y = np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 2.0])
    weights = np.array([[0, 0, 0, 0], [2, 3, 0, 0], [0, 2, 2, 2], [0, 0, 9, 0], [1, 0, 0, 1], [1, 1, 1, 1]]).T
    found = WEIGHTED[name](x, y, weights.astype(np.float64))
    assert np.isnan(found).tolist() == [True, True, True, True, True, False]


@every_statistic
@given(rows=st.lists(st.tuples(levels, reals), min_size=1, max_size=9), seed=st.integers(0, 99))
@drawn(40)
def test_columns_equal_one_at_a_time(name: str, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = columns(rows)
    order = np.random.default_rng(seed).permutation(len(x))
    found = COLUMNS[name](np.stack([x, x, x], axis=1), np.stack([y, y[order], np.full_like(y, np.nan)], axis=1))
    expected = [CORRELATIONS[name](x, other).value for other in (y, y[order])]
    np.testing.assert_allclose(found, [*expected, np.nan], rtol=0, atol=1e-9)


# --- the bootstrap ---


def test_counts_draw_as_many_clusters_as_there_are() -> None:
    counts = cluster_counts(7, 4000, np.random.default_rng(3))
    assert counts.shape == (7, 4000)
    assert (counts.sum(axis=0) == 7).all()
    # a cluster's count is binomial(7, 1/7): mean 1, variance 6/7, absent with probability (6/7)^7
    assert counts.mean() == 1
    assert counts.var(axis=1) == pytest.approx(np.full(7, 6 / 7), rel=0.1)
    assert (counts == 0).mean() == pytest.approx((6 / 7) ** 7, abs=0.01)


def test_counts_follow_the_generator_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cluster_counts(11, 50, np.random.default_rng(5))
    assert (cluster_counts(11, 50, np.random.default_rng(5)) == first).all()
    assert (cluster_counts(11, 50, np.random.default_rng(6)) != first).any()
    monkeypatch.setattr("rejoinder.stats.bootstrap.BLOCK", 40)
    assert (cluster_counts(11, 50, np.random.default_rng(5)) == first).all()


@every_statistic
@pytest.mark.parametrize(("n", "clusters", "ties"), [(60, 12, 1), (200, 50, 3), (150, 150, 1000)])
def test_resampling_equals_the_literal_bootstrap(
    name: str, n: int, clusters: int, ties: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rejoinder.stats.bootstrap.BLOCK", 7 * n)  # several blocks, the last one narrower
    x, y, cluster = rated(n, clusters, seed=n, ties=ties)
    counts = cluster_counts(clusters, 40, np.random.default_rng(1))
    found = resample_correlations(x, y, cluster, counts)[name]
    members = [np.flatnonzero(cluster == number) for number in range(clusters)]
    for resample in range(40):
        drawn = np.repeat(np.arange(clusters), counts[:, resample])
        lines = np.concatenate([members[number] for number in drawn])
        expected = ORACLES[name](x[lines], y[lines]).statistic  # type: ignore[attr-defined]
        assert found[resample] == pytest.approx(expected, abs=1e-9)


@every_statistic
def test_group_resampling_equals_the_literal_bootstrap(name: str) -> None:
    x, y, cluster = rated(120, 20, seed=4)
    groups = np.arange(120) % 5
    counts = cluster_counts(20, 60, np.random.default_rng(2))
    found = resample_group_correlations(x, y, groups, cluster, counts)[name]
    for resample in range(60):
        lines = np.repeat(np.arange(120), counts[cluster, resample])
        of_x = [x[lines[groups[lines] == group]].mean() for group in range(5)]
        of_y = [y[lines[groups[lines] == group]].mean() for group in range(5)]
        assert found[resample] == pytest.approx(CORRELATIONS[name](of_x, of_y).value, abs=1e-9)


def test_group_means_by_hand() -> None:
    values, groups, clusters = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2])
    weights = np.array([[1, 0, 2], [1, 3, 0], [1, 0, 1]], dtype=np.float64)
    np.testing.assert_allclose(group_means(values, groups, clusters, weights), [[1.5, 2, 1], [6, np.nan, 16 / 3]])


def test_equal_group_means_tie_despite_rounding() -> None:
    values, groups = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 1.0]), np.array([0, 0, 0, 1, 1, 1, 2])
    sums = np.bincount(groups, weights=values)
    assert sums[0] != sums[1]
    means = group_means(values, groups, np.zeros(7, dtype=np.int64), np.ones((1, 1)))[:, 0]
    assert means[0] == means[1] == pytest.approx(0.2)


@every_statistic
def test_constant_columns_are_nan_despite_rounding(name: str) -> None:
    constant, varied = np.full((3, 1), 0.1), np.array([[0.1], [0.2], [0.4]])
    assert constant.mean() != 0.1
    assert np.isnan(COLUMNS[name](constant, varied)).all()
    assert np.isnan(COLUMNS[name](varied, constant)).all()


def test_percentile_interval_by_hand() -> None:
    values = np.arange(41.0)[::-1] / 40
    tail = expanded_tail(9)
    found = percentile_interval(values, clusters=9)
    assert (found.low, found.high) == pytest.approx((tail, 1 - tail))
    assert (found.method, found.reason) == ("95% expanded percentile interval, 41 resamples of clusters", "")
    with_gaps = percentile_interval(np.concatenate([values, np.full(41, np.nan)]), clusters=9)
    assert with_gaps.ends == pytest.approx((tail, 1 - tail))
    assert with_gaps.method.endswith(", 82 resamples of clusters, 41 of them left out for want of a value")


def test_few_clusters_widen_the_interval_as_students_distribution_does_for_a_mean() -> None:
    for clusters in (2, 3, 10, 40, 1000):
        factor = math.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.975, clusters - 1)
        assert expanded_tail(clusters) == pytest.approx(stats.norm.cdf(-factor), rel=1e-9)
    tails = [expanded_tail(clusters) for clusters in range(2, 200)]
    assert tails == sorted(tails)
    assert expanded_tail(10) == pytest.approx(0.00855, abs=1e-5)
    assert expanded_tail(10**6) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [10, 15])
def test_intervals_hold_with_few_clusters(clusters: int) -> None:
    """A correlation of .5 and a mean over clusters of four lines, half of the variance shared; 1,000 data sets."""
    rng = np.random.default_rng(7)
    of = np.repeat(np.arange(clusters), 4)
    held = dict.fromkeys(["correlation", "correlation, not expanded", "mean", "mean, not expanded"], 0)
    for _ in range(1000):
        shared, own = rng.normal(size=(2, clusters))[:, of], rng.normal(size=(2, len(of)))
        x, y = shared + own
        y = x / 2 + math.sqrt(0.75) * y
        counts = cluster_counts(clusters, 1000, rng)
        drawn = {"correlation": (0.5, resample_correlations(x, y, of, counts, ["pearson"])["pearson"])}
        drawn["mean"] = 0.0, np.bincount(of, x) @ counts / len(of)
        for name, (truth, values) in drawn.items():
            found = percentile_interval(values, clusters)
            held[name] += found.low <= truth <= found.high
            low, high = np.quantile(values, [0.025, 0.975])
            held[f"{name}, not expanded"] += low <= truth <= high
    for name in drawn:
        assert held[name] / 1000 == pytest.approx(0.95, abs=0.02)
        assert held[f"{name}, not expanded"] < held[name] - 20


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [
        ([], 5, "no interval: no resamples were asked for"),
        ([0.5, 0.5], 1, "no interval: there is only one context, and contexts are what is resampled"),
        ([0.1, math.nan, math.nan], 5, "no interval: 2 of 3 resamples have no correlation"),
    ],
)
def test_no_interval_has_a_reason(values: list[float], clusters: int, reason: str) -> None:
    found = percentile_interval(np.array(values), clusters, unit="context")
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == reason


def test_perfect_agreement_has_a_perfect_interval() -> None:
    x = np.random.default_rng(8).normal(size=90)
    counts = cluster_counts(30, 300, np.random.default_rng(0))
    for values in resample_correlations(x, 2 * x - 1, np.arange(90) // 3, counts).values():
        assert percentile_interval(values, 30).ends == (1.0, 1.0)


def test_intervals_cover_the_truth_and_lines_alone_would_not() -> None:
    """Clusters of five whose shared part makes up 80 % of both variables, and half of that part is common to both."""
    rng = np.random.default_rng(2024)
    studies, clusters, size, truth = 300, 60, 5, 0.4
    cluster, line = np.repeat(np.arange(clusters), size), np.arange(clusters * size)
    by_cluster, by_line = cluster_counts(clusters, 300, rng), cluster_counts(clusters * size, 300, rng)
    covered = {"clusters": 0, "lines": 0}
    for _ in range(studies):
        common, own_x, own_y = rng.normal(size=(3, clusters))[:, cluster]
        noise_x, noise_y = rng.normal(size=(2, clusters * size))
        x = math.sqrt(0.4) * (common + own_x) + math.sqrt(0.2) * noise_x
        y = math.sqrt(0.4) * (common + own_y) + math.sqrt(0.2) * noise_y
        for kind, groups, counts in (("clusters", cluster, by_cluster), ("lines", line, by_line)):
            weights = counts.astype(np.float64)[groups]
            interval = percentile_interval(WEIGHTED["pearson"](x, y, weights), clusters)
            covered[kind] += interval.low <= truth <= interval.high
    assert 0.90 <= covered["clusters"] / studies <= 0.98
    assert covered["lines"] / studies < 0.80


def test_a_correlation_is_a_figure() -> None:
    found = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    assert (found.n, found.reason, found.has_interval) == (4, "", False)
    assert found == Figure(value=found.value, p=found.p, n=4)
