"""The alternative annotator test: the numbers of its authors' program, and whom it lets stand in."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import GOLDEN, Run
from rejoinder.errors import UsageError
from rejoinder.example import Example, Rating
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.humans.raters import Raters, raters_of
from rejoinder.meta.replacement import MEAN_RATING, alternative, on_scale
from rejoinder.stats.resamples import Sampling

SAMPLING = Sampling(100, 0)


def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / "alt_test.json").read_text())
    return found


def lines(table: list[list[float | None]]) -> list[Example]:
    return [
        Example(
            (f"about {number}",),
            "x" * (number % 9),
            id=str(number),
            ratings=tuple(Rating(value, rater=f"r{who}") for who, value in enumerate(row) if value is not None),
            scales={"overall": (1, 5)},
        )
        for number, row in enumerate(table)
    ]


def of(examples: list[Example]) -> Raters:
    (rated,) = rated_sets(examples, ratings_of(examples, "overall"), "overall").sets
    return raters_of(rated)


def panel(noise: tuple[float, ...], count: int = 80, seed: int = 0) -> tuple[Raters, np.ndarray]:
    """Raters of known noise, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, count)
    table = np.clip(np.round(truth[:, None] + rng.normal(0, noise, (count, len(noise)))), 1, 5)
    return of(lines(table.tolist())), truth.astype(float)


@pytest.mark.parametrize("name", golden()["cases"])
def test_the_figures_are_those_of_the_authors_program(name: str) -> None:
    case = golden()["cases"][name]
    raters = of(lines(golden()["ratings"]))
    places = raters.rated.places
    found = alternative(raters, np.array(case["scores"])[places], "it", SAMPLING, epsilon=case["epsilon"])
    assert found.winning.value == pytest.approx(case["winning_rate"], abs=1e-12)
    assert found.advantage.value == pytest.approx(case["advantage"], abs=1e-12)
    assert [row.rater for row in found.by_rater] == case["raters"]
    assert [row.p for row in found.by_rater] == pytest.approx(case["p"], rel=1e-6)
    assert [row.value for row in found.by_rater] == pytest.approx(case["advantages"], abs=1e-12)
    assert [row.rater for row in found.by_rater if row.beaten] == sorted(case["beaten"])
    assert found.skipped == 1, "the fifth rater has 20 ratings"


def test_what_is_worked_out_by_hand() -> None:
    """Two raters, 30 lines: they say 1 and 3, the scorer 3.

    Against the first rater the scorer lies 0 from the second, the rater 2: ahead on all lines. Against the second it
    lies 2 from the first, as the rater does: both have the advantage.
    """
    raters = of(lines([[1.0, 3.0]] * 30))
    found = alternative(raters, np.full(30, 3.0), "it", SAMPLING, epsilon=0.1)
    assert [(row.value, row.rater_share, row.beaten) for row in found.by_rater] == [(1, 0, True), (1, 1, True)]
    strict = alternative(raters, np.full(30, 3.0), "it", SAMPLING, epsilon=0)
    assert [row.beaten for row in strict.by_rater] == [True, False] and strict.winning.value == 0.5 and strict.passes


def test_who_knows_may_stand_in_and_who_guesses_may_not() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    knows = alternative(raters, on_scale(raters, truth, SAMPLING), "knows", SAMPLING)
    guesses = alternative(raters, on_scale(raters, np.random.default_rng(1).random(80), SAMPLING), "guesses", SAMPLING)
    assert (knows.passes, knows.winning.value, guesses.passes, guesses.winning.value) == (True, 1.0, False, 0.0)
    assert knows.advantage.low < knows.advantage.value < knows.advantage.high


def test_a_scale_is_no_matter_and_a_constant_says_the_mean() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    assert on_scale(raters, 100 - 7 * truth, SAMPLING) == pytest.approx(on_scale(raters, truth, SAMPLING))
    level = on_scale(raters, np.zeros(80), SAMPLING)
    means = np.nanmean(raters.ratings, axis=1)
    assert (level == round(means.mean())).all()
    far = on_scale(raters, np.where(np.arange(80) == 3, 1e9, truth), SAMPLING)
    assert far.min() >= 1 and far.max() <= 5


def test_no_rating_of_a_context_moves_its_own_scores() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    before = on_scale(raters, truth, SAMPLING)
    raters.ratings[7] = 6 - raters.ratings[7]
    assert on_scale(raters, truth, SAMPLING)[7] == before[7]


def test_scores_become_ratings_that_people_give() -> None:
    raters, truth = panel((0.6, 0.6, 0.6))
    assert set(on_scale(raters, truth + np.random.default_rng(2).random(80), SAMPLING)) <= {1, 2, 3, 4, 5}
    fine = of(lines((np.random.default_rng(3).random((80, 2)) * 4 + 1).tolist()))
    assert len(set(on_scale(fine, truth + np.arange(80), SAMPLING))) > 60


@pytest.mark.parametrize("count", [4, 20])
def test_too_few_lines_are_told(count: int) -> None:
    raters, truth = panel((0.6, 0.6), count)
    found = alternative(raters, on_scale(raters, truth, SAMPLING), "it", SAMPLING)
    assert "two or more are needed" in found.reason and not found.passes and not found.advantage.known


@pytest.mark.parametrize("epsilon", [-0.1, 1.5, float("nan"), "much"])
def test_an_epsilon_that_is_none_is_refused(epsilon: Any) -> None:
    raters, truth = panel((0.6, 0.6))
    with pytest.raises(UsageError, match="epsilon"):
        alternative(raters, truth, "it", SAMPLING, epsilon=epsilon)


def test_ratings_say_it_of_every_scorer_and_of_the_mean(run: Run, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 5 + 1
    table = np.clip(np.round(truth[:, None] + rng.normal(0, 0.5, (60, 3))), 1, 5)
    examples = [
        Example(line.context, "x " * int(true), id=line.id, ratings=line.ratings, scales=line.scales)
        for line, true in zip(lines(table.tolist()), truth, strict=True)
    ]
    rejoinder.write(examples, tmp_path / "rated.jsonl")
    found = rejoinder.ratings(examples, ["length"], resamples=100)
    length, nothing = found.sets[0].alternatives
    assert (length.scorer, length.passes, nothing.scorer, nothing.passes) == ("length", True, MEAN_RATING, False)
    assert any("length may stand in for a rater" in said for said in found.answer)
    rows = {(row["scorer"], row["statistic"]): row["value"] for row in found.to_dict()["results"]}
    assert rows["length", "winning rate"] == 1.0 and rows[MEAN_RATING, "winning rate"] == 0.0
    done = run("ratings", tmp_path / "rated.jsonl", "-s", "length", "--resamples", 100, "-o", tmp_path / "a.html")
    assert done.code == 0 and "may stand in?" in done.out, done.err
    assert "length against each rater" in (tmp_path / "a.html").read_text()
