"""Over-sampling: the released program's rows exactly, and ours by its properties."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.adem.fit import FitOptions, fit_bilinear
from rejoinder.judges.adem.head import Vectors
from rejoinder.judges.adem.oversample import Lengths, oversample, oversample_release, response_lengths

ITEMS = st.lists(st.tuples(st.floats(1, 5), st.integers(0, 50)), min_size=1, max_size=60)


def test_the_rows_of_the_released_program() -> None:
    golden = json.loads((GOLDEN / "oversample.json").read_text())
    rows = oversample_release(np.array(golden["scores"], dtype=float), np.array(golden["lengths"]))
    assert rows.tolist() == golden["resampled_indices"]
    assert sorted(set(range(len(golden["scores"]))) - set(rows.tolist())) == sorted(golden["dropped_indices"])


def test_a_score_that_is_missing_does_not_crash_the_releases_way() -> None:
    rows = oversample_release(np.array([1.2, 1.0, 4.6, 3.0]), np.array([30, 31, 32, 20]))
    assert rows.tolist() == [0, 1, 2, 2]


def test_nothing_left_is_told() -> None:
    with pytest.raises(DataError) as refusal:
        oversample_release(np.array([1.0, 5.0]), np.array([20, 141]))
    assert str(refusal.value) == (
        "no response has 21 to 140 characters, and the release discards all others. Over-sample by words"
    )


def test_rows_by_words() -> None:
    ratings = np.array([1.0, 1.4, 5.0, 2.0, 3.0, 3.0])
    assert oversample(ratings, np.array([0, 5, 1, 6, 31, 99])).tolist() == [0, 1, 2, 2, 3, 4, 5]


def test_half_ratings_go_up() -> None:
    """2.5 and 3 are one score, 3.5 and 4 another; to the even number 2.5 would go with 2, 3.5 with 4."""
    assert oversample(np.array([2.5, 3.0, 3.5, 4.0, 2.0]), np.ones(5, dtype=np.intp)).tolist() == [4, 4, 0, 1, 2, 3]


@given(ITEMS)
def test_every_row_is_there_and_scores_are_even_within_a_bin(items: list[tuple[float, int]]) -> None:
    ratings, words = (np.array(side) for side in zip(*items, strict=True))
    rows = oversample(ratings, words)
    assert set(rows.tolist()) == set(range(len(items)))
    by_bin: dict[int, Counter[int]] = {}
    for row in rows:
        bin_ = min(max(int(words[row]) - 1, 0) // 5, 6)
        by_bin.setdefault(bin_, Counter())[math.floor(float(ratings[row]) + 0.5)] += 1
    assert all(len(set(scores.values())) == 1 for scores in by_bin.values())
    # No row more often than it takes: a repetition is one more or less than another of its bin and score.
    counts = Counter(rows.tolist())
    for row, other in zip(range(len(items)), range(1, len(items)), strict=False):
        if (items[row][1], round(items[row][0])) == (items[other][1], round(items[other][0])):
            assert abs(counts[row] - counts[other]) <= 1


@given(ITEMS)
def test_the_releases_way_keeps_the_middle(items: list[tuple[float, int]]) -> None:
    ratings, lengths = (np.array(side) for side in zip(*items, strict=True))
    characters = lengths * 4
    middle = np.flatnonzero((characters > 20) & (characters <= 140))
    if len(middle):
        assert set(oversample_release(ratings, characters).tolist()) == set(middle.tolist())


def test_how_long_a_response_is() -> None:
    found = response_lengths([Example((), "Well, I do!"), Example((), "")])
    assert (found.words.tolist(), found.characters.tolist()) == ([3, 0], [16, 5])
    assert [side.shape for side in response_lengths([])] == [(0,), (0,)]


@pytest.mark.parametrize("way", ["words", "release"])
def test_fitting_repeats_training_rows_only(way: str) -> None:
    rng = np.random.default_rng(0)
    raw = Vectors(*rng.normal(size=(3, 60, 6)))
    ratings, lengths = rng.uniform(1, 5, 60), Lengths(rng.integers(1, 40, 60), rng.integers(21, 141, 60))
    train, validation = np.arange(40), np.arange(40, 60)
    chosen = oversample(ratings[:40], lengths.words[:40])
    if way == "release":
        chosen = oversample_release(ratings[:40], lengths.characters[:40])
    options = FitOptions(components=3, epochs=3, oversample=way)  # type: ignore[arg-type]
    plain = FitOptions(components=3, epochs=3)
    assert len(chosen) > 40
    found, by_hand = (
        fit_bilinear(raw, ratings, lengths, rows, validation, ("context",), asked, np.random.default_rng(1))
        for rows, asked in ((train, options), (train[chosen], plain))
    )
    np.testing.assert_array_equal(found.predict(raw), by_hand.predict(raw))
    assert found.validation_errors == by_hand.validation_errors
