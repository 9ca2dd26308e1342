"""The order of lines and of systems: how often scores and ratings agree on which of two is better.

Shapes: N lines or items, S systems, P permutations.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.correlation import ROUNDING, pearson
from rejoinder.stats.resamples import FloatArray, IntArray


def pair_accuracy(scores: FloatArray, ratings: FloatArray, folds: IntArray) -> Estimate:
    """Return the share of pairs of lines that scores [N] and ratings [N] order in the same way, or that both call tied.

    Scores rarely tie and ratings often do, so scores within a threshold of each other count as tied. The threshold of a
    pair is the one with the highest share on other lines: on pairs of the folds that this pair has no line of. Fitted
    on the pairs themselves it would find ties by luck. `folds` [N] are whole contexts, in [0, F) with F over 2.
    Constant scores or ratings have no value, but a reason.

    All pairs are in memory at once, so call it with a few thousand lines at most.

    Source: Deutsch, Foster and Freitag (2023), Ties Matter: acc_eq and tie calibration.
    """
    pairs = len(scores) * (len(scores) - 1) // 2
    if reason := pearson(scores, ratings, names=("score", "rating")).reason:
        return Estimate(n=pairs, reason=reason)
    order, size = np.argsort(scores, kind="stable"), int(folds.max()) + 1
    x, y, z = scores[order], ratings[order], folds[order]
    low, high = np.triu_indices(len(x), 1)
    with np.errstate(over="ignore"):
        gaps = x[high] - x[low]
    by_gap = np.argsort(gaps)
    gaps, low, high = gaps[by_gap], low[by_gap], high[by_gap]
    # Calling a pair tied gains it if the ratings tie, and loses it if they had the order of the scores.
    ordered = (y[low] < y[high]) & (gaps > 0)
    gains = (y[low] == y[high]).astype(np.int32) - ordered
    last = np.flatnonzero(np.append(gaps[1:] != gaps[:-1], True))  # a threshold takes all pairs with the same gap
    cells, right = z[low] * size + z[high], int(ordered.sum())
    for first, second in combinations_with_replacement(range(size), 2):
        fold = np.arange(size)
        other = (fold != first) & (fold != second)
        totals = np.cumsum(gains * np.outer(other, other).ravel()[cells], dtype=np.int32)[last]
        best = int(np.argmax(totals))
        # Equal scores are always tied.
        tied = last[best] + 1 if totals[best] > 0 else np.searchsorted(gaps, 0, side="right")
        own = np.isin(np.arange(size * size), (first * size + second, second * size + first))
        right += int((gains[:tied] * own[cells[:tied]]).sum())
    return Estimate(value=right / pairs, n=pairs)


def pair_accuracy_by_chance(ratings: FloatArray) -> Estimate:
    """Return the higher pair accuracy of two scorers that know nothing: a constant one, and one in random order.

    A constant calls all pairs tied and is right where ratings [N] tie; a random order is right in half of the others.
    """
    pairs = len(ratings) * (len(ratings) - 1) // 2
    counts = np.unique(ratings, return_counts=True)[1]
    ties = float((counts * (counts - 1)).sum()) / 2 / pairs if pairs else NAN
    return Estimate(value=max(ties, (1 - ties) / 2), n=pairs)


def soft_pairwise_accuracy(
    scores: FloatArray, ratings: FloatArray, rng: np.random.Generator, permutations: int = 1000
) -> Estimate:
    """Return how similar scores and ratings are in their certainty about which of two systems is better, in [0, 1].

    It is 1 less the mean over pairs of systems of the difference between two p-values, that of "the first is better" by
    the scores and that by the ratings (`system_p_values` with the same swaps). n is the number of pairs of systems that
    share an item. Constant scores or ratings have no value, but a reason.

    Scores and ratings [S, N] are of each system on each item, NaN for none; only items with both count.

    Source: Thompson, Mathur, Deutsch and Khayrallah (2024), Improving Statistical Significance in Human Evaluation of
    Automatic Metrics via Soft Pairwise Accuracy.
    """
    if len(scores) < 2:
        return Estimate(reason="one system: there is no pair to compare")
    both = np.isfinite(scores) & np.isfinite(ratings)
    for values, name in ((scores[both], "score"), (ratings[both], "rating")):
        if len(values) and (values == values[0]).all():
            return Estimate(reason=f"the {name} is the same for all systems and items ({values[0]:g})")
    signs = _signs(scores.shape[1], permutations, rng)
    by_scores, by_ratings = (_p_values(np.where(both, values, np.nan), signs) for values in (scores, ratings))
    apart = np.abs(by_scores - by_ratings)[np.triu_indices(len(scores), 1)]
    known = apart[np.isfinite(apart)]
    if not len(known):
        return Estimate(reason="no two systems share an item")
    return Estimate(value=float(1 - known.mean()), n=len(known))


def system_p_values(values: FloatArray, rng: np.random.Generator, permutations: int = 1000) -> FloatArray:
    """Return [S, S] p-values, one-sided, of system i not being better than system j; p[j, i] = 1 - p[i, j].

    If the two were equally good, it would not matter which of them got which value of an item, so they are swapped at
    random. p is the share of swaps with a larger difference of sums than the observed one, plus half of those with the
    same, the observed one counted in: never 0, never 1, and 1/2 for two systems with the same values. The diagonal is
    NaN, and so are pairs that share no item.

    The published code of soft pairwise accuracy counts equal differences in full. p then depends on which of two
    systems with equal values comes first.

    Values [S, N] are of each system on each item, NaN for none. Items should be contexts, with the mean of their lines.

    Source: Thompson et al. (2024), as for `soft_pairwise_accuracy` (paired permutation test).
    """
    return _p_values(values, _signs(values.shape[1], permutations, rng))


def _signs(items: int, permutations: int, rng: np.random.Generator) -> FloatArray:
    """Return [N, P] 1 if a swap leaves an item as it is, else -1."""
    return 2 * rng.integers(0, 2, size=(items, permutations)).astype(np.float64) - 1


def _p_values(values: FloatArray, signs: FloatArray) -> FloatArray:
    """Return [S, S] the p-values of `system_p_values` for these swaps."""
    one, other = np.triu_indices(len(values), 1)
    differences = np.where(np.isfinite(values), values, np.nan)
    differences = differences[one] - differences[other]
    unshared = np.isnan(differences).all(axis=1)
    differences = np.nan_to_num(differences)
    observed, swapped = differences.sum(axis=1, keepdims=True), differences @ signs
    near = ROUNDING * np.abs(differences).sum(axis=1, keepdims=True)
    larger, equal = swapped > observed + near, np.abs(swapped - observed) <= near
    p = (0.5 + larger.sum(axis=1) + equal.sum(axis=1) / 2) / (signs.shape[1] + 1)
    table = np.full((len(values), len(values)), np.nan)
    table[one, other] = np.where(unshared, np.nan, p)
    table[other, one] = 1 - table[one, other]
    return table


def rank_clusters(means: FloatArray, p: FloatArray, level: float = 0.05) -> IntArray:
    """Return [S] the cluster of each system, 1 the best; 0 for a system without a mean.

    Systems are ordered by mean. A new cluster begins where all systems above are significantly better than all below.
    Some pairs inside a cluster may differ too. `p` [S, S] is from `system_p_values`; NaN is not significant.

    Source: the tables of the Conference on Machine Translation, as in Kocmi et al. (2022).
    """
    order = np.argsort(-means, kind="stable")[: int(np.isfinite(means).sum())]
    significant = p[np.ix_(order, order)] < level
    begins = [place > 0 and bool(significant[:place, place:].all()) for place in range(len(order))]
    clusters = np.zeros(len(means), dtype=np.int64)
    clusters[order] = 1 + np.cumsum(begins)
    return clusters
