"""Which of two is better: how often scores and ratings answer alike, over pairs of items and over pairs of systems.

Shapes: N items, S systems, B permutations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.correlation import ROUNDING, pearson
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.resamples import FloatArray, IntArray

BINS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAccuracy(Figure):
    """The share of the n pairs of items that scores and ratings put in the same order, ties included.

    Attributes:
        epsilon: items whose scores are no further apart than this count as tied.
        uncalibrated: the share where only equal scores count as tied.
    """

    epsilon: float = NONE
    uncalibrated: float = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftAccuracy(Figure):
    """Soft pairwise accuracy, in [0, 1], the mean over n pairs of systems.

    Attributes:
        left_out: pairs of systems that share no item.
    """

    left_out: int = 0


def calibrated_accuracy(scores: FloatArray, ratings: FloatArray) -> PairAccuracy:
    """The share of pairs that scores and ratings order alike or both call tied, with the best threshold for ties.

    Scores hardly ever tie and ratings often do, so scores no further apart than epsilon count as tied, with the epsilon
    (the smallest such) that gives the highest share; it is fitted to these very items. Constant scores or ratings have
    no value, as they have no correlation.

    The best epsilon is the difference of some two scores. All pairs are visited twice, O(N^2) steps in little memory:
    first they are counted in bins by difference, then those in the bins that can hold the best one are sorted.

    Args:
        scores: [N].
        ratings: [N].

    Source: Deutsch, Foster and Freitag (2023), Ties Matter: acc_eq and tie calibration.
    """
    pairs = len(scores) * (len(scores) - 1) // 2
    reason = pearson(scores, ratings, names=("score", "rating")).reason
    if reason:
        return PairAccuracy(n=pairs, reason=reason)
    order = np.argsort(scores, kind="stable")
    x, y = scores[order], ratings[order]
    typical = _typical(x)
    gained, lost = np.zeros((2, BINS + 1), dtype=np.int64)
    as_they_are = 0
    for gaps, steps in _steps(x, y):
        as_they_are += int((steps < 0).sum()) + int((steps[gaps == 0] > 0).sum())
        gained += np.bincount(_bins(gaps[steps > 0], typical), minlength=BINS + 1)
        lost += np.bincount(_bins(gaps[steps < 0], typical), minlength=BINS + 1)
    after = lost.sum() + np.cumsum(gained - lost)  # right pairs with epsilon at the upper end of each bin
    before = after - gained + lost
    kept = before + gained >= max(as_they_are, int(after.max()))
    right, epsilon = _best(x, y, typical, before, kept)
    if right <= as_they_are:
        right, epsilon = as_they_are, 0.0
    return PairAccuracy(value=right / pairs, n=pairs, epsilon=epsilon, uncalibrated=as_they_are / pairs)


def _steps(x: FloatArray, y: FloatArray) -> Iterator[tuple[FloatArray, NDArray[np.int8]]]:
    """All pairs of items with ascending scores `x`, those of one distance in the order at a time.

    Each comes with the difference of its scores, and with what calling them tied changes: 1 where the ratings are tied,
    -1 where they are ordered like the scores, 0 where that was wrong before and after.
    """
    for offset in range(1, len(x)):
        gaps = _gaps(x, offset)
        steps = (y[offset:] == y[:-offset]).astype(np.int8) - ((y[offset:] > y[:-offset]) & (gaps > 0))
        yield gaps, steps


def _gaps(x: FloatArray, offset: int) -> FloatArray:
    """[N - offset] differences of ascending scores so far apart in the order."""
    with np.errstate(over="ignore"):
        gaps: FloatArray = x[offset:] - x[:-offset]
    return gaps


def _typical(x: FloatArray) -> float:
    """A middling difference of ascending scores, over 0; they must not be constant."""
    gaps = np.sort(_gaps(x, len(x) // 2))
    positive = gaps[gaps > 0] if gaps[-1] > 0 else _gaps(x, len(x) - 1)
    return float(min(positive[len(positive) // 2], np.finfo(np.float64).max))


def _bins(gaps: FloatArray, typical: float) -> IntArray:
    """The bin of each difference g, by g / (g + typical), so that a few far scores do not put all others into one bin.

    Written so that each step keeps the order of differences after rounding: equal ones share a bin, and larger ones are
    never in a lower one.
    """
    with np.errstate(divide="ignore", over="ignore"):
        return (BINS / (1 + typical / gaps)).astype(np.int64)


def _best(x: FloatArray, y: FloatArray, typical: float, before: IntArray, kept: NDArray[np.bool_]) -> tuple[int, float]:
    """Most pairs that are right with an epsilon out of the `kept` bins, and the smallest such epsilon.

    `before` are those right with an epsilon just below each bin.
    """
    found = [np.zeros((2, 0))]
    for gaps, steps in _steps(x, y):
        chosen = (steps != 0) & kept[_bins(gaps, typical)]
        found.append(np.stack([gaps[chosen], steps[chosen]]))
    gaps, steps = np.concatenate(found, axis=1)
    if not len(gaps):
        return 0, 0.0
    order = np.argsort(gaps)
    gaps, steps = gaps[order], steps[order]
    place = _bins(gaps, typical)
    running = np.concatenate([[0], np.cumsum(steps)])
    right = before[place] + running[1:] - running[np.searchsorted(place, place)]
    right[:-1][gaps[1:] == gaps[:-1]] = -1  # an epsilon takes all pairs of its difference
    best = int(np.argmax(right))
    return int(right[best]), float(gaps[best])


def soft_pairwise_accuracy(
    scores: FloatArray, ratings: FloatArray, rng: np.random.Generator, permutations: int = 1000
) -> SoftAccuracy:
    """How alike scores and ratings are in how sure they make us which of two systems is better.

    One less the mean over pairs of systems of the difference between two p-values, that of "the first is better" by the
    scores and that by the ratings (`system_p_values` with the same swaps). Constant scores or ratings have no value.

    Args:
        scores: [S, N] of each system on each item; NaN where there is none.
        ratings: [S, N]; only where both exist do they count.
        rng: decides the swaps.
        permutations: how many swaps.

    Source: Thompson, Mathur, Deutsch and Khayrallah (2024), Improving Statistical Significance in Human Evaluation of
    Automatic Metrics via Soft Pairwise Accuracy.
    """
    both = np.isfinite(scores) & np.isfinite(ratings)
    pairs = len(scores) * (len(scores) - 1) // 2
    for values, name in ((scores, "score"), (ratings, "rating")):
        known = values[both]
        if pairs and len(known) and (known == known[0]).all():
            reason = f"the {name} is the same for all systems and items ({known[0]:g})"
            return SoftAccuracy(left_out=pairs, reason=reason)
    signs = _signs(scores.shape[1], permutations, rng)
    by_scores, by_ratings = (_p_values(np.where(both, values, np.nan), signs) for values in (scores, ratings))
    apart = np.abs(by_scores - by_ratings)[np.triu_indices(len(scores), 1)]
    found = apart[np.isfinite(apart)]
    if not len(found):
        reason = "no two systems share an item" if pairs else "one system: there is no pair to compare"
        return SoftAccuracy(left_out=pairs, reason=reason)
    return SoftAccuracy(value=float(1 - found.mean()), n=len(found), left_out=pairs - len(found))


def system_p_values(values: FloatArray, rng: np.random.Generator, permutations: int = 1000) -> FloatArray:
    """[S, S] p-values, one-sided, of system i not being better than system j; p[j, i] = 1 - p[i, j].

    Were the two equally good, it would not matter which of them got which value of an item, so they are swapped at
    random. p is the share of swaps whose difference in sums is larger than the one found, plus half of those where it
    is equal, with the one found counted in: never 0, never 1, and 1/2 for two systems with the same values. The
    diagonal is NaN, and so are pairs that share no item.

    The released code of soft pairwise accuracy counts equal differences in full. p then depends on which of two systems
    with equal values comes first.

    Args:
        values: [S, N] of each system on each item; NaN where there is none. An item should be a context, with the mean
            of its lines.
        rng: decides the swaps.
        permutations: how many swaps.

    Source: Thompson et al. (2024), as for `soft_pairwise_accuracy` (paired permutation test).
    """
    return _p_values(values, _signs(values.shape[1], permutations, rng))


def rank_clusters(means: FloatArray, p: FloatArray, level: float = 0.05) -> IntArray:
    """[S] the cluster of each system, 1 the best; 0 where a system has no mean.

    Ordered by mean, a new cluster begins wherever all systems above are significantly better than all below. Some pairs
    inside a cluster may differ too.

    Args:
        means: [S] mean ratings (or scores) of systems.
        p: [S, S] from `system_p_values`; NaN is not significant.
        level: of significance.

    Source: the tables of the Conference on Machine Translation, as in Kocmi et al. (2022).
    """
    order = np.argsort(-means, kind="stable")[: int(np.isfinite(means).sum())]
    significant = p[np.ix_(order, order)] < level
    begins = [False] + [bool(significant[:place, place:].all()) for place in range(1, len(order))]
    clusters = np.zeros(len(means), dtype=np.int64)
    clusters[order] = 1 + np.cumsum(begins[: len(order)])
    return clusters


def _signs(items: int, permutations: int, rng: np.random.Generator) -> FloatArray:
    """[N, B] 1 where a swap leaves an item as it is, else -1."""
    return 2 * rng.integers(0, 2, size=(items, permutations)).astype(np.float64) - 1


def _p_values(values: FloatArray, signs: FloatArray) -> FloatArray:
    """[S, S] p-values of `system_p_values` with the swaps given."""
    one, other = np.triu_indices(len(values), 1)
    known = np.where(np.isfinite(values), values, np.nan)
    differences = known[one] - known[other]
    alone = np.isnan(differences).all(axis=1)
    differences = np.nan_to_num(differences)
    observed, swapped = differences.sum(axis=1, keepdims=True), differences @ signs
    near = ROUNDING * np.abs(differences).sum(axis=1, keepdims=True)
    larger, equal = swapped > observed + near, np.abs(swapped - observed) <= near
    p = (0.5 + larger.sum(axis=1) + equal.sum(axis=1) / 2) / (signs.shape[1] + 1)
    found = np.full((len(values), len(values)), np.nan)
    found[one, other] = np.where(alone, np.nan, p)
    found[other, one] = 1 - found[one, other]
    return found
