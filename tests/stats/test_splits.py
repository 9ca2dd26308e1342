"""Splits of whole groups, stratified samples, and the number of items that a comparison needs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from rejoinder.estimates import Estimate, Verdict
from rejoinder.report.written import forecast
from rejoinder.stats.permutation import paired_permutations
from rejoinder.stats.prediction_powered import powered, sample_of
from rejoinder.stats.splits import (
    Pilot,
    even_counts,
    fold_groups,
    items_needed,
    joined_ties,
    most_needed,
    parts_of,
    pilot_of_correlations,
    pilot_of_means,
    split_groups,
    stratified,
)

Groups = st.lists(st.integers(0, 12), min_size=3, max_size=60).map(np.array)
Seeds = st.integers(0, 5)


def whole(groups: NDArray[np.intp], *parts: NDArray[np.intp]) -> bool:
    """Whether no group stands in two of the parts."""
    inside = [set(groups[part].tolist()) for part in parts]
    return sum(map(len, inside)) == len(set().union(*inside))


@given(Groups, Seeds)
def test_parts_cover_everything_once_and_keep_groups_whole(groups: NDArray[np.intp], seed: int) -> None:
    parts = split_groups(groups, (0.7, 0.15, 0.15), np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    assert whole(groups, *parts)


@given(Groups, Seeds, st.data())
def test_folds_keep_groups_whole_and_are_alike(groups: NDArray[np.intp], seed: int, data: st.DataObject) -> None:
    count = len(set(groups.tolist()))
    folds = data.draw(st.integers(1, count))
    fold = fold_groups(groups, folds, np.random.default_rng(seed))
    assert set(fold.tolist()) == set(range(folds))
    assert whole(groups, *(np.flatnonzero(fold == number) for number in range(folds)))
    sizes = [len(set(groups[fold == number].tolist())) for number in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert fold.tolist() == fold_groups(groups, folds, np.random.default_rng(seed)).tolist()


def test_folds_differ_with_the_seed() -> None:
    one, other = (fold_groups(np.arange(50), 10, np.random.default_rng(seed)) for seed in (0, 1))
    assert one.tolist() != other.tolist()


def test_more_folds_than_groups_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^3 folds of 2 groups, expected 1 to 2$"):
        fold_groups(np.array([0, 0, 5]), 3, np.random.default_rng(0))


def test_parts_for_correlations_have_ten_lines() -> None:
    folds = np.arange(124) % 2
    sets = np.repeat([0, 1, 2], [60, 62, 2])
    parts = parts_of(sets, folds)
    assert np.bincount(parts).min() >= 10 and len(np.unique(parts)) == 4
    assert (parts_of(sets[:122], folds[:122]) == 2 * sets[:122] + folds[:122]).all()
    assert (parts_of(sets[:20], folds[:20]) == folds[:20]).all(), "one data set: the folds, whatever their size"
    assert (parts_of(sets[50:70], folds[50:70]) == folds[50:70]).all(), "folds without data sets"


def ties(*items: str) -> list[NDArray[np.intp]]:
    """The ties of items, a letter each."""
    return [np.array([ord(letter) for letter in item], dtype=np.intp) for item in items]


def test_groups_are_joined_through_any_tie() -> None:
    assert joined_ties(ties("ax", "ay", "by", "c", "d", "")).tolist() == [0, 0, 0, 1, 2, 3]
    assert joined_ties(ties("x", "y", "y", "", "")).tolist() == [0, 1, 1, 2, 3]
    assert joined_ties(ties("xy", "y", "zyx")).tolist() == [0, 0, 0], "wherever a tie stands"
    assert joined_ties([]).tolist() == []


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x", "y", "z"])), min_size=1, max_size=20))
def test_joined_ties_are_the_finest_that_split_no_tie(pairs: list[tuple[str, str]]) -> None:
    found = joined_ties(ties(*(label + other for label, other in pairs)))
    # By hand: merge until nothing changes.
    numbers = list(range(len(pairs)))
    for _ in pairs:
        for i, one in enumerate(pairs):
            for j, other in enumerate(pairs):
                if one[0] == other[0] or (one[1] and one[1] == other[1]):
                    numbers[i] = numbers[j] = min(numbers[i], numbers[j])
    known = list(dict.fromkeys(numbers))
    assert found.tolist() == [known.index(number) for number in numbers]


# choosing items


@given(items=st.integers(1, 90), part=st.floats(0, 1), seed=st.integers(0, 2**32), ties=st.integers(1, 90))
def test_as_many_as_were_wanted_from_all_over_the_range(items: int, part: float, seed: int, ties: int) -> None:
    count = max(1, round(part * items))
    rng = np.random.default_rng(seed)
    rows, weights = stratified(rng.integers(0, ties, items).astype(float), count, rng)
    assert len(rows) == count == len(set(rows.tolist())) and rows.tolist() == sorted(rows)
    assert weights.mean() == pytest.approx(1) and weights.min() > 0


def test_every_stretch_of_the_scores_gives_two_or_more() -> None:
    rows, weights = stratified(np.arange(200.0), 23, np.random.default_rng(1))
    assert all(2 <= ((rows >= start) & (rows < start + 20)).sum() <= 3 for start in range(0, 200, 20))
    stood = [weights[(rows >= start) & (rows < start + 20)].sum() for start in range(0, 200, 20)]
    assert stood == pytest.approx([2.3] * 10), "each stretch stands for a tenth of the items, however many it gave"


def test_every_item_has_its_chance_and_weights_set_right_what_chance_gave() -> None:
    drawn, means = np.zeros(31), list[float]()
    values = np.arange(31.0) ** 2
    rng = np.random.default_rng(2)
    for _ in range(4000):
        rows, weights = stratified(np.arange(31.0), 7, rng)
        drawn[rows] += 1 / 4000
        means.append(float(np.average(values[rows], weights=weights)))
    assert drawn == pytest.approx(np.full(31, 7 / 31), abs=0.05)
    assert np.mean(means) == pytest.approx(values.mean(), rel=0.01)


def test_drawn_so_ratings_tell_more_than_by_lot() -> None:
    """50 of 400: the mean of the ratings alone is nearer to that of all, and intervals with the scores hold."""
    rng, errors, held = np.random.default_rng(3), [list[float](), list[float]()], list[bool]()
    for _ in range(200):
        truth = rng.normal(size=400)
        scores = truth + rng.normal(size=400)
        rows, weights = stratified(scores, 50, rng)
        lot = rng.permutation(400)[:50]
        errors[0].append(float(np.average(truth[rows], weights=weights)) - truth.mean())
        errors[1].append(float(truth[lot].mean()) - truth.mean())
        stands, ratings = np.ones(400), np.full(400, np.nan)
        stands[rows], ratings[rows] = weights, truth[rows]
        found = powered(sample_of(ratings, scores, stands, np.ones(400, bool), np.arange(400)))
        held.append(not found.powered.excludes(0))
    assert np.std(errors[0]) < 0.85 * np.std(errors[1]) and abs(np.mean(errors[0])) < 0.02
    assert np.mean(held) == pytest.approx(0.95, abs=0.025)


def test_groups_become_even() -> None:
    rng = np.random.default_rng(4)
    assert even_counts([10, 10, 10], [5, 0, 2], 11, rng) == [1, 6, 4]
    assert even_counts([10, 2, 10], [0, 0, 0], 10, rng) == [4, 2, 4]
    assert even_counts([1, 0], [0, 0], 99, rng) == [1, 0]
    assert sum(even_counts([5] * 10, [0] * 10, 3, rng)) == 3


# items needed


Floats = NDArray[np.float64]


def own(n: int) -> NDArray[np.int64]:
    """Each item in a cluster of its own."""
    return np.arange(n)


def power(pilot: Pilot, items: int) -> float:
    """The chance that a two-sided test at the 5 % level on so many items finds the pilot's difference (Guenther)."""
    z = float(stats.norm.ppf(0.975))
    shift = abs(pilot.effect) / pilot.spread * math.sqrt(max(0.0, items - z * z / 2))
    return float(stats.norm.cdf(shift - z) + stats.norm.cdf(-shift - z))


