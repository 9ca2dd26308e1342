"""Clusters of lines, and the bootstrap that draws whole clusters with replacement.

Lines of one cluster (a context, a conversation) are not independent, so single lines are never drawn. A statistic is
computed on each resample, and its interval is between two quantiles of these values. With few clusters the 2.5 % and
97.5 % quantiles give an interval that is too narrow. Here the quantiles are further out, by as much as corrects the
interval of a mean (the expanded percentile interval).

Shapes: N lines, G clusters, B resamples, S groups. Draws [1 + B] hold the statistic of the data, then of the resamples.

Source: Hesterberg (2015), What Teachers Should Know About the Bootstrap, The American Statistician 69, pages 371-386;
Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8 (whole clusters).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import UsageError
from rejoinder.estimates import CONFIDENCE, NAN, Estimate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Counts = NDArray[np.uint16]

MOST_RESAMPLES = 100_000
MOST_DRAWS = 2**30  # two bytes each
FEWEST_CLUSTERS = 4
"""Clusters that an interval or a test needs; with three, an interval over resamples holds the truth in 85 %."""
BLOCK = 2**20  # numbers in one working array (8 MiB)


def _numbered(first: int, *names: str) -> dict[str, tuple[int, ...]]:
    """Return consecutive numbers by name."""
    return {name: (first + place,) for place, name in enumerate(names)}


PURPOSES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("agreement", "choices", "comparison", "trial", "assignment"), ()),
    **_numbered(1, "ceiling", "contrasts"),
    **_numbered(4, "systems", "systems drawn"),
    **_numbered(9, "attack", "audited lines", "geometry", "reliability", "bias", "fit"),
    **_numbered(16, "re-ranking", "next lines", "quality", "tie folds"),
    **_numbered(25, "raters", "halves of raters", "models of raters", "stand-in", "raters by chance", "suspects"),
    **_numbered(40, "cutoff", "second look"),
    **_numbered(0, "paper", "paper, swaps", "paper, kept at random", "paper, growing shares"),
    **_numbered(4, "paper, lines quoted", "paper, dialogue quoted", "paper, lines attacked"),
}
"""The number of each purpose of a draw; a changed number changes published figures.

Purposes without a number never use the same name. The experiments of papers draw without a name: a series of their own.
"""


# clusters


def renumbered(labels: NDArray[Any]) -> IntArray:
    """Return `labels` [N] as numbers from 0 without gaps, in the same order."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def number_of(clusters: NDArray[Any]) -> int:
    """Return G, the number of `clusters` [N] in [0, G)."""
    return int(clusters.max(initial=-1)) + 1


