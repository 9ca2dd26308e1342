"""Generators by purpose, drawn clusters, and intervals: by hand, against line-by-line resampling, and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rejoinder.errors import UsageError
from rejoinder.stats.correlation import pearsons
from rejoinder.stats.resamples import (
    MOST_DRAWS,
    MOST_RESAMPLES,
    PURPOSES,
    Resamples,
    Sampling,
    cluster_counts,
    expanded_tail,
    percentile_interval,
    two_sided,
)

NAMES = st.text(max_size=20) | st.lists(st.integers(0, 10**6), min_size=1, max_size=2)
PURPOSE = st.sampled_from(sorted(PURPOSES))
# The first three numbers below 1,000 that numpy 2 draws with seed 0: for the data set "dstc7", for a comparison of 12
# and 7 clusters, and for a paper.
DRAWN = {
    **{purpose: [865, 22, 410] for purpose in ("agreement", "assignment", "choices", "trial")},
    "attack": [69, 539, 402],
    "audited lines": [710, 141, 257],
    "bias": [142, 772, 981],
    "ceiling": [329, 192, 344],
    "comparison": [953, 696, 503],
    "contrasts": [596, 385, 173],
    "cutoff": [435, 468, 883],
    "fit": [987, 184, 765],
    "geometry": [573, 107, 676],
    "halves of raters": [469, 335, 259],
    "models of raters": [389, 770, 146],
    "next lines": [136, 472, 183],
    "paper": [850, 636, 511],
    "paper, dialogue quoted": [696, 382, 831],
    "paper, growing shares": [503, 894, 954],
    "paper, kept at random": [979, 80, 286],
    "paper, lines attacked": [451, 412, 517],
    "paper, lines quoted": [450, 883, 462],
    "paper, swaps": [522, 889, 992],
    "re-ranking": [100, 221, 902],
    "quality": [962, 989, 153],
    "tie folds": [702, 422, 389],
    "raters": [781, 80, 843],
    "raters by chance": [340, 242, 536],
    "reliability": [926, 184, 315],
    "second look": [490, 89, 93],
    "stand-in": [367, 920, 1],
    "suspects": [684, 502, 812],
    "systems": [233, 481, 527],
    "systems drawn": [501, 713, 387],
}


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def drawn(sampling: Sampling, name: Any, purpose: str) -> list[int]:
    return [int(number) for number in sampling.generator(name, purpose).integers(0, 2**62, 4)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# generators


def test_the_draws_of_published_figures() -> None:
    assert set(DRAWN) == set(PURPOSES)
    for purpose, numbers in DRAWN.items():
        name = [12, 7] if purpose == "comparison" else [] if purpose.startswith("paper") else "dstc7"
        assert Sampling(1, 0).generator(name, purpose).integers(0, 1000, 3).tolist() == numbers, purpose


@given(seed=st.integers(0, 2**40), name=NAMES, purpose=PURPOSE, resamples=st.integers(0, 9))
def test_the_same_seed_gives_the_same_draws(seed: int, name: Any, purpose: str, resamples: int) -> None:
    assert drawn(Sampling(resamples, seed), name, purpose) == drawn(Sampling(1, seed), name, purpose)
    assert drawn(Sampling(1, seed), name, purpose) != drawn(Sampling(1, seed + 1), name, purpose)
    other = f"{name}, too" if isinstance(name, str) else [*name, 1]
    assert drawn(Sampling(1, seed), name, purpose) != drawn(Sampling(1, seed), other, purpose)


@given(seed=st.integers(0, 2**40), name=st.text(max_size=20))
def test_other_purposes_give_other_draws(seed: int, name: str) -> None:
    named = [purpose for purpose, number in PURPOSES.items() if number and not purpose.startswith("paper")]
    draws = [drawn(Sampling(1, seed), name, purpose) for purpose in ("agreement", *named)]
    assert len({tuple(numbers) for numbers in draws}) == len(draws)


@pytest.mark.parametrize("resamples", [-1, 1.5, "5", None, MOST_RESAMPLES + 1])
def test_a_wrong_number_of_resamples_is_refused(resamples: Any) -> None:
    with pytest.raises(UsageError, match="from 0 to 100,000"):
        Sampling.checked(resamples, 0)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", None])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    with pytest.raises(UsageError, match=f"seed is {seed!r}"):
        Sampling.checked(10, seed)


# drawing


def test_counts_draw_as_many_clusters_as_there_are() -> None:
    counts = cluster_counts(7, 4000, rng(3))
    assert counts.shape == (7, 4000) and (counts.sum(axis=0) == 7).all()
    # a cluster's count is binomial(7, 1/7): mean 1, variance 6/7, absent with probability (6/7)^7
    assert counts.var(axis=1) == pytest.approx(np.full(7, 6 / 7), rel=0.1)
    assert (counts == 0).mean() == pytest.approx((6 / 7) ** 7, abs=0.01)


def test_counts_follow_the_generator_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cluster_counts(11, 50, rng(5))
    monkeypatch.setattr("rejoinder.stats.resamples.BLOCK", 40)
    assert (cluster_counts(11, 50, rng(5)) == first).all()
    assert (cluster_counts(11, 50, rng(6)) != first).any()


@given(seed=st.integers(0, 9), clusters=st.integers(0, 30), resamples=st.integers(0, 20))
def test_resamples_begin_with_the_data(seed: int, clusters: int, resamples: int) -> None:
    sampling = Sampling(resamples, seed)
    counts = sampling.draw(np.arange(clusters), "a", "fit").counts
    assert counts.shape == (clusters, 1 + (resamples if clusters else 0)) and (counts[:, 0] == 1).all()
    expected = cluster_counts(clusters, resamples, sampling.generator("a", "fit")) if clusters else counts[:, 1:]
    assert (counts[:, 1:] == expected).all()


def test_too_many_draws_are_refused_before_they_take_memory() -> None:
    with pytest.raises(UsageError, match="GB and more"):
        Resamples.draw(np.arange(20_000), MOST_DRAWS // 20_000 + 1, rng())


def test_sums_means_and_weights_are_those_of_repeated_lines() -> None:
    clusters, groups = rng(1).integers(0, 8, 50), np.arange(50) % 3
    clusters[:8] = np.arange(8)
    values = rng(2).normal(size=(2, 50))
    whole = Resamples.draw(clusters, 30, rng(3))
    for resamples, rows in ((whole, np.arange(50)), (whole.at(np.arange(5, 20)), np.arange(5, 20))):
        weights = np.concatenate(list(resamples.weights()), axis=1)
        assert (weights == whole.counts[clusters[rows]]).all()
        assert resamples.sums(values[:, rows]) == pytest.approx(values[:, rows] @ weights, abs=1e-12)
        for group, means in enumerate(resamples.means(values[0, rows], groups[rows])):
            inside = (groups[rows] == group)[:, None] * weights
            with np.errstate(invalid="ignore"):
                expected = values[0, rows] @ inside / inside.sum(axis=0)
            np.testing.assert_allclose(means, expected, atol=1e-11)
    assert whole.at(np.arange(5, 20)).size == len(set(clusters[5:20].tolist()))


def test_means_by_hand() -> None:
    counts = np.array([[1, 1, 0, 2], [1, 1, 3, 0], [1, 1, 0, 1]], dtype=np.uint16)
    means = Resamples(np.array([0, 1, 0, 2]), counts).means(array(1, 2, 4, 8), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(means, [[1.5, 1.5, 2, 1], [6, 6, np.nan, 16 / 3]])


def test_equal_means_tie_despite_rounding() -> None:
    values, groups = array(0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 1.0), np.array([0, 0, 0, 1, 1, 1, 2])
    sums = np.bincount(groups, weights=values)
    assert sums[0] != sums[1]
    means = Resamples.once(np.zeros(7, dtype=np.int64)).means(values, groups)[:, 0]
    assert means[0] == means[1] == pytest.approx(0.2)


# intervals


def test_an_interval_by_hand() -> None:
    values, tail = np.r_[7.0, np.arange(41.0)[::-1] / 40], expanded_tail(9)
    found = percentile_interval(values, clusters=9)
    assert (found.value, *found.ends) == pytest.approx((7, tail, 1 - tail))
    assert (found.method, found.reason) == ("95% expanded percentile interval, 41 resamples of contexts", "")
    with_gaps = percentile_interval(np.r_[values, np.full(41, np.nan)], clusters=9)
    assert with_gaps.ends == found.ends
    assert with_gaps.method.endswith(", 82 resamples of contexts, 41 of them left out for want of a value")


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [
        ([], 5, "no interval: no resamples were asked for"),
        ([0.5, 0.5], 1, "no interval: 1 context, 4 are needed"),
        ([0.5, 0.5], 3, "no interval: 3 contexts, 4 are needed"),
        ([0.1, math.nan, math.nan], 5, "no interval: 2 of 3 resamples have no correlation"),
    ],
)
def test_no_interval_has_a_reason(values: list[float], clusters: int, reason: str) -> None:
    found = percentile_interval(array(0.5, *values), clusters)
    assert (found.value, found.reason, found.method) == (0.5, reason, "no interval")
    assert np.isnan(found.ends).all()


@given(draws=st.lists(st.floats(-1, 1) | st.just(math.nan), max_size=50), clusters=st.integers(0, 50))
def test_an_interval_is_whole_or_has_a_reason(draws: list[float], clusters: int) -> None:
    found = percentile_interval(array(0.25, *draws), clusters)
    assert found.has_interval is (found.reason == "") is (found.method != "no interval")
    assert not found.has_interval or -1 <= found.low <= found.high <= 1


def test_few_clusters_widen_the_interval_as_students_distribution_does_for_a_mean() -> None:
    for clusters in (2, 3, 10, 40, 1000):
        factor = math.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.975, clusters - 1)
        assert expanded_tail(clusters) == pytest.approx(stats.norm.cdf(-factor), rel=1e-9)
    tails = [expanded_tail(clusters) for clusters in range(2, 200)]
    assert tails == sorted(tails)
    assert expanded_tail(10) == pytest.approx(0.00855, abs=1e-5)
    assert expanded_tail(10**6) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize("clusters", [5, 30, 1000])  # with fewer, four thousand resamples cannot show it
def test_p_is_small_if_the_interval_excludes_zero(clusters: int) -> None:
    draws = rng(clusters).normal(size=4001)
    ends = percentile_interval(draws, clusters)
    for shift, small in ((0.3 - ends.low, True), (-0.3 - ends.low, False), (-ends.high - 0.3, True)):
        assert (two_sided(draws + shift, clusters) < 0.05) is small
    assert two_sided(draws - np.median(draws[1:]), clusters) > 0.9
    assert np.isnan(two_sided(draws, 1)) and np.isnan(two_sided(draws[:1], clusters))


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [10, 15])
def test_intervals_hold_with_few_clusters(clusters: int) -> None:
    """A correlation of .5 and a mean over clusters of four lines, half of the variance shared; 1,000 data sets."""
    generator, of = rng(7), np.repeat(np.arange(clusters), 4)
    held = dict.fromkeys(["correlation", "correlation, not expanded", "mean", "mean, not expanded"], 0)
    for _ in range(1000):
        shared, own = generator.normal(size=(2, clusters))[:, of], generator.normal(size=(2, len(of)))
        x, y = shared + own
        y = x / 2 + math.sqrt(0.75) * y
        resamples = Resamples.draw(of, 1000, generator)
        draws = {"correlation": (0.5, pearsons(x[None], y, resamples)[0])}
        draws["mean"] = 0.0, resamples.means(x, np.zeros_like(of))[0]
        for name, (truth, values) in draws.items():
            held[name] += not percentile_interval(values, clusters).excludes(truth)
            low, high = np.quantile(values[1:], [0.025, 0.975])
            held[f"{name}, not expanded"] += low <= truth <= high
    for name in ("correlation", "mean"):
        assert held[name] / 1000 == pytest.approx(0.95, abs=0.02)
        assert held[f"{name}, not expanded"] < held[name] - 20


def test_intervals_cover_the_truth_and_lines_alone_would_not() -> None:
    """Clusters of five whose shared part makes up 80 % of both variables, and half of that part is common to both."""
    generator, clusters, size, truth = rng(2024), 60, 5, 0.4
    cluster, line = np.repeat(np.arange(clusters), size), np.arange(clusters * size)
    kinds = {kind: Resamples.draw(groups, 300, generator) for kind, groups in (("clusters", cluster), ("lines", line))}
    covered = dict.fromkeys(kinds, 0)
    for _ in range(300):
        common, own_x, own_y = generator.normal(size=(3, clusters))[:, cluster]
        noise_x, noise_y = generator.normal(size=(2, clusters * size))
        x = math.sqrt(0.4) * (common + own_x) + math.sqrt(0.2) * noise_x
        y = math.sqrt(0.4) * (common + own_y) + math.sqrt(0.2) * noise_y
        for kind, resamples in kinds.items():
            interval = percentile_interval(pearsons(x[None], y, resamples)[0], clusters)
            covered[kind] += not interval.excludes(truth)
    assert 0.90 <= covered["clusters"] / 300 <= 0.98
    assert covered["lines"] / 300 < 0.80
