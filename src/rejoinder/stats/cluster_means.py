"""Means of values that come in clusters, several at a time: intervals from resampled clusters, and a sign-flip test.

All means share the same resamples and the same flips, so they are compared under the same luck, and one more of them
changes none of the others.

Shapes: R means, N items, G clusters, B resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rejoinder.stats.arrays import FloatArray, IntArray, blocks, number_of
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.figure import NONE, Figure

FEWEST_CLUSTERS = 3  # that a test needs; with two, half of all flips lead as far
FLIPS = 1000
_BLOCK = 2**22  # numbers in one working array
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Figure):
    """A mean; p is two-sided, of its being `null`.

    Attributes:
        clusters: clusters that its n items come from.
    """

    clusters: int


def cluster_means(
    values: FloatArray,
    clusters: IntArray,
    null: FloatArray,
    resamples: int,
    rng: np.random.Generator,
    flips: int = FLIPS,
) -> list[Mean]:
    """The means of R rows of values over the same items.

    p asks how often the sum of what the values have over `null` is as far from 0, where each cluster keeps its sign or
    turns it by chance: so it would be, were values as likely to lie above `null` as below by the same.

    Args:
        values: [R, N]; NaN where an item has none.
        clusters: [N] cluster of each item, in [0, G).
        null: [R] what the mean would be by chance.
        resamples: B.
        rng: decides what is drawn and flipped.
        flips: how often signs are flipped.
    """
    known = np.isfinite(values)
    count = number_of(clusters)
    sums, items = (_summed(rows, clusters, count) for rows in (np.where(known, values, 0.0), known.astype(np.float64)))
    drawn = _resampled(sums, items, resamples, rng)
    p = _flipped(sums - items * null[:, None], flips, rng)
    return [_mean(sums[row].sum(), items[row], drawn[row], float(p[row])) for row in range(len(values))]


def _summed(rows: FloatArray, clusters: IntArray, count: int) -> FloatArray:
    """[R, G] sums of [R, N] over clusters."""
    return np.stack([np.bincount(clusters, weights=row, minlength=count) for row in rows])


def _resampled(sums: FloatArray, items: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """[R, B] means on resamples of clusters."""
    means = np.full((len(sums), resamples), np.nan)
    for block in blocks(resamples, sums.shape[1], _BLOCK):
        counts = cluster_counts(sums.shape[1], block.stop - block.start, rng).astype(np.float64)
        with np.errstate(invalid="ignore"):
            means[:, block] = (sums @ counts) / (items @ counts)
    return means


def _flipped(beyond: FloatArray, flips: int, rng: np.random.Generator) -> FloatArray:
    """[R] share of flips that lead as far from 0 as the sum of `beyond` [R, G] lies; what was found counts as one."""
    farther = np.ones(len(beyond))
    limit = np.abs(beyond.sum(axis=1)) - _ROUNDING
    for block in blocks(flips, beyond.shape[1], _BLOCK):
        signs = rng.integers(0, 2, size=(beyond.shape[1], block.stop - block.start)) * 2.0 - 1.0
        farther += (np.abs(beyond @ signs) >= limit[:, None]).sum(axis=1)
    return farther / (1 + flips)


def _mean(total: float, items: FloatArray, drawn: FloatArray, p: float) -> Mean:
    """One mean."""
    n, clusters = int(items.sum()), int((items > 0).sum())
    if not n:
        return Mean(clusters=0, reason="nothing to take a mean of")
    found = percentile_interval(drawn, clusters, value=float(total / n), unit="context")
    return Mean.of(found, p=p if clusters >= FEWEST_CLUSTERS else NONE, n=n, clusters=clusters)
