"""Williams' test, adjusted p-values, and how often both paired tests find a difference that is not there."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rejoinder.stats.paired import paired_permutation
from rejoinder.stats.significance import adjusted, williams

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def test_williams_by_hand() -> None:
    """r = .5 and .3 with .4 between them, 23 items.

    The determinant is 1 - .25 - .09 - .16 + .12 = .62; the bracket is 2 * .62 * 22 / 20 + .4^2 * .6^3 = 1.39856, and
    t = .2 * sqrt(22 * 1.4 / 1.39856), with 20 degrees of freedom.
    """
    found = williams(0.5, 0.3, 0.4, 23)
    t = 0.2 * math.sqrt(30.8 / 1.39856)
    assert found.t == pytest.approx(t, abs=1e-12)
    assert t == pytest.approx(0.93857, abs=1e-5)
    assert found.p == pytest.approx(2 * stats.t.sf(t, 20), abs=1e-12)
    assert found.value == pytest.approx(0.2, abs=1e-15)
    assert found.reason == ""


def test_williams_equals_psych() -> None:
    """R's psych, `r.test(n = 103, r12 = .4, r13 = .5, r23 = .1)`, Steiger's case A: t = -.89, p = .37."""
    found = williams(0.4, 0.5, 0.1, 103)
    assert (round(found.t, 2), round(found.p, 2)) == (-0.89, 0.37)


def test_williams_turns_round() -> None:
    one, other = williams(0.6, 0.2, 0.3, 50), williams(0.2, 0.6, 0.3, 50)
    assert (one.value, one.t, one.p) == (-other.value, -other.t, other.p)
    same = williams(0.4, 0.4, 0.2, 50)
    assert (same.value, same.t, same.p, same.n) == (0.0, 0.0, 1.0, 50)


def test_p_of_williams_is_never_zero() -> None:
    assert williams(0.9, -0.9, -0.8, 100_000).p == np.finfo(np.float64).tiny


@pytest.mark.parametrize(
    ("first", "second", "between", "n", "reason"),
    [
        (math.nan, 0.3, 0.2, 50, "no test: one of the three correlations does not exist"),
        (0.3, 0.3, math.nan, 50, "no test: one of the three correlations does not exist"),
        (0.5, 0.3, 0.2, 3, "no test: 3 items; four or more are needed"),
        (0.5, 0.5, 1.0, 50, "no test: the two scorers are one up to scale"),
        (0.5, -0.5, -1.0, 50, "no test: the two scorers are one up to scale"),
        (0.9, -0.9, 0.9, 50, "no test: no three variables have the correlations 0.9, -0.9 and 0.9"),
    ],
)
def test_no_test_has_a_reason(first: float, second: float, between: float, n: int, reason: str) -> None:
    found = williams(first, second, between, n)
    assert math.isnan(found.p)
    assert math.isnan(found.t)
    assert found.reason == reason


def test_adjusted_by_hand() -> None:
    given = [0.01, 0.04, 0.03, 0.005]
    # .005 * 4, .01 * 3, .03 * 2, then .04 * 1 may not fall below .06
    assert adjusted(given, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # .04 * 4/4, .03 * 4/3, .01 * 4/2, .005 * 4/1
    assert adjusted(given, "benjamini-hochberg") == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(p=p_values)
def test_benjamini_hochberg_equals_scipy(p: list[float]) -> None:
    assert adjusted(p, "benjamini-hochberg") == pytest.approx(stats.false_discovery_control(p), abs=1e-12)


@given(p=p_values)
def test_benjamini_yekutieli_equals_scipy(p: list[float]) -> None:
    expected = stats.false_discovery_control(p, method="by")
    assert adjusted(p, "benjamini-yekutieli") == pytest.approx(expected, abs=1e-12)


@given(p=p_values)
def test_holm_refuses_step_by_step(p: list[float]) -> None:
    """Holm's own words: go up the p-values and stop at the first that is over level / (M - those refused)."""
    level, found = 0.05, adjusted(p, "holm")
    refused = 0
    for value in sorted(p):
        if value * (len(p) - refused) > level:
            break
        refused += 1
    assert (found <= level).sum() == refused
    assert (found >= p).all()


def test_p_values_that_do_not_exist_stay_so() -> None:
    methods: tuple[Literal["holm"], Literal["benjamini-hochberg"]] = ("holm", "benjamini-hochberg")
    for method in methods:
        found = adjusted([0.02, math.nan, 0.5], method)
        assert np.isnan(found).tolist() == [False, True, False]
        assert found[[0, 2]] == pytest.approx(adjusted([0.02, 0.5], method))
        assert adjusted([], method).shape == (0,)
        assert np.isnan(adjusted([math.nan], method)).all()


@pytest.mark.slow
def test_paired_tests_keep_their_level() -> None:
    """Two scorers equally good: both tests find a difference in 5 +- 2 % of 2,000 data sets.

    Lines are independent for Williams' test; for the permutation test they come in clusters that shift all three.
    """
    rng = np.random.default_rng(0)
    found = np.zeros(2)
    lines, per = 90, 3
    clusters = np.arange(lines) // per
    for _ in range(2000):
        ratings, first, second = rng.multivariate_normal(
            [0, 0, 0], [[1, 0.4, 0.4], [0.4, 1, 0.5], [0.4, 0.5, 1]], lines
        ).T
        r = np.corrcoef([ratings, first, second])
        found[0] += williams(r[0, 1], r[0, 2], r[1, 2], lines).p < 0.05
        shift = rng.normal(size=(3, lines // per))[:, clusters]
        swapped = paired_permutation(
            "pearson",
            first + shift[0],
            second + shift[1],
            np.round(ratings + shift[2]),
            np.zeros(lines, dtype=np.int64),
            clusters,
            rng,
            400,
        )
        found[1] += swapped.p < 0.05
    assert found / 2000 == pytest.approx([0.05, 0.05], abs=0.02)
