"""The alternative annotator test: the numbers of its authors' program, and which scorers pass."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import GOLDEN, Run
from rejoinder.analysis.raters import Raters
from rejoinder.analysis.stand_in import MEAN_RATING, calibrated, stand_in, stand_ins
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, one, pick
from rejoinder.example import Example, Rating
from rejoinder.stats.resamples import Sampling

SAMPLING = Sampling(100, 0)


def golden() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((GOLDEN / "alt_test.json").read_text())
    return values


def lines(table: list[list[float | None]]) -> list[Example]:
    return [
        Example(
            (f"about {number}",),
            "x" * (number % 9),
            id=str(number),
            ratings=tuple(Rating(value, rater=f"r{place}") for place, value in enumerate(row) if value is not None),
            scales={"overall": (1, 5)},
        )
        for number, row in enumerate(table)
    ]


def raters_of(examples: list[Example]) -> Raters:
    (rated,) = rated_sets(examples, ratings_of(examples, "overall"), "overall").sets
    return Raters.of(rated)


def panel(noise: tuple[float, ...], count: int = 80) -> tuple[Raters, np.ndarray]:
    """Return raters of known noise, and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, count)
    table = np.clip(np.round(truth[:, None] + rng.normal(0, noise, (count, len(noise)))), 1, 5)
    return raters_of(lines(table.tolist())), truth.astype(float)


def advantages(rows: list[Estimate]) -> list[Estimate]:
    return [row for row in pick(rows, statistic="advantage") if row.rater]


@pytest.mark.parametrize("name", golden()["cases"])
def test_the_numbers_are_those_of_the_authors_program(name: str) -> None:
    case = golden()["cases"][name]
    raters = raters_of(lines(golden()["ratings"]))
    scores = np.array(case["scores"])[raters.rated.places]
    rows = stand_in(raters, scores, "scorer", SAMPLING, epsilon=case["epsilon"])
    beaten = one(rows, statistic="raters beaten")
    assert beaten.value == pytest.approx(case["winning_rate"], abs=1e-12)
    assert rows[0].statistic == "advantage" and rows[0].value == pytest.approx(case["advantage"], abs=1e-12)
    each = advantages(rows)
    assert [row.rater for row in each] == case["raters"]
    assert [row.p for row in each] == pytest.approx(case["p"], rel=1e-6)
    assert [row.value for row in each] == pytest.approx(case["advantages"], abs=1e-12)
    assert [row.rater for row in each if row.verdict == "above"] == sorted(case["beaten"])
    assert beaten.unscored == 1, "the fifth rater has 20 ratings"


def test_two_raters_by_hand() -> None:
    """Two raters give 1 and 3 on 30 lines, the scorer 3.

    Against the first rater the scorer is 0 from the second, the rater 2: ahead on all lines. Against the second it is 2
    from the first, as the rater is: both have the advantage.
    """
    raters = raters_of(lines([[1.0, 3.0]] * 30))
    rows = stand_in(raters, np.full(30, 3.0), "scorer", SAMPLING, epsilon=0.1)
    assert [(row.value, row.verdict) for row in advantages(rows)] == [(1, "above"), (1, "above")]
    assert [row.value for row in pick(rows, statistic="advantage of the rater")] == [0, 1]
    strict = stand_in(raters, np.full(30, 3.0), "scorer", SAMPLING, epsilon=0)
    assert [row.verdict for row in advantages(strict)] == ["above", "inconclusive"]
    beaten = one(strict, statistic="raters beaten")
    assert (beaten.value, beaten.verdict) == (0.5, "above")
    assert (rows[0].verdict, "ask three raters" in rows[0].reason) == ("undefined", True)


def test_a_scorer_that_knows_can_replace_a_rater_and_one_that_guesses_cannot() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    rows = stand_ins(raters, {"knows": truth, "guesses": np.random.default_rng(1).random(80)}, SAMPLING)
    beaten = {row.scorer: (row.value, row.verdict) for row in pick(rows, statistic="raters beaten")}
    assert beaten == {"knows": (1, "above"), "guesses": (0, "inconclusive"), MEAN_RATING: (0, "inconclusive")}
    lead = {row.scorer: row for row in pick(rows, statistic="advantage", rater="", versus="")}
    assert [str(row.verdict) for row in lead.values()] == ["above", "inconclusive", "undefined"]
    difference = one(rows, scorer="knows", versus=MEAN_RATING)
    assert difference.value == pytest.approx(lead["knows"].value - lead[MEAN_RATING].value)
    assert 0 < difference.low < difference.value < difference.high and difference.p < difference.p_adjusted < 0.05


def test_a_scorer_that_passes_as_a_constant_does_is_inconclusive() -> None:
    """Of raters who guess, any value in the middle is nearer to the others."""
    raters, _ = panel((3, 3, 3), 100)
    rows = stand_ins(raters, {"constant": np.ones(100), "noise": np.random.default_rng(1).random(100)}, SAMPLING)
    for name in ("constant", "noise", MEAN_RATING):
        assert one(rows, scorer=name, statistic="raters beaten").verdict == "above"
        assert one(rows, scorer=name, statistic="advantage", rater="", versus="").verdict != "above"
    difference = one(rows, scorer="constant", versus=MEAN_RATING)
    assert (difference.value, difference.low, difference.high, difference.p) == (0, 0, 0, 1)


