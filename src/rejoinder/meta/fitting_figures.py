"""Figures of a judge before and after it was adapted, over the same lines and resamples. Shapes: N items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rejoinder.judges.learner import Rows
from rejoinder.meta.fitting_results import Gain
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import Statistic, mean_correlations
from rejoinder.stats.figure import Figure
from rejoinder.stats.resamples import IntArray, Resamples, Sampling, percentile_interval, renumbered

ACCURACY, LONGER, SHORTER = "accuracy", "longer preferred", "shorter preferred"
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")


Measure = Callable[[FloatArray, FloatArray, Rows, Sampling], tuple[Gain, ...]]
"""Gains, the one that decides first, from [N] said before, [N] said after, [N] folds, and how to resample."""


WITHIN = " within systems"
NOBODY = -1
"""The system of a line that names none."""


def of_correlations(ratings: FloatArray, sets: IntArray, contexts: IntArray, systems: IntArray) -> Measure:
    """What measures agreement with [N] ratings, inside folds and data sets, so that no level of theirs counts.

    Where lines name several systems, it is measured within systems too, where telling systems apart is worth nothing.
    Systems have too few lines in a fold for a correlation there, so these figures are over all folds.

    Args:
        ratings: [N].
        sets: [N] number of each line's data set.
        contexts: [N] number of each line's cluster.
        systems: [N] number of each line's system, those of two data sets apart; `NOBODY` where it names none.
    """

    def measure(before: FloatArray, after: FloatArray, folds: Rows, sampling: Sampling) -> tuple[Gain, ...]:
        rows = np.flatnonzero(np.isfinite(before) & np.isfinite(after))
        clusters = renumbered(contexts[rows])
        resamples = sampling.draw(clusters, "fit", "fit")
        parts = renumbered(sets[rows] * (int(folds.max(initial=0)) + 1) + folds[rows])
        both = np.stack([before[rows], after[rows]], axis=1)
        found = [
            _gain(
                name,
                len(rows),
                mean_correlations(name, both, ratings[rows], parts, resamples),
                clusters,
                "mean correlation inside folds (and data sets)",
            )
            for name in _STATISTICS
        ]
        named = np.flatnonzero(systems[rows] != NOBODY)
        if len(np.unique(systems[rows[named]])) > 1:
            own = rows[named]
            found += [
                _gain(
                    name + WITHIN,
                    len(own),
                    mean_correlations(name, both[named], ratings[own], systems[own], resamples.at(named)),
                    clusters[named],
                    "mean correlation within systems",
                )
                for name in _STATISTICS
            ]
        return tuple(found)

    return measure


def of_shares(longer: FloatArray, contexts: IntArray) -> Measure:
    """What measures how often the preferred reply is ahead; half where neither is.

    Args:
        longer: [N] 1 where the longer reply is preferred, -1 where the shorter is.
        contexts: [N] number of each pair's context.
    """
    kinds = {ACCURACY: np.ones(len(longer), bool), LONGER: longer > 0, SHORTER: longer < 0}

    def measure(before: FloatArray, after: FloatArray, _folds: Rows, sampling: Sampling) -> tuple[Gain, ...]:
        known = np.isfinite(before) & np.isfinite(after)
        found = []
        for name, kind in kinds.items():
            rows = np.flatnonzero(known & kind)
            clusters = renumbered(contexts[rows])
            right = np.stack([0.5 + np.sign(said[rows]) / 2 for said in (before, after)], axis=1)
            shares = _shares(right, sampling.draw(clusters, "fit", "fit"))
            found.append(_gain(name, len(rows), shares, clusters, "mean over pairs"))
        return tuple(found)

    return measure


def _shares(right: FloatArray, resamples: Resamples) -> FloatArray:
    """[1 + B, 2] means of [N, 2]: as they are, then over each resample; NaN of nothing."""
    *sums, items = resamples.sums(np.vstack([right.T, np.ones(len(right))]))
    with np.errstate(invalid="ignore"):
        found: FloatArray = (np.array(sums) / items).T
    return found


def _gain(name: str, n: int, drawn: FloatArray, clusters: IntArray, method: str) -> Gain:
    """The figures of [1 + B, 2] values before and after."""

    def figure(values: FloatArray) -> Figure:
        return percentile_interval(values, len(np.unique(clusters)))

    before, after = drawn.T
    how = f"{method}; [low, high]: 95 % expanded percentile interval, {len(drawn) - 1} resamples of contexts"
    return Gain(name, n, figure(before), figure(after), figure(after - before), how)
