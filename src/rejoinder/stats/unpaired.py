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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.bootstrap import BLOCK, CONFIDENCE, cluster_counts
from rejoinder.stats.correlation import ROUNDING, FloatArray
from rejoinder.stats.shares import FEWEST, Share, wilson

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
NONE = float("nan")


class Difference(NamedTuple):
    """The mean of the second sample less that of the first.

    Attributes:
        first: mean of the first sample, strata by their weights.
        second: mean of the second.
        value: the difference.
        low: lower end of its 95 % interval; NaN where there is none.
        high: upper end.
        p: two-sided, of no difference; never 0; NaN where there is none.
        error: standard error of the difference; NaN where there is none.
        reason: why there is neither interval nor p, else "".
    """

    first: float
    second: float
    value: float
    low: float
    high: float
    p: float
    error: float
    reason: str = ""


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
        side = np.zeros(int(self.clusters.max()) + 1, dtype=bool)
        side[self.clusters] = self.second
        return side

    @cached_property
    def sums(self) -> FloatArray:
        """[G, K] sum of the values of each cluster in each stratum."""
        return self._table(self.values)

    @cached_property
    def counts(self) -> FloatArray:
        """[G, K] how many values each cluster has in each stratum."""
        return self._table(np.ones_like(self.values))

    @cached_property
    def blocks(self) -> IntArray:
        """[G] which clusters may be exchanged: those with most of their values in one stratum, or all with all.

        The latter where a sample would have a single cluster in some block, whose spread is not known.
        """
        found = np.unique(self.counts.argmax(axis=1), return_inverse=True)[1].astype(np.int64)
        least = min(np.bincount(found[side], minlength=int(found.max()) + 1).min() for side in (self.side, ~self.side))
        return found if least > 1 else np.zeros_like(found)

    def of_stratum(self, stratum: int) -> Samples:
        """The values of one stratum, by themselves."""
        rows = self.strata == stratum
        clusters = np.unique(self.clusters[rows], return_inverse=True)[1].astype(np.int64)
        return Samples(
            self.values[rows], self.second[rows], clusters, np.zeros_like(clusters), np.ones(1, dtype=np.float64)
        )

    def _table(self, values: FloatArray) -> FloatArray:
        """[G, K] sums of `values` by cluster and stratum."""
        size = len(self.side) * len(self.weights)
        cells = self.clusters * len(self.weights) + self.strata
        table = np.bincount(cells, weights=values, minlength=size).astype(np.float64)
        return table.reshape(-1, len(self.weights))


def difference(samples: Samples, rng: np.random.Generator, resamples: int = 1000) -> Difference:
    """How far the means of two samples lie apart, with interval and p; see the head of this file.

    Both are missing where a sample has under three clusters.

    Args:
        samples: what to compare.
        rng: decides resamples and deals.
        resamples: how many of each.
    """
    first, second = (_means(samples, side[:, None].astype(np.float64))[:, 0] for side in (~samples.side, samples.side))
    means = float(samples.weights @ first), float(samples.weights @ second)
    value = means[1] - means[0]
    if reason := _too_few(samples):
        return Difference(*means, value, NONE, NONE, NONE, NONE, reason)
    error = _error(_influence(samples, samples.side[:, None]), samples.side, samples.blocks)
    low, high = _interval(samples, error, rng, resamples)
    return Difference(*means, value, low, high, _p(samples, rng, resamples), float(np.sqrt(error.variance)))


def win_rate(samples: Samples) -> Share:
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
        return Share(value, NONE, NONE)
    error = _error(influence, samples.side, samples.blocks)
    return wilson(value, error.variance, min(samples.side.sum(), (~samples.side).sum()), error.freedom)


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


