"""Figures over repeated splits: a mean correlation with its interval, and whether one scorer beats another.

The same items are split several times; a line that stands in the test part of several splits comes several times, with
the score that it got there. The figure is the mean of the splits' correlations. Lines of one context hang together, and
so do the appearances of one context in several splits. So whole contexts, with all their appearances, are resampled and
swapped.

Shapes: N lines (appearances), S parts (splits), G clusters (contexts), B resamples or permutations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.bootstrap import Counts, group_means, percentile_interval
from rejoinder.stats.correlation import FloatArray
from rejoinder.stats.weighted import WEIGHTED

IntArray = NDArray[np.int64]
Statistic = Literal["pearson", "spearman"]
BLOCK = 2**21  # numbers in one working array


class Estimate(NamedTuple):
    """A mean correlation over parts.

    Attributes:
        value: the mean over the parts that have a correlation; NaN where none has.
        low: lower end of the 95 % interval; NaN where there is none.
        high: upper end.
        p: two-sided, of no correlation: twice the share of resamples whose mean lies on the other side of zero, one of
            them counted in advance, so that it is never 0; NaN without resamples.
        n: lines, over all parts.
        parts: parts that have a correlation.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    parts: int


class Paired(NamedTuple):
    """A difference between two scorers on the same lines.

    Attributes:
        difference: mean correlation of the first less that of the second; NaN where one has none.
        p: two-sided, of no difference; over 0, at most 1; NaN without a difference.
    """

    difference: float
    p: float


def mean_correlation(
    statistic: Statistic, scores: FloatArray, ratings: FloatArray, parts: IntArray, clusters: IntArray, counts: Counts
) -> Estimate:
    """The mean over parts of the correlation of `scores` with `ratings`, with an interval from resampled clusters.

    Args:
        statistic: which correlation.
        scores: [N]; lines with NaN are left out.
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] from `bootstrap.cluster_counts`; in each resample a cluster has one weight in all parts.
    """
    usable = np.isfinite(scores)
    found: list[float] = []
    total = np.zeros((2, counts.shape[1]))  # sums and numbers of the parts' values in each resample
    for part in np.unique(parts):
        rows = np.flatnonzero((parts == part) & usable)
        if _constant(scores[rows]) or _constant(ratings[rows]):
            continue
        values = _weighted(statistic, scores[rows], ratings[rows], clusters[rows], counts)
        if np.isfinite(values[0]):
            found.append(float(values[0]))
            total += np.stack([np.nan_to_num(values[1:]), np.isfinite(values[1:])])
    n = int(usable.sum())
    if not found:
        return Estimate(np.nan, np.nan, np.nan, np.nan, n, 0)
    with np.errstate(invalid="ignore"):
        means: FloatArray = total[0] / total[1]
    interval = percentile_interval(means, len(np.unique(clusters[usable])))
    return Estimate(float(np.mean(found)), interval.low, interval.high, _two_sided(means), n, len(found))


def mean_of_parts(values: FloatArray, parts: IntArray, clusters: IntArray, counts: Counts) -> Estimate:
    """The mean over parts of the mean of `values` [N], as `mean_correlation` gives it but for p, which is NaN."""
    numbers, place = np.unique(parts, return_inverse=True)
    weights = np.concatenate([np.ones((len(counts), 1)), counts], axis=1)
    found = group_means(values, place.astype(np.int64), clusters, weights)
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.nansum(found, axis=0) / np.isfinite(found).sum(axis=0)
    interval = percentile_interval(means[1:], len(np.unique(clusters)))
    return Estimate(float(means[0]), interval.low, interval.high, np.nan, len(values), len(numbers))


