"""What a correlation comes to by chance, where items of one cluster are alike.

Shapes: N items in clusters.
"""

from __future__ import annotations

import math

import numpy as np

from rejoinder.stats.arrays import FloatArray, IntArray
from rejoinder.stats.correlation import pearson, standardised
from rejoinder.stats.figure import CONFIDENCE, NOTHING, Figure


def chance_band(x: FloatArray, y: FloatArray, clusters: IntArray) -> Figure:
    """What Pearson's correlation comes to with probability 0.95 where `x` and `y` are unrelated: 0, and [-c, c].

    Unrelated means: which cluster has which value of `x` says nothing of its `y`. Items of a cluster may be alike in
    both, and then the N items are worth fewer independent ones, N / (1 + (m - 1) r s) with r and s the intraclass
    correlations of `x` and `y` and m the mean size of the cluster that an item is in; never more than N. c lies in
    [0, 1]; nothing where there is no correlation.

    Args:
        x: [N].
        y: [N], paired with `x`.
        clusters: [N] cluster of each pair.

    Source: the t distribution of Pearson's r, with the effective number of items for two variables that are each
    alike inside clusters, as in Clifford, Richardson and Hemon (1989).
    """
    from scipy import stats

    if pearson(x, y).reason:
        return NOTHING
    sizes = np.unique(clusters, return_counts=True)[1]
    others = float((sizes**2).sum()) / len(x) - 1
    effect = 1 + max(others * _alike(x, clusters) * _alike(y, clusters), 0.0)
    freedom = max(len(x) / effect - 2, 1.0)
    t = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    c = t / math.sqrt(t * t + freedom)
    method = "95% of scorers that have nothing to do with the ratings, contexts taken as wholes"
    return Figure(value=0.0, low=-c, high=c, method=method)


def _alike(values: FloatArray, clusters: IntArray) -> float:
    """The correlation between two items of a cluster, over all such pairs; 0 where there are none."""
    moved = standardised(values)
    own = (moved - moved.mean()) / moved.std()
    numbers, sizes = np.unique(clusters, return_inverse=True, return_counts=True)[1:]
    pairs = float((sizes**2).sum() - len(own))
    sums = np.bincount(numbers, weights=own)
    return float(((sums**2).sum() - len(own)) / pairs) if pairs else 0.0
