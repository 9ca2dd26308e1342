"""Two independent samples of clusters: against scipy, against all deals, against themselves, and by simulation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rejoinder.estimates import Estimate
from rejoinder.stats.resamples import FloatArray
from rejoinder.stats.two_samples import Difference, Samples, difference, win_rate


def samples(first: Any, second: Any, clusters: Any = None, strata: Any = None, weights: Any = (1.0,)) -> Samples:
    """Two samples; without clusters each value is one by itself."""
    values = np.concatenate([first, second]).astype(np.float64)
    side = np.arange(len(values)) >= len(first)
    own = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    kinds = np.zeros(len(values)) if strata is None else np.asarray(strata)
    return Samples(values, side, own.astype(np.int64), kinds.astype(np.int64), np.asarray(weights, dtype=np.float64))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_single_values_agree_with_welch() -> None:
    first, second = rng(1).normal(0, 1, 80), rng(2).normal(0.4, 2, 120)
    found = apart(samples(first, second), rng(), 10_000)
    expected = stats.ttest_ind(second, first, equal_var=False)
    low, high = expected.confidence_interval()
    assert found.value == pytest.approx(second.mean() - first.mean()) and found.reason == ""
    assert found.p == pytest.approx(expected.pvalue, abs=0.01)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)
    error = difference(samples(first, second), rng(), 10).error
    assert error == pytest.approx(np.sqrt(first.var(ddof=1) / 80 + second.var(ddof=1) / 120))


def test_few_clusters_give_the_share_of_all_deals() -> None:
    values, side = rng(3).normal(size=9), np.array([False] * 4 + [True] * 5)

    def t(second: tuple[int, ...]) -> float:
        chosen = np.isin(np.arange(9), second)
        return float(stats.ttest_ind(values[chosen], values[~chosen], equal_var=False).statistic)

    found = abs(t((4, 5, 6, 7, 8)))
    exact = np.mean([abs(t(second)) >= found - 1e-9 for second in combinations(range(9), 5)])
    assert apart(samples(values[~side], values[side]), rng(), 20_000).p == pytest.approx(exact, abs=0.01)


def apart(*arguments: Any) -> Estimate:
    """Return the estimate of a difference."""
    return difference(*arguments).estimate


def numbers(found: Difference) -> list[float]:
    """All that was measured."""
    return [found.first, found.second, found.estimate.value, *found.estimate.ends, found.estimate.p, found.error]


def test_saying_a_thing_twice_is_no_more_evidence() -> None:
    first, second = rng(1).normal(size=30), rng(2).normal(0.5, 1, size=25)
    once = difference(samples(first, second), rng())
    clusters = np.concatenate([np.repeat(np.arange(30), 3), 30 + np.repeat(np.arange(25), 3)])
    thrice = samples(np.repeat(first, 3), np.repeat(second, 3), clusters)
    assert numbers(difference(thrice, rng())) == pytest.approx(numbers(once))
    wins, expected = win_rate(thrice), win_rate(samples(first, second))
    assert [wins.value, *wins.ends] == pytest.approx([expected.value, *expected.ends])


def test_taking_clusters_for_single_values_would_claim_too_much() -> None:
    own = rng(5).normal(size=24)
    values = np.repeat(own, 20) + 0.1 * rng(6).normal(size=480)
    clustered = samples(values[:240], values[240:], np.repeat(np.arange(24), 20))
    blind = apart(samples(values[:240], values[240:]), rng())
    found = apart(clustered, rng())
    assert found.high - found.low > 3 * (blind.high - blind.low) and found.p > blind.p


def test_the_sides_are_alike() -> None:
    first, second = rng(1).normal(size=40), rng(2).normal(0.3, 1, size=30)
    one, other = samples(first, second), samples(second, first)
    ahead, behind = apart(one, rng(), 4000), apart(other, rng(), 4000)
    assert ahead.value == pytest.approx(-behind.value) and ahead.p == pytest.approx(behind.p, abs=0.02)
    assert (ahead.low, ahead.high) == pytest.approx((-behind.high, -behind.low), abs=0.05)
    share, back = win_rate(one), win_rate(other)
    assert (share.value, *share.ends) == pytest.approx((1 - back.value, 1 - back.high, 1 - back.low))


@given(st.lists(st.integers(0, 5), min_size=4, max_size=30), st.lists(st.integers(0, 5), min_size=4, max_size=30))
def test_the_win_rate_is_that_of_mann_and_whitney(first: list[int], second: list[int]) -> None:
    found = win_rate(samples(first, second))
    expected = stats.mannwhitneyu(second, first).statistic / (len(first) * len(second))
    assert found.value == pytest.approx(expected)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_what_is_infinite_loses_or_wins_every_pair() -> None:
    assert win_rate(samples([1, 2, 3], [-np.inf] * 3)).value == 0
    assert win_rate(samples([1, 2, 3], [-np.inf, 4, np.inf])).value == pytest.approx(2 / 3)
    assert win_rate(samples([-np.inf] * 3, [-np.inf] * 3)).value == 0.5


def test_like_is_compared_with_like() -> None:
    """The second sample has more of the easy kind, and is worse in both kinds."""
    first, second = [1.0] * 4 + [2.0] + [9.0] * 3 + [8.0], [0.0] * 3 + [8.5] * 8 + [7.5]
    strata = [0] * 5 + [1] * 4 + [0] * 3 + [1] * 9
    plain = apart(samples(first, second), rng())
    found = apart(samples(first, second, strata=strata, weights=(0.4, 0.6)), rng())
    expected = 0.4 * (0 - 1.2) + 0.6 * (np.mean([8.5] * 8 + [7.5]) - np.mean([9, 9, 9, 8]))
    assert plain.value > 0 > found.value == pytest.approx(expected)
    both = difference(samples(first, second, strata=strata, weights=(0.4, 0.6)), rng())
    assert both.second - both.first == pytest.approx(expected)
    alone = apart(samples(first, second, strata=strata, weights=(0.4, 0.6)).of_stratum(0), rng())
    assert alone.value == pytest.approx(-1.2)


def test_strata_that_are_alike_change_nothing() -> None:
    first, second = rng(1).normal(size=60), rng(2).normal(0.4, 1, size=60)
    strata = np.tile([0, 1, 2], 40)
    found = apart(samples(first, second, strata=strata, weights=[1 / 3] * 3), rng(), 4000)
    plain = apart(samples(first, second), rng(), 4000)
    assert found.value == pytest.approx(plain.value)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.05)


def test_a_stratum_with_a_single_cluster_of_a_side_is_exchanged_with_all() -> None:
    values, strata = rng(1).normal(size=12), np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1])
    lone = samples(values[:6], values[6:], strata=strata, weights=(0.5, 0.5))
    assert [len(block) for block in lone.blocks] == [12] and apart(lone, rng()).p > 0
    strata[10] = 1
    several = samples(values[:6], values[6:], strata=strata, weights=(0.5, 0.5))
    assert [block.tolist() for block in several.blocks] == [[0, 1, 2, 6, 7, 8, 9], [3, 4, 5, 10, 11]]


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_values_without_spread(shift: float) -> None:
    found = apart(samples([0.1] * 7, [0.1 + shift] * 6), rng())
    assert found.value == pytest.approx(shift)
    assert found.p == 1 if shift == 0 else found.p < 0.01
    share = win_rate(samples([0.1] * 7, [0.1 + shift] * 6))
    assert share.low < share.value == (1.0 if shift else 0.5) and share.low > 0.1


def test_too_few_clusters_have_no_interval() -> None:
    found = apart(samples([1, 2, 3, 4], [3, 4]), rng())
    assert found.value == 1 and np.isnan([found.low, found.high, found.p]).all()
    assert found.reason == "a sample of 2 clusters"
    assert not win_rate(samples([1, 2, 3, 4], [3, 4])).has_interval
    lone = apart(samples([1, 2, 3], [3, 4, 5], [0, 1, 2, 3, 3, 3]), rng())
    assert lone.reason == "a sample of 1 cluster"


# by simulation: how often a difference is claimed where there is none, and how often intervals hold it


def drawn(
    generator: np.random.Generator, clusters: tuple[int, int], turns: tuple[float, float], spread: float, kind: str
) -> Samples:
    """Conversations of random length whose replies have something in common; both sides have the mean 0."""
    values, ids, side = list[FloatArray](), list[int](), list[bool]()
    for which, (number, length) in enumerate(zip(clusters, turns, strict=True)):
        for _ in range(number):
            size = 1 + int(generator.poisson(length))
            own = np.sqrt(0.4) * generator.normal() + np.sqrt(0.6) * generator.normal(size=size)
            own = (own > 0.8).astype(np.float64) if kind == "yes or no" else own
            own = np.exp(own) - np.exp(0.5) if kind == "skewed" else own
            values.append(own * (spread if which else 1.0))
            ids += [len(values) - 1] * size
            side += [bool(which)] * size
    zeros = np.zeros(len(ids), dtype=np.int64)
    return Samples(np.concatenate(values), np.array(side), np.array(ids), zeros, np.ones(1))


RUNS = 1000
MARGIN = 3.3 * np.sqrt(0.05 * 0.95 / RUNS)  # of a share of 5 % in so many runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "turns", "spread", "kind"),
    [
        ((30, 30), (3, 3), 1.0, "normal"),
        ((12, 12), (3, 3), 1.0, "normal"),
        ((15, 80), (1, 6), 2.0, "normal"),
        ((80, 15), (3, 3), 0.5, "normal"),
        ((40, 40), (3, 3), 1.0, "yes or no"),
        ((60, 60), (3, 3), 1.0, "skewed"),
    ],
)
def test_errors_are_as_rare_as_they_say(
    clusters: tuple[int, int], turns: tuple[float, float], spread: float, kind: str
) -> None:
    generator, claims, held, shares = rng(11), 0, 0, 0
    for run in range(RUNS):
        given_ = drawn(generator, clusters, turns, spread, kind)
        found, share = apart(given_, rng(run), 400), win_rate(given_)
        claims += found.p <= 0.05
        held += found.low <= 0 <= found.high
        shares += share.low <= 0.5 <= share.high
    assert claims / RUNS < 0.05 + MARGIN and held / RUNS > 0.95 - MARGIN and shares / RUNS > 0.95 - MARGIN
    assert claims / RUNS > 0.02, "a test that never errs finds nothing either"


@pytest.mark.slow
@pytest.mark.parametrize("crossing", [0.0, 0.3])
def test_errors_are_as_rare_where_kinds_are_mixed_otherwise(crossing: float) -> None:
    """The second side has more of the easy kind; conversations are of one kind, or stray into others."""
    generator, claims, held, blind = rng(12), 0, 0, 0
    for run in range(RUNS):
        given_ = drawn(generator, (40, 60), (3, 3), 1.0, "normal")
        kinds = np.where(
            given_.side, *(generator.choice(3, len(given_.side), p=p) for p in ([0.2, 0.3, 0.5], [0.5, 0.3, 0.2]))
        )
        strata = kinds[given_.clusters]
        strays = generator.random(len(strata)) < crossing
        strata = np.where(strays, generator.choice(3, len(strata)), strata)
        weights = np.bincount(strata, minlength=3) / len(strata)
        found = apart(Samples(given_.values + strata, given_.second, given_.clusters, strata, weights), rng(run), 400)
        claims += found.p <= 0.05
        held += found.low <= 0 <= found.high
        if run < 100:
            plain = Samples(given_.values + strata, given_.second, given_.clusters, 0 * strata, np.ones(1))
            blind += apart(plain, rng(run), 400).p <= 0.05
    assert claims / RUNS < 0.05 + MARGIN and held / RUNS > 0.95 - MARGIN
    assert blind > 20, "without strata the mix is taken for a difference"


@pytest.mark.slow
def test_a_difference_that_is_there_is_found() -> None:
    generator, found = rng(13), 0
    for run in range(200):
        given_ = drawn(generator, (60, 60), (3, 3), 1.0, "normal")
        shifted = Samples(
            given_.values + 0.6 * given_.second, given_.second, given_.clusters, given_.strata, given_.weights
        )
        found += apart(shifted, rng(run), 400).p <= 0.05
    assert found > 160