def blocks(width: int, height: int, numbers: int) -> Iterator[slice]:
    """Yield consecutive slices of `width` columns, each with at most `numbers` numbers in `height` rows."""
    step = max(1, numbers // max(height, 1))
    for start in range(0, width, step):
        yield slice(start, min(start + step, width))


# drawing


@dataclass(frozen=True, slots=True)
class Sampling:
    """The number of resamples and the seed.

    Each figure draws from a generator of its own, which follows from the seed, the name of the data set and the
    purpose, so no figure depends on the others or on their order.

    Attributes:
        resamples: 0 gives no intervals.
        seed: 0 or more.
    """

    resamples: int
    seed: int

    @classmethod
    def checked(cls, resamples: Any, seed: Any, *, least: int = 0) -> Self:
        """Return the sampling for `least` to `MOST_RESAMPLES` resamples; UsageError if a number is out of range."""
        if not isinstance(resamples, (int, np.integer)) or not least <= resamples <= MOST_RESAMPLES:
            raise UsageError(f"resamples is {resamples!r}, expected a whole number from {least} to {MOST_RESAMPLES:,}")
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise UsageError(f"seed is {seed!r}, expected a whole number, 0 or more")
        return cls(int(resamples), int(seed))

    def generator(self, drawn_for: str | Sequence[int], purpose: str) -> np.random.Generator:
        """Return the generator for a purpose and the name of a data set, or for numbers of clusters, or nothing."""
        # crc32, because Python's own hash of a text differs from process to process
        name = [crc32(drawn_for.encode())] if isinstance(drawn_for, str) else drawn_for
        return np.random.default_rng(np.random.SeedSequence([self.seed, *name, *PURPOSES[purpose]]))

    def draw(self, clusters: IntArray, drawn_for: str | Sequence[int], purpose: str) -> Resamples:
        """Return resamples of `clusters` [N] from `generator`; none if there are no clusters."""
        count = self.resamples if len(clusters) else 0
        return Resamples.draw(clusters, count, self.generator(drawn_for, purpose))


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of clusters. A cluster that is drawn k times brings each of its lines k times.

    Attributes:
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, 1 + B] how often each cluster is drawn; the first column is the data: each once.
    """

    clusters: IntArray
    counts: Counts

    @classmethod
    def draw(cls, clusters: IntArray, resamples: int, rng: np.random.Generator) -> Self:
        """Return resamples of as many clusters as there are, drawn with replacement.

        Raises:
            UsageError: they are more than `MOST_DRAWS` together.
        """
        size = number_of(clusters)
        if size * resamples > MOST_DRAWS:
            memory = f"{2e-9 * size * resamples:,.0f} GB and more"
            problem = f"{resamples:,} resamples of {size:,} contexts would take {memory}"
            raise UsageError(f"{problem}. Ask for {MOST_DRAWS // size:,} or fewer")
        counts = np.ones((size, 1 + resamples), dtype=np.uint16)
        cluster_counts(size, resamples, rng, out=counts[:, 1:])
        return cls(clusters, counts)

    @classmethod
    def once(cls, clusters: IntArray) -> Self:
        """Return the data alone, without resamples."""
        return cls(clusters, np.ones((number_of(clusters), 1), dtype=np.uint16))

    def at(self, rows: NDArray[Any]) -> Resamples:
        """Return the same resamples of some lines, with their clusters alone."""
        used, clusters = np.unique(self.clusters[rows], return_inverse=True)
        counts = self.counts if len(used) == len(self.counts) else self.counts[used]
        return Resamples(clusters.astype(np.int64), counts)

    @property
    def size(self) -> int:
        """G."""
        return len(self.counts)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return [M, 1 + B] the sums of `values` [M, N] over each resample: by cluster, then one matrix product."""
        return self._times(np.stack([np.bincount(self.clusters, row, self.size) for row in values]))

    def means(self, values: FloatArray, groups: IntArray) -> FloatArray:
        """Return [S, 1 + B] the mean of `values` [N] over each of S `groups` [N]; NaN if no line of it is drawn.

        Means are rounded to twelve digits, so that equal means tie in whatever order they were summed.
        """
        means: FloatArray = self.all_means(values[None], groups)[0]
        return means

    def all_means(self, values: FloatArray, groups: IntArray) -> FloatArray:
        """Return [K, S, 1 + B] the same of each of `values` [K, N], in few matrix products."""
        size, cells = number_of(groups), groups * self.size + self.clusters
        scales = np.array([float(np.abs(row).max(initial=0.0)) or 1.0 for row in values])
        means = np.empty((len(values), size, self.counts.shape[1]))
        for block in blocks(len(values), size * self.size, 8 * BLOCK):
            weights = [np.ones(len(groups)), *(values[block] / scales[block, None])]
            sums = [np.bincount(cells, row, size * self.size).reshape(-1, self.size) for row in weights]
            drawn = self._times(np.concatenate(sums)).reshape(len(weights), size, -1)
            with np.errstate(divide="ignore", invalid="ignore"):
                means[block] = np.round(drawn[1:] / drawn[0], 12) * scales[block, None, None]
        return means

    def weights(self) -> Iterator[FloatArray]:
        """Yield [N, b] how often each line is drawn, some resamples at a time."""
        for block in blocks(self.counts.shape[1], len(self.clusters), BLOCK):
            yield self.counts[:, block].astype(np.float64)[self.clusters]

    def _times(self, totals: FloatArray) -> FloatArray:
        """Return [M, 1 + B] the product of `totals` [M, G] with the counts."""
        parts = blocks(self.counts.shape[1], self.size, BLOCK)
        return np.concatenate([totals @ self.counts[:, block].astype(np.float64) for block in parts], axis=1)


def cluster_counts(clusters: int, resamples: int, rng: np.random.Generator, out: Counts | None = None) -> Counts:
    """Return [G, B], in `out` if given, how often each of `clusters` clusters is drawn; columns sum to G."""
    counts = np.empty((clusters, resamples), dtype=np.uint16) if out is None else out
    for block in blocks(resamples, clusters, BLOCK):
        width = block.stop - block.start
        drawn = rng.integers(0, clusters, size=(width, clusters)) + clusters * np.arange(width)[:, None]
        counts[:, block] = np.bincount(drawn.ravel(), minlength=width * clusters).reshape(width, clusters).T
    return counts


