"""The three correlations over many weightings of the same pairs at once, as the bootstrap needs them.

Drawing a pair k times is giving it the weight k, so a statistic of a resample is a weighted statistic of the data, and
many resamples are worked out together as array operations. Shapes: N pairs, B weightings (resamples), K groups of tied
values. Weights are [N, B], whole numbers held as floats, so that all counts below are exact up to 2**53. A weighting
that has no correlation (fewer than three pairs, a constant variable) gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt

import numpy as np

from rejoinder.stats.arrays import FloatArray, IntArray, renumbered
from rejoinder.stats.correlation import FEWEST, snap, standardised

# Below this share of variance in the second moment, one-pass moments lose over ten of the sixteen digits.
CANCELLATION = 1e-6


def weighted_pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """[B] Pearson correlations of `x` [N] and `y` [N] under each column of `weights` [N, B].

    Means, variances and the covariance come from one matrix product of the moments with the weights. `x` and `y` must
    not be constant.
    """
    a, b = standardised(x), standardised(y)
    a, b = a - a.mean(), b - b.mean()
    n, sum_a, sum_b, sum_aa, sum_bb, sum_ab = np.stack([np.ones_like(a), a, b, a * a, b * b, a * b]) @ weights
    with np.errstate(divide="ignore", invalid="ignore"):
        variance_a, variance_b = sum_aa - sum_a**2 / n, sum_bb - sum_b**2 / n
        values = (sum_ab - sum_a * sum_b / n) / np.sqrt(variance_a * variance_b)
    doubtful = ~((variance_a > CANCELLATION * sum_aa) & (variance_b > CANCELLATION * sum_bb))
    for column in np.flatnonzero(doubtful):
        values[column] = _two_pass_pearson(x, y, weights[:, column])
    return _defined(values, n)


def weighted_spearman(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """[B] Spearman correlations of `x` [N] and `y` [N] under each column of `weights` [N, B].

    Each column is ranked anew: a group of t tied values with `below` pairs under it in a resample of n pairs has the
    mean rank below + (t + 1) / 2, and the sum of squared deviations of all ranks is (n^3 - sum of t^3) / 12.
    """
    n = weights.sum(axis=0)
    ranks_x, squares_x = _centred_ranks(x, weights, n)
    ranks_y, squares_y = _centred_ranks(y, weights, n)
    covariance = np.einsum("nb,nb,nb->b", weights, ranks_x, ranks_y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _defined(covariance / np.sqrt(squares_x * squares_y), n)


def weighted_kendall(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """[B] Kendall's tau-b of `x` [N] and `y` [N] under each column of `weights` [N, B].

    tau-b = (C - D) / sqrt((T - X) (T - Y)), with C concordant and D discordant of T pairs of pairs, X tied in x and Y
    in y. Two copies of one pair are tied in both and cancel, so all counts follow from the weights of the tie groups:
    T - X = (n^2 - sum of squared group weights) / 2, and D = (pairs tied in neither) - C.
    """
    levels_x, levels_y = renumbered(x), renumbered(y)
    cells = renumbered(levels_x * (levels_y.max() + 1) + levels_y)
    n = weights.sum(axis=0)
    tied_x, tied_y, tied_both = (
        np.einsum("kb,kb->b", t, t) for t in (_group_sums(levels, weights) for levels in (levels_x, levels_y, cells))
    )
    # Concordance is symmetric in x and y, and the cost of counting it grows with the levels of its second argument.
    fewer = levels_y.max() <= levels_x.max()
    concordant = _concordant(*((levels_x, levels_y) if fewer else (levels_y, levels_x)), weights)
    untied = (n**2 - tied_x - tied_y + tied_both) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt((n**2 - tied_x) / 2) * np.sqrt((n**2 - tied_y) / 2)
        return _defined((2 * concordant - untied) / root, n)


WEIGHTED: Mapping[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "pearson": weighted_pearson,
    "spearman": weighted_spearman,
    "kendall": weighted_kendall,
}


def _concordant(levels_x: IntArray, levels_y: IntArray, weights: FloatArray) -> FloatArray:
    """[B] weight of the pairs of pairs that x and y order alike, both strictly.

    Two different levels of y have a highest binary digit in which they differ: there the lower one has 0, the higher
    one 1, and all digits above are equal. So for each digit, among pairs that agree above it, every 1 meets the 0s of
    lower x, and running sums over the 0s in order of x answer all of them: O(N B log K) with K levels of y, instead of
    the O(N^2 B) of sign matrices, and exact.
    """
    found = np.zeros(weights.shape[1])
    span = levels_x.max() + 1
    for digit in range(int(levels_y.max()).bit_length()):
        above = levels_y >> (digit + 1)
        key = above * span + levels_x
        is_one = (levels_y >> digit) & 1 == 1
        ones, zeros = np.flatnonzero(is_one), np.flatnonzero(~is_one)
        zeros = zeros[np.argsort(key[zeros], kind="stable")]
        sums = _running_sums(weights[zeros])
        stop = np.searchsorted(key[zeros], key[ones])
        start = np.searchsorted(key[zeros], above[ones] * span)
        found += np.einsum("nb,nb->b", weights[ones], sums[stop] - sums[start])
    return found


def _centred_ranks(values: FloatArray, weights: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[N, B] mean rank of each value minus the mean of all ranks, and [B] their weighted sum of squares."""
    levels = renumbered(values)
    ties = _group_sums(levels, weights)
    upto = _running_sums(ties)
    ranks = (upto[1:] + upto[:-1] - n) / 2
    return ranks[levels], (n**3 - np.einsum("kb,kb,kb->b", ties, ties, ties)) / 12


def _group_sums(levels: IntArray, weights: FloatArray) -> FloatArray:
    """[K, B] weights summed over the pairs of each level."""
    order = np.argsort(levels, kind="stable")
    ends = np.bincount(levels).cumsum()
    if len(ends) == len(levels):
        return weights[order]
    return np.diff(_running_sums(weights[order])[np.concatenate([[0], ends])], axis=0)


def _running_sums(rows: FloatArray) -> FloatArray:
    """[N + 1, B]: row i holds the sum of the first i of N rows.

    numpy's cumsum along the first axis is ten times slower than adding rows, hence about sqrt(N) blocks of sqrt(N)
    rows: sums within all blocks at once, then the totals of the blocks before.
    """
    count, width = rows.shape
    side = isqrt(count) + 1
    flat = np.zeros((side * side, width))
    flat[1 : count + 1] = rows
    blocks = flat.reshape(side, side, width)
    for row in range(1, side):
        blocks[:, row] += blocks[:, row - 1]
    for block in range(1, side):
        blocks[block] += blocks[block - 1, -1]
    return flat[: count + 1]


def _two_pass_pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """Pearson's correlation under one weighting [N], NaN where a variable is constant over the pairs with weight."""
    kept = weights > 0
    x, y, w = x[kept], y[kept], weights[kept]
    if not kept.any() or (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    a, b = standardised(x), standardised(y)
    a, b = a - np.average(a, weights=w), b - np.average(b, weights=w)
    return float((w * a * b).sum() / np.sqrt((w * a * a).sum() * (w * b * b).sum()))


def _defined(values: FloatArray, n: FloatArray) -> FloatArray:
    """`values` inside [-1, 1], NaN where there are too few pairs or a variable is constant."""
    return snap(np.where((n >= FEWEST) & np.isfinite(values), values, np.nan))
