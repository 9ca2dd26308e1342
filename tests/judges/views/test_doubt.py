"""Ratings that spread as people's do, intervals that hold what they promise, and what is unlike the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rejoinder.judges.regression.calibration import COVERAGE, bent, calibrate, weighted_quantile
from rejoinder.judges.regression.cloud import fit_cloud
from rejoinder.scorer import FloatArray


def told(count: int, seed: int = 0) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Predictions that know a part of the ratings, the ratings of two sets, and which set each is of."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=count)
    sets = (np.arange(count) % 4 == 0).astype(np.intp)
    ratings = np.clip(3 + 0.9 * truth + 0.2 * sets, 1, 5)
    return 0.3 * truth + 0.2 * rng.normal(size=count) - 0.1, ratings, sets


def test_scores_spread_as_ratings_do_and_keep_the_order() -> None:
    predictions, ratings, sets = told(2000)
    found = calibrate(predictions, ratings, sets).ratings(predictions)
    within = [(found[sets == one].std(), ratings[sets == one].std()) for one in (0, 1)]
    assert np.mean([mine for mine, _ in within]) == pytest.approx(np.mean([theirs for _, theirs in within]), rel=0.02)
    assert (np.argsort(found, kind="stable") == np.argsort(predictions, kind="stable")).all()
    assert np.mean([found[sets == one].mean() for one in (0, 1)]) == pytest.approx(
        np.mean([ratings[sets == one].mean() for one in (0, 1)]), abs=0.05
    )


def test_intervals_hold_nine_in_ten_ratings_of_new_lines() -> None:
    calibration = calibrate(*told(3000))
    predictions, ratings, _ = told(3000, seed=1)
    scores = calibration.ratings(predictions)
    low, high = calibration.interval(scores)
    assert (low <= scores).all() and (scores <= high).all()
    assert ((low <= ratings) & (ratings <= high)).mean() == pytest.approx(COVERAGE, abs=0.02)


def test_a_judge_that_knows_nothing_scores_all_alike() -> None:
    _, ratings, sets = told(200)
    calibration = calibrate(np.zeros(200), ratings, sets)
    assert np.ptp(calibration.ratings(np.zeros(3))) == 0


def test_the_quantile_asks_for_one_line_more() -> None:
    values, weights = np.arange(1.0, 20.0), np.ones(19)
    assert weighted_quantile(values, weights, 0.9) == 18  # ceil(20 * 0.9)
    assert weighted_quantile(values[:5], weights[:5], 0.95) == 5
    heavy = np.where(values == 3, 1000.0, 1.0)
    assert weighted_quantile(values, heavy, 0.5) == 3


def test_what_lies_off_the_cloud_is_farther_whatever_the_units() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 3))
    cloud = fit_cloud(features)
    usual, odd = cloud.distances(np.array([[1.0, 0, 1.0], [1.0, 0, -4.0]]))
    assert odd > 5 * usual
    other = fit_cloud(features * [1000, 1, 0.01])
    assert other.distances(features * [1000, 1, 0.01]) == pytest.approx(cloud.distances(features))
    assert cloud.distances(np.full((1, 3), np.nan)) == pytest.approx([0.0])
    assert cloud.distances(features).mean() == pytest.approx(1)
    assert not cloud.unlike(features).any()  # without a bound nothing is unlike


BEYOND = np.concatenate([np.linspace(-3, 9, 4001), 3 + 10.0 ** np.arange(-9, 5), 3 - 10.0 ** np.arange(-9, 5)])


def test_scores_are_bent_into_the_scale_and_keep_their_order() -> None:
    ratings = np.sort(
        np.concatenate([BEYOND, [1.4, 4.6], 4.6 + 10.0 ** np.arange(-12, 0), 1.4 - 10.0 ** np.arange(-12, 0)])
    )
    scores = bent(ratings)
    inner = (ratings >= 1.4) & (ratings <= 4.6)
    np.testing.assert_array_equal(scores[inner], ratings[inner])
    assert (scores > 1).all() and (scores < 5).all()
    np.testing.assert_array_equal(np.diff(scores) > 0, np.diff(ratings) > 0)
    edges = np.array([1.4, 4.6])
    slopes = (bent(edges + 1e-7) - bent(edges - 1e-7)) / 2e-7
    assert slopes == pytest.approx([1, 1], abs=1e-6)
    assert np.isnan(bent(np.array([np.nan]))).all()


def test_an_interval_lies_inside_the_scale_around_its_score_and_holds_no_fewer_ratings() -> None:
    calibration = replace(calibrate(*told(3000)), stretch=4.0)
    predictions, ratings, _ = told(3000, seed=1)
    scores, low, high = calibration.answers(predictions)
    before = calibration.ratings(predictions)
    ends = calibration.interval(before)
    assert ((before < 1) | (before > 5)).mean() > 0.1
    assert (low >= 1).all() and (high <= 5).all() and (low < scores).all() and (scores < high).all()
    held = (ends[0] <= ratings) & (ratings <= ends[1])
    assert (held <= ((low <= ratings) & (ratings <= high))).all()
