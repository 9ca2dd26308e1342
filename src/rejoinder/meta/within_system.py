"""Correlations inside each system, where knowing who spoke is worth nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rejoinder.humans.rated_set import NO_SYSTEM, RatedSet
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.arrays import number_of, renumbered
from rejoinder.stats.figure import NONE
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.within import within_correlations


def within_system(scored: ScoredSet, name: str) -> Agreement:
    """The mean correlation of a scorer inside systems."""
    rated, statistic = scored.rated, "pearson inside systems"
    systems = len(rated.named_systems)
    if systems < 2 or scored.kinds[name] == "reads ratings":
        few = f"{systems} systems named; two or more are needed"
        reason = few if systems < 2 else "tells no line of a system apart"
        return _agreement(rated, name, statistic, 0, 0, (NONE, NONE, NONE), "none", scored.sampling, reason)
    known = np.where(rated.systems != NO_SYSTEM, scored.scores[name], np.nan)
    return mean_within(rated, name, statistic, known, rated.systems, scored.sampling)


def mean_within(
    rated: RatedSet, name: str, statistic: str, values: FloatArray, groups: NDArray[np.int64], sampling: Sampling
) -> Agreement:
    """The mean Pearson correlation inside groups, of the lines where `values` [N] is finite."""
    usable = np.flatnonzero(np.isfinite(values))
    contexts = renumbered(rated.contexts[usable])
    own = renumbered(groups[usable])
    clusters = number_of(contexts)
    counts = sampling.counts(clusters, rated.name, "within systems")
    found = within_correlations(values[usable], rated.ratings[usable], own, contexts, counts, ["pearson"])["pearson"]
    how = f"95% expanded percentile interval, {sampling.resamples} resamples of contexts"
    method = f"{statistic}; mean of {found.groups}; {how}"
    figures = (found.value, found.low, found.high)
    return _agreement(rated, name, statistic, len(usable), clusters, figures, method, sampling, found.reason)


def _agreement(
    rated: RatedSet,
    name: str,
    statistic: str,
    n: int,
    contexts: int,
    figures: tuple[float, float, float],
    method: str,
    sampling: Sampling,
    reason: str,
) -> Agreement:
    """A row at turn level, without p."""
    value, low, high = figures
    unscored = len(rated) - n
    return Agreement(
        rated.name,
        name,
        "turn",
        statistic,
        n,
        unscored,
        contexts,
        value,
        low,
        high,
        NONE,
        method,
        sampling.seed,
        reason,
    )
