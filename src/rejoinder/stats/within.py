"""Correlation within groups: how well scores tell the lines of one system apart, whatever they say between systems.

A scorer that only knows which system speaks has a correlation over all lines and none within systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rejoinder.stats.arrays import Counts, FloatArray, IntArray
from rejoinder.stats.bootstrap import percentile_interval, resample_correlations
from rejoinder.stats.correlation import CORRELATIONS
from rejoinder.stats.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Within(Figure):
    """The mean over groups of the correlation within a group, over those that have one.

    Attributes:
        groups: number of groups that have a correlation.
        each: the correlation within each group, by number, with the reason where there is none.
    """

    groups: int
    each: tuple[Figure, ...]


def within_correlations(
    x: FloatArray,
    y: FloatArray,
    groups: IntArray,
    clusters: IntArray,
    counts: Counts,
    names: Sequence[str] = tuple(CORRELATIONS),
) -> dict[str, Within]:
    """The mean correlation within groups, by name.

    All groups weigh the same, as in the shared tasks on translation metrics ("average by system"); no Fisher z, which a
    single group with a perfect correlation would make infinite. Groups with fewer than three lines, a constant variable
    or a value that is not finite are left out, each with its reason. Resamples draw whole clusters, over all groups
    together; a group that has no correlation in a resample is left out of its mean.

    Args:
        x: [N].
        y: [N], paired with `x`.
        groups: [N] group of each line, in [0, S).
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `cluster_counts`.
        names: which of Pearson's, Spearman's and Kendall's, one or more.

    Source: Freitag et al. (2022), Results of the WMT22 Metrics Shared Task; mt-metrics-eval, `AverageCorrelation` with
    `average_by="sys"`, `macro=True`.
    """
    rows = [np.flatnonzero(groups == group) for group in range(int(groups.max(initial=-1)) + 1)]
    found = {
        name: tuple(CORRELATIONS[name](x[own], y[own], names=("score", "rating")) for own in rows) for name in names
    }
    usable = [own for own, one in zip(rows, found[names[0]], strict=True) if not one.reason]
    total = {name: np.zeros((2, counts.shape[1])) for name in found}
    for own in usable:
        for name, values in resample_correlations(x[own], y[own], clusters[own], counts, names).items():
            total[name] += np.stack([np.nan_to_num(values), np.isfinite(values)])
    kept = len(np.unique(clusters[np.concatenate(usable)])) if usable else 0
    return {name: _mean(each, total[name], kept) for name, each in found.items()}


def _mean(each: tuple[Figure, ...], total: FloatArray, clusters: int) -> Within:
    """The mean of `each` group's correlation; `total` [2, B] has sums and numbers of their resampled values."""
    values = [one.value for one in each if not one.reason]
    if not values:
        why = Counter(one.reason for one in each).most_common(1)
        reason = f"none of {len(each)} groups has a correlation" + (f", most often: {why[0][0]}" if why else "")
        return Within(groups=0, each=each, reason=reason)
    with np.errstate(invalid="ignore"):
        means: FloatArray = total[0] / total[1]
    found = percentile_interval(means, clusters, value=float(np.mean(values)))
    return Within.of(found, groups=len(values), each=each)
