"""Expanded percentile intervals from a bootstrap that resamples clusters.

Lines of one cluster share what the cluster is (responses to one context share its difficulty and its raters), so they
are not independent, and drawing single lines would make intervals too narrow. Whole clusters are drawn instead, as
many as there are, with replacement; a cluster drawn k times brings all its lines k times; the statistic is worked out
anew on each resample; the interval runs between two quantiles of the results. Between the 2.5 % and the 97.5 % quantile
it would be too narrow with few clusters, as an interval for a mean is that takes the normal for Student's distribution
and divides by G instead of G - 1. So the quantiles lie further out, by as much as would set that right for a mean.

Source: Hesterberg (2015), What Teachers Should Know About the Bootstrap, The American Statistician 69, pages 371-386
(expanded percentile interval); Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8
(resampling whole clusters).

Shapes: N lines, G clusters, B resamples, S groups (systems).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.stats.arrays import Counts, FloatArray, IntArray, blocks, number_of
from rejoinder.stats.columns import COLUMNS
from rejoinder.stats.figure import CONFIDENCE, NONE, Figure
from rejoinder.stats.resamples import paired_resamples
from rejoinder.stats.weighted import WEIGHTED

MOST_DRAWS = 2**30  # two bytes each
BLOCK = 2**20  # numbers in one working array (8 MiB); some ten of them are alive at a time


def cluster_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Counts:
    """[G, B] how often each of `clusters` clusters is drawn in each of `resamples` resamples; columns sum to G.

    Index its rows with the cluster of each line to get the weights of lines, [N, B].

    Raises:
        UsageError: they are more than `MOST_DRAWS` together.
    """
    if clusters * resamples > MOST_DRAWS:
        memory = f"{2e-9 * clusters * resamples:,.0f} GB and more"
        found = f"{resamples:,} resamples of {clusters:,} contexts would take {memory}"
        raise UsageError(f"{found}. Ask for {MOST_DRAWS // clusters:,} or fewer")
    counts = np.empty((clusters, resamples), dtype=np.uint16)
    for block in blocks(resamples, clusters, BLOCK):
        width = block.stop - block.start
        drawn = rng.integers(0, clusters, size=(width, clusters)) + clusters * np.arange(width)[:, None]
        counts[:, block] = np.bincount(drawn.ravel(), minlength=width * clusters).reshape(width, clusters).T
    return counts


def resample_correlations(
    x: FloatArray, y: FloatArray, clusters: IntArray, counts: Counts, names: Sequence[str] = tuple(WEIGHTED)
) -> dict[str, FloatArray]:
    """[B] correlations of `x` [N] and `y` [N] over each resample, by name.

    Args:
        x: [N] finite values, not all the same.
        y: [N] finite values, not all the same, paired with `x`.
        clusters: [N] cluster of each pair, in [0, G).
        counts: [G, B] from `cluster_counts`.
        names: which of Pearson's, Spearman's and Kendall's; the last takes by far the longest.
    """
    values = {name: np.empty(counts.shape[1]) for name in names}
    ranked = [name for name in names if name != "pearson"]
    if len(ranked) < len(names):  # by sums over clusters, far quicker than over lines
        values["pearson"] = paired_resamples(x[:, None], y, clusters, counts)[:, 0]
    for block in blocks(counts.shape[1], len(x), BLOCK) if ranked else ():
        weights = counts[:, block].astype(np.float64)[clusters]
        for name in ranked:
            values[name][block] = WEIGHTED[name](x, y, weights)
    return values


def resample_group_correlations(
    x: FloatArray, y: FloatArray, groups: IntArray, clusters: IntArray, counts: Counts
) -> dict[str, FloatArray]:
    """[B] correlations over S groups of their mean `x` and mean `y`, worked out anew on each resample, by name.

    A resample in which a group has no line gives NaN.

    Args:
        x: [N] finite values.
        y: [N] finite values, paired with `x`.
        groups: [N] group of each pair, in [0, S).
        clusters: [N] cluster of each pair, in [0, G).
        counts: [G, B] from `cluster_counts`.
    """
    values = {name: np.empty(counts.shape[1]) for name in COLUMNS}
    for block in blocks(counts.shape[1], max(counts.shape[0], number_of(groups)), BLOCK):
        weights = counts[:, block].astype(np.float64)
        means_x = group_means(x, groups, clusters, weights)
        means_y = group_means(y, groups, clusters, weights)
        for name, columns in COLUMNS.items():
            values[name][block] = columns(means_x, means_y)
    return values


def group_means(values: FloatArray, groups: IntArray, clusters: IntArray, weights: FloatArray) -> FloatArray:
    """[S, B] mean of `values` [N] over the lines of each group, under `weights` [G, B] of the lines' clusters.

    NaN where a group has no weight. Means are rounded to twelve digits, so that equal ones tie whatever the order of
    summation was.
    """
    count, size = number_of(groups), len(weights)
    cells = groups * size + clusters
    scale = float(np.abs(values).max()) or 1.0
    lines = np.bincount(cells, minlength=count * size).reshape(count, size).astype(np.float64)
    sums = np.bincount(cells, weights=values / scale, minlength=count * size).reshape(count, size)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: FloatArray = np.round((sums @ weights) / (lines @ weights), 12) * scale
    return means


def percentile_interval(draws: FloatArray, clusters: int, *, value: float = NONE, unit: str = "cluster") -> Figure:
    """A statistic with its 95 % expanded percentile interval.

    Resamples without a value (NaN) are left out, and `method` counts them. No interval, with the reason, where there
    are no resamples, only one cluster to draw from, or no value in over half of the resamples.

    Args:
        draws: [B] the statistic on resamples of clusters.
        clusters: how many there are.
        value: the statistic itself.
        unit: what a cluster is called in method and reason.
    """
    usable = draws[np.isfinite(draws)]
    left_out = len(draws) - len(usable)
    reason = ""
    if not len(draws):
        reason = "no interval: no resamples were asked for"
    elif clusters < 2:
        reason = f"no interval: there is only one {unit}, and {unit}s are what is resampled"
    elif 2 * left_out > len(draws):
        reason = f"no interval: {left_out} of {len(draws)} resamples have no correlation"
    if reason:
        return Figure(value=value, method="no interval", reason=reason)
    tail = expanded_tail(clusters)
    low, high = np.quantile(usable, [tail, 1 - tail])
    gaps = f", {left_out} of them left out for want of a value" if left_out else ""
    method = f"95% expanded percentile interval, {len(draws)} resamples of {unit}s{gaps}"
    return Figure(value=value, low=float(low), high=float(high), method=method)


@cache
def expanded_tail(clusters: int) -> float:
    """The share of resamples that a 95 % interval leaves out at each end, at most 2.5 %, with two or more `clusters`.

    Source: Hesterberg (2015): Phi(-sqrt(n / (n - 1)) t), t the 97.5 % quantile of Student's
    distribution with n - 1 degrees of freedom; for n = 10 it is .9 %, for n = 100 2.3 %.
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-np.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, (1 + CONFIDENCE) / 2)))
