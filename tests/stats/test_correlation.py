"""Correlations: by hand, against scipy, on resamples written out line by line, inside parts, and by chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from conftest import drawn
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.stats.correlation import (
    CORRELATIONS,
    Statistic,
    all_resampled,
    by_part,
    chance_band,
    columns,
    kendall,
    less_group_means,
    mean_correlation,
    mean_correlations,
    of_group_means,
    pearson,
    pearsons,
    spearman,
)
from rejoinder.stats.resamples import Resamples, percentile_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ORACLES: dict[Statistic, Callable[..., object]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
every_statistic = pytest.mark.parametrize("name", sorted(CORRELATIONS))

levels = st.integers(-4, 4).map(float)
reals = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
pairs = st.lists(st.tuples(st.one_of(levels, reals), levels), min_size=3, max_size=25)


def split(rows: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    x, y = np.array(rows, dtype=np.float64).T
    return x, y


def resampled(name: Statistic, x: Any, y: Any, resamples: Resamples) -> Any:
    return all_resampled(name, x[None], y, resamples)[0]


def sample(seed: int, lines: int = 120, noise: float = 1.0) -> tuple[Floats, Floats, Ints]:
    """Scores, ratings from 1 to 5, clusters of four lines."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, lines).astype(float)
    return ratings + noise * rng.normal(size=lines), ratings, np.arange(lines) // 4


def draw(clusters: Ints, resamples: int, seed: int = 0) -> Resamples:
    return Resamples.draw(clusters, resamples, np.random.default_rng(seed))


def weighted(counts: NDArray[np.integer]) -> Resamples:
    """Resamples that give each line its own weights [N, B]; the first column is the data."""
    return Resamples(np.arange(len(counts)), np.column_stack([np.ones(len(counts)), counts]).astype(np.uint16))


def repeated(name: Statistic, x: Floats, y: Floats, counts: NDArray[np.integer]) -> float:
    """The correlation of a resample written out line by line."""
    return CORRELATIONS[name](np.repeat(x, counts), np.repeat(y, counts)).value


# one value


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
    found = pearson([1, 2, 3, 4], [1, 3, 2, 4])
    assert found.p == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)
    assert found == Estimate(value=found.value, p=found.p, n=4)
    # 24 orders of four: 1 + 3 of them reach five concordant pairs or more, and as many at the other end
    assert kendall([1, 2, 3, 4], [1, 3, 2, 4]).p == pytest.approx(8 / 24, abs=1e-12)


@every_statistic
@given(rows=pairs)
@drawn(60)
def test_equals_scipy(name: Statistic, rows: list[tuple[float, float]]) -> None:
    x, y = split(rows)
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
def test_perfect_input_is_exactly_one_and_p_is_never_zero(name: Statistic, n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    up, down = CORRELATIONS[name](x, 0.3 * x + 7.1), CORRELATIONS[name](x, -1e5 * x - 0.1)
    assert (up.value, down.value, up.n, up.reason) == (1.0, -1.0, n, "")
    assert up.p > 0 and down.p > 0


@every_statistic
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 pairs of score and rating; three or more are needed"),
        ([1], [2], "1 pair of score and rating; three or more are needed"),
        ([2, 2, 2, 2], [1, 2, 3, 4], "the score is the same in all 4 pairs (2)"),
        ([1, 2, 3], [0.5, 0.5, 0.5], "the rating is the same in all 3 pairs (0.5)"),
        ([1, math.nan, 3, math.nan], [1, 2, 3, 4], "the score is not a finite number in 2 of 4 pairs"),
        ([1, 2, 3], [1, 2, -math.inf], "the rating is not a finite number in 1 of 3 pairs"),
    ],
)
def test_no_correlation_has_a_reason(name: Statistic, x: list[float], y: list[float], reason: str) -> None:
    found = CORRELATIONS[name](x, y, names=("score", "rating"))
    assert math.isnan(found.value) and math.isnan(found.p)
    assert (found.n, found.reason) == (len(x), reason)
    assert np.isnan(resampled(name, np.array(x, float), np.array(y, float), draw(np.arange(len(x)), 5))).all()