def test_the_lines_of_one_context_count_once() -> None:
    """With each line ten times in its context, the test of a rater is as with each line once."""
    rng = np.random.default_rng(0)
    table, scores = rng.integers(1, 6, (40, 3)).astype(float), rng.integers(1, 6, 40).astype(float)
    repeated = [replace(line, id=f"{line.id}-{copy}") for line in lines(table.tolist()) for copy in range(10)]
    once, often = raters_of(lines(table.tolist())), raters_of(repeated)
    rows = stand_in(once, scores, "scorer", SAMPLING), stand_in(often, np.repeat(scores, 10), "scorer", SAMPLING)
    for of_once, of_often in zip(*map(advantages, rows), strict=True):
        assert (of_often.n, of_often.contexts, of_once.n) == (400, 40, 40)
        assert of_often.p == pytest.approx(of_once.p)


def test_one_context_shows_nothing() -> None:
    same = [replace(line, context=("hello",)) for line in lines([[1.0, 3.0, 3.0]] * 40)]
    rows = stand_in(raters_of(same), np.full(40, 3.0), "scorer", SAMPLING)
    assert {row.verdict for row in advantages(rows)} == {"inconclusive"}


def test_the_scale_of_scores_does_not_matter_and_a_constant_gives_the_mean() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    assert calibrated(raters, 100 - 7 * truth, SAMPLING) == pytest.approx(calibrated(raters, truth, SAMPLING))
    level = calibrated(raters, np.zeros(80), SAMPLING)
    assert (level == round(np.nanmean(raters.ratings, axis=1).mean())).all()
    far = calibrated(raters, np.where(np.arange(80) == 3, 1e9, truth), SAMPLING)
    assert far.min() >= 1 and far.max() <= 5


def test_no_rating_of_a_context_moves_its_own_scores() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    before = calibrated(raters, truth, SAMPLING)
    raters.ratings[7] = 6 - raters.ratings[7]
    assert calibrated(raters, truth, SAMPLING)[7] == before[7]


def test_scores_become_values_that_raters_give() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    assert set(calibrated(raters, truth + np.random.default_rng(2).random(80), SAMPLING)) <= {1, 2, 3, 4, 5}
    fine = raters_of(lines((np.random.default_rng(3).random((80, 2)) * 4 + 1).tolist()))
    assert len(set(calibrated(fine, truth + np.arange(80), SAMPLING))) > 60


@pytest.mark.parametrize("count", [4, 20])
def test_too_few_lines_give_a_reason(count: int) -> None:
    raters, truth = panel((0.6, 0.6), count)
    (row,) = stand_in(raters, calibrated(raters, truth, SAMPLING), "scorer", SAMPLING)
    assert "two are needed" in row.reason and not row.known and row.verdict == "undefined"


@pytest.mark.parametrize("epsilon", [-0.1, 1.5, float("nan"), "much"])
def test_an_epsilon_out_of_range_is_refused(epsilon: Any) -> None:
    with pytest.raises(UsageError, match="epsilon"):
        rejoinder.ratings(lines([[1.0, 3.0]] * 30), epsilon=epsilon)


def test_ratings_test_every_scorer_and_the_mean_rating(run: Run, tmp_path: Path) -> None:
    rng, truth = np.random.default_rng(0), np.arange(60) % 5 + 1
    table = np.clip(np.round(truth[:, None] + rng.normal(0, 0.5, (60, 3))), 1, 5)
    examples = [
        Example(line.context, "x " * int(true), id=line.id, ratings=line.ratings, scales=line.scales)
        for line, true in zip(lines(table.tolist()), truth, strict=True)
    ]
    rejoinder.write(examples, tmp_path / "rated.jsonl")
    results = rejoinder.ratings(examples, ["length"], resamples=100)
    beaten = {row.scorer: (row.value, row.verdict) for row in results.pick(statistic="raters beaten")}
    assert beaten == {"length": (1.0, "above"), MEAN_RATING: (0.0, "inconclusive")}
    assert results.one(statistic="advantage", scorer="length", rater="", versus="").verdict == "above"
    assert any(sentence.startswith("So length can replace a rater") for sentence in results.answer)
    done = run("ratings", tmp_path / "rated.jsonl", "-s", "length", "--resamples", 100, "-o", tmp_path / "a.html")
    assert done.code == 0 and "passes" in done.out, done.err
    assert "Scorers against each rater" in (tmp_path / "a.html").read_text()


def test_a_scorer_out_of_its_domain_has_no_verdict() -> None:
    table = np.random.default_rng(0).integers(1, 6, (60, 3)).astype(float).tolist()
    german = [
        Example((f"Was denken Sie über Nummer {number}?",), "Das weiß ich leider nicht, aber ich frage gerne nach.",
                ratings=line.ratings, scales=line.scales)
        for number, line in enumerate(lines(table))
    ]  # fmt: skip
    results = rejoinder.ratings(german, ["rejoinder"], resamples=100)
    decided = [row for row in results.pick(scorer="rejoinder") if row.verdict != "undefined"]
    assert {row.verdict for row in decided} == {"out of domain"} and len(decided) == 6
    assert "cannot judge these replies" in results.warnings[0]
    assert not any("passes" in sentence for sentence in results.answer)
