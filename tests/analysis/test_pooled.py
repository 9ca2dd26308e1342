"""Means over data sets, and scorers on the same lines: computed again from the scores and ratings alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from rejoinder.analysis.analyses import analyse
from rejoinder.analysis.pooled import (
    common_lines,
    over_sets,
    over_sets_table,
    range_of_sets,
    scorers_chart,
    sets_of,
    sets_table,
)
from rejoinder.analysis.scored import RATERS
from rejoinder.analysis.standings import OVER_SETS, SAME_LINES, standings
from rejoinder.analysis.study_answer import answer
from rejoinder.estimates import NAN, Estimate, Verdict, one, pick
from rejoinder.example import Example, Rating
from rejoinder.scorer import FloatArray
from scored_sets import scored_sets

SETS = {"one": 60, "two": 70, "three": 50}
SAME = SAME_LINES["group"]


def examples(shift: Sequence[float] = (0, 0, 0)) -> list[Example]:
    """Rated lines of three data sets, two in a context, four single ratings each; `shift` moves those of a set."""
    rng = np.random.default_rng(3)
    made = []
    for (name, size), higher in zip(SETS.items(), shift, strict=True):
        for number in range(size):
            values = np.clip(np.rint(rng.normal(3 + higher, 1) + rng.normal(0, 0.5, 4)), 1, 5)
            example = Example(
                (f"context {number // 2} of {name}",),
                " ".join(["word"] * int(rng.integers(1, 9))),
                id=f"{name}-{number}",
                dataset=name,
                ratings=tuple(Rating(float(value)) for value in values),
                scales={"overall": (1, 5)},
            )
            made.append(example)
    return made


def ratings_of(lines: Sequence[Example]) -> FloatArray:
    return np.array([example.rating() for example in lines], dtype=np.float64)


def noisy(lines: Sequence[Example], seed: int, spread: float = 1.0) -> FloatArray:
    """The ratings, and noise."""
    noise: FloatArray = spread * np.random.default_rng(seed).normal(size=len(lines))
    return ratings_of(lines) + noise


def parts(lines: Sequence[Example]) -> dict[str, np.ndarray]:
    names = np.array([example.dataset for example in lines])
    return {name: np.flatnonzero(names == name) for name in SETS}


def measured(lines: Sequence[Example], scores: dict[str, FloatArray], **more: object) -> list[Estimate]:
    """Everything about all data sets."""
    members, pool = scored_sets(lines, scores, **more)  # type: ignore[arg-type]
    assert pool is not None
    inside = [estimate for member in members for estimate in analyse(member)]
    return [*inside, *over_sets(pool, inside)]


def test_a_mean_weighs_each_data_set_alike_and_its_chance_level_adds_squares() -> None:
    lines = examples()
    scores = noisy(lines, 1)
    estimates = measured(lines, {"judge": scores, "length": noisy(lines, 5, 9.0)})
    inside = [stats.pearsonr(scores[rows], ratings_of(lines)[rows]).statistic for rows in parts(lines).values()]
    mean = one(estimates, dataset=OVER_SETS, scorer="judge", statistic="pearson", group="")
    assert mean.value == pytest.approx(np.mean(inside)) and mean.low < mean.value < mean.high
    assert (mean.n, mean.contexts, mean.level, mean.verdict) == (180, 90, "turn", Verdict.ABOVE)
    bands = [row.high for row in pick(estimates, dataset=SETS, scorer="judge", statistic="pearson by chance")]
    chance = one(estimates, dataset=OVER_SETS, scorer="judge", statistic="pearson by chance")
    assert len(bands) == 3 and chance.high == -chance.low == pytest.approx(np.sqrt(np.square(bands).sum()) / 3)
    ranked = [stats.spearmanr(scores[rows], ratings_of(lines)[rows]).statistic for rows in parts(lines).values()]
    spearman = one(estimates, dataset=OVER_SETS, scorer="judge", statistic="spearman")
    widths = [row.high - row.low for row in pick(estimates, dataset=SETS, scorer="judge", statistic="spearman")]
    assert spearman.value == pytest.approx(np.mean(ranked))
    assert spearman.high - spearman.low == pytest.approx(np.sqrt(np.square(widths).sum()) / 3, rel=0.1)


def test_telling_data_sets_apart_is_no_skill() -> None:
    """The ratings of one data set are much higher: a constant of each data set correlates over all lines."""
    lines = examples((0, 1.5, -1.5))
    rng = np.random.default_rng(0)
    apart = np.concatenate([np.full(len(rows), ratings_of(lines)[rows].mean()) for rows in parts(lines).values()])
    guess, judge = apart + 0.01 * rng.normal(size=len(lines)), noisy(lines, 1, 3.0)
    estimates = measured(lines, {"guess": guess, "judge": judge})
    assert np.corrcoef(guess, ratings_of(lines))[0, 1] > np.corrcoef(judge, ratings_of(lines))[0, 1]
    means = pick(estimates, dataset=OVER_SETS, statistic="pearson", group="")
    assert [mean.scorer for mean in means] == ["judge", "guess"]
    assert means[0].verdict == Verdict.ABOVE and means[1].verdict == Verdict.INCONCLUSIVE


def test_verdicts_have_two_families_and_leave_out_scorers_that_cannot_judge() -> None:
    lines = examples()
    scores = {"judge": noisy(lines, 1), "lost": noisy(lines, 2), "length": noisy(lines, 3)}
    estimates = measured(lines, scores, outside={"lost": "out of its domain"})
    means = {mean.scorer: mean for mean in pick(estimates, dataset=OVER_SETS, statistic="pearson", group="")}
    assert means["lost"].verdict == Verdict.OUT_OF_DOMAIN and means["judge"].verdict == Verdict.ABOVE
    alone = measured(lines, {"judge": scores["judge"]})
    assert means["judge"].p_adjusted == one(alone, dataset=OVER_SETS, statistic="pearson", group="").p_adjusted
    assert pick(estimates, dataset=OVER_SETS, scorer="lost", statistic="spearman") == []
    assert pick(estimates, scorer="lost", group=SAME) == []


def test_scorers_are_compared_on_the_lines_that_all_ranked_ones_score() -> None:
    lines = examples()
    whole, half = noisy(lines, 1), noisy(lines, 2)
    half[::40] = np.nan  # lines that one of them does not score
    half[parts(lines)["three"][2:]] = 3.0  # and a data set in which it has no correlation
    half[parts(lines)["three"][:2]] = np.nan
    length = np.array([len(example.response.split()) for example in lines], dtype=np.float64)
    scores = {"whole": whole, "half": half, "length": length}
    estimates = measured(lines, scores)
    same = [rows[np.isfinite(half[rows])] for name, rows in parts(lines).items() if name != "three"]
    for name, values in scores.items():
        expected = np.mean([stats.pearsonr(values[rows], ratings_of(lines)[rows]).statistic for rows in same])
        row = one(estimates, dataset=OVER_SETS, scorer=name, statistic="pearson", group=SAME)
        assert row.value == pytest.approx(expected) and row.low < expected < row.high
        assert row.n == sum(map(len, same)) and "2 data sets (one, two)" in row.method
    unlike = one(estimates, dataset=OVER_SETS, scorer="whole", statistic="pearson", group="")
    assert unlike.value != pytest.approx(
        one(estimates, dataset=OVER_SETS, scorer="whole", statistic="pearson", group=SAME).value
    )
    _, pool = scored_sets(lines, scores)
    assert pool is not None and sets_of(pool, estimates)["half"] == 2
    table, inside = over_sets_table(pool, estimates), sets_table(pool, estimates)
    assert table is not None and inside is not None
    rows = [row[0] for row in table.texts]
    assert rows[:2] == ["raters: ceiling", "raters: one rater"] and rows[-1] == "length (baseline)"
    assert f"the {sum(map(len, same))} that all ranked scorers score" in table.caption
    assert inside.header == ("scorer", "mean [low, high]", "one", "two", "three")
    assert inside.texts[[row[0] for row in inside.texts].index("half")][-1] == "–"
    chart = scorers_chart(pool, estimates)
    assert chart is not None and "ceiling" in chart.label


def test_raters_are_compared_on_the_same_lines() -> None:
    lines = examples()
    scores = noisy(lines, 1)
    scores[::2] = np.nan
    estimates = measured(lines, {"half": scores})
    alone = measured(lines[1::2], {"half": scores[1::2]})
    for statistic in ("ceiling of pearson", "pearson of one rater"):
        same = one(estimates, dataset=OVER_SETS, scorer=RATERS, statistic=statistic, group=SAME)
        expected = one(alone, dataset=OVER_SETS, scorer=RATERS, statistic=statistic, group="")
        assert same.value == pytest.approx(expected.value, abs=0.02)
        every = one(estimates, dataset=OVER_SETS, scorer=RATERS, statistic=statistic, group="")
        assert same.value != pytest.approx(every.value, abs=1e-6)


def test_a_data_set_without_a_correlation_of_all_scorers_is_not_common() -> None:
    lines = examples()
    flat, few = noisy(lines, 1), noisy(lines, 2)
    flat[:60] = 2.0  # the same on all lines of the first data set
    few[62:130] = NAN  # two lines of the second
    _, pool = scored_sets(lines, {"flat": flat, "few": few})
    assert pool is not None
    assert [(member.name, len(rows)) for member, rows in common_lines(pool, pool.scores)] == [("three", 50)]
    estimates = measured(lines[:130], {"flat": flat[:130], "few": few[:130]})
    assert pick(estimates, dataset=OVER_SETS, scorer="few", group=SAME) == []
    assert one(estimates, dataset=OVER_SETS, scorer="few", statistic="spearman").known
    _, pool = scored_sets(lines[:130], {"flat": flat[:130], "few": few[:130]})
    assert pool is not None and (standings(pool).ranked, standings(pool).fewer) == (["flat"], ["few"])


def test_another_data_set_is_predicted_from_how_far_these_differ() -> None:
    lines = examples()
    scores = {"judge": noisy(lines, 1), "half": noisy(lines, 2)}
    scores["half"][parts(lines)["three"]] = NAN
    estimates = measured(lines, scores)
    inside = [
        row.value for row in pick(estimates, dataset=SETS, scorer="judge", statistic="pearson", level="turn", group="")
    ]
    row = one(estimates, scorer="judge", statistic="pearson in another data set")
    half = stats.t.ppf(0.975, 2) * np.std(inside, ddof=1) * math.sqrt(4 / 3)
    assert row.ends == pytest.approx((np.mean(inside) - half, min(np.mean(inside) + half, 1)))
    assert not pick(estimates, scorer="half", statistic="pearson in another data set"), "two data sets predict nothing"
    _, pool = scored_sets(lines, scores)
    assert pool is not None and [own.value for own in range_of_sets(pool, estimates, "judge")] == sorted(inside)
    table = over_sets_table(pool, estimates)
    assert table is not None and {"lowest to highest", "another data set"} < set(table.header)


def test_a_baseline_without_a_line_in_common_is_not_named() -> None:
    lines = examples()
    scores = {"judge": noisy(lines, 1), "length": noisy(lines, 5)}
    scores["judge"][60:], scores["length"][:60] = NAN, NAN
    members, pool = scored_sets(lines, scores)
    assert pool is not None
    estimates = [estimate for scored in (*members, pool) for estimate in analyse(scored)]
    estimates += over_sets(pool, estimates)
    assert one(estimates, dataset="pooled", versus="length", statistic="difference of pearson").verdict == "undefined"
    text = answer(pool, estimates, {})
    assert text[0].startswith("judge agrees with human ratings: Pearson 0.") and "length" not in " ".join(text)


def test_judges_fitted_on_these_data_sets_are_not_compared() -> None:
    lines = examples()
    members, pool = scored_sets(lines, {"fitted": noisy(lines, 1, 0.1), "judge": noisy(lines, 2)})
    assert pool is not None
    inside = [estimate for member in members for estimate in analyse(member)]
    also = {"also": noisy(lines, 3)}
    estimates = over_sets(pool, inside, fitted=["fitted"], also=also)
    assert {row.scorer for row in pick(estimates, group=SAME)} == {"judge", "also", RATERS}
    assert {row.statistic for row in pick(estimates, scorer="fitted")} == {"pearson", "pearson by chance"}


def test_without_any_correlation_means_have_a_reason() -> None:
    lines = examples()
    estimates = measured(lines, {"constant": np.ones(len(lines))}, resamples=0)
    mean = one(estimates, dataset=OVER_SETS, scorer="constant", statistic="pearson")
    assert (mean.verdict, mean.reason) == (Verdict.UNDEFINED, "no data set has a correlation")
    assert pick(estimates, dataset=OVER_SETS, scorer="constant", statistic="spearman") == []
