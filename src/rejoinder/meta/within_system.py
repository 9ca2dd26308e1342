"""Correlations inside each system, where knowing who spoke is worth nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.parts import NO_SYSTEM, Part
from rejoinder.meta.yardsticks import Kind
from rejoinder.scorer import FloatArray
from rejoinder.stats.arrays import number_of, renumbered
from rejoinder.stats.figure import NONE
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.within import within_correlations


def within_system(part: Part, name: str, kind: Kind, values: FloatArray, sampling: Sampling) -> Agreement:
    """The mean correlation inside systems."""
    known = part.systems != NO_SYSTEM
    systems = len(np.unique(part.systems[known]))
    if systems < 2 or kind == "reads ratings":
        reason = (
            f"{systems} systems named; two or more are needed" if systems < 2 else "tells no line of a system apart"
        )
        return _agreement(part, name, "pearson inside systems", 0, 0, (NONE, NONE, NONE), "none", sampling, reason)
    return mean_within(part, name, "pearson inside systems", np.where(known, values, np.nan), part.systems, sampling)


def mean_within(
    part: Part, name: str, statistic: str, values: FloatArray, groups: NDArray[np.int64], sampling: Sampling
) -> Agreement:
    """The mean Pearson correlation inside groups, of the lines where `values` [N] is finite."""
    usable = np.flatnonzero(np.isfinite(values))
    contexts = renumbered(part.contexts[usable])
    own = renumbered(groups[usable])
    clusters = number_of(contexts)
    counts = sampling.counts(clusters, part.name, "within systems")
    found = within_correlations(values[usable], part.ratings[usable], own, contexts, counts, ["pearson"])["pearson"]
    how = f"95% expanded percentile interval, {sampling.resamples} resamples of contexts"
    method = f"{statistic}; mean of {found.groups}; {how}"
    figures = (found.value, found.low, found.high)
    return _agreement(part, name, statistic, len(usable), clusters, figures, method, sampling, found.reason)


def _agreement(
    part: Part,
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
    unscored = len(part.places) - n
    return Agreement(
        part.name, name, "turn", statistic, n, unscored, contexts, value, low, high, NONE, method, sampling.seed, reason
    )
