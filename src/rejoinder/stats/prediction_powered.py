"""Means of few ratings and many scores: prediction-powered inference with power tuning, for values in clusters.

The mean of a few ratings depends on which lines were rated. If all lines have a score, the gap between the mean score
of the rated lines and that of all lines is known, and the mean rating is corrected by `power` times that gap. The power
makes the variance smallest: it is about 0 if the scores say nothing, so a poor scorer does no harm. The estimate is
right for any scores on any scale, as long as lines were chosen for rating by chance.

Lines of one conversation are not independent, so every variance is a sum of squares over clusters (conversations), each
scaled by its leverage (CR2), and quantiles are Student's. The power is fitted on the same ratings, so the variance of
the residuals is enlarged by what a fitted slope adds to a regression estimator. With under 24 rated clusters that makes
intervals over 5 % wider if the scores say nothing; then the power of all systems together is used, and only if it
narrows the interval.

Shapes: N lines of one system, G clusters.

Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference; Bell and McCaffrey (2002),
Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples (CR2); Cochran (1977), Sampling
Techniques, section 7.4 (regression estimator); Welch (1947) for the degrees of freedom of a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from rejoinder.estimates import CONFIDENCE, NAN, Estimate
from rejoinder.stats.correlation import SMALLEST_P
from rejoinder.stats.resamples import FEWEST_CLUSTERS, BoolArray, FloatArray, IntArray

FREEDOM_TO_TUNE = 22.5  # 24 clusters: from there on a power fitted in vain widens an interval by at most 5 %
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Sample:
    """A system, or the difference of two.

    Attributes:
        n: its ratings.
        mean: mean of the ratings alone.
        gap: mean score of the rated lines less that of all lines.
        clusters: [G] the clusters of its lines, ascending.
        parts: [3, G] the part of each cluster in `mean`, of its rated lines in `gap`, and of all its lines in the mean
            that `gap` subtracts; scaled by its leverage.
        freedom: degrees of freedom of `mean`; under 1 there is no interval.
        scale: the largest absolute rating and score, for rounding.
    """

    n: int
    mean: float
    gap: float
    clusters: IntArray
    parts: FloatArray
    freedom: float
    scale: tuple[float, float]

    def variances(self, more: float = 1.0) -> tuple[float, float, float]:
        """Return the variance of the mean rating, of the gap, and their covariance, with `more` times the ratings.

        The part of all lines does not change with the number of ratings.
        """
        moments = self.parts @ self.parts.T
        gap = max(float(moments[1, 1] / more - 2 * moments[1, 2] + moments[2, 2]), 0.0)
        return float(moments[0, 0] / more), gap, float(moments[0, 1] / more - moments[0, 2])

    def minus(self, other: Sample) -> Sample:
        """Return the difference to another; the parts of clusters with lines of both are subtracted."""
        clusters, places = np.unique(np.concatenate([self.clusters, other.clusters]), return_inverse=True)
        both = np.concatenate([self.parts, -other.parts], axis=1)
        parts = np.stack([np.bincount(places, weights=row) for row in both]).astype(np.float64)
        return Sample(
            n=self.n + other.n,
            mean=self.mean - other.mean,
            gap=self.gap - other.gap,
            clusters=clusters,
            parts=parts,
            freedom=_joint_freedom(self, other, int((parts[0] != 0).sum())),
            scale=(max(self.scale[0], other.scale[0]), max(self.scale[1], other.scale[1])),
        )


class Powered(NamedTuple):
    """A mean, or a difference of two, by ratings alone and with the scores.

    Attributes:
        alone: by ratings alone; p is two-sided, of 0.
        powered: with the scores.
        power: the share of the gap that was subtracted; 0 if the scores did not help.
        shared: whether that is the power of all systems together.
    """

    alone: Estimate
    powered: Estimate
    power: float
    shared: bool


def sample_of(
    ratings: FloatArray, scores: FloatArray, weights: FloatArray, listed: BoolArray, clusters: IntArray
) -> Sample:
    """Return the sample of a system.

    Args:
        ratings: [N] NaN for lines that are not rated.
        scores: [N] finite.
        weights: [N] weight of a rated line: 1 over its chance of being rated, times any constant.
        listed: [N] whether the line belongs to the population of the mean.
        clusters: [N] cluster of each line.
    """
    numbers, places = np.unique(clusters, return_inverse=True)
    rated = np.isfinite(ratings)
    n = int(rated.sum())
    if not n:
        return Sample(0, NAN, NAN, numbers, np.zeros((3, len(numbers))), 0.0, (1.0, 1.0))
    shares, whole = np.where(rated, weights, 0.0), listed / max(int(listed.sum()), 1)
    shares = shares / shares.sum()
    mean, mean_score, of_all = float(shares[rated] @ ratings[rated]), float(shares @ scores), float(whole @ scores)
    residuals = shares * np.where(rated, ratings - mean, 0.0), shares * (scores - mean_score), whole * (scores - of_all)
    leverage, *sums = (np.bincount(places, weights=part).astype(np.float64) for part in (shares, *residuals))
    parts = np.sqrt(1 / (1 - np.minimum(leverage, 0.5))) * np.stack(sums)
    freedom = 1 / float(leverage @ leverage) - 1 if (leverage > 0).sum() >= FEWEST_CLUSTERS else 0.0
    scale = float(np.abs(ratings[rated]).max()) or 1.0, float(np.abs(scores).max()) or 1.0
    return Sample(n, mean, mean_score - of_all, numbers, parts, freedom, scale)


def shared_power(samples: Sequence[Sample]) -> float | None:
    """Return the best power for all systems together, each rating with the same weight; None for too few ratings."""
    known = [sample for sample in samples if sample.n]
    if sum(sample.freedom for sample in known) < FREEDOM_TO_TUNE:
        return None
    _, gap, both = np.sum([sample.n**2 * np.array(sample.variances()) for sample in known], axis=0).tolist()
    return both / gap if gap > 0 else None


def powered(sample: Sample, shared: float | None = None) -> Powered:
    """Return the mean of a sample with its intervals.

    `shared` is the power of all systems together, for a sample with too few ratings of its own.
    """
    if not sample.n or np.isnan(sample.mean):
        nothing = Estimate(reason="no rated line")
        return Powered(nothing, nothing, 0.0, False)
    variance, gap, both = sample.variances()
    if reason := _no_interval(sample, variance):
        alone = Estimate(value=sample.mean, n=sample.n, reason=reason)
        return Powered(alone, alone, 0.0, False)
    alone = _figure(sample, sample.mean, variance, sample.freedom)
    if gap <= (_ROUNDING * sample.scale[1]) ** 2:
        return Powered(alone, alone, 0.0, False)
    if sample.freedom >= FREEDOM_TO_TUNE:
        power = both / gap
        value, left = sample.mean - power * sample.gap, max(variance - power * both, 0.0)
        figure = _figure(sample, value, left * _tuning(sample.freedom), sample.freedom - 1)
        return Powered(alone, figure, power, False)
    if shared is not None and sample.freedom > 1:
        left = max(variance - 2 * shared * both + shared**2 * gap, 0.0)
        # A degree of freedom less, because the narrower of two intervals is taken.
        figure = _figure(sample, sample.mean - shared * sample.gap, left, sample.freedom - 1)
        if figure.high - figure.low < alone.high - alone.low:
            return Powered(alone, figure, shared, True)
    return Powered(alone, alone, 0.0, False)


def worth(mean: Powered) -> float:
    """Return the number of ratings with as narrow an interval without the scores; NaN without an interval."""
    if not mean.alone.has_interval or not mean.powered.high > mean.powered.low:
        return NAN
    wide, narrow = (figure.high - figure.low for figure in (mean.alone, mean.powered))
    return mean.alone.n * (wide / narrow) ** 2


def ratings_needed(sample: Sample, half: float, *, scored: bool, most: int = 10**7) -> int | None:
    """Return the number of ratings for an interval of `half` to either side; None if it is over `most`.

    The ratings at hand, those of both systems for a difference, are the pilot: further ones are taken to be spread over
    conversations in the same way.
    """
    if _no_interval(sample, sample.variances()[0]):
        return None
    low, high = FEWEST_CLUSTERS, most
    if _reach(sample, high, scored=scored) > half:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _reach(sample, middle, scored=scored) <= half else (middle + 1, high)
    return low


def _reach(sample: Sample, ratings: int, *, scored: bool) -> float:
    """Return half the width of an interval with this number of ratings."""
    more = ratings / sample.n
    variance, gap, both = sample.variances(more)
    freedom = max((sample.freedom + 1) * more - 1, 1.0)
    if not scored or freedom < FREEDOM_TO_TUNE or gap <= 0:
        return _quantile(freedom) * sqrt(variance)
    return _quantile(freedom - 1) * sqrt(max(variance - both**2 / gap, 0.0) * _tuning(freedom))


def _tuning(freedom: float) -> float:
    """Return the factor by which a fitted power enlarges the variance of the residuals (Cochran 1977)."""
    return freedom / (freedom - 2)


def _no_interval(sample: Sample, variance: float) -> str:
    """Return why there is no interval, or ""."""
    if sample.freedom < 1:
        return "no interval: ratings of fewer than four conversations, or nearly all of one"
    if variance <= (_ROUNDING * sample.scale[0]) ** 2:
        return "no interval: all ratings are equal"
    return ""


def _figure(sample: Sample, value: float, variance: float, freedom: float) -> Estimate:
    """Return a value with its interval and p."""
    from scipy.special import stdtr

    error = sqrt(variance)
    reach = _quantile(freedom) * error
    p = max(float(2 * stdtr(freedom, -abs(value) / error)), SMALLEST_P) if error > 0 else NAN
    return Estimate(value=value, low=value - reach, high=value + reach, p=p, n=sample.n)


def _quantile(freedom: float) -> float:
    """Return the standard errors on each side of a 95 % interval."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _joint_freedom(one: Sample, other: Sample, clusters: int) -> float:
    """Return Welch's degrees of freedom of a difference, at most one less than there are `clusters` with a rating."""
    if min(one.freedom, other.freedom) < 1:
        return 0.0
    first, second = one.variances()[0], other.variances()[0]
    if first + second <= 0:
        return min(one.freedom, other.freedom)
    welch = (first + second) ** 2 / (first**2 / one.freedom + second**2 / other.freedom)
    return float(min(welch, max(clusters - 1, 1)))
