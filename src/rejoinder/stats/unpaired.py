"""Two independent samples of values that come in clusters: how far their means lie apart, and which of two wins.

Replies in one conversation share its user and its matter, so conversations are what is resampled and exchanged, whole,
never single replies. Where clusters are known to be of different kinds (strata), like is compared with like: a
difference of means in each stratum, put together with fixed weights.

- The interval of the difference is a percentile interval over resampled clusters, each side and stratum by itself,
  expanded (see `bootstrap`) by what sets it right for a difference of means with unequal variances.
- p comes from dealing the clusters anew to the two samples. The difference is divided by its standard error in each
  deal, so that samples of unequal variance or with clusters of unequal size do not make it too small.
- The win rate is the probability that a value of the second sample is above one of the first, a tie counting half. Its
  interval is Wilson's, with as many trials as would give the share the standard error that it has over clusters.

Shapes: N values, G clusters, K strata, B resamples or deals.

Source: Chung and Romano (2013), Exact and asymptotically robust permutation tests; Obuchowski (1997), Nonparametric
analysis of clustered ROC curve data; Hesterberg (2015) as in `bootstrap`; Welch (1947) for the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.figure import CONFIDENCE, NONE, Figure
from rejoinder.stats.resamples import (
    BLOCK,
    BoolArray,
    FloatArray,
    IntArray,
    blocks,
    cluster_counts,
    number_of,
    renumbered,
)
from rejoinder.stats.shares import FEWEST, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Figure):
    """The mean of the second sample less that of the first, with p of none.

    Attributes:
        first: mean of the first sample, strata by their weights.
        second: mean of the second.
        error: standard error of the difference; NaN where there is none.
    """

    first: float
    second: float
    error: float = NONE


@dataclass(frozen=True)
class Samples:
    """Two samples of clustered values.

    Attributes:
        values: [N] finite.
        second: [N] whether a value belongs to the second sample.
        clusters: [N] cluster of each value, in [0, G), each with a value; all of a cluster are of one sample.
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
        """[G, 2 K] what each cluster has in each stratum: the sums of its values, then how many there are."""
        size = len(self.side), len(self.weights)
        cells = self.clusters * size[1] + self.strata
        tables = (np.bincount(cells, weights, size[0] * size[1]).reshape(size) for weights in (self.values, None))
        return np.concatenate(list(tables), axis=1).astype(np.float64)

    @cached_property
    def blocks(self) -> IntArray:
        """[G] which clusters may be exchanged: those with most of their values in one stratum, or all with all.

        The latter where a sample would have a single cluster in some block, whose spread is not known.
        """
        found = renumbered(self.moments[:, len(self.weights) :].argmax(axis=1))
        least = min(np.bincount(found[side], minlength=number_of(found)).min() for side in (self.side, ~self.side))
        return found if least > 1 else np.zeros_like(found)

    def of_stratum(self, stratum: int) -> Samples:
        """The values of one stratum, by themselves."""
        rows = self.strata == stratum
        clusters = renumbered(self.clusters[rows])
        return Samples(
            self.values[rows], self.second[rows], clusters, np.zeros_like(clusters), np.ones(1, dtype=np.float64)
        )


def difference(samples: Samples, rng: np.random.Generator, resamples: int = 1000) -> Difference:
    """How far the means of two samples lie apart, with interval and p; see the head of this file.

    Both are missing where a sample has under three clusters.

    Args:
        samples: what to compare.
        rng: decides resamples and deals.
        resamples: how many of each.
    """
    clusters = _Clusters.of(samples)
    first, second = (side.astype(np.float64)[None] @ clusters.moments for side in (~clusters.side, clusters.side))
    one, other = (float(clusters.means(totals)[0] @ clusters.weights) for totals in (first, second))
    if reason := _too_few(samples):
        return Difference(value=other - one, first=one, second=other, reason=reason)
    error = _error(clusters.influence(clusters.side[None], first, second)[0], clusters.side, clusters.blocks)
    low, high = _interval(clusters, other - one, error, rng, resamples)
    p = _p(clusters, rng, resamples)
    spread = float(np.sqrt(error.variance))
    return Difference(value=other - one, low=low, high=high, p=p, first=one, second=other, error=spread)


