"""The noise ceiling, shares of it, and scorers compared with raters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rejoinder import study
from rejoinder.analysis.ceiling import ratio_of, worth
from rejoinder.estimates import Estimate
from rejoinder.example import Example, Rating
from rejoinder.report.results import Results
from rejoinder.scorer import FloatArray, Scores, Signature

NAMES = ("ann", "bob", "cid")


def table(lines: int, strict: float, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Ratings [N, 3] by three people of some severity, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=lines)
    return truth[:, None] + strict * np.array([-1.0, 0.0, 1.0]) + rng.normal(size=(lines, 3)), truth


def lines_of(ratings: FloatArray, *, named: bool = True) -> list[Example]:
    return [
        Example(
            (f"context {place}",),
            "word " * (1 + place % 7),
            id=str(place),
            ratings=tuple(
                Rating(float(value), rater=name if named else None) for value, name in zip(row, NAMES, strict=True)
            ),
        )
        for place, row in enumerate(ratings)
    ]


def studied(lines: list[Example], resamples: int = 200, **scores: FloatArray) -> Results:
    given = {
        name: Scores(
            values, dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "none"), Signature({"scorer": name})
        )
        for name, values in scores.items()
    }
    return study(lines, given, resamples=resamples)


def of(results: Results, statistic: str, scorer: str = "raters") -> Estimate:
    return results.one(scorer=scorer, statistic=statistic)


def test_strict_raters_who_rated_all_lines_lower_no_ceiling() -> None:
    ratings, truth = table(300, 2.0)
    named, unnamed = (studied(lines_of(ratings, named=named), truth=truth) for named in (True, False))
    reached = np.corrcoef(truth, ratings.mean(axis=1))[0, 1]
    assert of(named, "ceiling of pearson").value == pytest.approx(reached, abs=0.03)
    assert "ICC(3,k)" in of(named, "ceiling of pearson").method
    # without names the raters may be others on each line
    assert not of(unnamed, "ceiling of pearson").known or of(unnamed, "ceiling of pearson").value < reached - 0.1
    person, scorer = of(named, "pearson of one rater"), of(named, "pearson against the same others", "truth")
    assert person.value == pytest.approx(0.58, abs=0.06) and scorer.value > person.value + 0.1


def test_over_the_ceiling_is_explained() -> None:
    ratings, truth = table(300, 0.4)
    results = studied(lines_of(ratings, named=False), truth=truth)
    share = of(results, "share of the ceiling", "truth")
    assert share.value > 1 and share.high > share.low
    assert "the ceiling is too low, or the scorer knows these raters" in " ".join(results.answer)
    assert "ceiling of at least" in " ".join(results.answer)


def test_a_scorer_that_knows_the_truth_is_worth_any_number_of_raters() -> None:
    ratings, truth = table(300, 0.0)
    results = studied(lines_of(ratings), truth=truth)
    raters = of(results, "worth raters", "truth")
    assert raters.high == math.inf and 3 < raters.low < 1000
    assert f"truth is worth at least {raters.low:.1f} raters" in " ".join(results.answer)
    rows = [
        row for row in results.to_dict()["results"] if row["scorer"] == "truth" and row["statistic"] == "worth raters"
    ]
    assert [(row["low"], row["high"]) for row in rows] == [(raters.low, None)]


def test_one_more_rater_is_worth_one() -> None:
    rng = np.random.default_rng(1)
    ratings, truth = table(2000, 0.0)
    results = studied(lines_of(ratings), more=truth + rng.normal(size=2000))
    row, person = of(results, "worth raters", "more"), of(results, "pearson of one rater")
    assert row.low < 1 < row.high and row.value == pytest.approx(1, abs=0.2)
    assert of(results, "pearson against the same others", "more").value == pytest.approx(person.value, abs=0.03)
    assert of(results, "pearson", "more").value > person.value + 0.01, "against the mean of all three it is higher"
    assert not of(studied(lines_of(ratings), 0, more=truth), "worth raters", "more").known, "never without its interval"


def test_a_scorer_of_fewer_lines_has_a_ceiling_of_its_own_lines() -> None:
    ratings, truth = table(300, 0.0)
    ratings[:150] += 2 * np.random.default_rng(2).normal(size=(150, 3))  # raters guess on half of the lines
    half = np.where(np.arange(300) < 150, np.nan, truth)
    results = studied(lines_of(ratings), whole=truth, half=half)
    alone = studied(lines_of(ratings[150:]), half=half[150:])
    assert of(results, "ceiling of pearson", "half").value == pytest.approx(of(alone, "ceiling of pearson").value)
    assert of(results, "ceiling of pearson").value < of(results, "ceiling of pearson", "half").value - 0.05
    share, pearson = of(results, "share of the ceiling", "half"), of(results, "pearson", "half")
    assert share.value == pytest.approx(pearson.value / of(alone, "ceiling of pearson").value)
    assert of(results, "pearson of one rater", "half").value > of(results, "pearson of one rater").value + 0.05
    assert not results.pick(scorer="whole", statistic="ceiling of pearson")


def test_there_is_no_ceiling_of_another_target() -> None:
    ratings, truth = table(200, 0.0)
    medians = np.median(ratings, axis=1)
    lines = [
        replace(one, quality={"overall": float(value)}) for one, value in zip(lines_of(ratings), medians, strict=True)
    ]
    results = studied(lines, truth=truth)
    assert "not the means of the single ratings" in of(results, "ceiling of pearson").reason
    assert not results.pick(statistic=("share of the ceiling", "worth raters"))
    assert of(results, "pearson of one rater").known
    rounded = [replace(one, quality={"overall": round(one.rating() or 0, 2)}) for one in lines_of(ratings)]
    assert of(studied(rounded, truth=truth), "ceiling of pearson").known


def test_raters_who_do_not_agree_set_no_ceiling() -> None:
    noise = np.random.default_rng(3).normal(size=(100, 3))
    results = studied(lines_of(noise), given=np.random.default_rng(4).normal(size=100))
    assert "no significant agreement" in of(results, "ceiling of pearson").reason
    assert of(results, "ICC(1)").known and not results.pick(statistic=("share of the ceiling", "worth raters"))


def test_shares_and_worth_of_draws() -> None:
    correlation, ceiling = np.array([0.4, 0.3, 0.5, 0.4]), np.array([0.8, 0.0, 0.8, 0.9])
    share = ratio_of(correlation, ceiling, 50)
    assert share.value == pytest.approx(0.5) and share.low < 0.5 < share.high, (
        "a resample without a ceiling is the highest"
    )
    single, mean = np.full(4, 0.25), np.full(4, 0.5)
    raters = worth(np.array([0.5, 0.4, 0.6, -0.2]), mean, single, 50)
    assert raters.value == pytest.approx(3.0)  # rho^2 = 1/2, and ICC1 / (1 - ICC1) = 1/3
    assert raters.low < 1 and 3 < raters.high < 8, "a negative correlation is worth no rater"