def groups_drawn(means: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return [S, 1 + B] `means` of groups over resamples in which as many groups are drawn with replacement too."""
    drawn = rng.integers(0, len(means), means[:, 1:].shape)
    return np.hstack([means[:, :1], np.take_along_axis(means[:, 1:], drawn, axis=0)])


# intervals and p


def percentile_interval(draws: FloatArray, clusters: int, unit: str = "context") -> Estimate:
    """Return the first of `draws` [1 + B] with its 95 % expanded percentile interval.

    Resamples without a value (NaN) are left out, and `method` counts them. There is no interval, but a reason, without
    resamples, with too few `clusters` behind the statistic, and if over half of the resamples have no value.
    """
    value, drawn = float(draws[0]), draws[1:]
    known = drawn[np.isfinite(drawn)]
    missing = len(drawn) - len(known)
    reason = ""
    if not len(drawn):
        reason = "no interval: no resamples were asked for"
    elif clusters < FEWEST_CLUSTERS:
        units = unit if clusters == 1 else f"{unit}s"
        reason = f"no interval: {clusters} {units}, {FEWEST_CLUSTERS} are needed"
    elif 2 * missing > len(drawn):
        reason = f"no interval: {missing} of {len(drawn)} resamples have no correlation"
    if reason:
        return Estimate(value=value, method="no interval", reason=reason)
    tail = expanded_tail(clusters)
    low, high = np.quantile(known, [tail, 1 - tail])
    gaps = f", {missing} of them left out for want of a value" if missing else ""
    method = f"95% expanded percentile interval, {len(drawn)} resamples of {unit}s{gaps}"
    return Estimate(value=value, low=float(low), high=float(high), method=method)


@cache
def expanded_tail(clusters: int) -> float:
    """Return the share of resamples beyond each end of a 95 % interval, for two or more `clusters`; at most 2.5 %."""
    return tail_of(clusters / (clusters - 1), clusters - 1)


def tail_of(inflation: float, freedom: float) -> float:
    """Return the same where the unbiased variance is `inflation` times that over resamples, with this `freedom`."""
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-np.sqrt(inflation) * stdtrit(freedom, (1 + CONFIDENCE) / 2)))


def interval_of_highest(draws: FloatArray, clusters: int) -> Estimate:
    """Return the highest of K values with a 95 % interval that allows for the choice, from `draws` [K, 1 + B].

    With 95 % probability all K intervals of this kind hold their truths, hence also that of the highest value. Their
    half widths are the 95 % quantile of the largest |draw - value| / spread, times the spread of each.
    """
    from scipy.special import ndtri, stdtrit

    best = int(np.argmax(draws[:, 0]))
    plain = percentile_interval(draws[best], clusters)
    if not plain.has_interval:
        return plain
    apart = draws[:, 1:] - draws[:, :1]
    known = np.isfinite(apart)
    apart = np.abs(np.where(known, apart, 0.0))
    spreads = np.sqrt((apart**2).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
    largest = (apart / np.where(spreads > 0, spreads, np.inf)[:, None]).max(axis=0)
    few = np.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, (1 + CONFIDENCE) / 2) / ndtri((1 + CONFIDENCE) / 2)
    half = float(np.quantile(largest, CONFIDENCE) * spreads[best] * few)
    method = f"the highest of {len(draws)}: simultaneous 95% interval, {draws.shape[1] - 1} resamples of contexts"
    return Estimate(value=plain.value, low=plain.value - half, high=plain.value + half, method=method)


def two_sided(draws: FloatArray, clusters: int) -> float:
    """Return the p that matches `percentile_interval` (.05 if that ends at zero); NaN with too few clusters.

    It is the share of resamples in `draws` [1 + B] beyond zero, one counted in advance, expanded as the interval is.
    """
    from scipy.special import ndtri, stdtr

    known = draws[1:][np.isfinite(draws[1:])]
    if not len(known) or clusters < FEWEST_CLUSTERS:
        return NAN
    beyond = min((known <= 0).sum(), (known >= 0).sum())
    share = min(0.5, (1 + int(beyond)) / (len(known) + 1))
    return 2 * float(stdtr(clusters - 1, ndtri(share) * np.sqrt((clusters - 1) / clusters)))


def mean_of_independent(figures: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent figures with its interval from their intervals alone.

    Without an end of one of them there is no such end.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach,
    Statistics in Medicine 27, pages 1693-1702.
    """
    values, lows, highs = np.array([(figure.value, *figure.ends) for figure in figures]).T
    mean = float(values.mean())
    below, above = (float(np.sqrt(np.square(values - end).sum())) / len(values) for end in (lows, highs))
    return Estimate(value=mean, low=mean - below, high=mean + above)


def prediction_interval(values: Sequence[float]) -> Estimate:
    """Return the mean of two or more values with the 95 % interval for one more of them, normal around the same mean.

    Source: Higgins, Thompson and Spiegelhalter (2009), A re-evaluation of random-effects meta-analysis, section 4.
    """
    from scipy.special import stdtrit

    size, mean = len(values), float(np.mean(values))
    half = float(stdtrit(size - 1, (1 + CONFIDENCE) / 2) * np.std(values, ddof=1) * np.sqrt(1 + 1 / size))
    method = f"mean of {size}; 95% prediction interval for one more"
    return Estimate(value=mean, low=mean - half, high=mean + half, method=method)
