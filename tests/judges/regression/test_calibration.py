"""Ratings that vary as human ratings do, and intervals that hold what they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rejoinder.judges.regression.calibration import COVERAGE, calibrate, conformal_quantile, squash
from rejoinder.scorer import FloatArray


def sample(count: int, seed: int = 0) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Return predictions that know a part of the ratings, the ratings of two sets, and the set of each."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=count)
    sets = (np.arange(count) % 4 == 0).astype(np.intp)
    ratings = np.clip(3 + 0.9 * truth + 0.2 * sets, 1, 5)
    return 0.3 * truth + 0.2 * rng.normal(size=count) - 0.1, ratings, sets


def test_scores_vary_as_ratings_do_and_keep_the_order() -> None:
    predictions, ratings, sets = sample(2000)
    scores = calibrate(predictions, ratings, sets).ratings(predictions)

    def over_sets(statistic: str, values: FloatArray) -> float:
        return float(np.mean([getattr(values[sets == number], statistic)() for number in (0, 1)]))

    assert over_sets("std", scores) == pytest.approx(over_sets("std", ratings), rel=0.02)
    assert over_sets("mean", scores) == pytest.approx(over_sets("mean", ratings), abs=0.05)
    assert (np.argsort(scores, kind="stable") == np.argsort(predictions, kind="stable")).all()


def test_intervals_hold_nine_in_ten_ratings_of_new_lines() -> None:
    calibration = calibrate(*sample(3000))
    predictions, ratings, _ = sample(3000, seed=1)
    scores = calibration.ratings(predictions)
    low, high = calibration.interval(scores)
    assert (low <= scores).all() and (scores <= high).all()
    assert ((low <= ratings) & (ratings <= high)).mean() == pytest.approx(COVERAGE, abs=0.02)


def test_a_judge_that_knows_nothing_gives_one_score() -> None:
    _, ratings, sets = sample(200)
    assert np.ptp(calibrate(np.zeros(200), ratings, sets).ratings(np.zeros(3))) == 0


def test_the_quantile_counts_one_line_more() -> None:
    values, weights = np.arange(1.0, 20.0), np.ones(19)
    assert conformal_quantile(values, weights, 0.9) == 18  # ceil(20 * 0.9)
    assert conformal_quantile(values[:5], weights[:5], 0.95) == 5
    assert conformal_quantile(values, np.where(values == 3, 1000.0, 1.0), 0.5) == 3


def test_scores_are_squashed_into_the_scale_and_keep_their_order() -> None:
    near, far = 10.0 ** np.arange(-12, 0), 10.0 ** np.arange(-9, 5)
    ratings = np.sort(np.concatenate([np.linspace(-3, 9, 4001), 3 + far, 3 - far, [1.4, 4.6], 4.6 + near, 1.4 - near]))
    scores, is_inner = squash(ratings), (ratings >= 1.4) & (ratings <= 4.6)
    np.testing.assert_array_equal(scores[is_inner], ratings[is_inner])
    assert (scores > 1).all() and (scores < 5).all()
    np.testing.assert_array_equal(np.diff(scores) > 0, np.diff(ratings) > 0)
    edges = np.array([1.4, 4.6])
    assert (squash(edges + 1e-7) - squash(edges - 1e-7)) / 2e-7 == pytest.approx([1, 1], abs=1e-6)
    assert np.isnan(squash(np.array([np.nan]))).all()


def test_an_interval_lies_inside_the_scale_around_its_score_and_loses_no_rating() -> None:
    calibration = replace(calibrate(*sample(3000)), stretch=4.0)
    predictions, ratings, _ = sample(3000, seed=1)
    scores, low, high = calibration.answers(predictions)
    before = calibration.ratings(predictions)
    ends = calibration.interval(before)
    assert ((before < 1) | (before > 5)).mean() > 0.1
    assert (low >= 1).all() and (high <= 5).all() and (low < scores).all() and (scores < high).all()
    held = (ends[0] <= ratings) & (ratings <= ends[1])
    assert (held <= ((low <= ratings) & (ratings <= high))).all()
