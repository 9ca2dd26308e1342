"""Agreement of raters: published examples, other programs' values, known truths, and resamples written out."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import cohen_kappa_score

import rejoinder
from conftest import GOLDEN
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.stats.agreement import (
    LEVELS,
    WEIGHTINGS,
    Level,
    Weighting,
    alphas,
    kappas,
    krippendorff_alpha,
    one_left_out,
    random_halves,
    reliability,
    two_way,
)
from rejoinder.stats.resamples import Resamples

Table = NDArray[np.float64]
NONE = math.nan
# Shrout and Fleiss (1979), table 2: six targets, four judges; their table 4 has ICC(1, 1) = .17, ICC(1, 4) = .44, and
# .29, .62, .71 and .91 for the two-way models.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
# Krippendorff (2011), case C: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T
SKLEARN: dict[Weighting, str | None] = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


def one_rater(table: Table, rng: Any, draws: int = 100) -> dict[Any, Estimate]:
    """The correlation of one rater with the mean of the others."""
    return one_left_out(table, rng, draws).correlations()


def crowd(items: int, raters: int, noise: float, seed: int, missing: float = 0.0) -> tuple[Table, Table]:
    """Ratings of items whose true values have variance 1, and the true values."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=items)
    table = true[:, None] + noise * rng.normal(size=(items, raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table, true


def clustered(seed: int) -> tuple[Table, Resamples, list[NDArray[np.int64]]]:
    """Ratings with gaps, resamples of six clusters of 20 lines, and the rows of each resample."""
    rng = np.random.default_rng(seed)
    ratings = rng.choice([1.0, 2.0, 3.5, 5.0, NONE], size=(20, 4))
    clusters, counts = rng.integers(0, 6, 20), rng.integers(0, 3, (6, 5)).astype(np.uint16)
    counts[:, 0] = 1
    return ratings, Resamples(clusters, counts), [np.repeat(np.arange(20), column[clusters]) for column in counts.T]


# intraclass correlations


def test_reliability_is_that_of_shrout_and_fleiss() -> None:
    found = reliability(SHROUT_FLEISS)
    # mean squares 11.24 between, 6.26 within: (11.24 - 6.26) / (11.24 + 3 * 6.26) and (11.24 - 6.26) / 11.24
    between, within = 4 * SHROUT_FLEISS.mean(axis=1).var(ddof=1), SHROUT_FLEISS.var(axis=1, ddof=1).mean()
    assert found.single == pytest.approx((between - within) / (between + 3 * within), abs=1e-12)
    assert found.mean == pytest.approx((between - within) / between, abs=1e-12)
    assert (round(found.single[0], 2), round(found.mean[0], 2)) == (0.17, 0.44)
    assert found.mean == pytest.approx(4 * found.single / (1 + 3 * found.single), abs=1e-12), "Spearman-Brown"
    assert found.ceiling == pytest.approx(np.sqrt(found.mean), abs=1e-15)
    assert (found.items, found.ratings, found.reason) == (6, 24, "")


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_reliability_is_recovered(missing: float) -> None:
    """Variance 1 between items and 2 within; with different numbers of raters the harmonic mean counts."""
    table, true = crowd(20_000, 5, math.sqrt(2), 0, missing)
    found = reliability(table)
    rated = np.isfinite(table).any(axis=1)
    k = np.isfinite(table[rated]).sum(axis=1)
    assert found.single == pytest.approx(1 / 3, abs=0.015)
    assert found.mean == pytest.approx(1 / (1 + 2 * (1 / k).mean()), abs=0.015)
    truth = stats.pearsonr(true[rated], np.nanmean(table[rated], axis=1)).statistic
    assert found.ceiling == pytest.approx(truth, abs=0.01), "what a scorer that knows the truth reaches"
    assert (found.items, found.ratings) == (rated.sum(), k.sum())


def test_the_ends_of_reliability() -> None:
    noise = reliability(np.array([[1.0, 5.0], [5.0, 1.0], [1.0, 5.0], [5.0, 1.0]]))
    assert (noise.single[0], noise.mean[0], noise.ceiling[0], noise.reason) == (0.0, 0.0, 0.0, "")
    table = np.repeat([[1.0], [2.0], [4.0]], 3, axis=1)
    assert [values[0] for values in reliability(table)[:3]] == [1.0, 1.0, 1.0]
    assert krippendorff_alpha(table).value == 1.0
    for parts in (
        one_rater(table, np.random.default_rng(0)),
        random_halves(table, np.random.default_rng(0)),
    ):
        assert (parts["pearson"].value, parts["spearman"].value) == (1.0, 1.0)
        assert parts["pearson"].method == "mean over 100 random draws"


def test_two_way_is_that_of_shrout_and_fleiss() -> None:
    found = two_way(np.vstack([SHROUT_FLEISS, [1, np.nan, 2, 3]]))
    assert [round(float(values[0]), 2) for values in found[:4]] == [0.29, 0.62, 0.71, 0.91]
    assert (found.items, found.reason) == (6, ""), "a line with a gap does not count"


def test_a_stricter_rater_agrees_by_consistency_alone() -> None:
    found = two_way(np.arange(10.0)[:, None] + np.array([0.0, 3.0]))
    assert found.consistency == pytest.approx(1, abs=1e-12) and found.agreement < 0.7


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (SHROUT_FLEISS[:2], "2 items were rated by all 4 raters"),
        (SHROUT_FLEISS[:, :1], "there is one rater"),
        (np.ones((5, 2)), "all ratings are the same"),
    ],
)
def test_no_two_way_has_a_reason(table: Table, why: str) -> None:
    found = two_way(table)
    assert why in found.reason and all(np.isnan(values).all() for values in found[:4])


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e7]))
def test_intraclass_correlations_of_resamples_written_out(seed: int, shift: float) -> None:
    """Also far from zero, and with a line far from the others that some resamples do not have."""
    table, resamples, rows = clustered(seed)
    table[0, 0] = 1e4 if seed % 2 else 1.0
    full = np.nan_to_num(table, nan=2.0) + shift
    table = table + shift
    found, both = reliability(table, resamples), two_way(full, resamples)
    for place, lines in enumerate(rows):
        alone, whole = reliability(table[lines]), two_way(full[lines])
        tolerance = 1e-6 if shift or seed % 2 else 1e-9
        known = alone[:3] if not found.reason else ()
        for drawn, written in (*zip(found[:3], known, strict=False), *zip(both[:4], whole[:4], strict=True)):
            np.testing.assert_allclose(np.asarray(drawn)[place], np.asarray(written)[0], atol=tolerance)


