"""How far raters agree: published examples, another program's values, and figures known from how ratings were made."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import rejoinder
from rejoinder.errors import UsageError
from rejoinder.stats.alpha import krippendorff_alpha
from rejoinder.stats.reliability import one_against_others, random_halves, reliability

Table = NDArray[np.float64]
NONE = math.nan

# Shrout and Fleiss (1979), table 2: six targets, four judges; their table 4 has ICC(1,1) = .17 and ICC(1,4) = .44.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)
# Krippendorff (2011), case C: four observers, twelve units; his interval alpha is .849.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T


def crowd(items: int, raters: int, noise: float, seed: int, missing: float = 0.0) -> tuple[Table, Table]:
    """Ratings of items whose true values have variance 1, and the true values."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=items)
    table = true[:, None] + noise * rng.normal(size=(items, raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table, true


def test_reliability_is_that_of_shrout_and_fleiss() -> None:
    found = reliability(SHROUT_FLEISS)
    # mean squares 11.24 between, 6.26 within: (11.24 - 6.26) / (11.24 + 3 * 6.26) and (11.24 - 6.26) / 11.24
    between, within = 4 * SHROUT_FLEISS.mean(axis=1).var(ddof=1), SHROUT_FLEISS.var(axis=1, ddof=1).mean()
    assert (round(between, 2), round(within, 2)) == (11.24, 6.26)
    assert found.single == pytest.approx((between - within) / (between + 3 * within), abs=1e-12)
    assert found.mean == pytest.approx((between - within) / between, abs=1e-12)
    assert (round(found.single, 2), round(found.mean, 2)) == (0.17, 0.44)
    assert found.ceiling == pytest.approx(math.sqrt(found.mean), abs=1e-15)
    assert (found.items, found.ratings, found.reason) == (6, 24, "")


def test_the_mean_steps_up_one_rating_by_spearman_brown() -> None:
    found = reliability(SHROUT_FLEISS)
    assert found.mean == pytest.approx(4 * found.single / (1 + 3 * found.single), abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_reliability_is_recovered(missing: float) -> None:
    """Variance 1 between items and 2 within; with numbers of raters of their own, the harmonic mean counts."""
    table, true = crowd(20_000, 5, math.sqrt(2), 0, missing)
    found = reliability(table)
    rated = np.isfinite(table).any(axis=1)
    k = np.isfinite(table[rated]).sum(axis=1)
    assert found.single == pytest.approx(1 / 3, abs=0.015)
    assert found.mean == pytest.approx(1 / (1 + 2 * (1 / k).mean()), abs=0.015)
    # the ceiling is what the truth itself reaches
    truth = stats.pearsonr(true[rated], np.nanmean(table[rated], axis=1)).statistic
    assert found.ceiling == pytest.approx(truth, abs=0.01)
    assert (found.items, found.ratings) == (rated.sum(), k.sum())


def test_more_noise_than_items_is_no_reliability() -> None:
    found = reliability(np.array([[1.0, 5.0], [5.0, 1.0], [1.0, 5.0], [5.0, 1.0]]))
    assert (found.single, found.mean, found.ceiling, found.reason) == (0.0, 0.0, 0.0, "")


def test_raters_who_agree_are_perfectly_reliable() -> None:
    table = np.repeat([[1.0], [2.0], [4.0]], 3, axis=1)
    assert reliability(table)[:3] == (1.0, 1.0, 1.0)
    assert krippendorff_alpha(table).value == 1.0
    for found in (one_against_others(table, np.random.default_rng(0)), random_halves(table, np.random.default_rng(0))):
        assert (found.pearson.value, found.spearman.value) == (1.0, 1.0)
        assert found.pearson.method == "mean over 100 random draws"


def test_alpha_is_krippendorffs() -> None:
    found = krippendorff_alpha(KRIPPENDORFF)
    assert round(found.value, 3) == 0.849
    assert (found.n, found.reason) == (11, "")  # the last unit has one rating only


def test_alpha_equals_the_package() -> None:
    """krippendorff 0.9.0: `krippendorff.alpha(table.T, level_of_measurement="interval")`."""
    assert krippendorff_alpha(KRIPPENDORFF).value == pytest.approx(0.8491071428571428, abs=1e-12)
    table = np.array([[4, 5, 4, NONE], [2, NONE, 1, NONE], [3, 3, 5, 2], [NONE, NONE, NONE, 1], [5, 4, NONE, 4]])
    assert krippendorff_alpha(table).value == pytest.approx(0.5497076023391814, abs=1e-12)


def test_alpha_by_hand() -> None:
    """Pairs (1, 2), (2, 3), (4, 4): three disagreements of 1, 1, 0; all six values have the variance 1.8666..."""
    found = krippendorff_alpha(np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 4.0]]))
    observed = (1 + 1 + 0) / 3  # mean squared difference of the pairs
    values = np.array([1, 2, 2, 3, 4, 4])
    expected = sum((a - b) ** 2 for a in values for b in values) / 30
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-12)


