"""Scores brought to the scale of ratings.

Shapes: N items in clusters.
"""

from __future__ import annotations

import numpy as np

from rejoinder.stats.arrays import FloatArray, IntArray, renumbered
from rejoinder.stats.correlation import standardised


def calibrated(scores: FloatArray, ratings: FloatArray, clusters: IntArray) -> FloatArray:
    """[N] the rating to be expected of each score, by a straight line fitted to all other clusters.

    Least squares, with a slope of 0 or more: a scorer is never read upside down, and one that says nothing comes out as
    the mean rating of the other clusters. NaN where there is no other cluster.

    Args:
        scores: [N] finite.
        ratings: [N] finite.
        clusters: [N] cluster of each item.
    """
    numbers = renumbered(clusters)
    constant = bool((scores == scores[:1]).all())
    x = np.zeros(len(scores)) if constant else standardised(scores)

    def of_others(values: FloatArray) -> FloatArray:
        totals = np.bincount(numbers, weights=values)[numbers]
        found: FloatArray = values.sum() - totals
        return found

    n = of_others(np.ones(len(x)))
    n[n == 0] = np.nan
    mean_x, mean_y = of_others(x) / n, of_others(ratings) / n
    spread = of_others(x * x) / n - mean_x**2
    shared = of_others(x * ratings) / n - mean_x * mean_y
    flat = ~(spread > 1e-12)
    slope = np.maximum(np.where(flat, 0.0, shared / np.where(flat, 1.0, spread)), 0.0)
    found: FloatArray = mean_y + slope * (x - mean_x)
    return found


def matched(scores: FloatArray, ratings: FloatArray) -> FloatArray:
    """[N] scores moved and stretched to the mean and the variance of the ratings; scores must not be constant."""
    own = standardised(scores)
    found: FloatArray = ratings.mean() + (own - own.mean()) / own.std() * ratings.std()
    return found
