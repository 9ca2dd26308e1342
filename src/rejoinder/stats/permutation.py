"""Permutation tests that exchange whole clusters.

All pairs of scorers meet the same swaps, and all means the same flips and resamples, so that they are compared under
the same draws, and one more of them changes none of the others. The observed arrangement counts in every p.

Shapes: N lines, K scorers, R means, G clusters, P swaps or flips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.resamples import (
    FEWEST_CLUSTERS,
    BoolArray,
    FloatArray,
    IntArray,
    blocks,
    cluster_counts,
    number_of,
    percentile_interval,
)

FLIPS = 1000
_SWAP_BLOCK = 2**21  # numbers in one working array
_FLIP_BLOCK = 2**22


def paired_permutations(
    statistic: Literal["pearson", "spearman"],
    scores: FloatArray,
    ratings: FloatArray,
    parts: NDArray[np.integer],
    clusters: IntArray,
    rng: np.random.Generator,
    permutations: int = 1000,
) -> dict[tuple[int, int], Estimate]:
    """Return the difference between the mean correlations of each two scorers, by their columns j < k, with its p.

    If two scorers were equally good, it would not matter which of them gave which score. So their scores, standardised
    in each part (ranks for Spearman), change places in random whole clusters, and the difference is computed again. p
    is the share of swaps with a difference as large as the observed one, which is counted in.

    Correlations are means over `parts` [N], for each pair without those in which one of the two is constant. All
    `scores` [N, K] and `ratings` [N] must be finite.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.7 (matched pairs); Phipson
    and Smyth (2010) for counting the observed swap.
    """
    numbers, cluster = np.unique(clusters, return_inverse=True)
    swaps = np.array([rng.random(permutations) < 0.5 for _ in numbers], dtype=bool).reshape(len(numbers), permutations)
    swaps[:, 0] = False  # the scores as they are
    pairs = list(combinations(range(scores.shape[1]), 2))
    totals, counts = np.zeros((len(pairs), permutations)), np.zeros(len(pairs))
    for part in np.unique(parts):
        rows = parts == part
        y = _standardised(statistic, ratings[rows])
        columns = {k: x for k, line in enumerate(scores[rows].T) if (x := _standardised(statistic, line)) is not None}
        if y is None or len(columns) < 2:
            continue
        inside, places = np.unique(cluster[rows], return_inverse=True)
        for pair, differences in _differences(columns, y, places, swaps[inside]).items():
            totals[pairs.index(pair)] += differences
            counts[pairs.index(pair)] += 1
    with np.errstate(invalid="ignore"):
        means = totals / counts[:, None]
    # A swap of everything gives the same difference with the opposite sign, but for the last digits.
    as_large = (np.abs(means) >= np.abs(means[:, :1]) - ROUNDING).mean(axis=1)
    tested = [Estimate(value=mean, p=p) for mean, p in zip(means[:, 0].tolist(), as_large.tolist(), strict=True)]
    return {pair: figure if figure.known else Estimate() for pair, figure in zip(pairs, tested, strict=True)}


def _differences(
    columns: Mapping[int, FloatArray], ratings: FloatArray, clusters: IntArray, swaps: BoolArray
) -> dict[tuple[int, int], FloatArray]:
    """Return, by pair, [P] the first correlation less the second after the `swaps` [G, P].

    All columns have mean 0 and variance 1. With s half the sum and d half the difference of two scorers, the lines of a
    cluster are s + d before a swap and s - d after, so every moment is a sum over clusters with the sign of d, but for
    that of s^2 + d^2, which is 1. The sums of d, of s d and of d y are differences of sums that each scorer has by
    itself: one matrix product serves all pairs.
    """
    moments = [moment for x in columns.values() for moment in (x / 2, x * x / 4, x * ratings / 2)]
    sums = np.stack([np.bincount(clusters, moment, len(swaps)) for moment in moments]) / len(ratings)
    signed = np.empty((len(moments), swaps.shape[1]))
    for block in blocks(swaps.shape[1], len(swaps), _SWAP_BLOCK):
        signed[:, block] = sums @ (1.0 - 2.0 * swaps[:, block])
    by_scorer = dict(zip(columns, signed.reshape(len(columns), 3, -1), strict=True))
    differences = {}
    for j, k in combinations(columns, 2):
        shared = float(((columns[j] + columns[k]) * ratings).mean()) / 2
        mean, square, product = by_scorer[j] - by_scorer[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            first = (shared + product) / np.sqrt(1 + 2 * square - mean**2)
            differences[j, k] = first - (shared - product) / np.sqrt(1 - 2 * square - mean**2)
    return differences


def _standardised(statistic: str, values: FloatArray) -> FloatArray | None:
    """Return values, or their ranks for Spearman, with mean 0 and variance 1; None if they are constant."""
    from scipy.stats import rankdata

    if not (values != values[:1]).any():
        return None
    ranked = rankdata(values) if statistic == "spearman" else values
    scaled: FloatArray = (ranked - ranked.mean()) / ranked.std()
    return scaled


def cluster_means(
    values: FloatArray,
    clusters: IntArray,
    null: FloatArray,
    resamples: int,
    rng: np.random.Generator,
    flips: int = FLIPS,
) -> list[Estimate]:
    """Return the means of R rows of values of the same lines; their `contexts` are the clusters that have a value.

    p is the share of flips in which the sum of value - `null` is as far from 0 as observed, where each cluster keeps
    its sign or changes it by chance, as if values above and below `null` were equally likely.

    Values [R, N] are NaN for lines without one. The generator draws the resamples, then the flips.
    """
    known, size = np.isfinite(values), number_of(clusters)
    sums, counts = (
        np.stack([np.bincount(clusters, row, size) for row in rows]) for rows in (np.where(known, values, 0.0), known)
    )
    draws = np.empty((len(values), 1 + resamples))
    with np.errstate(invalid="ignore"):
        draws[:, 0] = sums.sum(axis=1) / counts.sum(axis=1)
        for block in blocks(resamples, size, _FLIP_BLOCK):
            drawn = cluster_counts(size, block.stop - block.start, rng).astype(np.float64)
            draws[:, 1 + block.start : 1 + block.stop] = (sums @ drawn) / (counts @ drawn)
    beyond = sums - counts * null[:, None]
    as_far, limit = np.ones(len(values)), np.abs(beyond.sum(axis=1, keepdims=True)) - 1e-9
    for block in blocks(flips, size, _FLIP_BLOCK):
        signs = rng.integers(0, 2, size=(size, block.stop - block.start)) * 2.0 - 1.0
        as_far += (np.abs(beyond @ signs) >= limit).sum(axis=1)
    means = []
    for row, p in enumerate((as_far / (1 + flips)).tolist()):
        n, own = int(counts[row].sum()), int((counts[row] > 0).sum())
        p = p if own >= FEWEST_CLUSTERS else NAN
        mean = replace(percentile_interval(draws[row], own), p=p, n=n, contexts=own)
        means.append(mean if n else Estimate(reason="nothing to take a mean of"))
    return means