def _means(samples: Samples, weights: FloatArray) -> FloatArray:
    """[K, B] mean of each stratum under `weights` [G, B] of the clusters; NaN where a stratum has no weight."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means: FloatArray = (samples.sums.T @ weights) / (samples.counts.T @ weights)
    return means


def _influence(samples: Samples, labels: BoolArray) -> FloatArray:
    """[G, B] part of each cluster in the difference, where `labels` [G, B] says which are of the second sample."""
    total = np.zeros(labels.shape)
    for chosen in (labels, ~labels):
        weights = chosen.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = samples.weights[:, None] / (samples.counts.T @ weights)
        total += weights * (samples.sums @ scale - samples.counts @ (scale * _means(samples, weights)))
    return total


def _error(influence: FloatArray, side: BoolArray, blocks: IntArray) -> _Error:
    """The error of an estimate from the parts [G] or [G, 1] that its clusters have in it."""
    parts = influence.reshape(-1)
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
    for block in range(int(blocks.max()) + 1):
        for sample in (False, True):
            yield (blocks == block) & (side == sample)


def _interval(samples: Samples, error: _Error, rng: np.random.Generator, resamples: int) -> tuple[float, float]:
    """The expanded percentile interval of the difference."""
    from scipy.special import ndtr, stdtrit

    if error.plain <= 0:
        means = (_means(samples, side[:, None].astype(np.float64))[:, 0] for side in (~samples.side, samples.side))
        first, second = (float(samples.weights @ one) for one in means)
        return second - first, second - first
    found = np.concatenate([_resampled(samples, rng, width) for width in _widths(samples, resamples)])
    reach = np.sqrt(error.variance / error.plain) * stdtrit(error.freedom, (1 + CONFIDENCE) / 2)
    tail = float(ndtr(-reach))
    low, high = np.quantile(found[np.isfinite(found)], [tail, 1 - tail])
    return float(low), float(high)


def _resampled(samples: Samples, rng: np.random.Generator, resamples: int) -> FloatArray:
    """[B] the difference on resamples of the clusters, those of each sample and block by themselves."""
    weights = np.empty((len(samples.side), resamples))
    for cell in _cells(samples.side, samples.blocks):
        weights[cell] = cluster_counts(int(cell.sum()), resamples, rng)
    second, first = (_means(samples, weights * side[:, None]) for side in (samples.side, ~samples.side))
    return samples.weights @ (second - first)


def _p(samples: Samples, rng: np.random.Generator, deals: int) -> float:
    """The share of deals that set the samples as far apart as they are, the one found counted in."""
    found = _studentised(samples, samples.side[:, None])[0]
    widths = _widths(samples, deals)
    dealt = np.concatenate([_studentised(samples, _dealt(samples, rng, width)) for width in widths])
    dealt = dealt[~np.isnan(dealt)]
    as_far = np.abs(dealt) >= abs(found) * (1 - ROUNDING)
    return float((1 + as_far.sum()) / (1 + len(dealt)))


def _dealt(samples: Samples, rng: np.random.Generator, deals: int) -> BoolArray:
    """[G, B] which clusters go to the second sample, as many of each block as it has."""
    labels = np.empty((len(samples.side), deals), dtype=bool)
    for block in range(int(samples.blocks.max()) + 1):
        own = np.flatnonzero(samples.blocks == block)
        labels[own] = rng.random((len(own), deals)).argsort(axis=0) < samples.side[own].sum()
    return labels


def _studentised(samples: Samples, labels: BoolArray) -> FloatArray:
    """[B] the difference over its standard error, under `labels` [G, B]; 0 where there is no difference at all."""
    weights = labels.astype(np.float64)
    apart = samples.weights @ (_means(samples, weights) - _means(samples, 1 - weights))
    influence = _influence(samples, labels)
    variance = np.zeros(labels.shape[1])
    for block in range(int(samples.blocks.max()) + 1):
        own = samples.blocks == block
        for chosen in (weights[own], 1 - weights[own]):
            size, parts = chosen.sum(axis=0), chosen * influence[own]
            variance += ((parts**2).sum(axis=0) - parts.sum(axis=0) ** 2 / size) * size / (size - 1)
    scale = float(np.abs(samples.values).max()) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(apart) <= ROUNDING * scale, 0.0, apart / np.sqrt(np.maximum(variance, 0)))
    return np.where(np.isnan(apart), NONE, t)


def _share_below(values: FloatArray, others: FloatArray) -> FloatArray:
    """[n] the share of `others` [m] that lie below each of `values` [n], ties counting half."""
    ordered = np.sort(others)
    under, upto = (np.searchsorted(ordered, values, which) for which in ("left", "right"))
    shares: FloatArray = (under + upto) / (2 * len(ordered))
    return shares


def _widths(samples: Samples, columns: int) -> Iterator[int]:
    """Numbers that sum to `columns`, each so small that working arrays of so many columns stay within one block."""
    step = max(1, BLOCK // len(samples.side))
    for start in range(0, columns, step):
        yield min(step, columns - start)
