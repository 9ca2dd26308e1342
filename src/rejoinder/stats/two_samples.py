"""Two independent samples of values in clusters: the difference of their means, and the win rate.

Replies in one conversation share its user and its topic, so whole conversations are resampled and exchanged. If replies
are of different kinds (strata), the difference is the weighted mean of the differences in each stratum.

- The interval of the difference is a percentile interval over resampled clusters, of each sample and stratum by itself,
  expanded (see `resamples`) as a difference of means with unequal variances needs it.
- p comes from dealing the clusters to the two samples at random. The difference is divided by its standard error in
  each deal, so samples of unequal variance or with clusters of unequal size do not make p too small.
- The win rate is the probability that a value of the second sample is above one of the first, a tie counting half. Its
  interval is Wilson's, with as many trials as would have the standard error that it has over clusters.

Shapes: N values, G clusters, K strata, B resamples or deals.

Source: Chung and Romano (2013), Exact and asymptotically robust permutation tests; Obuchowski (1997), Nonparametric
analysis of clustered ROC curve data; Welch (1947) for the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.resamples import (
    BLOCK,
    FEWEST_CLUSTERS,
    BoolArray,
    FloatArray,
    IntArray,
    blocks,
    cluster_counts,
    number_of,
    renumbered,
    tail_of,
)
from rejoinder.stats.shares import share_below, wilson


class Difference(NamedTuple):
    """The mean of the second sample minus that of the first; p is of no difference.

    Attributes:
        estimate: the difference.
        first: mean of the first sample, strata by their weights.
        second: mean of the second.
        error: standard error of the difference; NaN if undefined.
        freedom: its degrees of freedom.
    """

    estimate: Estimate
    first: float
    second: float
    error: float = NAN
    freedom: float = NAN


@dataclass(frozen=True)
class Samples:
    """Two samples of clustered values.

    Attributes:
        values: [N] finite.
        second: [N] whether a value belongs to the second sample.
        clusters: [N] cluster of each value, in [0, G); all values of a cluster are of one sample.
        strata: [N] stratum of each value, in [0, K), each with values of both samples.
        weights: [K] weight of each stratum; they sum to 1.
    """

    values: FloatArray
    second: BoolArray
    clusters: IntArray
    strata: IntArray
    weights: FloatArray

    @cached_property
    def side(self) -> BoolArray:
        """[G] whether a cluster belongs to the second sample."""
        side = np.zeros(number_of(self.clusters), dtype=bool)
        side[self.clusters] = self.second
        return side

    @cached_property
    def moments(self) -> FloatArray:
        """[G, 2 K] the sums of the values of each cluster in each stratum, then their numbers."""
        size = len(self.side), len(self.weights)
        cells = self.clusters * size[1] + self.strata
        tables = [np.bincount(cells, weights, size[0] * size[1]).reshape(size) for weights in (self.values, None)]
        return np.concatenate(tables, axis=1).astype(np.float64)

    @cached_property
    def blocks(self) -> list[IntArray]:
        """The clusters that may be exchanged: those with most of their values in one stratum, or all of them.

        The latter if a sample has a single cluster in some block, whose spread is unknown.
        """
        block = renumbered(self.moments[:, len(self.weights) :].argmax(axis=1))
        fewest = min(np.bincount(block[side], minlength=number_of(block)).min() for side in (self.side, ~self.side))
        block = block if fewest > 1 else np.zeros_like(block)
        return [np.flatnonzero(block == number) for number in range(number_of(block))]

    @cached_property
    def cells(self) -> list[IntArray]:
        """The clusters of the first sample in a block, of the second, and so on for each block."""
        return [own[self.side[own] == side] for own in self.blocks for side in (False, True)]

    @property
    def too_few(self) -> str:
        """The reason why there is no test, or ""."""
        fewest = int(min(self.side.sum(), (~self.side).sum()))
        return "" if fewest >= FEWEST_CLUSTERS else f"a sample of {fewest} {'cluster' if fewest == 1 else 'clusters'}"

    def of_stratum(self, stratum: int) -> Samples:
        """Return the values of one stratum."""
        rows = self.strata == stratum
        clusters = renumbered(self.clusters[rows])
        return Samples(self.values[rows], self.second[rows], clusters, np.zeros_like(clusters), np.ones(1))

    def means(self, totals: FloatArray) -> FloatArray:
        """Return [B, K] the mean of each stratum from `totals` [B, 2 K] of the moments; NaN for no value."""
        sums, counts = np.split(totals, 2, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            means: FloatArray = sums / counts
        return means

    def apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return [B] the difference, from the totals [B, 2 K] of both samples."""
        return (self.means(second) - self.means(first)) @ self.weights

    def influence(self, labels: BoolArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return [B, G] the part of each cluster in the difference, for `labels` [B, G] of the second sample."""
        parts = []
        with np.errstate(divide="ignore", invalid="ignore"):  # a deal may leave a stratum without a value
            for totals in (second, first):
                scale = self.weights / np.split(totals, 2, axis=1)[1]
                parts.append(np.concatenate([scale, -scale * self.means(totals)], axis=1) @ self.moments.T)
        return np.where(labels, *parts)


def difference(samples: Samples, rng: np.random.Generator, resamples: int = 1000) -> Difference:
    """Return the difference between the means of two samples; interval and p need four clusters in each.

    `resamples` is the number of resamples, and that of deals.
    """
    first, second = (side.astype(np.float64)[None] @ samples.moments for side in (~samples.side, samples.side))
    one, other = (float(samples.means(totals)[0] @ samples.weights) for totals in (first, second))
    value = other - one
    if samples.too_few:
        return Difference(Estimate(value=value, reason=samples.too_few), one, other)
    variance, plain, freedom = _error(samples.influence(samples.side[None], first, second)[0], samples.cells)
    low = high = value
    if plain > 0:
        draws = np.concatenate([_resampled(samples, rng, count) for count in _portions(samples, resamples)])
        tail = tail_of(variance / plain, freedom)
        low, high = np.quantile(draws[np.isfinite(draws)], [tail, 1 - tail]).tolist()
    estimate = Estimate(value=value, low=low, high=high, p=_p(samples, rng, resamples))
    return Difference(estimate, one, other, float(np.sqrt(variance)), freedom)


def win_rate(samples: Samples) -> Estimate:
    """Return the probability that a value of the second sample is above one of the first, a tie counting half.

    With strata it is the weighted mean of the shares in each. Values may be infinite.
    """
    value, influence = 0.0, np.zeros(len(samples.side))
    for stratum, weight in enumerate(samples.weights.tolist()):
        rows = np.flatnonzero(samples.strata == stratum)
        second, first = rows[samples.second[rows]], rows[~samples.second[rows]]
        wins = share_below(samples.values[second], samples.values[first])
        losses = 1 - share_below(samples.values[first], samples.values[second])
        value += weight * float(wins.mean())
        for places, shares in ((second, wins), (first, losses)):
            parts = weight * (shares - wins.mean()) / len(places)
            influence += np.bincount(samples.clusters[places], weights=parts, minlength=len(influence))
    if samples.too_few:
        return Estimate(value=value)
    variance, _, freedom = _error(influence, samples.cells)
    return wilson(value, variance, min(samples.side.sum(), (~samples.side).sum()), freedom)


def _error(parts: FloatArray, cells: Sequence[IntArray]) -> tuple[float, float, float]:
    """Return the variance of an estimate from the parts [G] of its clusters, that over resamples, and its freedom."""
    sizes = np.array([len(cell) for cell in cells])
    plain = np.array([((parts[cell] - parts[cell].mean()) ** 2).sum() for cell in cells])
    variances = plain * sizes / (sizes - 1)
    variance, squares = float(variances.sum()), float((variances**2 / (sizes - 1)).sum())
    return variance, float(plain.sum()), variance**2 / squares if squares else float((sizes - 1).sum())


def _portions(samples: Samples, whole: int) -> list[int]:
    """Return numbers that sum to `whole`; a working array with that many rows is one block."""
    return [block.stop - block.start for block in blocks(whole, len(samples.side), BLOCK)]


def _resampled(samples: Samples, rng: np.random.Generator, resamples: int) -> FloatArray:
    """Return [B] the difference on resamples of the clusters, of each sample and block by itself."""
    totals = np.zeros((2, resamples, samples.moments.shape[1]))
    for place, cell in enumerate(samples.cells):
        totals[place % 2] += cluster_counts(len(cell), resamples, rng).T.astype(np.float64) @ samples.moments[cell]
    return samples.apart(*totals)


def _p(samples: Samples, rng: np.random.Generator, deals: int) -> float:
    """Return the share of deals with a difference as large as the observed one, which is counted in."""
    observed = _studentised(samples, samples.side[None])[0]
    dealt = np.concatenate([_studentised(samples, _dealt(samples, rng, n)) for n in _portions(samples, deals)])
    dealt = dealt[~np.isnan(dealt)]
    return float((1 + (np.abs(dealt) >= abs(observed) * (1 - ROUNDING)).sum()) / (1 + len(dealt)))


def _dealt(samples: Samples, rng: np.random.Generator, deals: int) -> BoolArray:
    """Return [B, G] the clusters of the second sample in each deal, as many of each block as it has."""
    labels = np.tile(samples.side, (deals, 1))
    for block in samples.blocks:
        labels[:, block] = rng.permuted(labels[:, block], axis=1)
    return labels


def _studentised(samples: Samples, labels: BoolArray) -> FloatArray:
    """Return [B] the difference over its standard error, under `labels` [B, G]; 0 for a difference below rounding."""
    second = labels.astype(np.float64) @ samples.moments
    first = samples.moments.sum(axis=0) - second
    apart, parts = samples.apart(first, second), samples.influence(labels, first, second)
    variance = np.zeros(len(labels))
    for block in samples.blocks:
        for chosen in (labels[:, block], ~labels[:, block]):
            size, kept = int(chosen[0].sum()), parts[:, block] * chosen
            spread = np.einsum("bg,bg->b", kept, kept) - kept.sum(axis=1) ** 2 / size
            variance += spread * size / (size - 1)
    scale = float(np.abs(samples.values).max()) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(apart) <= ROUNDING * scale, 0.0, apart / np.sqrt(np.maximum(variance, 0)))
    return np.where(np.isnan(apart), NAN, t)
