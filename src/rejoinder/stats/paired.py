"""Figures over repeated splits: a mean correlation with its interval, and whether one scorer beats another.

The same items are split several times; a line that stands in the test part of several splits comes several times, with
the score that it got there. The figure is the mean of the splits' correlations. Lines of one context hang together, and
so do the appearances of one context in several splits. So whole contexts, with all their appearances, are resampled and
swapped.

Shapes: N lines (appearances), S parts (splits), G clusters (contexts), B resamples or permutations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.arrays import Counts, FloatArray, IntArray, blocks
from rejoinder.stats.bootstrap import group_means, percentile_interval
from rejoinder.stats.figure import Figure
from rejoinder.stats.weighted import WEIGHTED

Statistic = Literal["pearson", "spearman"]
BLOCK = 2**21  # numbers in one working array


@dataclass(frozen=True, slots=True, kw_only=True)
class OverParts(Figure):
    """A mean over parts, of n lines in all of them.

    Attributes:
        parts: parts that have a value.
    """

    parts: int = 0


def mean_correlation(
    statistic: Statistic, scores: FloatArray, ratings: FloatArray, parts: IntArray, clusters: IntArray, counts: Counts
) -> OverParts:
    """The mean over parts of the correlation of `scores` with `ratings`, with an interval from resampled clusters.

    p is two-sided, of no correlation (see `two_sided`), never 0; NaN without resamples.

    Args:
        statistic: which correlation.
        scores: [N]; lines with NaN are left out.
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `bootstrap.cluster_counts`; in each resample a cluster has one weight in all parts.
    """
    return _mean(statistic, (scores,), ratings, parts, clusters, counts)


def mean_difference(
    statistic: Statistic,
    first: FloatArray,
    second: FloatArray,
    ratings: FloatArray,
    parts: IntArray,
    clusters: IntArray,
    counts: Counts,
) -> OverParts:
    """The mean over parts of the correlation of `first` with `ratings` less that of `second`, both on each resample.

    As `mean_correlation` gives a mean, p that of no difference; lines where either is NaN are left out of both.

    Args:
        statistic: which correlation.
        first: [N].
        second: [N].
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `bootstrap.cluster_counts`.
    """
    return _mean(statistic, (first, second), ratings, parts, clusters, counts)


def _mean(
    statistic: Statistic,
    scores: Sequence[FloatArray],
    ratings: FloatArray,
    parts: IntArray,
    clusters: IntArray,
    counts: Counts,
) -> OverParts:
    """The mean over parts of the correlation of the first [N] scores, less that of the second where there are two."""
    usable = np.isfinite(scores).all(axis=0)
    found: list[float] = []
    total = np.zeros((2, counts.shape[1]))  # sums and numbers of the parts' values in each resample
    for part in np.unique(parts):
        rows = np.flatnonzero((parts == part) & usable)
        if any(_constant(values[rows]) for values in (*scores, ratings)):
            continue
        each = [_weighted(statistic, one[rows], ratings[rows], clusters[rows], counts) for one in scores]
        values = each[0] if len(each) == 1 else each[0] - each[1]
        if np.isfinite(values[0]):
            found.append(float(values[0]))
            total += np.stack([np.nan_to_num(values[1:]), np.isfinite(values[1:])])
    n = int(usable.sum())
    if not found:
        return OverParts(n=n)
    with np.errstate(invalid="ignore"):
        means: FloatArray = total[0] / total[1]
    own = len(np.unique(clusters[usable]))
    mean = percentile_interval(means, own, value=float(np.mean(found)))
    return OverParts.of(mean, p=two_sided(means, own), n=n, parts=len(found))


def mean_correlations(
    statistic: Statistic, scores: FloatArray, ratings: FloatArray, parts: IntArray, clusters: IntArray, counts: Counts
) -> FloatArray:
    """[1 + B, K] the mean over parts of each scorer's correlation with `ratings`: as it is, then over each resample.

    Parts count by their lines. All scorers meet the same parts and resamples, so columns may be taken from each other:
    a part counts where every scorer has a correlation. NaN where there is no such part.

    Args:
        statistic: which correlation.
        scores: [N, K] finite.
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `bootstrap.cluster_counts`; in each resample a cluster has one weight in all parts.
    """
    total, lines = np.zeros((1 + counts.shape[1], scores.shape[1])), np.zeros((1 + counts.shape[1], 1))
    for part in np.unique(parts):
        rows = np.flatnonzero(parts == part)
        if _constant(ratings[rows]) or any(_constant(column) for column in scores[rows].T):
            continue
        columns = [_weighted(statistic, x, ratings[rows], clusters[rows], counts) for x in scores[rows].T]
        values = np.stack(columns, axis=1)
        known = np.isfinite(values).all(axis=1, keepdims=True)
        total += np.where(known, values, 0.0) * len(rows)
        lines += known * len(rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = total / lines
    return means


def mean_of_parts(values: FloatArray, parts: IntArray, clusters: IntArray, counts: Counts) -> OverParts:
    """The mean over parts of the mean of `values` [N], as `mean_correlation` gives it but for p, which is NaN."""
    numbers, place = np.unique(parts, return_inverse=True)
    weights = np.concatenate([np.ones((len(counts), 1)), counts], axis=1)
    found = group_means(values, place.astype(np.int64), clusters, weights)
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.nansum(found, axis=0) / np.isfinite(found).sum(axis=0)
    mean = percentile_interval(means[1:], len(np.unique(clusters)), value=float(means[0]))
    return OverParts.of(mean, n=len(values), parts=len(numbers))


def paired_permutation(
    statistic: Statistic,
    first: FloatArray,
    second: FloatArray,
    ratings: FloatArray,
    parts: IntArray,
    clusters: IntArray,
    rng: np.random.Generator,
    permutations: int = 1000,
) -> Figure:
    """Whether the mean correlation of `first` with `ratings` differs from that of `second`; see `paired_permutations`.

    Args:
        statistic: which correlation.
        first: [N]; lines where either score is NaN are left out of both.
        second: [N].
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line.
        rng: decides the swaps.
        permutations: how many swaps.
    """
    both = np.stack([first, second], axis=1)
    usable = np.isfinite(both).all(axis=1)
    (found,) = paired_permutations(
        statistic, both[usable], ratings[usable], parts[usable], clusters[usable], rng, permutations
    ).values()
    return found


def paired_permutations(
    statistic: Statistic,
    scores: FloatArray,
    ratings: FloatArray,
    parts: IntArray,
    clusters: IntArray,
    rng: np.random.Generator,
    permutations: int = 1000,
) -> dict[tuple[int, int], Figure]:
    """The differences between the mean correlations of each two scorers, by their places j < k among K, with p of none.

    Were two scorers equally good, it would not matter which of them gave which score. So their scores, brought to
    one scale in each part (ranks for Spearman), are swapped for randomly chosen whole clusters, and the difference is
    worked out anew. p is the share of swaps whose difference is as large as the one found, that one counted in. All
    pairs meet the same swaps.

    Args:
        statistic: which correlation.
        scores: [N, K] finite.
        ratings: [N] finite.
        parts: [N] the part that each line stands in; a pair is left out of those where either scorer is constant.
        clusters: [N] cluster of each line.
        rng: decides the swaps.
        permutations: how many swaps.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.7 (matched pairs); Phipson
    and Smyth (2010) for counting the observed one in.
    """
    known, cluster = np.unique(clusters, return_inverse=True)
    swaps = np.array([rng.random(permutations) < 0.5 for _ in known], dtype=bool).reshape(len(known), permutations)
    swaps[:, 0] = False  # the scores as they are
    total = {pair: np.zeros(permutations) for pair in combinations(range(scores.shape[1]), 2)}
    number = dict.fromkeys(total, 0)
    for part in np.unique(parts):
        rows = parts == part
        y = _scaled(statistic, ratings[rows])
        scaled = {k: x for k, values in enumerate(scores[rows].T) if (x := _scaled(statistic, values)) is not None}
        if y is None or len(scaled) < 2:
            continue
        own, place = np.unique(cluster[rows], return_inverse=True)
        for pair, differences in _differences(scaled, y, place.astype(np.int64), swaps[own]).items():
            total[pair] += differences
            number[pair] += 1
    return {pair: _tested(total[pair], number[pair]) for pair in total}


def _tested(total: FloatArray, number: int) -> Figure:
    """A pair by the sums [B] of its differences over `number` parts, the first of them of the scores as they are."""
    if not number:
        return Figure()
    differences = total / number
    # A swap of everything gives the same difference but for its sign, up to the last digits.
    as_large = np.abs(differences) >= np.abs(differences[0]) - 1e-12
    return Figure(value=float(differences[0]), p=float(as_large.mean()))


def _differences(
    scaled: Mapping[int, FloatArray], ratings: FloatArray, clusters: IntArray, swaps: NDArray[np.bool_]
) -> dict[tuple[int, int], FloatArray]:
    """[B] by pair, correlation of one less that of the other, after the clusters in `swaps` [G, B] changed places.

    All have mean 0 and variance 1. With s half the sum and d half the difference of two scorers, a cluster's lines
    are s + d before a swap and s - d after, so every moment is a sum over clusters with the sign of d, but for that of
    s^2 + d^2, which is 1. The sums, of d, of s d and of d y, are differences of sums that each scorer has for itself:
    one matrix product serves all pairs.
    """
    moments = [moment for x in scaled.values() for moment in (x / 2, x * x / 4, x * ratings / 2)]
    sums = np.stack([np.bincount(clusters, moment, len(swaps)) for moment in moments]) / len(ratings)
    signed = np.empty((len(moments), swaps.shape[1]))
    for block in blocks(swaps.shape[1], len(swaps), BLOCK):
        signed[:, block] = sums @ (1.0 - 2.0 * swaps[:, block])
    place = {k: slice(3 * at, 3 * at + 3) for at, k in enumerate(scaled)}
    found = {}
    for j, k in combinations(scaled, 2):
        shared = float(((scaled[j] + scaled[k]) * ratings).mean()) / 2
        mean, square, product = signed[place[j]] - signed[place[k]]
        with np.errstate(divide="ignore", invalid="ignore"):
            one = (shared + product) / np.sqrt(1 + 2 * square - mean**2)
            other = (shared - product) / np.sqrt(1 - 2 * square - mean**2)
        found[j, k] = one - other
    return found


def _weighted(statistic: Statistic, x: FloatArray, y: FloatArray, clusters: IntArray, counts: Counts) -> FloatArray:
    """[1 + B] the correlation as it is, then over each resample."""
    weigh: Callable[[FloatArray, FloatArray, FloatArray], FloatArray] = WEIGHTED[statistic]
    parts = blocks(counts.shape[1], len(x), BLOCK)
    drawn = (counts[:, part].astype(np.float64)[clusters] for part in parts)
    return np.concatenate([weigh(x, y, weights) for weights in (np.ones((len(x), 1)), *drawn)])


def _scaled(statistic: Statistic, values: FloatArray) -> FloatArray | None:
    """[n] values with mean 0 and variance 1, of their ranks for Spearman; None where they are constant."""
    from scipy.stats import rankdata

    if _constant(values):
        return None
    ranked = rankdata(values) if statistic == "spearman" else values
    scaled: FloatArray = (ranked - ranked.mean()) / ranked.std()
    return scaled


def _constant(values: FloatArray) -> bool:
    """Whether there are no two different values."""
    return len(values) == 0 or bool((values == values[0]).all())


def two_sided(means: FloatArray, clusters: int) -> float:
    """The p that goes with `percentile_interval`: .05 where that ends at zero; NaN without values or with one cluster.

    It comes from the share of resampled values [B] beyond zero, one counted in advance. Of few clusters resamples
    spread too little, for which the interval is expanded (`bootstrap.expanded_tail`), and so is the share.

    Args:
        means: [B] the statistic on resamples of clusters.
        clusters: how many there are.
    """
    from scipy.special import ndtri, stdtr

    usable = means[np.isfinite(means)]
    if not len(usable) or clusters < 2:
        return float("nan")
    beyond = min((usable <= 0).sum(), (usable >= 0).sum())
    share = min(0.5, (1 + int(beyond)) / (len(usable) + 1))
    return 2 * float(stdtr(clusters - 1, ndtri(share) * np.sqrt((clusters - 1) / clusters)))
