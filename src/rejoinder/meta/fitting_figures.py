"""Figures of a judge before and after it was adapted, over the same lines and resamples. Shapes: N items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rejoinder.judges.learner import Rows
from rejoinder.meta.fitting_results import Gain
from rejoinder.scorer import FloatArray
from rejoinder.stats.arrays import Counts, IntArray, number_of, renumbered
from rejoinder.stats.bootstrap import percentile_interval
from rejoinder.stats.figure import Figure
from rejoinder.stats.paired import Statistic, mean_correlations
from rejoinder.stats.sampling import Sampling

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
        counts = _counts(clusters, sampling)
        parts = renumbered(sets[rows] * (int(folds.max(initial=0)) + 1) + folds[rows])
        both = np.stack([before[rows], after[rows]], axis=1)
        found = [
            _gain(
                name,
                len(rows),
                mean_correlations(name, both, ratings[rows], parts, clusters, counts),
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
                    mean_correlations(name, both[named], ratings[own], systems[own], clusters[named], counts),
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
            shares = _shares(right, clusters, _counts(clusters, sampling).astype(np.float64))
            found.append(_gain(name, len(rows), shares, clusters, "mean over pairs"))
        return tuple(found)

    return measure


def _counts(clusters: IntArray, sampling: Sampling) -> Counts:
    """[G, B] resamples of contexts, the same for all figures of these."""
    return sampling.counts(number_of(clusters), "fit", "fit")


def _shares(right: FloatArray, clusters: IntArray, counts: FloatArray) -> FloatArray:
    """[1 + B, 2] means of [N, 2]: as they are, then over each resample; NaN of nothing."""
    size = number_of(clusters)
    sums = np.stack([np.bincount(clusters, column, size) for column in right.T])  # [2, G]
    items = np.bincount(clusters, minlength=size).astype(np.float64)
    weights = np.concatenate([np.ones((size, 1)), counts], axis=1)
    with np.errstate(invalid="ignore"):
        found: FloatArray = (sums @ weights / (items @ weights)).T
    return found


def _gain(name: str, n: int, drawn: FloatArray, clusters: IntArray, method: str) -> Gain:
    """The figures of [1 + B, 2] values before and after."""

    def figure(values: FloatArray) -> Figure:
        return percentile_interval(values[1:], len(np.unique(clusters)), value=float(values[0]), unit="context")

    before, after = drawn.T
    how = f"{method}; [low, high]: 95 % expanded percentile interval, {len(drawn) - 1} resamples of contexts"
    return Gain(name, n, figure(before), figure(after), figure(after - before), how)