def test_shapes_must_agree() -> None:
    for x, y in (([1, 2, 3], [1, 2]), ([[1, 2, 3]], [[1, 2, 3]])):
        with pytest.raises(UsageError, match="two vectors of one length"):
            pearson(x, y)


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


@every_statistic
@given(rows=pairs, seed=st.integers(0, 99))
@drawn(40)
def test_order_and_sign_of_variables(name: Statistic, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = split(rows)
    shuffled = np.random.default_rng(seed).permutation(len(x))
    found = CORRELATIONS[name](x, y).value
    same = [CORRELATIONS[name](x[shuffled], y[shuffled]), CORRELATIONS[name](y, x), -CORRELATIONS[name](-x, y)]
    assert [other.value for other in same] == pytest.approx([found] * 3, abs=1e-12, nan_ok=True)
    if name != "pearson":
        assert CORRELATIONS[name](x**3 + x, np.exp(y)).value == pytest.approx(found, abs=1e-12, nan_ok=True)


# over resamples


@every_statistic
@given(rows=pairs, seed=st.integers(0, 9999))
@drawn(60)
def test_weighting_equals_repeating(name: Statistic, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = split(rows)
    counts = np.random.default_rng(seed).integers(0, 4, (len(x), 5))
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    found = resampled(name, x, y, weighted(counts))
    expected = [repeated(name, x, y, column) for column in np.column_stack([np.ones_like(counts[:, 0]), counts]).T]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@every_statistic
def test_a_resample_far_from_the_rest_keeps_its_digits(name: Statistic) -> None:
    x, y = np.array([1e8, 1e8 + 1, 1e8 + 2, 1e8 + 4, 0.0]), np.array([1.0, 3.0, 2.0, 4.0, -1e9])
    counts = np.array([[1, 1, 1, 1, 0], [1, 2, 0, 3, 0], [1, 1, 1, 1, 1]]).T
    expected = [repeated(name, x, y, column) for column in counts.T]
    np.testing.assert_allclose(resampled(name, x, y, weighted(counts))[1:], expected, rtol=0, atol=1e-9)


@every_statistic
def test_resamples_without_a_correlation_are_nan(name: Statistic) -> None:
    x, y = np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 2.0])
    counts = np.array([[0, 0, 0, 0], [2, 3, 0, 0], [0, 2, 2, 2], [0, 0, 9, 0], [1, 0, 0, 1], [1, 1, 1, 1]]).T
    found = resampled(name, x, y, weighted(counts))[1:]
    assert np.isnan(found).tolist() == [True, True, True, True, True, False]