def paired_permutation(
    statistic: Statistic,
    first: FloatArray,
    second: FloatArray,
    ratings: FloatArray,
    parts: IntArray,
    clusters: IntArray,
    rng: np.random.Generator,
    permutations: int = 1000,
) -> Paired:
    """Whether the mean correlation of `first` with `ratings` differs from that of `second`.

    Were the two scorers equally good, it would not matter which of them gave which score. So their scores, brought to
    one scale in each part (ranks for Spearman), are swapped for randomly chosen whole clusters, and the difference is
    worked out anew. p is the share of swaps whose difference is as large as the one found, that one counted in.

    Args:
        statistic: which correlation.
        first: [N]; lines where either score is NaN are left out of both.
        second: [N].
        ratings: [N] finite.
        parts: [N] the part that each line stands in.
        clusters: [N] cluster of each line.
        rng: decides the swaps.
        permutations: how many swaps.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.7 (matched pairs); Phipson
    and Smyth (2010) for counting the observed one in.
    """
    usable = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    known, cluster = np.unique(clusters[usable], return_inverse=True)
    swaps = rng.random((len(known), permutations)) < 0.5
    swaps[:, 0] = False  # the scores as they are
    total, number = np.zeros(permutations), 0
    for part in np.unique(parts[usable]):
        mine = parts[usable] == part
        rows = usable[mine]
        a, b, y = (_scaled(statistic, values[rows]) for values in (first, second, ratings))
        if a is None or b is None or y is None:
            continue
        total += _differences(a, b, y, cluster[mine], swaps)
        number += 1
    if not number:
        return Paired(np.nan, np.nan)
    differences = total / number
    # A swap of everything gives the same difference but for its sign, up to the last digits.
    as_large = np.abs(differences) >= np.abs(differences[0]) - 1e-12
    return Paired(float(differences[0]), float(as_large.mean()))


def _differences(
    a: FloatArray, b: FloatArray, ratings: FloatArray, clusters: IntArray, swaps: NDArray[np.bool_]
) -> FloatArray:
    """[B] correlation of `a` with `ratings` less that of `b`, after the clusters in `swaps` [G, B] have changed places.

    All three have mean 0 and variance 1. With s half the sum and d half the difference of the two, a cluster's lines
    are s + d before a swap and s - d after, so every moment is a sum over clusters with the sign of d.
    """
    s, d = (a + b) / 2, (a - b) / 2
    fixed, shared = float((s * s + d * d).mean()), float((s * ratings).mean())
    sums = np.stack([np.bincount(clusters, moment, len(swaps)) for moment in (d, s * d, d * ratings)]) / len(a)
    values = np.empty(swaps.shape[1])
    for block in _blocks(len(values), len(swaps)):
        mean, square, product = sums @ (1.0 - 2.0 * swaps[:, block])
        with np.errstate(divide="ignore", invalid="ignore"):
            one = (shared + product) / np.sqrt(fixed + 2 * square - mean**2)
            other = (shared - product) / np.sqrt(fixed - 2 * square - mean**2)
        values[block] = one - other
    return values


def _weighted(statistic: Statistic, x: FloatArray, y: FloatArray, clusters: IntArray, counts: Counts) -> FloatArray:
    """[1 + B] the correlation as it is, then over each resample."""
    weigh: Callable[[FloatArray, FloatArray, FloatArray], FloatArray] = WEIGHTED[statistic]
    blocks = (counts[:, block].astype(np.float64)[clusters] for block in _blocks(counts.shape[1], len(x)))
    return np.concatenate([weigh(x, y, weights) for weights in (np.ones((len(x), 1)), *blocks)])


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


def _two_sided(means: FloatArray) -> float:
    """Twice the share of resampled means beyond zero, one counted in advance; at most 1."""
    usable = means[np.isfinite(means)]
    if not len(usable):
        return float("nan")
    beyond = min((usable <= 0).sum(), (usable >= 0).sum())
    return min(1.0, 2 * (1 + int(beyond)) / (len(usable) + 1))


def _blocks(width: int, height: int) -> Iterator[slice]:
    """Consecutive slices of `width` columns, each narrow enough that `height` rows of it fill one `BLOCK`."""
    step = max(1, BLOCK // max(height, 1))
    for start in range(0, width, step):
        yield slice(start, min(start + step, width))
