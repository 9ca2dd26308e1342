"""Scorers against each other on the lines that both score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rated_lines import lines, noisy, ratings_of
from rejoinder.analysis.analyses import analyse
from rejoinder.analysis.contrasts import contrasts
from rejoinder.analysis.standings import SAME_LINES, best_first
from rejoinder.analysis.study_answer import ranked
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.written import lines_scored
from scored_sets import scored_sets


def measured(scores: dict[str, np.ndarray], size: int = 60, **more: object) -> list[Estimate]:
    """The contrasts of one data set."""
    (scored,), _ = scored_sets(lines(size), scores, **more)  # type: ignore[arg-type]
    return contrasts(scored)


def three() -> dict[str, np.ndarray]:
    """A good scorer, a worse one and a bad one."""
    spreads = [("a", 0.5), ("b", 1.0), ("c", 3.0)]
    return {name: np.array(noisy(lines(), spread, seed)) for seed, (name, spread) in enumerate(spreads)}


def test_the_best_scorer_is_compared_with_each_other_one() -> None:
    scores, ratings = three(), ratings_of(lines())
    estimates = measured(scores)
    for statistic, correlate in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        rows = {(row.scorer, row.versus): row for row in pick(estimates, statistic=f"difference of {statistic}")}
        assert list(rows) == [("a", "b"), ("a", "c")]
        gap = correlate(scores["a"], ratings).statistic - correlate(scores["c"], ratings).statistic
        assert rows["a", "c"].value == pytest.approx(gap)
        assert all(row.p <= row.p_adjusted <= 3 * row.p for row in rows.values())
    assert {row.scorer: row.value for row in pick(estimates, statistic="rank group")}["a"] == 1


def test_baselines_that_come_along_change_nothing_about_the_scorers_asked_for() -> None:
    scores = three()
    alone = measured(scores)
    length = {"length": np.array(noisy(lines(), 2.0, 7)), "context-overlap": np.random.default_rng(8).normal(size=60)}
    beside = measured(scores | length)
    assert [row for row in beside if row.versus not in length] == alone
    of_baselines = [row for row in beside if row.versus in length]
    assert {(row.scorer, row.versus) for row in of_baselines} == {("a", "length"), ("a", "context-overlap")}


def test_a_scorer_of_fewer_lines_is_compared_on_them_and_never_the_best() -> None:
    """It abstains where it is worst, and has the highest correlation on the lines that it scores."""
    scores, ratings = three(), ratings_of(lines())
    scores["shy"] = np.where(np.arange(60) < 40, ratings + 1e-3 * scores["c"], math.nan)
    (scored,), _ = scored_sets(lines(), scores)
    estimates = analyse(scored)
    order = best_first(estimates, level="turn")
    assert order == ["a", "b", "c", "shy"] and ranked(scored, estimates)[0].scorer == "a"
    own = one(estimates, scorer="shy", statistic="pearson", level="turn", group="")
    assert own.value > 0.99 and lines_scored(own) == "40 (67 %)"
    row = one(estimates, scorer="a", versus="shy", statistic="difference of pearson")
    first, second = (stats.pearsonr(scores[name][:40], ratings[:40]).statistic for name in ("a", "shy"))
    assert row.value == pytest.approx(first - second) and row.verdict == "below" and row.n == 40
    assert "shy" not in {row.scorer for row in pick(estimates, statistic="rank group")}
    assert one(estimates, statistic="highest pearson").n == 60


def test_scorers_of_nearly_all_lines_are_ordered_on_the_lines_that_all_score() -> None:
    scores, ratings = three(), ratings_of(lines())
    scores["b"][:2] = math.nan  # 58 of 60 lines
    (scored,), _ = scored_sets(lines(), scores)
    estimates = analyse(scored)
    same = pick(estimates, statistic="pearson", **SAME_LINES)
    assert [row.scorer for row in same] == ["a", "b", "c"]
    assert [row.value for row in same] == pytest.approx(
        [stats.pearsonr(scores[name][2:], ratings[2:]).statistic for name in "abc"]
    )
    assert {row.n for row in pick(estimates, versus="c")} == {58}
    best = one(estimates, statistic="highest pearson")
    assert (best.scorer, best.value) == ("a", same[0].value)
    assert best.low < same[0].low and best.high > same[0].high and "the highest of 3" in best.method


def test_scorers_without_a_line_in_common_are_not_ranked() -> None:
    scores = three()
    scores["a"][:30], scores["b"][30:] = math.nan, math.nan
    (scored,), _ = scored_sets(lines(), {name: scores[name] for name in "ab"})
    estimates = analyse(scored)
    assert not pick(estimates, scorer="ab", statistic=("rank group", "highest pearson", "difference of pearson"))
    assert {row.scorer for row in ranked(scored, estimates)} == {"a", "b"}


def test_many_scorers_can_still_differ_significantly() -> None:
    """The smallest adjusted p is one over the number of swaps, for any number of pairs."""
    examples = lines(90)
    scores = {f"noise {place}": np.random.default_rng(place).normal(size=90) for place in range(12)}
    rows = measured({"good": np.array(noisy(examples, 0.1)), **scores}, 90)
    rows = pick(rows, scorer="good", statistic="difference of pearson")
    assert len(rows) == 12 and all(row.verdict == "above" for row in rows)


def test_scorers_out_of_domain_are_not_compared() -> None:
    examples = lines()
    scores = {name: np.array(noisy(examples, 1.0, seed)) for seed, name in enumerate(["a", "b"])}
    (scored,), _ = scored_sets(examples, scores, outside={"b": "b cannot judge these replies"})
    estimates = analyse(scored)
    assert scored.compared == ["a"] and not pick(estimates, statistic="difference of pearson")
    assert [row.scorer for row in pick(estimates, statistic="rank group", level="turn")] == ["a"]
