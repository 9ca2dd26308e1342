"""Pearson correlations of many scorers with the same ratings, over the same resamples.

Drawn together, the correlations of two scorers rise and fall together, so the interval of their difference is that of
the differences, much narrower than two separate intervals suggest.

Shapes: N lines, G clusters, K scorers, B resamples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.arrays import Counts, FloatArray, IntArray, blocks
from rejoinder.stats.correlation import FEWEST, snap, standardised
from rejoinder.stats.weighted import CANCELLATION, weighted_pearson

BLOCK = 2**20  # numbers in one working array


def paired_resamples(scores: FloatArray, ratings: FloatArray, clusters: IntArray, counts: Counts) -> FloatArray:
    """[B, K] Pearson correlations of each scorer with the ratings over each resample of clusters.

    The interval of scorer k is `percentile_interval(values[:, k], G)`, that of the difference between two
    `percentile_interval(values[:, j] - values[:, k], G)`. A scorer with constant scores or one that is not finite has
    NaN throughout, and so has every scorer where the ratings are like that or there are fewer than three lines.

    The moments of all scorers are summed over clusters once, and one matrix product with the counts gives those of all
    resamples. Resamples where that would cancel too many digits are worked out on their own.

    Args:
        scores: [N, K].
        ratings: [N].
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `cluster_counts`.
    """
    resamples = counts.shape[1]
    values = np.full((resamples, scores.shape[1]), np.nan)
    if len(ratings) < FEWEST or not _varied(ratings):
        return values
    usable = np.flatnonzero([_varied(column) for column in scores.T])
    if not len(usable):
        return values
    moments = _cluster_moments(scores[:, usable].T, ratings, clusters, len(counts))
    for part in blocks(resamples, len(counts), BLOCK):
        block = counts[:, part].astype(np.float64)
        found, doubtful = _correlations(moments @ block, len(usable))
        for scorer, resample in np.argwhere(doubtful):
            weights = block[clusters, resample : resample + 1]
            found[scorer, resample] = weighted_pearson(scores[:, usable[scorer]], ratings, weights)[0]
        values[part, usable] = found.T
    return values


def _varied(values: FloatArray) -> bool:
    """Whether all values are finite and two of them differ."""
    return bool(np.isfinite(values).all()) and bool((values != values[0]).any())


def _cluster_moments(scores: FloatArray, ratings: FloatArray, clusters: IntArray, count: int) -> FloatArray:
    """[3 + 3 K, G] sums over each cluster of 1, y, y^2, then of x, of x^2 and of x y for every scorer."""
    x = np.stack([_centred(column) for column in scores])
    y = _centred(ratings)[None]
    lines = np.concatenate([np.ones_like(y), y, y * y, x, x * x, x * y])
    return np.stack([np.bincount(clusters, weights=line, minlength=count) for line in lines])


def _centred(values: FloatArray) -> FloatArray:
    """`values` over their range, with mean 0."""
    scaled = standardised(values)
    centred: FloatArray = scaled - scaled.mean()
    return centred


def _correlations(moments: FloatArray, scorers: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """[K, B] correlations from the moments of each resample, and which of them are doubtful."""
    n, sum_y, sum_yy = moments[:3]
    sum_x, sum_xx, sum_xy = moments[3:].reshape(3, scorers, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance_x, variance_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
        values = (sum_xy - sum_x * sum_y / n) / np.sqrt(variance_x * variance_y)
    doubtful = ~((variance_x > CANCELLATION * sum_xx) & (variance_y > CANCELLATION * sum_yy))
    return snap(np.where((n >= FEWEST) & np.isfinite(values), values, np.nan)), doubtful
