"""Means of few ratings and many scores: by hand, beside ppi-python, and how often the intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rejoinder.stats.prediction_powered import (
    FREEDOM_TO_TUNE,
    Powered,
    Sample,
    powered,
    ratings_needed,
    sample_of,
    shared_power,
    worth,
)

Floats = NDArray[np.float64]
TOO_FEW = "no interval: ratings of fewer than four conversations, or nearly all of one"


def one(ratings: Floats, scores: Floats, clusters: NDArray[np.int64] | None = None, **other: Floats) -> Sample:
    """A sample of lines that are all listed, each its own conversation unless told otherwise."""
    count = len(ratings)
    weights, listed = other.get("weights", np.ones(count)), other.get("listed", np.ones(count)).astype(bool)
    return sample_of(ratings, scores, weights, listed, np.arange(count) if clusters is None else clusters)


def world(rng: np.random.Generator, lines: int, rated: int, agreement: float) -> tuple[Floats, Floats]:
    """Ratings of some lines, mean 0, and scores on another scale that agree with them so far."""
    truth = rng.normal(size=lines)
    scores = 40 - 10 * (agreement * truth + math.sqrt(1 - agreement**2) * rng.normal(size=lines))
    return np.where(rng.permutation(lines) < rated, truth, np.nan), scores


def test_ratings_alone_are_the_t_interval() -> None:
    """3, 4, 5, 4, 2, 3: mean 3.5, sd 1.0488, half 2.5706 * 1.0488 / sqrt(6)."""
    found = powered(one(np.array([3.0, 4, 5, 4, 2, 3]), np.arange(6.0)))
    by_scipy = stats.t.interval(0.95, 5, 3.5, stats.sem([3, 4, 5, 4, 2, 3]))
    assert found.alone.value == 3.5 and found.alone.ends == pytest.approx(by_scipy)
    assert found.alone.ends == pytest.approx((3.5 - 1.1007, 3.5 + 1.1007), abs=1e-3)
    assert found.powered == found.alone and found.power == 0.0, "all are rated, so scores add nothing"


@pytest.mark.slow  # for what it loads
def test_the_estimate_is_that_of_ppi_python() -> None:
    """With the power that we found, and lines that are rated or listed but never both."""
    ppi = pytest.importorskip("ppi_py", reason="needs the extra oracle")
    ratings, scores = world(np.random.default_rng(1), 2000, 200, 0.7)
    rated = np.isfinite(ratings)
    found = powered(one(ratings, scores, listed=~rated))
    given = ratings[rated], scores[rated], scores[~rated]
    assert found.powered.value == pytest.approx(float(np.ravel(ppi.ppi_mean_pointestimate(*given, lam=found.power))[0]))
    low, high = ppi.ppi_mean_ci(*given, alpha=0.05, lam=found.power)
    theirs, ours = float(high[0] - low[0]), found.powered.high - found.powered.low
    assert theirs < ours < 1.02 * theirs, "theirs takes the normal for Student's and the power for given"


@pytest.mark.slow
@pytest.mark.parametrize("agreement", [0.3, 0.8])
def test_the_power_is_that_of_ppi_python(agreement: float) -> None:
    ppi = pytest.importorskip("ppi_py", reason="needs the extra oracle")
    ratings, scores = world(np.random.default_rng(2), 2000, 200, agreement)
    rated = np.isfinite(ratings)
    # theirs keeps the power in [0, 1], so it gets scores that point the same way and spread as widely
    scores = (40 - scores) / 10
    found = powered(one(ratings, scores, listed=~rated))
    low, high = ppi.ppi_mean_ci(ratings[rated], scores[rated], scores[~rated], alpha=0.05)
    assert found.powered.low == pytest.approx(float(low[0]), abs=0.01)
    assert found.powered.high == pytest.approx(float(high[0]), abs=0.01)


def test_lines_that_are_rated_and_listed_are_the_same_as_apart() -> None:
    """The mean of all lines holds the rated ones, which only moves the power, not the estimate."""
    ratings, scores = world(np.random.default_rng(3), 1000, 200, 0.7)
    both, apart = (powered(one(ratings, scores, listed=listed)) for listed in (np.ones(1000), np.isnan(ratings)))
    assert both.powered.value == pytest.approx(apart.powered.value, abs=0.01)
    assert both.power * 800 / 1000 == pytest.approx(apart.power, rel=0.05)
    assert both.powered.high == pytest.approx(apart.powered.high, abs=0.01)


def test_the_scale_of_the_scores_does_not_matter() -> None:
    ratings, scores = world(np.random.default_rng(4), 500, 60, 0.6)
    found, other = powered(one(ratings, scores)), powered(one(ratings, 1e6 - 300 * scores))
    assert other.powered.ends == pytest.approx(found.powered.ends)
    assert other.power == pytest.approx(-found.power / 300)


def test_scores_that_are_all_the_same_change_nothing() -> None:
    ratings, _ = world(np.random.default_rng(4), 500, 60, 0.6)
    found = powered(one(ratings, np.full(500, 0.1)))
    assert found.powered == found.alone and found.power == 0 and worth(found) == pytest.approx(60)


def test_a_scorer_that_knows_all_leaves_what_the_lines_leave() -> None:
    """Then the mean of all lines is known, but for how they came about: the interval of 500 ratings."""
    ratings, scores = world(np.random.default_rng(5), 500, 60, 1.0)
    found = powered(one(ratings, scores))
    assert found.powered.value == pytest.approx(float((40 - scores).mean() / 10), abs=0.02)
    whole = powered(one((40 - scores) / 10, scores)).alone
    assert found.powered.high - found.powered.low == pytest.approx(whole.high - whole.low, rel=0.06)
    assert worth(found) > 300


def test_lines_of_one_conversation_count_as_one() -> None:
    """Each line four times over tells no more than once."""
    ratings, scores = world(np.random.default_rng(6), 400, 50, 0.6)
    once = powered(one(ratings, scores))
    again = powered(one(np.tile(ratings, 4), np.tile(scores, 4), np.tile(np.arange(400), 4)))
    for found, expected in ((again.alone, once.alone), (again.powered, once.powered)):
        assert (found.value, *found.ends) == pytest.approx((expected.value, *expected.ends))
    assert (once.alone.n, again.alone.n) == (50, 200)


def test_weights_set_right_what_was_chosen_more_often() -> None:
    """High scores rated four times as often: the plain mean is far too high, the weighted one is not."""
    rng = np.random.default_rng(7)
    truth = rng.normal(size=20_000)
    chance = np.where(truth > 0, 0.2, 0.05)
    ratings = np.where(rng.random(20_000) < chance, truth, np.nan)
    scores = truth + rng.normal(size=20_000)
    found = powered(one(ratings, scores, weights=1 / chance))
    assert found.powered.value == pytest.approx(truth.mean(), abs=0.04)
    assert not found.powered.excludes(float(truth.mean()))
    assert powered(one(ratings, np.zeros(20_000))).alone.low > truth.mean() + 0.3


def test_a_difference_is_of_the_same_conversations() -> None:
    """Two systems in the same conversations: what these share goes out of the difference."""
    rng = np.random.default_rng(8)
    shared, contexts = rng.normal(size=300), np.arange(300)
    scores = rng.normal(size=(2, 300))
    rated = rng.permutation(300) < 60
    first, second = (
        one(np.where(rated, 3 * shared + own + rng.normal(size=300), np.nan), row, contexts)
        for own, row in zip((0.0, 1.0), scores, strict=True)
    )
    found = powered(second.minus(first))
    assert found.alone.value == pytest.approx(second.mean - first.mean)
    assert found.alone.high - found.alone.low < 0.5 * (powered(first).alone.high - powered(first).alone.low)
    pairs = second.parts[0] - first.parts[0]
    assert found.alone.ends == pytest.approx(
        stats.t.interval(0.95, 59, found.alone.value, math.sqrt(float(pairs @ pairs)))
    )


def test_two_independent_samples_are_welch() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=30), rng.normal(1, 3, size=12)
    first, second = one(a, np.zeros(30)), one(b, np.zeros(12), np.arange(30, 42))
    found = powered(second.minus(first)).alone
    test = stats.ttest_ind(b, a, equal_var=False)
    assert found.p == pytest.approx(test.pvalue)
    assert found.ends == pytest.approx(tuple(test.confidence_interval(0.95)))


@pytest.mark.parametrize(
    ("ratings", "clusters", "why"),
    [
        ([np.nan] * 4, [0, 1, 2, 3], "no rated line"),
        ([1.0, 2.0, np.nan, np.nan], [0, 1, 2, 3], TOO_FEW),
        ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1], TOO_FEW),
        ([1.0, *[2.0, 3.0] * 20, 4.0], [0, *[1] * 38, 2, 3, 3], TOO_FEW),
        ([1.0, 2.0, 4.0, np.nan], [0, 1, 2, 3], TOO_FEW),
        ([2.0, 2.0, 2.0, 2.0], [0, 1, 2, 3], "no interval: all ratings are equal"),
    ],
)
def test_why_there_is_no_interval(ratings: list[float], clusters: list[int], why: str) -> None:
    sample = one(np.array(ratings), np.arange(float(len(ratings))), np.array(clusters))
    found = powered(sample, 1.0)
    assert found.powered.reason == why and not found.powered.has_interval and math.isnan(worth(found))
    assert ratings_needed(sample, 0.1, scored=True) is None


def test_few_ratings_take_the_power_of_all() -> None:
    rng = np.random.default_rng(10)
    samples = [one(*world(rng, 60, 10, 0.9), np.arange(60)) for _ in range(5)]
    shared = shared_power(samples)
    assert shared == pytest.approx(-0.1, abs=0.02)  # scores are tenfold and point the other way
    found = [powered(sample, shared) for sample in samples]
    assert all(one.shared and one.powered.high - one.powered.low < one.alone.high - one.alone.low for one in found)
    assert [powered(sample).power for sample in samples] == [0.0] * 5, "by themselves they are too few to tune"
    assert shared_power(samples[:2]) is None


def test_under_24_conversations_tuning_would_cost_over_5_percent() -> None:
    def cost(freedom: float) -> float:
        spread = math.sqrt(freedom / (freedom - 2))
        return float(spread * stats.t.ppf(0.975, freedom - 1) / stats.t.ppf(0.975, freedom))

    assert cost(math.ceil(FREEDOM_TO_TUNE)) < 1.05 < cost(math.floor(FREEDOM_TO_TUNE))


def test_needed_ratings_are_those_that_reach() -> None:
    """Rated at a quarter of the lines; with what is needed for the half width, it comes out so."""
    rng = np.random.default_rng(11)
    pilot = one(*world(rng, 20_000, 400, 0.7))
    for scored in (False, True):
        needed = ratings_needed(pilot, 0.08, scored=scored)
        assert needed is not None
        found = powered(one(*world(rng, 20_000, needed, 0.7)))
        reached = found.powered if scored else found.alone
        assert (reached.high - reached.low) / 2 == pytest.approx(0.08, rel=0.12)
    alone, scored_too = (ratings_needed(pilot, 0.08, scored=scored) or 0 for scored in (False, True))
    assert alone == pytest.approx(600, rel=0.2) and scored_too == pytest.approx(600 * (1 - 0.49), rel=0.2)


def test_what_few_lines_leave_no_number_of_ratings_takes_away() -> None:
    pilot = one(*world(np.random.default_rng(12), 100, 50, 0.99))
    assert ratings_needed(pilot, 1e-6, scored=True) is None


RUNS = [300, pytest.param(3000, marks=pytest.mark.slow)]


def simulated(runs: int, lines: int, rated: int, agreement: float) -> list[Powered]:
    rng = np.random.default_rng([lines, rated, int(100 * agreement)])
    return [powered(one(*world(rng, lines, rated, agreement))) for _ in range(runs)]


def of_systems(runs: int) -> list[tuple[Powered, Powered]]:
    """Five systems in 60 conversations, 50 ratings from 1 to 5 in all: the mean of one, and its lead over another."""
    rng, contexts, found = np.random.default_rng(13), np.arange(60), list[tuple[Powered, Powered]]()
    for _ in range(runs):
        truth = 0.6 * rng.normal(size=60) + 0.8 * rng.normal(size=(5, 60))
        scores = truth + rng.normal(size=(5, 60)) + 0.3 * rng.normal(size=60)
        answers = np.clip(np.round(3 + truth), 1, 5)
        rated = (rng.permutation(300) < 50).reshape(5, 60)
        samples = [one(np.where(rated[row], answers[row], np.nan), scores[row], contexts) for row in range(5)]
        shared = shared_power(samples)
        found.append((powered(samples[0], shared), powered(samples[0].minus(samples[1]), shared)))
    return found


def check_coverage(found: list[Powered], truth: float, runs: int) -> None:
    """95 +- 2 %, and as much more as so few runs leave to chance; by ratings alone too."""
    for figures in ([one.powered for one in found], [one.alone for one in found]):
        known = [not figure.excludes(truth) for figure in figures if figure.has_interval]
        assert np.mean(known) == pytest.approx(0.95, abs=0.02 + 0.25 / runs**0.5)


def widths(found: list[Powered]) -> Floats:
    """How wide intervals are, as shares of those by ratings alone."""
    known = [one for one in found if one.alone.has_interval]
    return np.array([(one.powered.high - one.powered.low) / (one.alone.high - one.alone.low) for one in known])


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("rated", "agreement"), [(25, 0.0), (50, 0.0), (50, 0.5), (50, 0.9), (200, 0.5)])
def test_intervals_hold_95_percent_and_are_never_much_wider(rated: int, agreement: float, runs: int) -> None:
    found = simulated(runs, 500, rated, agreement)
    check_coverage(found, 0.0, runs)
    assert widths(found).max() < 1.05
    assert widths(found).mean() < (1.03 if agreement == 0 else 0.94)


@pytest.mark.parametrize("runs", RUNS)
def test_intervals_hold_where_conversations_and_systems_share_ratings(runs: int) -> None:
    means, differences = zip(*of_systems(runs), strict=True)
    check_coverage(list(means), 3.0, runs)
    check_coverage(list(differences), 0.0, runs)
    both = widths([*means, *differences])
    assert both.max() < 1.05 and both.mean() < 0.95