def test_reliability_of_named_raters() -> None:
    """Of a full table it is ICC(3, k), over resamples too; of one rating a line by many people, that of the lines."""
    table, resamples, _ = clustered(1)
    full, numbers = np.nan_to_num(table, nan=2.0), np.tile(np.arange(4), (20, 1))
    named, consistent = reliability(full, resamples, numbers), two_way(full, resamples)
    np.testing.assert_allclose(named.mean, np.maximum(consistent.consistency_mean, 0), atol=1e-9)
    np.testing.assert_allclose(named.single, np.maximum(consistent.consistency, 0), atol=1e-9)
    nested = reliability(full, resamples, np.arange(80).reshape(20, 4))
    np.testing.assert_allclose(nested.mean, reliability(full, resamples).mean, atol=1e-9)


def test_named_raters_with_gaps_are_recovered() -> None:
    """A scorer that knows the truth reaches the ceiling, with strict raters and a third of the ratings missing."""
    table, true = crowd(3000, 4, 1.0, 5, missing=0.35)
    table += np.array([-1.5, 0.0, 0.5, 1.0])
    table[np.isnan(table).all(axis=1), 0] = 0.0
    named, plain = (reliability(table, None, raters).ceiling[0] for raters in (np.tile(np.arange(4), (3000, 1)), None))
    assert named == pytest.approx(np.corrcoef(true, np.nanmean(table, axis=1))[0, 1], abs=0.02)
    assert plain < named - 0.05


def test_ratings_are_a_table() -> None:
    for statistic in (reliability, two_way, krippendorff_alpha):
        with pytest.raises(UsageError, match="shape"):
            statistic(np.arange(4.0))


# alpha


# His values to three digits; the others by the package krippendorff 0.9.0, alpha(reliability_data=KRIPPENDORFF.T).
@pytest.mark.parametrize(
    ("level", "published", "program"),
    [
        ("nominal", 0.743, 0.743421052631579),
        ("ordinal", 0.815, 0.8153875037548814),
        ("interval", 0.849, 0.8491071428571428),
    ],
)
def test_alpha_is_that_of_krippendorff(level: Level, published: float, program: float) -> None:
    found = krippendorff_alpha(KRIPPENDORFF, level)
    assert round(found.value, 3) == published
    assert (found.n, found.reason) == (11, ""), "the last unit has one rating only"
    assert found.value == pytest.approx(program, abs=1e-12)


