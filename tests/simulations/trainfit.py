"""What `train`, `fit` and `quality` claim: a scorer alone, a gain, replies that are good enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rejoinder.analysis.fit import correlations, is_kept
from rejoinder.analysis.quality import quality
from rejoinder.analysis.train import Lines, compare_candidates
from rejoinder.analysis.train_layout import recommended
from rejoinder.estimates import Estimate, pick
from rejoinder.example import Example
from rejoinder.judges.regression.adaptation import RatingTask, fit_chosen, folds_of, left_out
from rejoinder.scorer import Card, Scores
from rejoinder.stats.correlation import by_part, spearman
from rejoinder.stats.resamples import FloatArray, Resamples, Sampling, mean_of_independent
from rejoinder.stats.splits import parts_of
from simulations.rows import COVERAGE, FALSE_VERDICTS, NAN, Row, Simulation

NEW, OLD = "new", "old"
ROLES = {NEW: "new judge", OLD: "bundled judge"}


def alone_before(estimates: list[Estimate]) -> list[str]:
    """Return what the replaced rule recommends: who agrees by Spearman, but for those behind another who agrees."""
    agree = [row.scorer for row in pick(estimates, statistic="spearman") if row.p_adjusted < 0.05 and row.low > 0]
    gaps = [row for row in estimates if row.versus]
    first = all(row.p < 0.05 and row.low > 0 for row in gaps)
    second = all(row.p < 0.05 and row.high < 0 for row in gaps)
    behind = {OLD} if first and NEW in agree else {NEW} if second and OLD in agree else set()
    return [name for name in agree if name not in behind]


def recommendations(draws: int, seed: int) -> list[Row]:
    """Two candidates of known correlations with the ratings and with each other: is one of them recommended alone?"""
    rows, rng = [], np.random.default_rng(seed)
    designs = (100, 0.25, 0.25, 0.5), (200, 0.2, 0.2, 0.5), (300, 0.15, 0.15, 0.3), (150, 0.25, 0.2, 0.3)
    for n, first, second, between in designs:
        mixing = np.linalg.cholesky([[1, first, second], [first, 1, between], [second, between, 1]])
        alone = {OLD} if first > second else {NEW, OLD}
        now = before = 0
        for draw in range(draws):
            values = rng.normal(size=(n, 3)) @ mixing.T
            lines = Lines(values[:, 0], np.arange(n) % 5, np.zeros(n, np.int64), np.arange(n))
            estimates = compare_candidates(ROLES, values[:, 1:], lines, "", Sampling(300, draw))
            use, used = recommended(estimates, []), alone_before(estimates)
            now += len(use) == 1 and use[0] in alone
            before += len(used) == 1 and used[0] in alone
        design = f"candidates of r {first:g} and {second:g}, {n} lines"
        measure, most = ("the worse recommended alone", 0.03) if first > second else ("one recommended alone", 0.07)
        rows.append(Row("recommendation of train", design, measure, now / draws, draws, (0.0, most), before / draws))
    return rows


def gain(draws: int, seed: int) -> list[Row]:
    """A ridge over 60 features, of which ten or none say something: the gain in Spearman against the true gain."""
    rows, features, others = [], 60, 2000
    for n, useful in ((60, 0.0), (100, 0.0), (100, 0.15), (200, 0.15)):
        rng, gaps, held, over, better, lost = np.random.default_rng([seed, n]), [], 0, 0, 0, []
        for draw in range(draws):
            table, ratings = _rated(n + others, features, useful, rng)
            task = RatingTask(table[:n], ratings[:n], np.arange(n))
            folds, lines = folds_of(task.groups, min(10, max(5, n // 10)), rng), np.arange(n)
            after = left_out(task, folds, lines, partial(fit_chosen, task, rng=rng))
            none = np.zeros(n, np.int64)
            measured = correlations(ratings[:n], none, lines, none - 1, table[:n, 0], after, folds, Sampling(300, draw))
            row = list(measured)[2]
            predicted = fit_chosen(task, lines, rng).predict(table[n:])
            true = spearman(predicted, ratings[n:]).value - spearman(table[n:, 0], ratings[n:]).value
            gaps.append(row.value - true)
            held, over = held + (row.low <= true <= row.high), over + (row.low > true)
            better += row.verdict == "above"
            lost.append(min(true, 0.0) if is_kept(row) else 0.0)
        design = f"{n} lines, features hold {useful:.0%} of the variance"
        rule = "gain of fit"
        rows.append(Row(rule, design, "gain less true gain", float(np.mean(gaps)), draws, (-0.02, 0.02)))
        low = "judges of the folds learn from fewer lines, so the gain is a little low" if useful else ""
        measure = "interval holds the true gain"
        rows.append(Row(rule, design, measure, held / draws, draws, COVERAGE, outside=low))
        rows.append(Row(rule, design, "interval above the true gain", over / draws, draws, (0.0, 0.05)))
        if not useful:
            rows.append(Row(rule, design, "called better", better / draws, draws, (0.0, 0.02)))
            rows.append(Row(rule, design, "mean loss of what is kept", -float(np.mean(lost)), draws, (0.0, 0.03)))
    return rows


def _rated(n: int, features: int, useful: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return [n, 1 + features] a judge of r .3 beside features, and ratings from 1 to 5."""
    table = rng.normal(size=(n, 1 + features))
    shown = 0.3 * table[:, 0] + table[:, 1:11].sum(axis=1) * np.sqrt(useful / 10)
    noise = rng.normal(size=n) * np.sqrt(1 - 0.09 - useful)
    return table, np.clip(np.round(3 + shown + noise), 1, 5)


