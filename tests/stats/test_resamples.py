"""Many scorers over the same resamples: against the correlation of each resample, and how often intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from rejoinder.stats.arrays import Counts
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval, resample_correlations
from rejoinder.stats.correlation import pearson
from rejoinder.stats.resamples import paired_resamples
from rejoinder.stats.weighted import weighted_pearson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def sample(lines: int, clusters: int, scorers: int, seed: int) -> tuple[Floats, Floats, Ints]:
    """Scores [N, K] of growing noise, ratings from 1 to 5, clusters."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, lines).astype(float)
    noise = np.arange(1, scorers + 1) * rng.normal(size=(lines, scorers))
    return ratings[:, None] + noise, ratings, rng.permutation(np.arange(lines) % clusters)


def drawn(clusters: int, resamples: int, seed: int = 0) -> Counts:
    """Resamples of clusters."""
    return cluster_counts(clusters, resamples, np.random.default_rng(seed))


def test_each_resample_is_the_correlation_of_its_lines() -> None:
    scores, ratings, clusters = sample(60, 20, 4, 0)
    counts = drawn(20, 50)
    found = paired_resamples(scores, ratings, clusters, counts)
    assert found.shape == (50, 4)
    for resample in range(50):
        rows = np.repeat(np.arange(60), counts[clusters, resample])
        for scorer in range(4):
            assert found[resample, scorer] == pytest.approx(
                pearson(scores[rows, scorer], ratings[rows]).value, abs=1e-10
            )


def test_one_scorer_alone_has_the_same_values() -> None:
    """The same as from weights of lines, by `resample_correlations` too, and the same whoever stands beside."""
    scores, ratings, clusters = sample(500, 100, 3, 1)
    counts = drawn(100, 300)
    together = paired_resamples(scores, ratings, clusters, counts)
    for scorer in range(3):
        by_line = weighted_pearson(scores[:, scorer], ratings, counts[clusters].astype(float))
        alone = resample_correlations(scores[:, scorer], ratings, clusters, counts)["pearson"]
        assert together[:, scorer] == pytest.approx(by_line, abs=1e-10)
        assert alone == pytest.approx(by_line, abs=1e-10)


def test_shift_and_scale_of_scores_do_not_matter() -> None:
    scores, ratings, clusters = sample(300, 300, 2, 2)
    counts = drawn(300, 100)
    plain = paired_resamples(scores, ratings, clusters, counts)
    moved = paired_resamples(1e9 + 3 * scores, 7 - 1e-5 * ratings, clusters, counts)
    assert moved == pytest.approx(-plain, abs=1e-5)  # 1e9 leaves seven digits of the scores


def test_an_outlier_that_was_not_drawn_does_not_cancel() -> None:
    """Beside a score of 1e9, the moments of the others lose all digits; such resamples are worked out on their own."""
    scores, ratings, clusters = sample(40, 40, 2, 3)
    scores[7, 1] = 1e9
    counts = drawn(40, 60)
    found = paired_resamples(scores, ratings, clusters, counts)
    without = counts[7] == 0
    assert 10 < without.sum() < 35
    for resample in np.flatnonzero(without):
        rows = np.repeat(np.arange(40), counts[clusters, resample])
        assert found[resample, 1] == pytest.approx(pearson(scores[rows, 1], ratings[rows]).value, abs=1e-9)


def test_resamples_without_a_correlation_are_nan() -> None:
    ratings = np.array([1.0, 1.0, 1.0, 2.0])
    scores = np.array([[1.0], [2.0], [3.0], [4.0]])
    counts = np.array([[1, 2], [1, 1], [1, 1], [1, 0]], dtype=np.uint16)
    found = paired_resamples(scores, ratings, np.arange(4), counts)
    assert found[0, 0] == pytest.approx(pearson(scores[:, 0], ratings).value, abs=1e-12)
    assert math.isnan(found[1, 0])