def test_alpha_by_hand() -> None:
    """Pairs (1, 2), (2, 3), (4, 4): three disagreements of 1, 1, 0; all six values have the variance 1.8666..."""
    observed, values = (1 + 1 + 0) / 3, np.array([1, 2, 2, 3, 4, 4])
    expected = sum((a - b) ** 2 for a in values for b in values) / 30
    found = krippendorff_alpha(np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 4.0]]))
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-12)


@given(st.integers(0, 10**6), st.sampled_from(LEVELS))
def test_alphas_of_resamples_written_out(seed: int, level: Level) -> None:
    ratings, resamples, rows = clustered(seed)
    for value, lines in zip(alphas(ratings, resamples, level), rows, strict=True):
        again = krippendorff_alpha(ratings[lines], level)
        assert value == pytest.approx(again.value, abs=1e-9, nan_ok=True) or again.reason


# kappa


def kappa(one: Any, other: Any, weighting: Weighting) -> float:
    lines = np.zeros(len(one), dtype=np.int64)
    return float(kappas(np.array(one, float), np.array(other, float), lines, Resamples.once(lines), weighting)[0, 0])


def golden() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((GOLDEN / "kappa.json").read_text())
    return values


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("name", golden()["pairs"])
def test_a_pair_has_the_kappa_of_scikit_learn(name: str, weighting: Weighting) -> None:
    case = golden()["pairs"][name]
    found, expected = kappa(case["rater_a"], case["rater_b"], weighting), case[f"kappa_{weighting}"]
    assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_all_pairs_of_a_panel_at_once(weighting: Weighting) -> None:
    ratings = np.array(golden()["panel_of_five"]["ratings_raters_by_items"], dtype=float)
    expected = np.array(golden()["panel_of_five"][weighting]["pairwise"], dtype=float)
    (one, other), size = np.triu_indices(5, 1), ratings.shape[1]
    groups, once = np.repeat(np.arange(10), size), Resamples.once(np.tile(np.arange(size), 10))
    found = kappas(ratings[one].ravel(), ratings[other].ravel(), groups, once, weighting)
    assert found[:, 0] == pytest.approx(expected[one, other], abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30), st.sampled_from(WEIGHTINGS))
def test_any_pair_has_the_kappa_of_scikit_learn(rows: list[tuple[int, int]], weighting: Weighting) -> None:
    one, other = zip(*rows, strict=True)
    if len({*one, *other}) == 1:
        assert np.isnan(kappa(one, other, weighting))
        return
    expected = cohen_kappa_score(one, other, labels=[1, 2, 3, 4, 5], weights=SKLEARN[weighting])
    assert kappa(one, other, weighting) == pytest.approx(expected, abs=1e-12)


def test_kappa_weighs_distances_of_values() -> None:
    """Ratings 1, 2, 4, 5: a value that no rating has changes nothing, and positions of labels are no distances."""
    one, other = [1, 2, 4, 5, 2, 4, 5, 1], [2, 4, 4, 5, 4, 2, 5, 1]
    assert kappa(one, other, "quadratic") == pytest.approx(
        cohen_kappa_score(one, other, labels=[1, 2, 3, 4, 5], weights="quadratic"), abs=1e-12
    )
    assert kappa(one, other, "quadratic") != pytest.approx(cohen_kappa_score(one, other, weights="quadratic"), abs=0.01)


def test_kappas_of_resamples_written_out() -> None:
    _, resamples, rows = clustered(0)
    one, other = np.random.default_rng(0).integers(1, 6, (2, 20)).astype(float)
    found = kappas(one, other, np.zeros(20, dtype=np.int64), resamples, "linear")[0]
    assert found == pytest.approx([kappa(one[lines], other[lines], "linear") for lines in rows], abs=1e-12)


# random parts of the raters


def test_one_against_others_is_the_mean_over_raters() -> None:
    """If the order of ratings means nothing, drawing gives the same as leaving out each column in turn."""
    table, _ = crowd(3000, 4, 1.0, 1)
    found = one_rater(table, np.random.default_rng(0), draws=50)
    columns = [(table[:, one], np.delete(table, one, axis=1).mean(axis=1)) for one in range(4)]
    for figure, oracle in ((found["pearson"], stats.pearsonr), (found["spearman"], stats.spearmanr)):
        assert figure.value == pytest.approx(np.mean([oracle(*pair).statistic for pair in columns]), abs=0.01)
    assert found["pearson"].value == pytest.approx(math.sqrt(3 / 8), abs=0.02)  # 1 / sqrt((1 + 1) (1 + 1/3))
    assert found["pearson"].n == 3000


