"""Means of few ratings and many scores: prediction-powered inference with power tuning, for values in clusters.

A mean of few ratings moves with which lines happened to be rated. Where all lines have a score, the mean score of the
rated ones lies off that of all lines by a known gap, and the mean rating is corrected by `power` times that gap. The
power is what makes the variance least: 0 where the scores say nothing, so that a poor scorer does no harm. Whatever
the scores are, the estimate is right as long as lines were rated by chance; their scale does not matter, because the
power takes it up.

Lines of one conversation are not independent, so every variance is a sum of squares over clusters (conversations),
each scaled by its leverage (CR2), and quantiles are Student's. The power is fitted on the same ratings, which costs:
what the residuals tell is enlarged by what a fitted slope adds to the variance of a regression estimator. Under 24
rated clusters that would make intervals over 5 % wider where scores say nothing; there the power of all systems
together is taken, and only where it narrows the interval.

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

from rejoinder.stats.figure import CONFIDENCE, NONE, Figure
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray

FEWEST = 3  # rated clusters that an interval needs
FREEDOM_TO_TUNE = 22.5  # 24 clusters: from there on a power fitted in vain widens an interval by at most 5 %
_ROUNDING = 1e-9


class Moments(NamedTuple):
    """Sums over clusters, of which a variance is made for any power and any number of ratings.

    Attributes:
        ratings: squares of what clusters move the mean rating.
        rated: squares of what their rated lines move the gap.
        listed: squares of what all their lines move it.
        both: products of what rated lines move rating and gap.
        across: products of what rated lines move the rating and all lines move the gap.
        within: products of what rated lines and all lines move the gap.
    """

    ratings: float
    rated: float
    listed: float
    both: float
    across: float
    within: float

    def at(self, more: float) -> tuple[float, float, float]:
        """Variance of the mean rating, of the gap, and their covariance, with `more` times as many ratings.

        What comes from the lines that are listed stays as it is, however many of them are rated.
        """
        gap = max(self.rated / more - 2 * self.within + self.listed, 0.0)
        return self.ratings / more, gap, self.both / more - self.across


@dataclass(frozen=True, eq=False)
class Sample:
    """One system, or the difference of two.

    Attributes:
        n: its ratings.
        mean: of the ratings alone.
        gap: how far the mean score of the rated lines lies above that of all lines.
        clusters: [G] which clusters its lines are of, ascending.
        ratings: [G] by how much each moves `mean`, scaled by its leverage.
        rated: [G] by how much its rated lines move `gap`.
        listed: [G] by how much all its lines move what that is taken from.
        freedom: degrees of freedom of `mean`; under 1 there is no interval.
        scale: the largest rating and the largest score, whatever their sign; digits far below are rounding.
    """

    n: int
    mean: float
    gap: float
    clusters: IntArray
    ratings: FloatArray
    rated: FloatArray
    listed: FloatArray
    freedom: float
    scale: tuple[float, float]

    @property
    def moments(self) -> Moments:
        """What variances are made of."""
        a, b, c = self.ratings, self.rated, self.listed
        return Moments(float(a @ a), float(b @ b), float(c @ c), float(a @ b), float(a @ c), float(b @ c))

    def minus(self, other: Sample) -> Sample:
        """This one less another; clusters that have lines of both count as what they are."""
        clusters, places = np.unique(np.concatenate([self.clusters, other.clusters]), return_inverse=True)
        ratings, rated, listed = (
            _summed(places, np.concatenate([own, -its]))
            for own, its in (
                (self.ratings, other.ratings),
                (self.rated, other.rated),
                (self.listed, other.listed),
            )
        )
        return Sample(
            n=self.n + other.n,
            mean=self.mean - other.mean,
            gap=self.gap - other.gap,
            clusters=clusters,
            ratings=ratings,
            rated=rated,
            listed=listed,
            freedom=_joint_freedom(self, other, int((ratings != 0).sum())),
            scale=(max(self.scale[0], other.scale[0]), max(self.scale[1], other.scale[1])),
        )


class Powered(NamedTuple):
    """A mean, or a difference of two, by ratings alone and with the scores.

    Attributes:
        alone: by ratings alone; p is two-sided, of its being 0.
        powered: with the scores.
        power: how much of the gap was taken off; 0 where the scores did not help.
        shared: whether that is the power of all systems together.
    """

    alone: Figure
    powered: Figure
    power: float
    shared: bool


def sample_of(
    ratings: FloatArray, scores: FloatArray, weights: FloatArray, listed: BoolArray, clusters: IntArray
) -> Sample:
    """What is known of a system.

    Args:
        ratings: [N] NaN where nobody rated.
        scores: [N] finite.
        weights: [N] how much a rated line stands for: 1 over its chance of being rated, times anything.
        listed: [N] whether the line is one of those that the mean is of.
        clusters: [N] cluster of each line.
    """
    numbers, places = np.unique(clusters, return_inverse=True)
    rated = np.isfinite(ratings)
    n = int(rated.sum())
    if not n:
        nothing = np.zeros(len(numbers))
        return Sample(0, NONE, NONE, numbers, nothing, nothing, nothing, 0.0, (1.0, 1.0))
    shares, whole = np.where(rated, weights, 0.0), listed / max(int(listed.sum()), 1)
    shares = shares / shares.sum()
    mean, mean_score, of_all = float(shares[rated] @ ratings[rated]), float(shares @ scores), float(whole @ scores)
    held, away = np.where(rated, ratings - mean, 0.0), scores - mean_score
    leverage = _summed(places, shares)
    scale = np.sqrt(1 / (1 - np.minimum(leverage, 0.5)))
    a, b, c = (scale * _summed(places, part) for part in (shares * held, shares * away, whole * (scores - of_all)))
    freedom = 1 / float(leverage @ leverage) - 1 if (leverage > 0).sum() >= FEWEST else 0.0
    largest = float(np.abs(ratings[rated]).max()) or 1.0, float(np.abs(scores).max()) or 1.0
    return Sample(n, mean, mean_score - of_all, numbers, a, b, c, freedom, largest)


def shared_power(samples: Sequence[Sample]) -> float | None:
    """The power that serves all systems together best, each rating counting alike; None where they have too few."""
    known = [one for one in samples if one.n]
    if sum(one.freedom for one in known) < FREEDOM_TO_TUNE:
        return None
    found = [(one.n**2, *one.moments.at(1.0)) for one in known]
    gap, both = (sum(weight * part[which] for weight, *part in found) for which in (1, 2))
    return both / gap if gap > 0 else None


def powered(sample: Sample, shared: float | None = None) -> Powered:
    """The mean of a sample with its intervals.

    Args:
        sample: a system, or a difference of two.
        shared: the power of all systems together, for one with too few ratings of its own; None has none.
    """
    if not sample.n or np.isnan(sample.mean):
        nothing = Figure(reason="no rated line")
        return Powered(nothing, nothing, 0.0, False)
    variance, gap, both = sample.moments.at(1.0)
    if reason := _why_none(sample, variance):
        alone = Figure(value=sample.mean, n=sample.n, reason=reason)
        return Powered(alone, alone, 0.0, False)
    alone = _figure(sample, sample.mean, variance, sample.freedom)
    if gap <= (_ROUNDING * sample.scale[1]) ** 2:
        return Powered(alone, alone, 0.0, False)
    if sample.freedom >= FREEDOM_TO_TUNE:
        power = both / gap
        value, left = sample.mean - power * sample.gap, max(variance - power * both, 0.0)
        found = _figure(sample, value, left * _tuning(sample.freedom), sample.freedom - 1)
        return Powered(alone, found, power, False)
    if shared is not None and sample.freedom > 1:
        left = max(variance - 2 * shared * both + shared**2 * gap, 0.0)
        # A degree of freedom less, because the narrower of two intervals is taken.
        found = _figure(sample, sample.mean - shared * sample.gap, left, sample.freedom - 1)
        if found.high - found.low < alone.high - alone.low:
            return Powered(alone, found, shared, True)
    return Powered(alone, alone, 0.0, False)


def worth(found: Powered) -> float:
    """How many ratings, without the scores, would give as narrow an interval; NaN where there is none."""
    if not found.alone.has_interval or not found.powered.high > found.powered.low:
        return NONE
    wide, narrow = (one.high - one.low for one in (found.alone, found.powered))
    return found.alone.n * (wide / narrow) ** 2


def ratings_needed(sample: Sample, half: float, *, scored: bool, most: int = 10**7) -> int | None:
    """How many ratings would make the interval reach `half` to either side; None where `most` would not.

    The ratings at hand are the pilot: more of them are taken to be spread over conversations as these are.

    Args:
        sample: a system, or a difference of two; its ratings are those of both.
        half: over 0.
        scored: whether the scores are used.
        most: ratings to be thought of.
    """
    if _why_none(sample, sample.moments.ratings):
        return None
    low, high = FEWEST, most
    if _reach(sample, high, scored=scored) > half:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _reach(sample, middle, scored=scored) <= half else (middle + 1, high)
    return low


def _summed(places: IntArray, parts: FloatArray) -> FloatArray:
    """[G] the sums of `parts` [N] over clusters."""
    return np.bincount(places, weights=parts).astype(np.float64)


def _reach(sample: Sample, ratings: int, *, scored: bool) -> float:
    """How far an interval would reach to either side with so many ratings."""
    more = ratings / sample.n
    variance, gap, both = sample.moments.at(more)
    freedom = max((sample.freedom + 1) * more - 1, 1.0)
    alone = _quantile(freedom) * sqrt(variance)
    if not scored or freedom < FREEDOM_TO_TUNE or gap <= 0:
        return alone
    return _quantile(freedom - 1) * sqrt(max(variance - both**2 / gap, 0.0) * _tuning(freedom))


def _tuning(freedom: float) -> float:
    """What a fitted power adds to the variance that residuals tell (Cochran 1977, for normal scores)."""
    return freedom / (freedom - 2)


def _why_none(sample: Sample, variance: float) -> str:
    """Why there is no interval, or ""."""
    if sample.freedom < 1:
        return "no interval: ratings of fewer than three conversations, or nearly all of one"
    if variance <= (_ROUNDING * sample.scale[0]) ** 2:
        return "no interval: all ratings are equal"
    return ""


def _figure(sample: Sample, value: float, variance: float, freedom: float) -> Figure:
    """A value with its interval and p."""
    from scipy.special import stdtr

    error = sqrt(variance)
    reach = _quantile(freedom) * error
    p = float(2 * stdtr(freedom, -abs(value) / error)) if error > 0 else NONE
    tiny = float(np.finfo(np.float64).tiny)
    return Figure(value=value, low=value - reach, high=value + reach, p=max(p, tiny), n=sample.n)


def _quantile(freedom: float) -> float:
    """How many standard errors a 95 % interval reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _joint_freedom(one: Sample, other: Sample, clusters: int) -> float:
    """Welch's degrees of freedom of a difference, at most one less than there are clusters with a rating."""
    if min(one.freedom, other.freedom) < 1:
        return 0.0
    own, its = float(one.ratings @ one.ratings), float(other.ratings @ other.ratings)
    if own + its <= 0:
        return min(one.freedom, other.freedom)
    welch = (own + its) ** 2 / (own**2 / one.freedom + its**2 / other.freedom)
    return float(min(welch, max(clusters - 1, 1)))
