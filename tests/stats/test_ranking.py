"""Pairs of items and of systems: against definitions written out, published examples, and all swaps there are."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import drawn
from rejoinder.stats.ranking import (
    pair_accuracy,
    pair_accuracy_by_chance,
    rank_clusters,
    soft_pairwise_accuracy,
    system_p_values,
)

Floats = NDArray[np.float64]
NONE = math.nan


def literal(x: Floats, y: Floats, epsilon: float) -> float:
    """The accuracy with a threshold, written out: concordant pairs and pairs tied in both, out of all."""
    right = 0
    for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2):
        by_scores = 0 if abs(a - b) <= epsilon else np.sign(a - b)
        right += by_scores == np.sign(c - d)
    return right / math.comb(len(x), 2)


# pairs of lines


def best(x: Floats, y: Floats, rows: NDArray[np.intp]) -> float:
    """The lowest threshold with the highest accuracy on some lines."""
    thresholds = sorted({0.0, *(float(abs(a - b)) for a, b in combinations(x[rows], 2))})
    return max(thresholds, key=lambda threshold: literal(x[rows], y[rows], threshold))


def test_accuracy_with_a_threshold_is_that_of_mt_metrics_eval() -> None:
    """The two examples of mt-metrics-eval's tests of tau_optimization; in the second, scores 4 apart tie."""
    scores, rows = np.array([0.0, 2.0, 6.0, 8.0]), np.arange(4)
    for ratings, epsilon, expected in (([1.0, 2.0, 3.0, 4.0], 0.0, 1.0), ([1.0, 1.0, 1.0, 4.0], 4.0, 4 / 6)):
        assert literal(scores, np.array(ratings), epsilon) == expected
        assert literal(scores, np.array(ratings), best(scores, np.array(ratings), rows)) == expected


@given(
    rows=st.lists(
        st.tuples(st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100)), st.integers(1, 4).map(float)),
        min_size=6,
        max_size=14,
    )
)
@drawn(80)
def test_pair_accuracy_has_the_best_threshold_of_other_folds(rows: list[tuple[float, float]]) -> None:
    x, y = np.array(rows).T
    folds = np.arange(len(x)) % 3
    measured = pair_accuracy(x, y, folds)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(measured.value)
        return
    right = 0.0
    for a, b in combinations(range(len(x)), 2):
        others = np.flatnonzero((folds != folds[a]) & (folds != folds[b]))
        right += literal(x[[a, b]], y[[a, b]], best(x, y, others))
    assert measured.value == pytest.approx(right / math.comb(len(x), 2), abs=1e-12)


@pytest.mark.parametrize("far", [1.0, 1e9, 1e300])
def test_scale_and_a_far_score_do_not_matter(far: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(1, 4, 30).astype(float)
    x, folds = y + 0.6 * rng.normal(size=30), np.arange(30) % 5
    x[0] = far
    assert pair_accuracy(1024 * x, y, folds).value == pair_accuracy(x, y, folds).value
    ties = literal(-y, y, math.inf)
    assert pair_accuracy(-y, y, folds).value == pytest.approx(ties, abs=1e-12), "all tied"
    assert pair_accuracy_by_chance(y).value == max(ties, (1 - ties) / 2)


def test_chance_is_a_constant_or_a_random_order() -> None:
    assert pair_accuracy_by_chance(np.array([1.0, 1.0, 1.0, 2.0])).value == 0.5
    assert pair_accuracy_by_chance(np.array([1.0, 1.0, 1.0])).value == 1.0
    assert pair_accuracy_by_chance(np.array([1.0, 2.0, 3.0])).value == 0.5
    assert math.isnan(pair_accuracy_by_chance(np.array([1.0])).value)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 pairs of score and rating; three or more are needed"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0], "the score is the same in all 3 pairs (2)"),
        ([1.0, 2.0, 3.0], [4.0, 4.0, 4.0], "the rating is the same in all 3 pairs (4)"),
        ([1.0, NONE, 3.0], [4.0, 4.0, 4.0], "the score is not a finite number in 1 of 3 pairs"),
    ],
)
def test_no_accuracy_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    found = pair_accuracy(np.array(x), np.array(y), np.arange(len(x)))
    assert math.isnan(found.value) and found.reason == reason


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_scores_at_the_ends_of_what_a_float_holds(size: float) -> None:
    scores, ratings = size * np.array([-1.0, 0.0, 0.5, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    assert pair_accuracy(scores, ratings, np.arange(4)).value == 1.0


# pairs of systems


def every_swap(differences: Floats) -> float:
    """p over all 2^n swaps: larger differences, and half of the equal ones."""
    sums = np.array([np.dot(signs, differences) for signs in product([1, -1], repeat=len(differences))])
    near = np.isclose(sums, differences.sum(), atol=1e-9)
    return float(((sums > differences.sum()) & ~near).mean() + near.mean() / 2)


def test_p_values_equal_those_of_all_swaps() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 10)) + np.array([[0.6], [0.3], [0.0]])
    values[2, 3:5] = np.nan
    found = system_p_values(values, rng, 40_000)
    for one, other in combinations(range(3), 2):
        shared = np.isfinite(values[one] - values[other])
        expected = every_swap((values[one] - values[other])[shared])
        assert found[one, other] == pytest.approx(expected, abs=0.01)
        assert found[other, one] == pytest.approx(1 - found[one, other], abs=1e-12)
    assert np.isnan(np.diag(found)).all()


def test_p_of_systems_is_never_zero_or_one() -> None:
    values = np.array([[5.0] * 50, [1.0] * 50, [1.0] * 50])
    found = system_p_values(values, np.random.default_rng(0), 999)
    assert found[0, 1] == pytest.approx(0.5 / 1000)
    assert found[1, 0] == pytest.approx(1 - 0.5 / 1000)
    assert found[1, 2] == found[2, 1] == 0.5