def win_rate(samples: Samples) -> Figure:
    """The probability that a value of the second sample is above one of the first, a tie counting half.

    Over strata the weighted mean of the shares in each. Values may be infinite, which is above or below all others.
    """
    value, influence = 0.0, np.zeros(len(samples.side))
    for stratum, weight in enumerate(samples.weights.tolist()):
        rows = np.flatnonzero(samples.strata == stratum)
        own, other = rows[samples.second[rows]], rows[~samples.second[rows]]
        wins = _share_below(samples.values[own], samples.values[other])
        beaten = 1 - _share_below(samples.values[other], samples.values[own])
        value += weight * float(wins.mean())
        for places, shares in ((own, wins), (other, beaten)):
            parts = weight * (shares - wins.mean()) / len(places)
            influence += np.bincount(samples.clusters[places], weights=parts, minlength=len(influence))
    if _too_few(samples):
        return Figure(value=value)
    error = _error(influence, samples.side, samples.blocks)
    return wilson(value, error.variance, min(samples.side.sum(), (~samples.side).sum()), error.freedom)


@dataclass(frozen=True)
class _Clusters:
    """The clusters of two samples, those of a block in a row.

    Attributes:
        moments: [G, 2 K] see `Samples.moments`.
        side: [G] which are of the second sample.
        blocks: [G] ascending.
        weights: [K] of the strata.
        scale: the largest value, whatever its sign; digits far below it are rounding.
    """

    moments: FloatArray
    side: BoolArray
    blocks: IntArray
    weights: FloatArray
    scale: float

    @classmethod
    def of(cls, samples: Samples) -> _Clusters:
        """Those of these samples."""
        order = np.argsort(samples.blocks, kind="stable")
        scale = float(np.abs(samples.values).max()) or 1.0
        return cls(samples.moments[order], samples.side[order], samples.blocks[order], samples.weights, scale)

    @cached_property
    def slices(self) -> list[slice]:
        """Where each block stands."""
        edges = np.searchsorted(self.blocks, np.arange(int(self.blocks.max()) + 2))
        return [slice(start, end) for start, end in pairwise(edges.tolist())]

    def portions(self, whole: int) -> list[int]:
        """Numbers that sum to `whole`, each so small that a working array of so many rows stays within one block."""
        return [block.stop - block.start for block in blocks(whole, len(self.side), BLOCK)]

    def means(self, totals: FloatArray) -> FloatArray:
        """[B, K] mean of each stratum from `totals` [B, 2 K] of the moments; NaN where it has no value."""
        sums, counts = np.split(totals, 2, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            means: FloatArray = sums / counts
        return means

    def apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """[B] the difference, from the totals [B, 2 K] of both samples."""
        return (self.means(second) - self.means(first)) @ self.weights

    def influence(self, labels: BoolArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """[B, G] part of each cluster in the difference.

        Args:
            labels: [B, G] which clusters are of the second sample.
            first: [B, 2 K] total of the moments of the first sample.
            second: [B, 2 K] of the second.
        """
        parts = []
        for totals in (second, first):
            with np.errstate(divide="ignore", invalid="ignore"):
                scale = self.weights / np.split(totals, 2, axis=1)[1]
            parts.append(np.concatenate([scale, -scale * self.means(totals)], axis=1) @ self.moments.T)
        return np.where(labels, *parts)


class _Error(NamedTuple):
    """The error of an estimate over clusters.

    Attributes:
        variance: of the estimate, unbiased.
        plain: the same as resampling gives it, which divides by the number of clusters.
        freedom: degrees of freedom.
    """

    variance: float
    plain: float
    freedom: float


def _too_few(samples: Samples) -> str:
    """Why there is no test, or ""."""
    fewest = int(min(samples.side.sum(), (~samples.side).sum()))
    return "" if fewest >= FEWEST else f"a sample of {fewest} {'cluster' if fewest == 1 else 'clusters'}"


def _error(parts: FloatArray, side: BoolArray, blocks: IntArray) -> _Error:
    """The error of an estimate from the parts [G] that its clusters have in it."""
    variance = plain = squares = 0.0
    freedom = 0
    for cell in _cells(side, blocks):
        own, size = parts[cell] - parts[cell].mean(), int(cell.sum())
        spread = float((own**2).sum())
        variance += spread * size / (size - 1)
        plain += spread
        squares += (spread * size / (size - 1)) ** 2 / (size - 1)
        freedom += size - 1
    return _Error(variance, plain, variance**2 / squares if squares else float(freedom))


def _cells(side: BoolArray, blocks: IntArray) -> Iterator[BoolArray]:
    """[G] the clusters of one sample in one block, for all of them."""
    for block in range(number_of(blocks)):
        for sample in (False, True):
            yield (blocks == block) & (side == sample)


def _interval(
    clusters: _Clusters, value: float, error: _Error, rng: np.random.Generator, resamples: int
) -> tuple[float, float]:
    """The expanded percentile interval of the difference `value`."""
    from scipy.special import ndtr, stdtrit

    if error.plain <= 0:
        return value, value
    found = np.concatenate([_resampled(clusters, rng, count) for count in clusters.portions(resamples)])
    reach = np.sqrt(error.variance / error.plain) * stdtrit(error.freedom, (1 + CONFIDENCE) / 2)
    tail = float(ndtr(-reach))
    low, high = np.quantile(found[np.isfinite(found)], [tail, 1 - tail])
    return float(low), float(high)


def _resampled(clusters: _Clusters, rng: np.random.Generator, resamples: int) -> FloatArray:
    """[B] the difference on resamples of the clusters, those of each sample and block by themselves."""
    totals = np.zeros((2, resamples, clusters.moments.shape[1]))
    for place, cell in enumerate(_cells(clusters.side, clusters.blocks)):  # the first sample, the second, and again
        own = clusters.moments[cell]
        totals[place % 2] += cluster_counts(len(own), resamples, rng).T.astype(np.float64) @ own
    return clusters.apart(*totals)


def _p(clusters: _Clusters, rng: np.random.Generator, deals: int) -> float:
    """The share of deals that set the samples as far apart as they are, the one found counted in."""
    found = _studentised(clusters, clusters.side[None])[0]
    dealt = np.concatenate([_studentised(clusters, _dealt(clusters, rng, count)) for count in clusters.portions(deals)])
    dealt = dealt[~np.isnan(dealt)]
    as_far = np.abs(dealt) >= abs(found) * (1 - ROUNDING)
    return float((1 + as_far.sum()) / (1 + len(dealt)))


def _dealt(clusters: _Clusters, rng: np.random.Generator, deals: int) -> BoolArray:
    """[B, G] which clusters go to the second sample, as many of each block as it has."""
    labels = np.tile(clusters.side, (deals, 1))
    for own in clusters.slices:
        rng.permuted(labels[:, own], axis=1, out=labels[:, own])
    return labels


def _studentised(clusters: _Clusters, labels: BoolArray) -> FloatArray:
    """[B] the difference over its standard error, under `labels` [B, G]; 0 where there is no difference at all."""
    second = labels.astype(np.float64) @ clusters.moments
    first = clusters.moments.sum(axis=0) - second
    apart, parts = clusters.apart(first, second), clusters.influence(labels, first, second)
    variance = np.zeros(len(labels))
    for own in clusters.slices:
        for chosen in (labels[:, own], ~labels[:, own]):
            size, kept = int(chosen[0].sum()), parts[:, own] * chosen
            spread = np.einsum("bg,bg->b", kept, kept) - kept.sum(axis=1) ** 2 / size
            variance += spread * size / (size - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(apart) <= ROUNDING * clusters.scale, 0.0, apart / np.sqrt(np.maximum(variance, 0)))
    return np.where(np.isnan(apart), NONE, t)


def _share_below(values: FloatArray, others: FloatArray) -> FloatArray:
    """[n] the share of `others` [m] that lie below each of `values` [n], ties counting half."""
    ordered = np.sort(others)
    under, upto = (np.searchsorted(ordered, values, which) for which in ("left", "right"))
    shares: FloatArray = (under + upto) / (2 * len(ordered))
    return shares