@every_statistic
@pytest.mark.parametrize(("n", "clusters", "ties"), [(60, 12, 1), (200, 50, 3), (150, 150, 1000)])
def test_resampling_equals_resamples_written_out(
    name: Statistic, n: int, clusters: int, ties: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rejoinder.stats.resamples.BLOCK", 7 * n)  # several blocks, the last one narrower
    rng = np.random.default_rng(n)
    cluster = np.concatenate([np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    y = np.round((rng.normal(size=clusters)[cluster] + rng.normal(size=n)) * ties) / ties
    x, resamples = np.round(y + rng.normal(size=n), 2), draw(cluster, 40)
    found = resampled(name, x, y, resamples)
    for column, counts in enumerate(resamples.counts.T):
        lines = np.repeat(np.arange(n), counts[cluster])
        expected = ORACLES[name](x[lines], y[lines]).statistic  # type: ignore[attr-defined]
        assert found[column] == pytest.approx(expected, abs=1e-9)


@every_statistic
def test_perfect_agreement_has_a_perfect_interval(name: Statistic) -> None:
    x = np.random.default_rng(8).normal(size=90)
    assert percentile_interval(resampled(name, x, 2 * x - 1, draw(np.arange(90) // 3, 300)), 30).ends == (1.0, 1.0)


def test_many_scorers_have_the_values_of_each_alone() -> None:
    """One is constant, or has a score that is not finite; one has an outlier next to which moments lose all digits."""
    scores, ratings, clusters = sample(1)
    for bad in (np.full(120, 2.5), np.where(np.arange(120) == 3, np.nan, scores)):
        table = np.stack([scores, bad, np.where(np.arange(120) == 7, 1e9, scores), 1e9 + 3 * scores])
        resamples = draw(clusters, 60)
        found = pearsons(table, ratings, resamples)
        assert np.isnan(found[1]).all()
        for row in (0, 2):
            expected = [repeated("pearson", table[row], ratings, column[clusters]) for column in resamples.counts.T]
            assert found[row] == pytest.approx(expected, abs=1e-9)
        assert found[3] == pytest.approx(found[0], abs=1e-5)  # 1e9 leaves seven digits of the scores
        assert np.isnan(pearsons(table[1:2], ratings, resamples)).all()
        assert np.isnan(pearsons(table, bad, resamples)).all()


def test_a_difference_is_narrower_than_its_ends() -> None:
    """Two scorers with a common error: the paired interval shows what two intervals hide."""
    rng = np.random.default_rng(5)
    ratings, common = rng.normal(size=(2, 400))
    scores = np.stack([ratings + common + 0.3 * rng.normal(size=400), ratings + 1.3 * common])
    first, second = pearsons(scores, ratings, draw(np.arange(400), 1000))
    one, other, difference = (percentile_interval(draws, 400) for draws in (first, second, first - second))
    assert one.low < other.high and difference.low > 0


@pytest.mark.slow
def test_intervals_hold_in_95_of_100_data_sets() -> None:
    """Correlations .6 and .4 and their difference of .2, over 120 clusters of 3 lines; 1,500 data sets."""
    rng, truth, held = np.random.default_rng(0), (0.6, 0.4, 0.2), np.zeros(3)
    matrix = [[1, 0.6, 0.4], [0.6, 1, 0.5], [0.4, 0.5, 1]]
    clusters = np.repeat(np.arange(120), 3)
    for _ in range(1500):
        # half of the variance belongs to the cluster
        shared = rng.multivariate_normal([0, 0, 0], matrix, 120)[clusters]
        lines = rng.multivariate_normal([0, 0, 0], matrix, 360) + shared
        first, second = pearsons(lines[:, 1:].T, lines[:, 0], Resamples.draw(clusters, 1000, rng))
        ends = [percentile_interval(draws, 120) for draws in (first, second, first - second)]
        held += [not end.excludes(value) for end, value in zip(ends, truth, strict=True)]
    assert held / 1500 == pytest.approx([0.95, 0.95, 0.95], abs=0.02)


# over systems


@every_statistic
@given(rows=st.lists(st.tuples(levels, reals), min_size=1, max_size=9), seed=st.integers(0, 99))
@drawn(40)
def test_columns_equal_single_correlations(name: Statistic, rows: list[tuple[float, float]], seed: int) -> None:
    x, y = split(rows)
    order = np.random.default_rng(seed).permutation(len(x))
    found = columns(name, np.stack([x, x, x], axis=1), np.stack([y, y[order], np.full_like(y, np.nan)], axis=1))
    expected = [CORRELATIONS[name](x, other).value for other in (y, y[order])]
    np.testing.assert_allclose(found, [*expected, np.nan], rtol=0, atol=1e-9)


@every_statistic
def test_constant_columns_are_nan_despite_rounding(name: Statistic) -> None:
    constant, varied = np.full((3, 1), 0.1), np.array([[0.1], [0.2], [0.4]])
    assert constant.mean() != 0.1
    assert np.isnan(columns(name, constant, varied)).all() and np.isnan(columns(name, varied, constant)).all()


@every_statistic
def test_means_of_groups_over_resamples_written_out(name: Statistic) -> None:
    x, y, cluster = sample(4)
    groups, resamples = np.arange(120) % 5, draw(cluster, 60)
    found = columns(name, resamples.means(x, groups), resamples.means(y, groups))
    for column, counts in enumerate(resamples.counts.T):
        lines = np.repeat(np.arange(120), counts[cluster])
        means = [[values[lines[groups[lines] == group]].mean() for group in range(5)] for values in (x, y)]
        assert found[column] == pytest.approx(CORRELATIONS[name](*means).value, abs=1e-9)


# inside parts


@every_statistic
def test_the_mean_is_that_of_the_parts(name: Statistic) -> None:
    scores, ratings, clusters = sample(0)
    parts = np.arange(120) % 3
    scores[5] = np.nan
    found = mean_correlation(name, scores, ratings, parts, draw(clusters, 200))
    rows = [np.flatnonzero((parts == part) & np.isfinite(scores)) for part in range(3)]
    expected = [ORACLES[name](scores[own], ratings[own]).statistic for own in rows]  # type: ignore[attr-defined]
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.n == 119
    assert found.low < found.value < found.high and 0 < found.p < 0.02


def test_a_resample_weighs_a_cluster_in_all_parts() -> None:
    scores, ratings, clusters = sample(1, 40)
    parts = np.arange(40) % 2
    counts = np.array([2, 0, 1, 1, 1, 3, 0, 1, 1, 0])
    rows = np.repeat(np.arange(40), counts[clusters])
    own = [rows[parts[rows] == part] for part in (0, 1)]
    expected = np.mean([stats.pearsonr(scores[lines], ratings[lines]).statistic for lines in own])
    resamples = Resamples(clusters, np.column_stack([np.ones(10), *[counts] * 5]).astype(np.uint16))
    assert mean_correlation("pearson", scores, ratings, parts, resamples).ends == pytest.approx((expected, expected))


def test_a_part_without_a_correlation_is_left_out() -> None:
    scores, ratings, clusters = sample(2)
    parts, resamples = np.arange(120) // 60, draw(clusters, 100)
    scores[parts == 1] = 1.0
    found = mean_correlation("pearson", scores, ratings, parts, resamples)
    assert found.value == pytest.approx(stats.pearsonr(scores[:60], ratings[:60]).statistic)
    nothing = mean_correlation("pearson", np.full(120, 3.0), ratings, parts, resamples)
    assert (np.isnan(nothing.value), np.isnan(nothing.p), nothing.n) == (True, True, 120)


def test_a_difference_is_of_both_on_each_resample() -> None:
    scores, ratings, clusters = sample(3, noise=2.0)
    parts, resamples = np.arange(120) // 60, draw(clusters, 400)
    other = scores + 0.1 * np.random.default_rng(1).normal(size=120)
    other[7] = np.nan
    usable = np.isfinite(other)
    rest = ratings[usable], parts[usable], resamples.at(np.flatnonzero(usable))
    one, two = (mean_correlation("spearman", values[usable], *rest) for values in (scores, other))
    found = mean_correlation("spearman", scores, ratings, parts, resamples, versus=other)
    assert found.value == pytest.approx(one.value - two.value, abs=1e-12)
    assert found.n == 119
    assert found.high - found.low < 0.25 * (one.high - one.low), "both rise and fall together"
    same = mean_correlation("spearman", scores, ratings, parts, resamples, versus=7 * scores + 1)
    assert [same.value, *same.ends, same.p] == pytest.approx([0, 0, 0, 1])


def test_parts_count_by_their_lines_and_for_all_scorers_or_none() -> None:
    rng, sizes = np.random.default_rng(3), (30, 60, 10)
    parts = np.repeat(np.arange(3), sizes)
    ratings, scores = rng.normal(size=100), rng.normal(size=(100, 2))
    once = Resamples.once(np.arange(100))
    single = [[spearman(line[parts == part], ratings[parts == part]).value for part in range(3)] for line in scores.T]
    assert pytest.approx(np.array(single)) == by_part("spearman", scores.T, ratings, parts, once)[:, :, 0].T
    found = mean_correlations("spearman", scores, ratings, parts, once)[0]
    assert found == pytest.approx([np.average(values, weights=sizes) for values in single])
    scores[parts == 1, 1] = 7.0
    found = mean_correlations("spearman", scores, ratings, parts, once)[0]
    assert found == pytest.approx([np.average(values[::2], weights=sizes[::2]) for values in single])


def test_a_correlation_within_groups_is_that_of_values_less_their_means() -> None:
    rng = np.random.default_rng(0)
    groups = np.array([0] * 100 + [1] * 20 + [2])
    x, y = rng.normal(size=(2, 121)) + 5.0 * groups
    left = [values - np.array([values[groups == group].mean() for group in range(3)])[groups] for values in (x, y)]
    both = [less_group_means(values, groups) for values in (x, y)]
    assert pearson(*both).value == pytest.approx(pearson(*left).value, abs=1e-12) and both[0][120] == 0
    assert not less_group_means(0.1 * groups, groups).any(), "no rounding is left of constant groups"
    assert not less_group_means(np.full(121, 0.1), groups).any() and len(less_group_means(x[:0], groups[:0])) == 0


def test_group_means_by_hand() -> None:
    """Two groups of two: the means 1 and 5 differ by 4, so they vary by 4 around 3; within groups MSW is 2 and 8.

    Chance adds MSW / n to a mean, (2 / 2 + 8 / 2) / 4 to the variance of two means: V = 4 - 1.25 and W = 5.
    """
    once = Resamples.once(np.arange(4))
    eta = of_group_means(np.array([0.0, 2.0, 3.0, 7.0]), np.array([0, 0, 1, 1]), once)
    assert eta == pytest.approx([math.sqrt(2.75 / 7.75)])
    same = of_group_means(np.array([0.0, 2.0, 0.0, 2.0]), np.array([0, 0, 1, 1]), once)
    assert same[0] == 0 and np.isnan(of_group_means(np.ones(4), np.array([0, 0, 1, 1]), once)[0])


# chance and Williams


def test_the_chance_level_is_the_critical_value_of_the_tables() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 27))
    assert chance_band(x, y, np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    nine = np.repeat(np.arange(9), 3)
    assert chance_band(x[nine], y[nine], nine).high == pytest.approx(0.666, abs=5e-4), "nine contexts and no more"
    assert chance_band(x, y[nine], np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    assert math.isnan(chance_band(np.ones(27), y, nine).high) and math.isnan(chance_band(x[:2], y[:2], nine[:2]).high)
    three = np.arange(27) % 3
    alike = 9.0 * three + rng.normal(size=27), 9.0 * three + rng.normal(size=27)
    assert chance_band(*alike, np.arange(27), three).high > 0.99 > chance_band(*alike, np.arange(27)).high
    assert chance_band(x, y, np.arange(27)).p == pytest.approx(stats.pearsonr(x, y).pvalue)


def test_unrelated_scorers_leave_the_chance_band_once_in_twenty_times() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(40), rng.integers(1, 12, size=40))
    outside, naive, draws = 0, 0, 500
    for _ in range(draws):
        x, y = (rng.normal(size=40)[clusters] + rng.normal(size=len(clusters)) for _ in range(2))
        found = abs(float(np.corrcoef(x, y)[0, 1]))
        outside += found > chance_band(x, y, clusters).high
        naive += found > 1.96 / math.sqrt(len(x))
    assert 0.03 <= outside / draws <= 0.075, "95 % are inside"
    assert naive / draws > 0.12, "lines are not independent, and a band that takes them as such is too narrow"
