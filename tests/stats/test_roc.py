"""The area under the curve, and a threshold between two kinds of things."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from rejoinder.stats.roc import area, area_of_clusters, threshold


def draw(seed: int, good: int = 60, bad: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(0.7, 1, good), 1), np.round(rng.normal(0, 1, bad), 1)  # rounded: with ties


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_that_of_scikit_learn(seed: int) -> None:
    good, bad = draw(seed)
    labels = np.repeat([1, 0], [len(good), len(bad)])
    assert area(good, bad) == pytest.approx(roc_auc_score(labels, np.concatenate([good, bad])))
    found = area_of_clusters(good, bad, np.arange(60), np.arange(80))
    assert found.value == area(good, bad) and found.low < found.value < found.high


def test_the_ends() -> None:
    ones, zeros = np.ones(3), np.zeros(4)
    assert area(ones, zeros) == 1 and area(zeros, ones) == 0 and area(ones, np.ones(4)) == 0.5
    assert math.isnan(area(ones, zeros[:0]))
    perfect = area_of_clusters(ones, zeros, np.arange(3), np.arange(4))
    assert perfect.value == 1 and perfect.high == 1 and 0.1 < perfect.low < 1
    few = area_of_clusters(ones, zeros, np.zeros(3, int), np.zeros(4, int))
    assert few.value == 1 and not few.has_interval and "3 are needed" in few.reason
    assert not area_of_clusters(ones, zeros[:0], np.arange(3), np.arange(0)).known


def test_what_rests_on_few_clusters_of_one_kind_is_no_surer_for_many_of_the_other() -> None:
    ones, zeros, five = np.ones(200), np.zeros(5), np.arange(5)
    many = area_of_clusters(ones, zeros, np.arange(200), five)
    assert many.low == area_of_clusters(ones[:5], zeros, five, five).low < 0.7


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
        one = area_of_clusters(good, bad, clusters, clusters)
        other = area_of_clusters(good, bad, np.arange(150), np.arange(150))
        covered += one.low <= truth <= one.high
        apart_covered += other.low <= truth <= other.high
        widths.append((one.high - one.low) / (other.high - other.low))
    assert covered >= 182 and apart_covered < 170 and np.mean(widths) > 1.3


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_is_more_often_right(seed: int) -> None:
    good, bad = draw(seed, 30, 30)
    values, labels = np.concatenate([good, bad]), np.repeat([1, 0], 30)
    limit = threshold(good, bad)
    every = [accuracy_score(labels, values > one) for one in [-np.inf, *values, np.inf]]
    assert accuracy_score(labels, values > limit) == max(every)


def test_a_threshold_lies_between() -> None:
    assert threshold(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.5
    assert threshold(np.array([0.0, 1.0]), np.array([2.0])) == -np.inf
    assert threshold(np.array([0.0]), np.array([1.0, 2.0])) == np.inf
    assert threshold(np.ones(2), np.ones(2)) == -np.inf
