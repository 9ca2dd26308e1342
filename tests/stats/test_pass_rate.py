"""Pass rates from verdicts and labels: by hand, against judgy's formula, with clusters, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.stats.pass_rate import (
    NO_VERDICT,
    PassRate,
    design_effect,
    highest_caught,
    label_error,
    labels_for,
    pass_rate,
    rogan_gladen,
    weighted_shares,
)

LABELS = np.array([1, 1, 1, 0, 0, 1, 0, 0], dtype=float)
VERDICTS = np.array([1, 1, 1, 1, 0, 0, 0, 0])
EVERY = np.repeat([1, 0], [60, 40])


def rate(
    labels: np.ndarray = LABELS,
    verdicts: np.ndarray = VERDICTS,
    every: np.ndarray = EVERY,
    clusters: np.ndarray | None = None,
    every_clusters: np.ndarray | None = None,
) -> PassRate:
    """Return a pass rate; without clusters every line is one."""
    own = np.arange(len(labels)) if clusters is None else clusters
    return pass_rate(labels, verdicts, own, every, np.arange(len(every)) if every_clusters is None else every_clusters)


def test_each_verdict_counts_as_often_as_among_all_lines() -> None:
    measured = rate()
    assert measured.value == pytest.approx(0.6 * 3 / 4 + 0.4 * 1 / 4)
    assert measured.middle == pytest.approx(0.6 * 3.5 / 5 + 0.4 * 1.5 / 5, abs=0.02)  # but for the design effect
    estimate = measured.estimate
    assert 0 < estimate.low < estimate.value < estimate.high < 1 and np.isnan(estimate.p)


def test_of_labels_drawn_by_chance_it_is_the_tuned_prediction_powered_mean() -> None:
    rng = np.random.default_rng(2)
    truth, n = (rng.random(2000) < 0.8).astype(float), 300
    every = np.where(rng.random(2000) < 0.85, truth, 1 - truth).astype(int)
    labels, verdicts = truth[:n], every[:n]
    power = np.cov(labels, verdicts)[0, 1] / verdicts.var(ddof=1)
    expected = labels.mean() - power * (verdicts.mean() - every.mean())
    assert rate(labels, verdicts, every).value == pytest.approx(expected, abs=1e-12)


def test_a_verdict_without_a_label_leaves_no_rate() -> None:
    measured = rate(np.ones(4), np.ones(4, dtype=int))
    assert np.isnan(measured.value) and measured.estimate.reason == "no line that the judge fails is labelled"
    assert rate(np.ones(4), np.ones(4, dtype=int), np.ones(9, dtype=int)).value == 1
    assert not measured.minus(rate()).known and measured.minus(rate()).reason


def test_lines_without_a_verdict_are_a_kind_of_their_own_or_left_out() -> None:
    every = np.repeat([1, 0, NO_VERDICT], [60, 40, 100])
    assert rate(every=every).value == pytest.approx(rate().value) and rate(every=every).lines == 100
    labels, verdicts = np.append(LABELS, [1.0, 0.0]), np.append(VERDICTS, [NO_VERDICT] * 2)
    assert rate(labels, verdicts, every).value == pytest.approx(0.5 * rate().value + 0.5 * 0.5)


def test_copies_of_lines_do_not_narrow_the_interval() -> None:
    copied = (np.repeat(LABELS, 4), np.repeat(VERDICTS, 4), np.repeat(EVERY, 4))
    groups = np.repeat(np.arange(8), 4), np.repeat(np.arange(100), 4)
    single, many, naive = rate().estimate, rate(*copied, *groups).estimate, rate(*copied).estimate
    assert many.value == pytest.approx(single.value) and many.ends == pytest.approx(single.ends, abs=0.02)
    assert naive.high - naive.low < 0.7 * (many.high - many.low)
    assert design_effect(np.array([1.0, -1.0]), np.array([3, 3])) == 1


def test_a_difference_of_versions_that_answer_the_same_questions() -> None:
    truth = (np.random.default_rng(4).random(200) < 0.5).astype(float)
    measured, other = rate(truth, truth.astype(int), truth.astype(int)), np.arange(200) + 200
    apart = measured.minus(measured)
    independent = measured.minus(rate(truth, truth.astype(int), truth.astype(int), other, other))
    assert apart.value == independent.value == 0
    assert apart.high - apart.low <= independent.high - independent.low and independent.p == pytest.approx(1)


def test_weighted_shares() -> None:
    shares = weighted_shares(LABELS, VERDICTS, np.arange(8), 0.6, 100)
    assert shares["TPR"].value == pytest.approx(0.6 * 0.75 / (0.6 * 0.75 + 0.4 * 0.25))
    assert shares["TNR"].value == pytest.approx(0.4 * 0.75 / (0.4 * 0.75 + 0.6 * 0.25))
    assert all(0 < share.low < share.value < share.high < 1 for share in shares.values())
    good = weighted_shares(np.ones(8), VERDICTS, np.arange(8), 0.6, 100)
    assert good["TPR"].value == 0.6 and good["TNR"].reason == "no reply is labelled bad"
    assert weighted_shares(LABELS, np.ones(8, dtype=int), np.arange(8), 0.6, 100)["TNR"].reason


@pytest.mark.parametrize(("passed", "expected"), [(0.8, (0.8 + 0.7 - 1) / (0.9 + 0.7 - 1)), (0.2, 0.0), (0.99, 1.0)])
def test_rogan_and_gladen_is_the_point_of_judgy(passed: float, expected: float) -> None:
    estimate = rogan_gladen((90, 28), (100, 40), passed, 800)
    assert estimate.value == pytest.approx(expected) and estimate.low <= estimate.value <= estimate.high


def test_lang_and_reiczigel() -> None:
    """By the formulas of the paper, worked out apart for 90 of 100, 28 of 40 and 640 of 800 passed."""
    estimate = rogan_gladen((90, 28), (100, 40), 0.8, 800)
    assert estimate.ends == pytest.approx((0.73301, 0.94533), abs=1e-5)


def test_a_judge_near_chance_gives_no_corrected_rate() -> None:
    estimate = rogan_gladen((60, 18), (100, 40), 0.6, 800)
    assert estimate.ends == (0.0, 1.0)
    assert "chance" in estimate.reason
    assert rogan_gladen((0, 18), (0, 40), 0.6, 800).reason == "no reply is labelled good"


def test_labels_for_half_a_width() -> None:
    rng = np.random.default_rng(6)
    truth = (rng.random(5000) < 0.8).astype(float)
    every = np.where(rng.random(5000) < 0.8, truth, 1 - truth).astype(int)
    pilot = rate(truth[:200], every[:200], every)
    needed = labels_for(0.03, pilot)
    assert needed is not None
    reached = rate(truth[:needed], every[:needed], every).estimate
    assert (reached.high - reached.low) / 2 == pytest.approx(0.03, rel=0.1)
    assert labels_for(0.001, pilot) is None and labels_for(0.05, pilot, pilot) is not None


def test_what_wrong_labels_cost_a_perfect_judge() -> None:
    assert highest_caught(0.9, 0.05) == pytest.approx(0.1 * 0.95 / (0.1 * 0.95 + 0.9 * 0.05))
    assert np.isnan(highest_caught(1.0, 0.05))
    assert label_error(2 * 0.05 * 0.95) == pytest.approx(0.05) and np.isnan(label_error(0.6))
