"""The order of the scorers that were asked for, on the lines that all of them score; the figure of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.estimates import Estimate, pick
from rejoinder.stats.correlation import mean_of_known
from rejoinder.stats.resamples import FloatArray, IntArray, interval_of_highest

OVER_SETS = "mean over data sets"
"""The data set of estimates that are means over several."""
SAME_LINES: Mapping[str, Any] = {"by": "lines", "group": "lines that all score"}
"""The labels of the estimates on the lines that all ranked scorers score."""
FEWEST_LINES = 0.95
"""Share of the lines; a scorer of fewer is not ranked, because abstaining where it is unsure makes it look good."""


class Standings(NamedTuple):
    """Scorers on the lines that all ranked ones score.

    Attributes:
        lines: rows of these lines.
        draws: [1 + B] by scorer, the best first: its Pearson correlation on these lines, the mean of that inside each
            data set. Of all scorers that score all of these lines.
        ranked: the scorers that were asked for and score nearly as many lines as any of them, the best first. No
            baselines, unless nothing else was asked for.
        fewer: the others that were asked for, which score fewer lines.
    """

    lines: IntArray
    draws: Mapping[str, FloatArray]
    ranked: Sequence[str]
    fewer: Sequence[str]


def standings(scored: ScoredSet) -> Standings:
    """Return the order of the scorers that can judge these lines. Baselines change nothing in it."""
    named = [name for name in scored.compared if name in scored.asked and has_correlation(scored, name)]
    named = [name for name in named if scored.kinds[name] != "baseline"] or named
    counts = {name: len(scored.rows(name)) for name in named}
    if not counts:
        return Standings(scored.rows(), {}, [], [])
    ranked = [name for name in counts if counts[name] >= FEWEST_LINES * max(counts.values())]
    lines = scored.rows(*ranked)
    inside = {
        name: scored.draws_in_sets("pearson", name, lines)
        for name, scores in scored.scores.items()
        if np.isfinite(scores[lines]).all()
    }
    of_ranked = [np.isfinite(inside[name][:, 0]) for name in ranked]
    common = np.any(of_ranked, axis=0) & np.all([known for known in of_ranked if known.any()], axis=0)
    means = {name: mean_of_known(draws[common]) for name, draws in inside.items()}
    known = sorted((name for name in means if np.isfinite(means[name][0])), key=lambda name: -means[name][0])
    draws = {name: means[name] for name in known}
    ranked = [name for name in draws if name in ranked]
    return Standings(lines, draws, ranked, [name for name in counts if name not in ranked])


def standing(scored: ScoredSet) -> list[Estimate]:
    """Return the figure of the best of several scorers, with an interval that allows for the choice.

    If scorers differ in lines, also Pearson's correlation of each on the lines that all ranked ones score.
    """
    place = standings(scored)
    contexts, estimates = len(np.unique(scored.rated.contexts[place.lines])), list[Estimate]()
    unlike = place.fewer or any(len(scored.rows(name)) > len(place.lines) for name in place.ranked)
    if unlike and not scored.members:
        estimates = [
            scored.estimate(draws, name, place.lines, "pearson", statistic="pearson", **SAME_LINES)
            for name, draws in place.draws.items()
        ]
    if len(place.ranked) > 1:
        figure = interval_of_highest(np.stack([place.draws[name] for name in place.ranked]), contexts)
        dataset = OVER_SETS if scored.members else scored.name
        estimates.append(scored.row(place.ranked[0], place.lines, "highest pearson", figure, dataset=dataset))
    return estimates


def best_first(estimates: Sequence[Estimate], **labels: Any) -> list[str]:
    """Return the scorers of Pearson correlations, best first, on the lines that all ranked ones score.

    Those that score fewer lines come last.
    """
    rows = pick(estimates, statistic="pearson", versus="", **labels)
    same = {row.scorer: row.value for row in rows if row.group == SAME_LINES["group"]}
    whole = {row.scorer: row.value for row in rows if not row.group and row.known}
    if same:
        return sorted(whole, key=lambda name: (name not in same, -same.get(name, whole[name])))
    return sorted(whole, key=lambda name: -whole[name])


def over_members(rows: Sequence[Estimate], **labels: Any) -> dict[str, Any]:
    """Return the fields of a figure over data sets from `rows` of each: their numbers of lines and contexts, summed."""
    sums = {name: sum(getattr(row, name) for row in rows) for name in ("n", "unscored", "contexts")}
    return {"dataset": OVER_SETS, "seed": rows[0].seed, **sums, **labels}


def has_correlation(scored: ScoredSet, name: str) -> bool:
    """Return whether a scorer has a correlation on the lines that it scores, of a pool in one data set at least."""
    return bool(np.isfinite(scored.draws_in_sets("pearson", name, scored.rows(name))[:, 0]).any())
