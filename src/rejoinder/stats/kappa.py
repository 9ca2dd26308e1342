"""Cohen's kappa of many pairs of raters over many resamples at once.

Shapes: M pairs of ratings, P groups of them (two raters, or one rater and all others), G clusters, B resamples, V
values that a rating takes.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from rejoinder.stats.arrays import Counts, FloatArray, IntArray, blocks, number_of

Weighting = Literal["unweighted", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
BLOCK = 2**20  # numbers in one working array


def kappas(
    first: FloatArray,
    second: FloatArray,
    groups: IntArray,
    clusters: IntArray,
    counts: Counts,
    weighting: Weighting = "quadratic",
) -> FloatArray:
    """[P, B] Cohen's kappa of each group of pairs of ratings over each resample, at most 1; 0 is agreement by chance.

    One less the disagreement observed over that expected where both rate by chance as often as they do. What two
    ratings disagree by is 1 where they differ (unweighted), their distance (linear) or its square (quadratic): of the
    values themselves, so that a value that nobody gave moves nothing. NaN where no disagreement is expected, because
    both always give one and the same value.

    Args:
        first: [M] what one rater gave.
        second: [M] what the other gave to the same line.
        groups: [M] group of each pair, in [0, P).
        clusters: [M] cluster of each pair's line, in [0, G).
        counts: [G, B] how often each cluster is drawn.
        weighting: what a disagreement weighs.

    Source: Cohen (1960), Cohen (1968).
    """
    from scipy.sparse import coo_array

    values, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    rows, columns = np.split(places, 2)
    apart = disagreement(values[:, None], values[None, :], weighting)
    size, count = number_of(groups), len(counts)

    def summed(weights: FloatArray, cells: IntArray, height: int) -> coo_array:
        return coo_array((weights, (cells, clusters)), shape=(height, count)).tocsr()

    ones = np.ones(len(first))
    seen = summed(apart[rows, columns], groups, size)
    total = summed(ones, groups, size)
    given = [summed(ones, groups * len(values) + part, size * len(values)) for part in (rows, columns)]
    found = np.empty((size, counts.shape[1]))
    for block in blocks(counts.shape[1], size * len(values), BLOCK):
        drawn = counts[:, block].astype(np.float64)
        one, other = ((part @ drawn).reshape(size, len(values), -1) for part in given)
        expected = np.einsum("pvb,vw,pwb->pb", one, apart, other, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, block] = 1 - np.where(expected > 0, (seen @ drawn) * (total @ drawn) / expected, np.nan)
    return found


def disagreement(one: FloatArray, other: FloatArray, weighting: Weighting) -> FloatArray:
    """What ratings disagree by."""
    distance: FloatArray = np.abs(one - other)
    if weighting == "unweighted":
        distance = (distance > 0).astype(np.float64)
    if weighting == "quadratic":
        distance = distance * distance
    return distance