def small_sets(draws: int, seed: int) -> list[Row]:
    """Data sets of 100, 20 and 2 lines in five folds: correlations of 1 or -1 by themselves."""
    rng, sets = np.random.default_rng(seed), np.repeat([0, 1, 2], [100, 20, 2])
    once, whole = Resamples.once(np.arange(len(sets))), np.zeros(2)
    for _ in range(draws):
        folds, (scores, ratings) = rng.permutation(len(sets)) % 5, rng.normal(size=(2, len(sets)))
        for rule, parts in enumerate((parts_of(sets, folds), 5 * sets + folds)):
            whole[rule] += (np.abs(by_part("spearman", scores[None], ratings, parts, once)) > 0.999).any()
    now, before = (whole / draws).tolist()
    design = "data sets of 100, 20 and 2 lines, useless scores"
    return [Row("parts of fit", design, "a part of r 1 or -1", now, draws, (0.0, 0.0), before)]


class Numbers:
    """Scores a reply by the number in its text, with an interval of +- .5."""

    card = Card("numbers", "", "judge", frozenset(), (None, None), "")
    options: ClassVar[dict[str, Any]] = {}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the numbers."""
        values = np.array([float(line.response) for line in examples])
        return Scores(values, low=values - 0.5, high=values + 0.5)


def good_enough(draws: int, seed: int) -> list[Row]:
    """Replies whose true mean is the required score: are they called good enough?"""
    rows, rng = [], np.random.default_rng(seed)
    for contexts in (3, 4, 6, 20):
        now = before = 0
        for draw in range(draws):
            values = 3 + rng.normal(0, 0.5, (contexts, 1)) + rng.normal(0, 0.5, (contexts, 2))
            lines = [Example((f"context {place}",), str(value)) for place, row in enumerate(values) for value in row]
            mean = quality(lines, 3, Numbers(), resamples=300, seed=draw).one(statistic="mean score")
            single = [Estimate(value=value, low=value - 0.5, high=value + 0.5) for value in values.ravel().tolist()]
            now, before = now + (mean.verdict == "above"), before + (mean_of_independent(single).low >= 3)
        design = f"2 replies to each of {contexts} contexts"
        old = before / draws if contexts < 5 else NAN
        measure = "called good enough at the bar"
        rows.append(Row("quality", design, measure, now / draws, draws, FALSE_VERDICTS, old))
    return rows


SIMULATIONS = (
    Simulation(recommendations, few=60, many=1000),
    Simulation(gain, few=6, many=200),
    Simulation(small_sets, few=30, many=1000),
    Simulation(good_enough, few=40, many=1000),
)
