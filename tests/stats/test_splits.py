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
from rejoinder.stats.prediction_powered import powered, sample_of
from rejoinder.stats.splits import (
    even_counts,
    fold_groups,
    joined_ties,
    most_needed,
    parts_of,
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
