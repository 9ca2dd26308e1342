"""Correlations inside each system, where knowing who spoke is worth nothing."""

from __future__ import annotations

import numpy as np

from rejoinder.data.rated import NO_SYSTEM, RatedSet
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import within
from rejoinder.stats.resamples import IntArray, Sampling, renumbered


def within_system(scored: ScoredSet, name: str) -> Agreement:
    """The mean correlation of a scorer inside systems."""
    rated, statistic = scored.rated, "pearson inside systems"
    systems = len(rated.named_systems)
    if systems >= 2 and scored.kinds[name] != "reads ratings":
        known = np.where(rated.systems != NO_SYSTEM, scored.scores[name], np.nan)
        return mean_within(rated, name, statistic, known, rated.systems, scored.sampling)
    return Agreement(
        dataset=rated.name,
        scorer=name,
        level="turn",
        statistic=statistic,
        unscored=len(rated),
        method="none",
        seed=scored.sampling.seed,
        reason=f"{systems} systems named; two or more are needed" if systems < 2 else "tells no line of a system apart",
    )


def mean_within(
    rated: RatedSet, name: str, statistic: str, values: FloatArray, groups: IntArray, sampling: Sampling
) -> Agreement:
    """The mean Pearson correlation inside groups, of the lines where `values` [N] is finite."""
    usable = np.flatnonzero(np.isfinite(values))
    lines, own = rated.at(usable), renumbered(groups[usable])
    found = within(values[usable], lines.ratings, own, sampling.draw(lines.contexts, rated.name, "within systems"))
    how = f"95% expanded percentile interval, {sampling.resamples} resamples of contexts"
    return Agreement.of(
        found,
        dataset=rated.name,
        scorer=name,
        level="turn",
        statistic=statistic,
        n=len(usable),
        unscored=len(rated) - len(usable),
        contexts=lines.clusters,
        method=f"{statistic}; mean of {found.parts}; {how}",
        seed=sampling.seed,
    )
