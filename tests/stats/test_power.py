"""How many items a comparison needs: by formula, and by simulated tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.stats.correlation import williams
from rejoinder.stats.permutation import paired_permutations
from rejoinder.stats.power import Pilot, items_needed, pilot_of_correlations, pilot_of_means

Floats = NDArray[np.float64]


def own(n: int) -> NDArray[np.int64]:
    """Each item in a cluster of its own."""
    return np.arange(n)


def power(pilot: Pilot, items: int) -> float:
    """The chance that a two-sided test at the 5 % level on so many items finds the pilot's difference (Guenther)."""
    z = float(stats.norm.ppf(0.975))
    shift = abs(pilot.effect) / pilot.spread * math.sqrt(max(0.0, items - z * z / 2))
    return float(stats.norm.cdf(shift - z) + stats.norm.cdf(-shift - z))


def test_items_by_hand() -> None:
    """An effect of half a spread: (1.95996 + .84162)^2 * 4 + 1.95996^2 / 2 = 33.32; tables of the t-test say 34."""
    assert items_needed(Pilot(0.5, 1.0, 20)) == 34
    assert items_needed(Pilot(-0.5, 1.0, 20)) == 34
    assert items_needed(Pilot(0.5, 1.0, 20), chance=0.9) == 44


@pytest.mark.parametrize(("effect", "items"), [(0.5, 34), (0.2, 199), (0.9, 12), (0.05, 3142)])
def test_power_is_that_of_the_noncentral_t(effect: float, items: int) -> None:
    shift, critical = effect * math.sqrt(items), stats.t.ppf(0.975, items - 1)
    exact = stats.nct.sf(critical, items - 1, shift) + stats.nct.cdf(-critical, items - 1, shift)
    assert power(Pilot(effect, 1.0, 50), items) == pytest.approx(exact, abs=0.01)
    needed = items_needed(Pilot(effect, 1.0, 50))
    assert needed is not None
    assert power(Pilot(effect, 1.0, 50), needed) >= 0.8 > power(Pilot(effect, 1.0, 50), needed - 1)


def test_pilot_of_means_is_the_paired_difference() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.3, 1, 50), rng.normal(0, 1, 50)
    found = pilot_of_means(first, second, own(50))
    assert found.effect == pytest.approx((first - second).mean(), abs=1e-15)
    assert found.spread == pytest.approx((first - second).std(ddof=1), abs=1e-12)
    assert (found.items, found.reason) == (50, "")


def test_copies_in_a_cluster_tell_nothing_new() -> None:
    """Each item three times is a third of the information, so it takes three times as many."""
    rng = np.random.default_rng(1)
    first, second, ratings = rng.normal(size=(3, 60))
    clusters = np.repeat(own(60), 3)
    thrice = np.repeat([first, second, ratings], 3, axis=1)
    one, many = pilot_of_means(first, second, own(60)), pilot_of_means(thrice[0], thrice[1], clusters)
    assert many.effect == pytest.approx(one.effect)
    assert many.items == 180
    assert many.spread == pytest.approx(one.spread * math.sqrt(3), abs=1e-12)
    one = pilot_of_correlations(first, second, ratings, own(60))
    many = pilot_of_correlations(thrice[0], thrice[1], thrice[2], clusters)
    assert many.spread == pytest.approx(one.spread * math.sqrt(3), abs=1e-12)


def test_spread_of_correlations_is_that_of_normal_theory() -> None:
    """Variance of r1 - r2 for normal variables, by Pearson and Filon (1898) as in Steiger (1980), equations 1 and 2."""
    a, b, c, n = 0.6, 0.3, 0.4, 400_000
    matrix = [[1, a, b], [a, 1, c], [b, c, 1]]
    ratings, first, second = np.random.default_rng(2).multivariate_normal([0, 0, 0], matrix, n).T
    found = pilot_of_correlations(first, second, ratings, own(n))
    together = c * (1 - a * a - b * b) - a * b * (1 - a * a - b * b - c * c) / 2
    assert found.effect == pytest.approx(a - b, abs=0.005)
    assert found.spread == pytest.approx(math.sqrt((1 - a * a) ** 2 + (1 - b * b) ** 2 - 2 * together), rel=0.01)
    moved = pilot_of_correlations(5 * first - 100, second, 1e-3 * ratings, own(n))
    assert moved.spread == pytest.approx(found.spread, rel=1e-9)


