"""Fitting: options, over-sampling against the released program, Adam, and the epoch that is kept."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.head import AdemHead, Vectors, initial_head
from rejoinder.judges.adem.judge import TERMS
from rejoinder.judges.adem.learner import encode_lines
from rejoinder.judges.adem.optimizer import PRESETS, AdemFit, AdemOptions, Lengths, Oversample, fit_adem, oversample
from rejoinder.models import load_encoder
from rejoinder.scorer import FloatArray

ITEMS = st.lists(st.tuples(st.floats(1, 5), st.integers(0, 50)), min_size=1, max_size=60)
WHOLE = AdemOptions(components=None, penalty_weight=0.0)


def fitted(raw: Vectors, ratings: FloatArray, options: AdemOptions, **changes: Any) -> AdemFit:
    """The fit on the first two thirds, stopped by the rest."""
    rows, border = np.arange(len(ratings)), len(ratings) * 2 // 3
    lengths = Lengths(rows, rows)
    parts: dict[str, Any] = {
        "train": rows[:border],
        "validation": rows[border:],
        "lengths": lengths,
        "terms": TERMS["adem"],
    } | changes
    return fit_adem(raw, ratings, options=options, rng=np.random.default_rng(0), **parts)


def test_a_planted_head_is_recovered() -> None:
    rng = np.random.default_rng(0)
    raw = Vectors(*rng.normal(size=(3, 600, 4)))
    ratings = AdemHead(rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), -12.0, 4.0, TERMS["adem"])(raw)
    fit = fitted(raw, ratings, replace(WHOLE, learning_rate=0.02, epochs=150))
    # alpha is not fitted, so a constant error remains; the order of the examples is recovered.
    assert np.corrcoef(fit.predict(raw)[400:], ratings[400:])[0, 1] > 0.999
    assert fit.validation_errors[fit.best_epoch] == min(fit.validation_errors)
    assert len(fit.validation_errors) == 151


def test_the_untrained_head_is_kept_where_training_only_hurts() -> None:
    raw = Vectors(*np.random.default_rng(1).normal(size=(3, 60, 3)))
    first = initial_head(raw.at(np.arange(40)), TERMS["adem"])(raw)
    ratings = np.concatenate([6.0 - first[:40], first[40:]])
    fit = fitted(raw, ratings, replace(WHOLE, epochs=3))
    assert fit.best_epoch == 0 and (np.eye(3) == fit.head.M).all()


def test_the_first_step_of_adam_moves_every_entry_by_the_step() -> None:
    raw, rows = Vectors(*np.random.default_rng(0).normal(size=(3, 300, 3))), np.arange(300)
    options = replace(PRESETS["deriu2019"], epochs=1)
    fit = fitted(raw, np.array(1.0 + rows % 5, np.float64), options, train=rows, validation=rows, terms=("context",))
    assert (fit.best_epoch, fit.projection) == (1, None)
    assert np.abs(fit.head.M - np.eye(3)) == pytest.approx(0.001, rel=1e-3)
    assert (np.eye(3) == fit.head.N).all()


# over-sampling


def by_words(ratings: list[float], counts: list[int]) -> list[int]:
    rows = oversample(np.array(ratings), Lengths(np.array(counts), np.array(counts)), "words")
    return [*map(int, rows)]


def by_release(ratings: Any, characters: Any) -> list[int]:
    rows = oversample(np.array(ratings, dtype=float), Lengths(np.array(characters), np.array(characters)), "release")
    return [*map(int, rows)]


def test_rows_of_the_released_program() -> None:
    golden = json.loads((GOLDEN / "oversample.json").read_text())
    rows = by_release(golden["scores"], golden["lengths"])
    assert rows == golden["resampled_indices"]
    assert sorted(set(range(len(golden["scores"]))) - set(rows)) == sorted(golden["dropped_indices"])
    assert by_release([1.2, 1.0, 4.6, 3.0], [30, 31, 32, 20]) == [0, 1, 2, 2], "a score that a bin lacks"
    with pytest.raises(DataError, match="no response has 21 to 140 characters"):
        by_release([1.0, 5.0], [20, 141])


def test_rows_by_words() -> None:
    assert by_words([1.0, 1.4, 5.0, 2.0, 3.0, 3.0], [0, 5, 1, 6, 31, 99]) == [0, 1, 2, 2, 3, 4, 5]
    assert by_words([2.5, 3.0, 3.5, 4.0, 2.0], [1] * 5) == [4, 4, 0, 1, 2, 3], "halves go up"


@given(ITEMS)
def test_scores_are_even_within_a_bin(items: list[tuple[float, int]]) -> None:
    ratings, words = map(list, zip(*items, strict=True))
    rows = by_words(ratings, words)
    assert set(rows) == set(range(len(items)))
    by_bin: dict[int, Counter[int]] = {}
    for row in rows:
        bin_ = min(max(words[row] - 1, 0) // 5, 6)
        by_bin.setdefault(bin_, Counter())[math.floor(ratings[row] + 0.5)] += 1
    assert all(len(set(scores.values())) == 1 for scores in by_bin.values())


def test_lengths_of_responses() -> None:
    encoder = load_encoder("word-vectors")
    lengths = encode_lines(encoder, [Example((), "Well, I do!"), Example((), "")], ("context",)).lengths
    assert (lengths.words.tolist(), lengths.characters.tolist()) == ([3, 0], [16, 5])


@pytest.mark.parametrize("way", get_args(Oversample))
def test_training_rows_alone_are_repeated(way: Oversample) -> None:
    rng = np.random.default_rng(0)
    raw = Vectors(*rng.normal(size=(3, 60, 6)))
    ratings, lengths = rng.uniform(1, 5, 60), Lengths(rng.integers(1, 40, 60), rng.integers(21, 141, 60))
    train = np.arange(40)
    chosen = oversample(ratings[:40], Lengths(lengths.words[:40], lengths.characters[:40]), way)
    options = AdemOptions(components=3, epochs=3)
    repeated = fitted(raw, ratings, replace(options, oversample=way), lengths=lengths)
    by_hand = fitted(raw, ratings, options, lengths=lengths, train=train[chosen])
    assert len(chosen) > 40
    np.testing.assert_array_equal(repeated.predict(raw), by_hand.predict(raw))
    assert repeated.validation_errors == by_hand.validation_errors


# options


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": -1}, "epochs is -1, expected 0 or more"),
        ({"components": 0}, "components is 0, expected 1 or more"),
        ({"batch_size": 0}, "batch_size is 0, expected 1 or more"),
        ({"learning_rate": float("nan")}, r"the step \(learning_rate\) is nan, expected a number over 0"),
        ({"penalty_weight": float("inf")}, "penalty_weight is inf, expected 0 or more"),
        ({"penalty": "l3"}, "penalty is 'l3', expected frobenius or l2_squared or l1"),
        ({"oversample": "lines"}, "oversample is 'lines', expected words or release or None"),
        ({"normalise": "l1"}, "normalise is 'l1', expected none or l2"),
    ],
)
def test_options_out_of_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        AdemOptions(**changes)


def test_presets() -> None:
    assert AdemOptions.preset("lowe2017", epochs=7) == replace(PRESETS["lowe2017"], epochs=7)
    with pytest.raises(UsageError, match="^no preset is called 'lowe'. There are: lowe2017, deriu2019$"):
        AdemOptions.preset("lowe")