def test_a_named_rater_is_the_same_on_all_lines() -> None:
    table, true = crowd(400, 3, 1.0, 6)
    table += np.array([-3.0, 0.0, 3.0])
    parts = one_left_out(table, np.random.default_rng(0), 20, np.tile(np.arange(3), (400, 1)))
    columns = [(table[:, one], np.delete(table, one, axis=1).mean(axis=1)) for one in range(3)]
    scale = np.abs(table).max()
    for draw in range(20):
        alike = [np.allclose(parts.first[:, draw] * scale, one, atol=1e-9) for one, _ in columns]
        assert sum(alike) == 1
        assert parts.others[:, draw] * scale == pytest.approx(columns[alike.index(True)][1], abs=1e-9)
    expected = np.mean([np.corrcoef(true, parts.others[:, draw])[0, 1] for draw in range(20)])
    assert parts.against_others(true).value == pytest.approx(expected)
    assert not parts.against_others(np.ones(400)).known


def test_halves_of_six_correlate_as_three_with_three() -> None:
    table, _ = crowd(5000, 6, 1.0, 2)
    found = random_halves(table, np.random.default_rng(0), draws=20)
    assert found["pearson"].value == pytest.approx(3 / 4, abs=0.015)  # 1 / (1 + 1/3)
    normal = 6 / math.pi * math.asin(found["pearson"].value / 2)
    assert found["spearman"].value == pytest.approx(normal, abs=0.01)


def test_order_of_ratings_and_lines_with_one_change_nothing() -> None:
    """Two ratings: either is the one, so a table and its mirror have the same mean over many draws."""
    table, _ = crowd(60, 2, 1.0, 3)
    wider = np.vstack([np.c_[np.full(60, np.nan), table[:, ::-1]], [[np.nan, 2.0, np.nan]]])
    for figure in (one_rater, random_halves):
        plain = figure(table, np.random.default_rng(0), draws=500)
        found = figure(wider, np.random.default_rng(1), draws=500)
        assert found["pearson"].n == 60
        assert found["pearson"].value == pytest.approx(plain["pearson"].value, abs=0.006)
    assert krippendorff_alpha(wider).value == pytest.approx(krippendorff_alpha(table).value, abs=1e-12)


def test_draws_without_a_correlation_are_left_out() -> None:
    """Where one part of the raters has the 2, the other has only 1s."""
    found = one_rater(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]), np.random.default_rng(0))
    assert found["pearson"].reason == found["spearman"].reason == "none of 100 draws has a correlation"
    # The 2s are in one part in half of the draws; in the others each part has one.
    found = one_left_out(
        np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), np.random.default_rng(0), draws=400
    ).correlations()
    missing = re.fullmatch(r"mean over 400 random draws, (\d+) of them without a correlation", found["pearson"].method)
    assert missing and 150 < int(missing[1]) < 250
    assert found["pearson"].value == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((0, 3)), "0 items have two ratings or more; at least three are needed"),
        (np.array([[1.0, 2.0], [3.0, NONE]]), "1 item has two ratings or more; at least three are needed"),
        (
            np.array([[1.0, 2.0], [1.0, 3.0], [1.0, math.inf]]),
            "2 items have two ratings or more; at least three are needed",
        ),
        (np.full((4, 3), 2.5), "all ratings are the same (2.5)"),
    ],
)
def test_no_agreement_has_a_reason(table: Table, reason: str) -> None:
    whole, rng = reliability(table), np.random.default_rng(0)
    assert all(np.isnan(values).all() for values in whole[:3])
    figures = [krippendorff_alpha(table, level) for level in LEVELS]
    figures += [*one_rater(table, rng).values(), *random_halves(table, rng).values()]
    assert not any(figure.known for figure in figures)
    assert {whole.reason, *(figure.reason for figure in figures)} == {reason}


def test_usr_personachat(shared: Path) -> None:
    """300 responses, three ratings each: one rater reaches .71, a perfect scorer at most .92."""
    examples = list(rejoinder.read(shared / "data" / "judgements" / "usr_personachat.jsonl.gz"))
    table = np.array([[one.value for one in example.ratings if one.dimension == "overall"] for example in examples])
    whole, person = reliability(table), one_rater(table, np.random.default_rng(0))
    assert (whole.items, whole.ratings) == (300, 900)
    assert [round(values[0], 2) for values in whole[:3]] == [0.64, 0.84, 0.92]
    assert person["pearson"].value == pytest.approx(0.71, abs=0.005)
    assert person["spearman"].value == pytest.approx(0.715, abs=0.005)
    assert krippendorff_alpha(table).value == pytest.approx(0.6405246181323807, abs=1e-12)  # package krippendorff 0.9.0
