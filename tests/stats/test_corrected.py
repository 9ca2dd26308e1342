"""`stats.corrected`: means by ratings and scores, pass rates for labels, and how many labels a judge's shares need."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.corrected import Corrected, corrected
from rejoinder.stats.pass_rate import labels_for_caught, pass_rate
from rejoinder.stats.resamples import FloatArray
from rejoinder.stats.shares import wilson

LINES = 600
GOOD, PASSED, CAUGHT = 0.82, 0.93, 0.62
"""The pass rate, and the shares of good replies passed and of bad ones caught, of the table of half widths."""


def of(ratings: FloatArray, scores: FloatArray, *, labels: bool = True) -> Corrected:
    verdicts = scores.astype(np.int64) if np.isin(scores, (0, 1)).all() else None
    everything = np.ones(len(ratings), dtype=bool)
    return corrected(
        ratings, scores, np.ones(len(ratings)), everything, np.arange(len(ratings)), labels=labels, verdicts=verdicts
    )


def drawn(seed: int, rate: float) -> tuple[FloatArray, FloatArray]:
    """Return ratings of the first 100 lines, and verdicts that are right nine times of ten."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(LINES) < rate).astype(np.float64)
    verdicts = np.where(rng.random(LINES) < 0.9, truth, 1 - truth)
    return np.where(np.arange(LINES) < 100, truth, np.nan), verdicts


def test_ratings_on_a_scale_are_prediction_powered_means() -> None:
    ratings, scores = (values * 4 + 1 for values in drawn(1, 0.8))
    first, second = of(ratings, scores, labels=False), of(ratings[::-1], scores[::-1], labels=False)
    assert first.mean() == ppi.powered(first.sample)
    assert first.minus(second) == ppi.powered(first.sample.minus(second.sample))


def test_labels_by_verdicts_are_pass_rates() -> None:
    (ratings, verdicts), places = drawn(1, 0.8), np.arange(LINES)
    whole = verdicts.astype(np.int64)
    expected = pass_rate(ratings[:100], whole[:100], places[:100], whole, places)
    measured, other = of(ratings, verdicts), of(*drawn(2, 0.9))
    assert measured.mean().powered == expected.estimate
    assert measured.mean().alone.value == pytest.approx(np.nanmean(ratings))
    assert other.judged is not None and other.minus(measured).powered == other.judged.minus(expected)


def test_by_numbers_that_say_as_much_the_rate_is_nearly_the_same() -> None:
    ratings, verdicts = drawn(3, 0.8)
    by_verdicts, by_numbers = of(ratings, verdicts).mean().powered, of(ratings, 2 * verdicts + 1).mean().powered
    assert by_numbers.value == pytest.approx(by_verdicts.value, abs=0.001)
    assert by_numbers.ends == pytest.approx(by_verdicts.ends, abs=0.015)


def test_a_verdict_without_a_label_leaves_the_labels_alone() -> None:
    ratings, verdicts = drawn(4, 0.8)
    verdicts[:100] = 1
    verdicts[103:] = 1
    mean = of(ratings, np.where(np.arange(LINES) == 102, 0.0, verdicts)).mean()
    assert mean.powered == mean.alone


def test_labels_of_one_verdict_that_are_unlikely_by_chance_give_no_mean() -> None:
    ratings, verdicts = drawn(4, 0.8)
    verdicts[:100] = 0
    mean = of(ratings, verdicts).mean()
    assert not mean.powered.known and mean.powered.reason == "no line that the judge passes is labelled"


def test_labels_that_are_all_good_have_an_interval_and_no_label_has_none() -> None:
    _, verdicts = drawn(5, 0.8)
    good = np.where(np.arange(LINES) < 100, 1.0, np.nan)
    for scores in (verdicts, verdicts + np.arange(LINES)):
        mean = of(good, scores).mean().powered
        assert mean.value == 1 and 0.94 < mean.low < 0.99
    assert not of(np.full(LINES, np.nan), verdicts).mean().powered.known
    assert not of(np.full(LINES, np.nan), verdicts).minus(of(good, verdicts)).powered.known


@pytest.mark.parametrize(("labels", "caught"), [(30, 0.33), (60, 0.25), (120, 0.19), (250, 0.14), (500, 0.10)])
def test_labels_for_the_share_of_bad_replies_caught(labels: int, caught: float) -> None:
    bad = round(labels * (1 - GOOD))
    share = round(bad * CAUGHT) / bad
    low, high = normal_wilson(share, bad)
    assert (high - low) / 2 == pytest.approx(caught, abs=0.0051)
    assert labels_for_caught((high - low) / 2, share, bad / labels) == pytest.approx(labels, abs=1)


def normal_wilson(share: float, trials: int) -> tuple[float, float]:
    """Return Wilson's interval with the quantile of the normal distribution."""
    estimate = wilson(share, share * (1 - share) / trials, trials, 1e9)
    return estimate.ends


@pytest.mark.parametrize(("apart", "each"), [(0.10, 160), (0.05, 630)])
def test_labels_that_show_a_difference_with_this_judge(apart: float, each: int) -> None:
    rng, lines, n = np.random.default_rng(6), 400_000, 4_000
    truth = (rng.random(lines) < GOOD).astype(np.float64)
    verdicts = np.where(rng.random(lines) < np.where(truth == 1, PASSED, CAUGHT), truth, 1 - truth)
    labelled = np.arange(lines) < n
    old, new = (of(np.where(labelled, truth[::way], np.nan), verdicts[::way]) for way in (1, -1))
    sample = new.sample.minus(old.sample)
    needed = ppi.ratings_needed(sample, 0.6996 * apart, scored=True)
    assert needed is not None and needed / 2 == pytest.approx(each, rel=0.06)