def test_soft_accuracy_by_hand() -> None:
    """Two systems on two items, whose differences are (1, 1) by the scores and (2, 0) by the ratings."""
    scores, ratings = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 0.0]])
    # sums over the four swaps: 2, 0, 0, -2 with half of one in four equal, p = 1/8; 2, 2, -2, -2, p = 1/4
    found = soft_pairwise_accuracy(scores, ratings, np.random.default_rng(0), 100_000)
    assert found.value == pytest.approx(1 - (1 / 4 - 1 / 8), abs=0.01)
    assert (found.n, found.reason) == (1, "")


def test_soft_accuracy_of_the_ratings_is_one_and_of_their_opposite_low() -> None:
    rng = np.random.default_rng(1)
    ratings = rng.normal(size=(5, 80)) + np.linspace(0, 2, 5)[:, None]
    assert soft_pairwise_accuracy(ratings, ratings, rng).value == 1.0
    assert soft_pairwise_accuracy(3 * ratings + 9, ratings, rng).value == 1.0
    assert soft_pairwise_accuracy(-ratings, ratings, rng).value < 0.1
    assert soft_pairwise_accuracy(rng.normal(size=(5, 80)), ratings, rng).value == pytest.approx(0.5, abs=0.25)


def test_soft_accuracy_does_not_depend_on_the_order_of_systems() -> None:
    rng = np.random.default_rng(2)
    ratings = rng.integers(1, 4, (5, 30)).astype(float)  # with ties in sums
    scores = ratings + rng.integers(-1, 2, (5, 30)).astype(float)
    order = rng.permutation(5)
    one = soft_pairwise_accuracy(scores, ratings, np.random.default_rng(3))
    other = soft_pairwise_accuracy(scores[order], ratings[order], np.random.default_rng(3))
    assert one.value == pytest.approx(other.value, abs=1e-12)


def test_systems_without_a_shared_item_are_left_out() -> None:
    rng = np.random.default_rng(4)
    ratings = rng.normal(size=(3, 8))
    ratings[0, 4:], ratings[2, :4] = np.nan, np.nan
    scores = np.nan_to_num(ratings) + rng.normal(size=(3, 8))
    scores[1, 7] = math.inf
    found = soft_pairwise_accuracy(scores, ratings, rng)
    assert (found.n, found.reason) == (2, "")
    p = system_p_values(ratings, rng)
    assert np.isnan(p[[0, 2], [2, 0]]).all()
    assert np.isfinite(p[[0, 1], [1, 2]]).all()


@pytest.mark.parametrize(
    ("scores", "ratings", "reason"),
    [
        ([[1.0, 2.0]], [[1.0, 2.0]], "one system: there is no pair to compare"),
        ([[1.0, NONE], [NONE, 2.0]], [[1.0, 1.0], [2.0, 2.0]], "no two systems share an item"),
        ([[NONE], [NONE]], [[1.0], [2.0]], "no two systems share an item"),
        ([[3.0, 3.0], [3.0, 3.0]], [[1.0, 2.0], [2.0, 1.0]], "the score is the same for all systems and items (3)"),
        ([[1.0, 2.0], [2.0, 1.0]], [[3.0, 3.0], [3.0, 3.0]], "the rating is the same for all systems and items (3)"),
    ],
)
def test_no_soft_accuracy_has_a_reason(scores: list[list[float]], ratings: list[list[float]], reason: str) -> None:
    found = soft_pairwise_accuracy(np.array(scores), np.array(ratings), np.random.default_rng(0))
    assert math.isnan(found.value)
    assert (found.n, found.reason) == (0, reason)


# clusters of systems


def p_matrix(size: int, significant: set[tuple[int, int]]) -> Floats:
    """p-values of .01 and .99 where a system is significantly better, else .5."""
    p = np.full((size, size), 0.5)
    for one, other in significant:
        p[one, other], p[other, one] = 0.01, 0.99
    return p


def test_a_cluster_begins_where_all_above_beat_all_below() -> None:
    means = np.array([3.0, 5.0, 4.0, 1.0])  # in order: 1, 2, 0, 3
    everything = {(1, 2), (1, 0), (1, 3), (2, 0), (2, 3), (0, 3)}
    assert rank_clusters(means, p_matrix(4, everything)).tolist() == [3, 1, 2, 4]
    assert rank_clusters(means, p_matrix(4, everything - {(2, 0)})).tolist() == [2, 1, 2, 3]
    # one pair that is not shown to differ spans two boundaries
    assert rank_clusters(means, p_matrix(4, everything - {(1, 0)})).tolist() == [1, 1, 1, 2]
    assert rank_clusters(means, p_matrix(4, set())).tolist() == [1, 1, 1, 1]
    assert rank_clusters(means, p_matrix(4, everything), level=0.001).tolist() == [1, 1, 1, 1]


def test_clusters_of_systems_that_differ() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(4, 200)) + np.array([[2.0], [0.0], [2.0], [5.0]])
    assert rank_clusters(values.mean(axis=1), system_p_values(values, rng)).tolist() == [2, 3, 2, 1]


def test_clusters_of_none_one_and_unknown_systems() -> None:
    assert rank_clusters(np.zeros(0), np.zeros((0, 0))).tolist() == []
    assert rank_clusters(np.ones(1), np.full((1, 1), NONE)).tolist() == [1]
    p = p_matrix(3, {(2, 0)})
    p[1], p[:, 1] = NONE, NONE
    assert rank_clusters(np.array([1.0, NONE, 2.0]), p).tolist() == [2, 0, 1]
    assert rank_clusters(np.array([1.0, 3.0, 2.0]), p).tolist() == [1, 1, 1]  # nothing is known of the best one
