"""Permutation tests that exchange whole clusters.

All pairs of scorers meet the same swaps, and all means the same flips and resamples, so that they are compared under
the same draws, and one more of them changes none of the others. The observed arrangement counts in every p.

Shapes: N lines, K scorers, R means, G clusters, P swaps or flips.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.correlation import ROUNDING, Ranked
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

Name = TypeVar("Name", bound=Hashable)
FLIPS = 1000
_SWAP_BLOCK = 2**21  # numbers in one working array
_FLIP_BLOCK = 2**22


def drawn_swaps(clusters: int, permutations: int, rng: np.random.Generator) -> BoolArray:
    """Return [G, P] which clusters are swapped; the first of the permutations leaves the scores as they are."""
    swaps = np.array([rng.random(permutations) < 0.5 for _ in range(clusters)]).reshape(clusters, permutations)
    swaps[:, 0] = False
    return swaps


def swapped_differences(
    statistic: Ranked,
    scores: Mapping[Name, FloatArray],
    ratings: FloatArray,
    parts: NDArray[np.integer],
    clusters: IntArray,
    swaps: BoolArray,
    pairs: Collection[tuple[Name, Name]],
) -> dict[tuple[Name, Name], FloatArray]:
    """Return [P], by pair of scorers, the difference of their mean correlations after each of the `swaps`.

    If two scorers were equally good, it would not matter which of them gave which score. So their scores, standardised
    in each part (ranks for Spearman), change places in whole `clusters` [N], the rows of `swaps` [G, P], and the
    difference is computed again.

    Correlations are means over `parts` [N], for each pair without those in which one of the two is constant; NaN if
    there is none. All `scores` ([N] by scorer) and `ratings` [N] must be finite.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.7 (matched pairs).
    """
    totals, counts = {pair: np.zeros(swaps.shape[1]) for pair in pairs}, dict.fromkeys(pairs, 0)
    for part in np.unique(parts):
        rows = parts == part
        y = _standardised(statistic, ratings[rows])
        columns = {name: x for name, own in scores.items() if (x := _standardised(statistic, own[rows])) is not None}
        if y is None or len(columns) < 2:
            continue
        inside, places = np.unique(clusters[rows], return_inverse=True)
        known = [pair for pair in pairs if pair[0] in columns and pair[1] in columns]
        for pair, differences in _differences(columns, y, places, swaps[inside], known).items():
            totals[pair] += differences
            counts[pair] += 1
    with np.errstate(invalid="ignore"):
        return {pair: np.divide(totals[pair], counts[pair]) for pair in pairs}


def swap_test(differences: FloatArray) -> Estimate:
    """Return the first of `differences` [P] with p, the share of those as large; it is counted in.

    Source: Phipson and Smyth (2010), Permutation P-values Should Never Be Zero.
    """
    if np.isnan(differences[0]):
        return Estimate()
    # A swap of everything gives the same difference with the opposite sign, but for the last digits.
    p = (np.abs(differences) >= abs(differences[0]) - ROUNDING).mean()
    return Estimate(value=float(differences[0]), p=float(p))


def step_down(differences: FloatArray) -> FloatArray:
    """Return [M] the p of a family of tests, adjusted for their number and for how they depend on each other.

    `differences` [M, P] are those after the same swaps; the first column is observed. Each is divided by its standard
    deviation over the swaps, and the largest of all is compared with the largest after each swap; then the largest of
    the others, and so on. The chance of one false rejection is that of the level.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, algorithm 2.8 (step-down maxT).
    """
    differences = np.nan_to_num(differences)
    spreads = differences.std(axis=1, keepdims=True)
    sizes = np.abs(differences) / np.where(spreads > ROUNDING, spreads, np.inf)
    order = np.argsort(sizes[:, 0])
    largest = np.maximum.accumulate(sizes[order], axis=0)
    p = (largest >= sizes[order, :1] - ROUNDING).mean(axis=1)
    result = np.empty(len(order))
    result[order] = np.maximum.accumulate(p[::-1])[::-1]
    return result


def _differences(
    columns: Mapping[Name, FloatArray],
    ratings: FloatArray,
    clusters: IntArray,
    swaps: BoolArray,
    pairs: Collection[tuple[Name, Name]],
) -> dict[tuple[Name, Name], FloatArray]:
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
    for j, k in pairs:
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
    balanced: Sequence[tuple[int, int]] = (),
) -> list[Estimate]:
    """Return the means of R rows of values of the same lines; their `contexts` are the clusters that have a value.

    Then come the means of the means of two rows that are `balanced`, which have no line in common. If the rows differ
    by d, the flips are of values less `null` + d / 2 in the first and `null` - d / 2 in the second.

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
    n, clusters_of = counts.sum(axis=1).astype(np.int64), (counts > 0).sum(axis=1)
    for a, b in balanced:
        apart = (draws[a, 0] - draws[b, 0]) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            each = (beyond[a] - counts[a] * apart) / n[a] + (beyond[b] + counts[b] * apart) / n[b]
        beyond = np.concatenate([beyond, each[None] * (n[a] + n[b]) / 2])
        draws = np.concatenate([draws, draws[[a, b]].mean(axis=0, keepdims=True)])
        n = np.append(n, (n[a] + n[b]) * (n[[a, b]].min() > 0))
        clusters_of = np.append(clusters_of, min(clusters_of[[a, b]]))
    as_far, limit = np.ones(len(beyond)), np.abs(beyond.sum(axis=1, keepdims=True)) - 1e-9
    for block in blocks(flips, size, _FLIP_BLOCK):
        signs = rng.integers(0, 2, size=(size, block.stop - block.start)) * 2.0 - 1.0
        as_far += (np.abs(beyond @ signs) >= limit).sum(axis=1)
    means = []
    for row, p in enumerate((as_far / (1 + flips)).tolist()):
        own = int(clusters_of[row])
        p = p if own >= FEWEST_CLUSTERS else NAN
        mean = replace(percentile_interval(draws[row], own), p=p, n=int(n[row]), contexts=own)
        means.append(mean if n[row] else Estimate(reason="nothing to take a mean of"))
    return means
