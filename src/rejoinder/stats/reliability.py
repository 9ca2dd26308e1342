"""How far raters agree, and with it how well any scorer could do.

Ratings come as a table [N, R]: N items, room for R ratings of each, NaN (or anything that is not finite) where there is
none. Raters are unordered, as crowds give them: the first rating of one item and the first of the next need not come
from one person. So an item's raters count as drawn at random (one-way random effects), and no figure depends on the
order of ratings within a row.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import UsageError
from rejoinder.stats.arrays import FloatArray
from rejoinder.stats.columns import columns_pearson, columns_spearman
from rejoinder.stats.correlation import FEWEST
from rejoinder.stats.figure import NONE, Figure


class Reliability(NamedTuple):
    """How much of the ratings is about the items and not about who rated.

    Attributes:
        single: reliability of one rating, ICC(1), in [0, 1]; NaN where there is none.
        mean: reliability of the mean rating of an item, in [0, 1]; ICC(1, k) where all items have k ratings.
        ceiling: square root of `mean`, the highest correlation with the mean ratings that a scorer can be expected to
            reach: that of a scorer which knows what infinitely many raters would say.
        items: items with a rating.
        ratings: ratings of them.
        reason: why there are no values, else "".
    """

    single: float
    mean: float
    ceiling: float
    items: int
    ratings: int
    reason: str = ""


class RaterCorrelation(NamedTuple):
    """Correlations between two random parts of the raters of n items, as means over draws, in [-1, 1].

    Only items with two ratings or more count. Draws without a correlation (a part was constant) are not in the means.

    Attributes:
        pearson: Pearson's.
        spearman: Spearman's.
    """

    pearson: Figure
    spearman: Figure


def reliability(ratings: FloatArray) -> Reliability:
    """The reliability of one rating and of the mean rating, from one-way variance components.

    With n ratings of N items, k_i of item i, the variance between items is V = (MSB - MSW) / n0 with
    n0 = (n - sum of k_i^2 / n) / (N - 1), and that within them is MSW; a negative V counts as 0. One rating has the
    reliability V / (V + MSW), the mean rating V / (V + MSW * mean of 1 / k_i), which is Spearman-Brown's formula for
    the harmonic mean of the k_i. Items with one rating count.

    Args:
        ratings: [N, R].

    Raises:
        UsageError: `ratings` is not a table.

    Source: Shrout and Fleiss (1979), ICC(1, 1) and ICC(1, k); Searle, Casella and McCulloch (1992), Variance
    Components, section 3.6 (unequal numbers); Spearman (1904) for the ceiling (correction for attenuation).
    """
    table, reason = usable(ratings, least=1)
    k = _numbers(table)
    items, n = len(table), int(k.sum())
    if reason:
        return Reliability(NONE, NONE, NONE, items, n, reason)
    means = np.nanmean(table, axis=1)
    within = float(np.nansum((table - means[:, None]) ** 2) / (n - items))
    between = float((k * (means - np.nanmean(table)) ** 2).sum() / (items - 1))
    about_items = max(0.0, (between - within) * (items - 1) / (n - float((k**2).sum()) / n))
    single = about_items / (about_items + within)
    mean = about_items / (about_items + within * float((1 / k).mean()))
    return Reliability(single, mean, sqrt(mean), items, n)


def one_against_others(ratings: FloatArray, rng: np.random.Generator, draws: int = 100) -> RaterCorrelation:
    """The correlation of one rater of each item, drawn at random, with the mean of the item's others.

    Mean over `draws` draws: what a person reaches in the place of a scorer, whose ratings then are without that
    person's. Items with one rating do not count. Raters without names cannot be left out one after the other; drawing
    one of each item gives what that would give on average.

    Args:
        ratings: [N, R].
        rng: decides the draws.
        draws: how many.

    Raises:
        UsageError: `ratings` is not a table.
    """
    return _between_parts(ratings, np.ones_like, rng, draws)


def random_halves(ratings: FloatArray, rng: np.random.Generator, draws: int = 100) -> RaterCorrelation:
    """The correlation between the mean ratings of two random halves of each item's raters.

    Mean over `draws` draws, not stepped up to the full number of raters. Of an odd number of raters the second half has
    one more. Items with one rating do not count. Arguments and errors as for `one_against_others`.

    Source: Liu et al. (2016), How NOT To Evaluate Your Dialogue System, table 3 ("Human").
    """
    return _between_parts(ratings, lambda k: k // 2, rng, draws)


def _between_parts(
    ratings: FloatArray, first: Callable[[NDArray[np.int64]], NDArray[np.int64]], rng: np.random.Generator, draws: int
) -> RaterCorrelation:
    """Mean correlations of the `first` ratings of each item, so many as it says for k ratings, with the others."""
    table, reason = usable(ratings, least=2)
    if reason:
        return RaterCorrelation(*[Figure(n=len(table), reason=reason)] * 2)
    k = _numbers(table)
    pairs = np.empty((2, len(table), draws))
    for draw in range(draws):
        pairs[:, :, draw] = _part_means(table / np.nanmax(np.abs(table)), k, first(k), rng)
    found = np.stack([columns_pearson(*pairs), columns_spearman(*pairs)])
    known = np.isfinite(found[0])
    if not known.any():
        return RaterCorrelation(*[Figure(n=len(table), reason=f"none of {draws} draws has a correlation")] * 2)
    left_out = draws - int(known.sum())
    method = f"mean over {draws} random draws" + (f", {left_out} of them without a correlation" if left_out else "")
    means = found[:, known].mean(axis=1).tolist()
    return RaterCorrelation(*(Figure(value=value, n=len(table), method=method) for value in means))


def _part_means(
    table: FloatArray, k: NDArray[np.int64], first: NDArray[np.int64], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """[N] mean of a random `first` [N] of each item's `k` [N] ratings, and [N] mean of its others.

    Rounded to twelve digits, so that equal means tie whatever the order of summation was.
    """
    order = np.argsort(np.where(np.isnan(table), np.inf, rng.random(table.shape)), axis=1)
    sums = np.nancumsum(np.take_along_axis(table, order, axis=1), axis=1)
    one = sums[np.arange(len(table)), first - 1]
    others: FloatArray = (sums[:, -1] - one) / (k - first)
    return np.round(one / first, 12), np.round(others, 12)


def usable(ratings: FloatArray, least: int) -> tuple[FloatArray, str]:
    """The rows of `ratings` with `least` ratings or more, and why nothing can be said of them, or ""."""
    if ratings.ndim != 2:
        raise UsageError(f"ratings are a table of items and raters, not of shape {ratings.shape}")
    table = np.where(np.isfinite(ratings), ratings, np.nan)
    table = table[_numbers(table) >= least]
    several = int((_numbers(table) >= 2).sum())
    if several < FEWEST:
        have = "item has" if several == 1 else "items have"
        return table, f"{several} {have} two ratings or more; at least three are needed"
    if np.nanmin(table) == np.nanmax(table):
        return table, f"all ratings are the same ({np.nanmin(table):g})"
    return table, ""


def _numbers(table: FloatArray) -> NDArray[np.int64]:
    """[N] number of ratings of each item."""
    numbers: NDArray[np.int64] = np.isfinite(table).sum(axis=1)
    return numbers