ONES, LINE = np.ones(4), np.arange(4.0)
SAME = "no difference in the pilot, so no number of items would show one"
BENT = np.array([0.0, 1.0, 3.0, 2.0])


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (pilot_of_means(LINE, LINE, own(4)), SAME),
        (pilot_of_means(np.array([0.1, 0.3]), np.array([0.3, 0.1]), own(2)), "2 clusters; three or more are needed"),
        (pilot_of_means(LINE, BENT, np.zeros(4, dtype=np.int64)), "1 cluster; three or more are needed"),
        (pilot_of_means(ONES[:0], ONES[:0], own(0)), "0 clusters; three or more are needed"),
        (
            pilot_of_means(LINE + 0.1, LINE, own(4)),
            "the difference is the same in all items, so there is no chance to forecast",
        ),
        (pilot_of_means(np.array([1.0, math.nan, 2.0]), ONES[:3], own(3)), "a value is not a finite number"),
        (pilot_of_correlations(BENT, 7 * BENT + 0.1, LINE, own(4)), SAME),
        (pilot_of_correlations(ONES, LINE, LINE, own(4)), "the score is the same in all 4 pairs (1)"),
        (pilot_of_correlations(LINE, BENT, ONES, own(4)), "the rating is the same in all 4 pairs (1)"),
        (
            pilot_of_correlations(LINE[:2], BENT[:2], ONES[:2], own(2)),
            "2 pairs of score and rating; three or more are needed",
        ),
        (
            pilot_of_correlations(LINE, np.array([1.0, 2.0, math.inf, 0.0]), BENT, own(4)),
            "the score is not a finite number in 1 of 4 pairs",
        ),
    ],
)
def test_no_forecast_has_a_reason(found: Pilot, reason: str) -> None:
    assert found.reason == reason
    assert items_needed(found) is None


def bent(rng: np.random.Generator, n: int) -> Floats:
    """Ratings on five steps, a good scorer that saturates, and a worse one with a long tail; far from normal."""
    base, one, other = rng.multivariate_normal([0, 0, 0], [[1, 0.55, 0.4], [0.55, 1, 0.3], [0.4, 0.3, 1]], n).T
    return np.stack([np.clip(np.round(base + 3), 1, 5), np.tanh(one), np.exp(other / 2)])


@pytest.mark.slow
def test_the_forecast_for_scorers_is_the_simulated_power() -> None:
    """From a pilot so large that it knows the truth; by both paired tests, on items independent of it."""
    rng = np.random.default_rng(0)
    ratings, first, second = bent(rng, 200_000)
    pilot = pilot_of_correlations(first, second, ratings, own(200_000))
    needed = items_needed(pilot)
    assert needed is not None
    for items in (round(0.9 * needed), needed, round(1.1 * needed)):
        found = np.zeros(2)
        for _ in range(600):
            y, a, b = bent(rng, items)
            r = np.corrcoef([y, a, b])
            swapped = paired_permutations("pearson", np.stack([a, b], axis=1), y, 0 * own(items), own(items), rng, 200)[
                0, 1
            ]
            found += [williams(r[0, 1], r[0, 2], r[1, 2], items) < 0.05, swapped.p < 0.05]
        assert found / 600 == pytest.approx([power(pilot, items)] * 2, rel=0.1)


@pytest.mark.slow
def test_the_forecast_for_systems_is_the_simulated_power() -> None:
    """Clustered and skewed differences of two systems, tested by the t-test over clusters."""
    rng = np.random.default_rng(1)

    def differences(clusters: int) -> Floats:
        return 0.15 + rng.normal(size=(clusters, 1)) + rng.exponential(size=(clusters, 3)) - 1

    many = differences(200_000)
    pilot = pilot_of_means(many.ravel(), np.zeros(many.size), np.repeat(own(200_000), 3))
    needed = items_needed(pilot)
    assert needed is not None
    for share in (0.5, 0.9, 1.0, 1.1):
        clusters = round(share * needed / 3)
        tests = [stats.ttest_1samp(differences(clusters).mean(axis=1), 0).pvalue < 0.05 for _ in range(1000)]
        assert np.mean(tests) == pytest.approx(power(pilot, 3 * clusters), rel=0.1)
