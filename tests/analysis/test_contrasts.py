"""Scorers against each other on the lines that both score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rated_lines import lines, noisy, ratings_of
from rejoinder.analysis.analyses import analyse
from rejoinder.analysis.contrasts import contrasts
from rejoinder.estimates import one, pick
from scored_sets import scored_sets


def test_differences_over_the_same_lines_add_up() -> None:
    examples = lines()
    scores = {
        name: np.array(noisy(examples, spread, seed))
        for seed, (name, spread) in enumerate([("a", 0.5), ("b", 1.0), ("c", 3.0)])
    }
    (scored,), _ = scored_sets(examples, scores)
    estimates = contrasts(scored)
    for statistic, correlate in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        rows = {(row.scorer, row.versus): row for row in pick(estimates, statistic=f"difference of {statistic}")}
        gap = (
            correlate(scores["a"], ratings_of(examples)).statistic
            - correlate(scores["c"], ratings_of(examples)).statistic
        )
        assert rows["a", "c"].value == pytest.approx(gap)
        assert rows["a", "c"].value == pytest.approx(rows["a", "b"].value + rows["b", "c"].value)
        holm = sorted(row.p for row in rows.values())
        assert min(row.p_adjusted for row in rows.values()) == pytest.approx(min(1.0, 3 * holm[0]))
    all_lines = np.arange(60)
    draws = {name: scored.draws("pearson", name, all_lines) for name in scores}
    assert np.allclose(draws["a"] - draws["c"], (draws["a"] - draws["b"]) + (draws["b"] - draws["c"]))


def test_each_pair_is_compared_on_the_lines_that_both_score() -> None:
    examples = lines()
    scores = {name: np.array(noisy(examples, 1.0, seed)) for seed, name in enumerate("abc")}
    scores["c"][:30] = math.nan
    (scored,), _ = scored_sets(examples, scores)
    rows = {
        frozenset((row.scorer, row.versus)): row for row in pick(contrasts(scored), statistic="difference of pearson")
    }
    assert {pair: row.n for pair, row in rows.items()} == {
        frozenset("ab"): 60,
        frozenset("ac"): 30,
        frozenset("bc"): 30,
    }
    row = rows[frozenset("ac")]
    first, second = (
        stats.pearsonr(scores[name][30:], ratings_of(examples)[30:]).statistic for name in (row.scorer, row.versus)
    )
    assert row.value == pytest.approx(first - second) and row.contexts == 10
    williams = one(contrasts(scored), scorer=row.scorer, versus=row.versus, statistic="williams")
    assert williams.value == pytest.approx(row.value) and 0 < williams.p < 1


def test_many_scorers_can_still_differ_significantly() -> None:
    """Holm multiplies the smallest p, which is one over the number of swaps, by the number of pairs."""
    examples = lines(90)
    scores = {f"noise {place}": np.random.default_rng(place).normal(size=90) for place in range(12)}
    (scored,), _ = scored_sets(examples, {"good": np.array(noisy(examples, 0.1)), **scores})
    rows = pick(contrasts(scored), scorer="good", statistic="difference of pearson")
    assert len(rows) == 12 and all(row.verdict == "above" for row in rows)


def test_scorers_out_of_domain_are_not_compared() -> None:
    examples = lines()
    scores = {name: np.array(noisy(examples, 1.0, seed)) for seed, name in enumerate(["a", "b"])}
    (scored,), _ = scored_sets(examples, scores, outside={"b": "b cannot judge these replies"})
    estimates = analyse(scored)
    assert scored.compared == ["a"] and not pick(estimates, statistic="difference of pearson")
    assert [row.scorer for row in pick(estimates, statistic="rank group", level="turn")] == ["a"]