def test_one_against_others_is_the_mean_over_raters() -> None:
    """Where the order of ratings means nothing, drawing gives what leaving out each column in turn gives."""
    table, _ = crowd(3000, 4, 1.0, 1)
    found = one_against_others(table, np.random.default_rng(0), draws=50)
    columns = [(table[:, one], np.delete(table, one, axis=1).mean(axis=1)) for one in range(4)]
    assert found.pearson.value == pytest.approx(
        np.mean([stats.pearsonr(*pair).statistic for pair in columns]), abs=0.01
    )
    assert found.spearman.value == pytest.approx(
        np.mean([stats.spearmanr(*pair).statistic for pair in columns]), abs=0.01
    )
    # 1 / sqrt((1 + 1) (1 + 1/3))
    assert found.pearson.value == pytest.approx(math.sqrt(3 / 8), abs=0.02)
    assert found.pearson.n == 3000


def test_halves_of_six_correlate_as_three_with_three() -> None:
    table, _ = crowd(5000, 6, 1.0, 2)
    found = random_halves(table, np.random.default_rng(0), draws=20)
    assert found.pearson.value == pytest.approx(3 / 4, abs=0.015)  # 1 / (1 + 1/3)
    assert found.spearman.value == pytest.approx(
        6 / math.pi * math.asin(found.pearson.value / 2), abs=0.01
    )  # of a normal pair


def test_order_of_ratings_and_single_ones_change_nothing() -> None:
    """Two ratings: either is the one, so a table and its mirror have the same mean over many draws."""
    table, _ = crowd(60, 2, 1.0, 3)
    wider = np.vstack([np.c_[np.full(60, np.nan), table[:, ::-1]], [[np.nan, 2.0, np.nan]]])
    for figure in (one_against_others, random_halves):
        plain = figure(table, np.random.default_rng(0), draws=500)
        found = figure(wider, np.random.default_rng(1), draws=500)
        assert found.pearson.n == 60
        assert found.pearson.value == pytest.approx(plain.pearson.value, abs=0.006)
    assert krippendorff_alpha(wider).value == pytest.approx(krippendorff_alpha(table).value, abs=1e-12)


def test_the_same_seed_gives_the_same_numbers() -> None:
    table, _ = crowd(50, 3, 1.0, 4, missing=0.3)
    first, again, other = (one_against_others(table, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_draws_without_a_correlation_are_left_out() -> None:
    """In half of the draws of this table the one rater gives every item a 1."""
    found = one_against_others(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]), np.random.default_rng(0), draws=100)
    # where one part has the 2, the other has only 1s
    assert found.pearson.reason == found.spearman.reason == "none of 100 draws has a correlation"
    found = one_against_others(np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), np.random.default_rng(0), draws=400)
    # the 2s stand together in half of the draws, and in the others each part has one
    said = re.fullmatch(r"mean over 400 random draws, (\d+) of them without a correlation", found.pearson.method)
    assert said and 150 < int(said[1]) < 250
    assert found.pearson.value == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((0, 3)), "0 items have two ratings or more; at least three are needed"),
        (np.array([[1.0, 2.0], [3.0, NONE]]), "1 item has two ratings or more; at least three are needed"),
        (np.array([[1.0], [2.0], [3.0], [4.0]]), "0 items have two ratings or more; at least three are needed"),
        (
            np.array([[1.0, 2.0], [1.0, 3.0], [NONE, NONE]]),
            "2 items have two ratings or more; at least three are needed",
        ),
        (
            np.array([[1.0, 2.0], [1.0, 3.0], [1.0, math.inf]]),
            "2 items have two ratings or more; at least three are needed",
        ),
        (np.full((4, 3), 2.5), "all ratings are the same (2.5)"),
    ],
)
def test_no_figure_has_a_reason(table: Table, reason: str) -> None:
    rng = np.random.default_rng(0)
    whole = reliability(table)
    assert all(math.isnan(value) for value in (whole.single, whole.mean, whole.ceiling))
    alpha = krippendorff_alpha(table)
    parts = [one_against_others(table, rng), random_halves(table, rng)]
    assert not any(value.known for part in parts for value in part)
    assert math.isnan(alpha.value)
    assert {whole.reason, alpha.reason, *(value.reason for part in parts for value in part)} == {reason}


def test_ratings_are_a_table() -> None:
    with pytest.raises(UsageError, match=r"^ratings are a table of items and raters, not of shape \(4,\)$"):
        reliability(np.arange(4.0))


def test_usr_personachat(shared: Path) -> None:
    """300 responses, three ratings each: one rater reaches .71, a perfect scorer at most .92."""
    examples = list(rejoinder.read(shared / "data" / "judgements" / "usr_personachat.jsonl.gz"))
    table = np.array([[one.value for one in example.ratings if one.dimension == "overall"] for example in examples])
    whole, person = reliability(table), one_against_others(table, np.random.default_rng(0))
    assert (whole.items, whole.ratings) == (300, 900)
    assert [round(value, 2) for value in (whole.single, whole.mean, whole.ceiling)] == [0.64, 0.84, 0.92]
    assert person.pearson.value == pytest.approx(0.71, abs=0.005)
    assert person.spearman.value == pytest.approx(0.715, abs=0.005)
    assert krippendorff_alpha(table).value == pytest.approx(0.6405246181323807, abs=1e-12)  # package krippendorff 0.9.0