@pytest.mark.parametrize("bad", [2.5, math.nan, math.inf])
def test_a_scorer_without_a_correlation_is_nan_throughout(bad: float) -> None:
    scores, ratings, clusters = sample(30, 10, 3, 4)
    counts = drawn(10, 20)
    plain = paired_resamples(scores, ratings, clusters, counts)
    scores[:, 1] = np.where((np.arange(30) == 3) | (bad == 2.5), bad, scores[:, 1])
    found = paired_resamples(scores, ratings, clusters, counts)
    assert np.isnan(found[:, 1]).all()
    assert found[:, [0, 2]] == pytest.approx(plain[:, [0, 2]], abs=1e-12)
    interval = percentile_interval(found[:, 1] - found[:, 0], 10)
    assert interval.reason == "no interval: 20 of 20 resamples have no correlation"
    assert np.isnan(paired_resamples(scores[:, 1:2], ratings, clusters, counts)).all()
    ratings = np.where((np.arange(30) == 3) | (bad == 2.5), bad, ratings)
    assert np.isnan(paired_resamples(scores, ratings, clusters, counts)).all()


def test_two_lines_have_no_correlation() -> None:
    found = paired_resamples(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), np.arange(2), drawn(2, 5))
    assert found.shape == (5, 1)
    assert np.isnan(found).all()


def test_a_difference_is_narrower_than_its_ends() -> None:
    """Two scorers with a common error: the paired interval shows what two intervals hide."""
    rng = np.random.default_rng(5)
    ratings, common = rng.normal(size=(2, 400))
    scores = np.stack([ratings + common + 0.3 * rng.normal(size=400), ratings + 1.3 * common], axis=1)
    values = paired_resamples(scores, ratings, np.arange(400), drawn(400, 1000))
    one, other, difference = (percentile_interval(v, 400) for v in (*values.T, values[:, 0] - values[:, 1]))
    assert one.low < other.high
    assert difference.low > 0


@pytest.mark.slow
def test_intervals_hold_in_95_of_100_data_sets() -> None:
    """Correlations .6 and .4 and their difference of .2, over 120 clusters of 3 lines; 1,500 data sets."""
    rng = np.random.default_rng(0)
    truth = np.array([0.6, 0.4, 0.2])
    matrix = [[1, 0.6, 0.4], [0.6, 1, 0.5], [0.4, 0.5, 1]]
    clusters = np.repeat(np.arange(120), 3)
    held = np.zeros(3)
    for _ in range(1500):
        # half of the variance belongs to the cluster
        lines = (
            rng.multivariate_normal([0, 0, 0], matrix, 360) + rng.multivariate_normal([0, 0, 0], matrix, 120)[clusters]
        )
        values = paired_resamples(lines[:, 1:], lines[:, 0], clusters, cluster_counts(120, 1000, rng))
        ends = [percentile_interval(v, 120) for v in (*values.T, values[:, 0] - values[:, 1])]
        held += [end.low <= value <= end.high for end, value in zip(ends, truth, strict=True)]
    assert held / 1500 == pytest.approx([0.95, 0.95, 0.95], abs=0.02)


def test_a_resample_of_two_lines_has_no_correlation() -> None:
    """Any two points lie on a line. A data set that shares its draws with others may get so few of its contexts."""
    scores, ratings = np.array([[1.0], [2.0], [5.0], [3.0]]), np.array([1.0, 3.0, 2.0, 9.0])
    counts = np.array([[1, 1, 0], [1, 1, 2], [0, 1, 0], [0, 0, 1]], dtype=np.uint16)
    found = paired_resamples(scores, ratings, np.arange(4), counts)[:, 0]
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(pearson(np.array([1.0, 2.0, 5.0]), np.array([1.0, 3.0, 2.0])).value)
    assert found[2] == pytest.approx(pearson(np.array([2.0, 2.0, 3.0]), np.array([3.0, 3.0, 9.0])).value)
