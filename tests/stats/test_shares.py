"""Shares and areas under the curve: against scipy and scikit-learn, at the ends, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, roc_auc_score

from rejoinder.stats.shares import auc, auc_of_clusters, best_cutoff, share_of_clusters, wilson


@pytest.mark.parametrize("wins", [0, 1, 7, 20])
def test_single_trials_have_the_interval_of_wilson(wins: int) -> None:
    share = wins / 20
    low, high = stats.binomtest(wins, 20).proportion_ci(method="wilson")
    found = wilson(share, share * (1 - share) / 20, 20, 1e9)
    assert (found.value, *found.ends) == pytest.approx((share, low, high))


def test_a_share_over_clusters() -> None:
    values = np.repeat([1.0, 0.0, 1.0, 0.5], 5)
    once = share_of_clusters(np.array([1.0, 0.0, 1.0, 0.5]), np.arange(4))
    clustered = share_of_clusters(values, np.repeat(np.arange(4), 5))
    assert clustered.ends == pytest.approx(once.ends) and clustered.value == once.value == 0.625
    assert np.isnan(share_of_clusters(values[:10], np.repeat(np.arange(2), 5)).ends).all()
    assert not share_of_clusters(np.zeros(0), np.zeros(0, dtype=np.int64)).known


@given(wins=st.integers(0, 1000), variance=st.floats(1e-12, 0.25) | st.just(0.0), clusters=st.integers(3, 200))
def test_wilsons_ends_stand_around_the_share(wins: int, variance: float, clusters: int) -> None:
    found = wilson(wins / 1000, variance, clusters, clusters - 1)
    assert 0 <= found.low <= found.value + 1e-12 and found.value - 1e-12 <= found.high <= 1


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), size=st.integers(1, 4))
def test_a_share_over_clusters_stands_inside_its_interval(values: list[float], size: int) -> None:
    found = share_of_clusters(np.array(values), np.arange(len(values)) // size)
    assert found.value == np.mean(values)
    assert found.has_interval is ((len(values) - 1) // size + 1 >= 4)
    assert not found.has_interval or found.low - 1e-12 <= found.value <= found.high + 1e-12


# area under the curve


def draw(seed: int, good: int = 60, bad: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(0.7, 1, good), 1), np.round(rng.normal(0, 1, bad), 1)  # rounded: with ties


@pytest.mark.parametrize("seed", range(5))
def test_the_auc_is_that_of_scikit_learn(seed: int) -> None:
    good, bad = draw(seed)
    labels = np.repeat([1, 0], [len(good), len(bad)])
    assert auc(good, bad) == pytest.approx(roc_auc_score(labels, np.concatenate([good, bad])))
    found = auc_of_clusters(good, bad, np.arange(60), np.arange(80))
    assert found.value == auc(good, bad) and found.low < found.value < found.high


def test_the_ends() -> None:
    ones, zeros = np.ones(4), np.zeros(4)
    assert auc(ones, zeros) == 1 and auc(zeros, ones) == 0 and auc(ones, np.ones(4)) == 0.5
    assert math.isnan(auc(ones, zeros[:0]))
    perfect = auc_of_clusters(ones, zeros, np.arange(4), np.arange(4))
    assert perfect.value == 1 and perfect.high == 1 and 0.1 < perfect.low < 1
    few = auc_of_clusters(ones, zeros, np.zeros(4, int), np.zeros(4, int))
    assert few.value == 1 and not few.has_interval and "4 are needed" in few.reason
    assert not auc_of_clusters(ones, zeros[:0], np.arange(4), np.arange(0)).known


def test_what_rests_on_few_clusters_of_one_kind_is_no_surer_for_many_of_the_other() -> None:
    ones, zeros, five = np.ones(200), np.zeros(5), np.arange(5)
    many = auc_of_clusters(ones, zeros, np.arange(200), five)
    assert many.low == auc_of_clusters(ones[:5], zeros, five, five).low < 0.7


def test_the_interval_covers_and_widens_with_clusters() -> None:
    """Where members of a cluster share their luck, the interval over them all as if apart is too narrow."""
    covered, apart_covered, widths = 0, 0, []
    truth = 0.5 * (1 + math.erf(1 / 2 / math.sqrt(2)))  # P(N(1, 1 + 1) > N(0, 1 + 1)) with means one apart
    for seed in range(200):
        rng = np.random.default_rng(seed)
        luck_good, luck_bad = rng.normal(0, 1, 30), rng.normal(0, 1, 30)
        good = 1 + np.repeat(luck_good, 5) + rng.normal(0, 1, 150)
        bad = np.repeat(luck_bad, 5) + rng.normal(0, 1, 150)
        clusters = np.repeat(np.arange(30), 5)
        one = auc_of_clusters(good, bad, clusters, clusters)
        other = auc_of_clusters(good, bad, np.arange(150), np.arange(150))
        covered += one.low <= truth <= one.high
        apart_covered += other.low <= truth <= other.high
        widths.append((one.high - one.low) / (other.high - other.low))
    assert covered >= 182 and apart_covered < 170 and np.mean(widths) > 1.3


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_is_more_often_right(seed: int) -> None:
    good, bad = draw(seed, 30, 30)
    values, labels = np.concatenate([good, bad]), np.repeat([1, 0], 30)
    limit = best_cutoff(good, bad)
    every = [accuracy_score(labels, values > one) for one in [-np.inf, *values, np.inf]]
    assert accuracy_score(labels, values > limit) == max(every)


def test_a_threshold_lies_between() -> None:
    assert best_cutoff(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.5
    assert best_cutoff(np.array([0.0, 1.0]), np.array([2.0])) == -np.inf
    assert best_cutoff(np.array([0.0]), np.array([1.0, 2.0])) == np.inf
    assert best_cutoff(np.ones(2), np.ones(2)) == -np.inf