def inconclusive(low: float, high: float, contexts: int) -> Estimate:
    """An inconclusive value with this interval, over so many contexts of two lines."""
    about = {"n": 2 * contexts, "contexts": contexts, "verdict": Verdict.INCONCLUSIVE}
    return Estimate(value=(low + high) / 2, low=low, high=high, **about)  # type: ignore[arg-type]


def test_a_forecast_is_for_the_end_of_the_interval_nearest_to_zero() -> None:
    """Error .05 and near end .02: (1.95996 + .84162)^2 * 400 * (.05 / .02)^2 = 19,622.2."""
    half = 0.05 * float(stats.t.ppf(0.975, 399))
    row = inconclusive(0.02, 0.02 + 2 * half, 400)
    assert most_needed(row) == 19_623
    assert most_needed(-row) == 19_623
    assert most_needed(row, tests=10) == 33_282
    assert forecast(replace(row, needed=19_623)) == "between the 400 at hand and about 20,000 conversations"
    assert forecast(replace(row, n=400, needed=401)) == "between the 400 at hand and about 500 rated responses"


@pytest.mark.parametrize(
    "row",
    [
        inconclusive(-0.01, 0.2, 400),
        inconclusive(0.2, 0.25, 400),
        inconclusive(1e-6, 0.2, 400),
        inconclusive(0.02, 0.2, 2),
        inconclusive(math.nan, math.nan, 400),
        replace(inconclusive(0.02, 0.2, 400), verdict=Verdict.ABOVE),
    ],
    ids=["holds 0", "would do", "too many", "two contexts", "no interval", "shown"],
)
def test_no_forecast(row: Estimate) -> None:
    assert most_needed(row) is None
    assert forecast(row) == "–"


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
    """From a pilot so large that it knows the truth; by the paired test, on items independent of it."""
    rng = np.random.default_rng(0)
    ratings, first, second = bent(rng, 200_000)
    pilot = pilot_of_correlations(first, second, ratings, own(200_000))
    needed = items_needed(pilot)
    assert needed is not None
    for items in (round(0.9 * needed), needed, round(1.1 * needed)):
        found = 0
        for _ in range(600):
            y, a, b = bent(rng, items)
            swapped = paired_permutations("pearson", np.stack([a, b], axis=1), y, 0 * own(items), own(items), rng, 200)[
                0, 1
            ]
            found += swapped.p < 0.05
        assert found / 600 == pytest.approx(power(pilot, items), rel=0.1)


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
