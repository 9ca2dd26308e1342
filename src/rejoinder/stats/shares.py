"""Shares (of wins, of pairs in the right order) with intervals that hold near 0 and 1 and for values in clusters.

Shapes: N values, P good and Q bad things, G clusters.
"""

from __future__ import annotations

import numpy as np

from rejoinder.estimates import CONFIDENCE, NAN, Estimate
from rejoinder.stats.resamples import FEWEST_CLUSTERS, BoolArray, FloatArray, IntArray, number_of, renumbered

TOO_FEW = f"too few contexts for an interval, {FEWEST_CLUSTERS} are needed"


def share_of_clusters(
    values: FloatArray, clusters: IntArray, rests_on: int | None = None, *, binary: bool = False
) -> Estimate:
    """Return the mean of `values` [N] in [0, 1] with an interval over clusters; no interval with too few.

    `rests_on` is the number of clusters that count, if some carry little information. Of `binary` values, 0 or 1, the
    interval is never narrower than that of as many independent lines.
    """
    share, groups = float(values.mean()) if len(values) else NAN, number_of(clusters)
    trials = groups if rests_on is None else rests_on
    if trials < FEWEST_CLUSTERS:
        return Estimate(value=share, reason="" if rests_on is None else TOO_FEW)
    sums = np.bincount(clusters, weights=values - share, minlength=groups)
    variance = float((sums**2).sum()) / len(values) ** 2 * groups / (groups - 1)
    variance = max(variance, share * (1 - share) / len(values)) if binary else variance
    return wilson(share, variance, trials, trials - 1)


def binary_share(hits: BoolArray | FloatArray, clusters: IntArray) -> Estimate:
    """Return the share of hits among [N] lines with its interval over clusters, which may have any numbers."""
    numbers = renumbered(clusters)
    return share_of_clusters(hits.astype(np.float64), numbers, number_of(numbers), binary=True)


def wilson(share: float, variance: float, clusters: int, freedom: float) -> Estimate:
    """Return a share with Wilson's interval, for as many trials as would have the variance that it has over clusters.

    Args:
        share: in [0, 1].
        variance: of the share; if it or that of a single trial is 0, there are as many trials as clusters.
        clusters: the number of clusters.
        freedom: degrees of freedom of the variance; the quantile is Student's, not the normal one.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    from scipy.special import stdtrit

    single = share * (1 - share)
    trials = single / variance if single > 0 and variance > 0 else float(clusters)
    t = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    width = 1 + t * t / trials
    middle = (share + t * t / (2 * trials)) / width
    reach = t / width * np.sqrt(single / trials + (t / (2 * trials)) ** 2)
    return Estimate(value=share, low=max(0.0, float(middle - reach)), high=min(1.0, float(middle + reach)))


def share_below(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return [P] the share of `others` [Q] below each of `values` [P]; equal ones count half."""
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    shares: FloatArray = (below + up_to) / (2 * len(ordered))
    return shares


def auc(good: FloatArray, bad: FloatArray) -> float:
    """Return the share of pairs in which the good score is above the bad one; equal ones count half, NaN if no pair."""
    return float(share_below(good, bad).mean()) if len(good) and len(bad) else NAN


def auc_of_clusters(good: FloatArray, bad: FloatArray, good_in: IntArray, bad_in: IntArray) -> Estimate:
    """Return the area under the curve with an interval over the clusters `good_in` [P] and `bad_in` [Q].

    There is no interval if a kind has too few clusters.

    Source: Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, for the variance.
    """
    value = auc(good, bad)
    if np.isnan(value):
        return Estimate(reason="there are not both kinds")
    groups = max(number_of(good_in), number_of(bad_in))
    trials = min(len(np.unique(good_in)), len(np.unique(bad_in)))  # the rarer kind limits the precision
    if trials < FEWEST_CLUSTERS:
        return Estimate(value=value, reason=TOO_FEW)
    parts = np.bincount(good_in, weights=share_below(good, bad) - value, minlength=groups) / len(good)
    parts += np.bincount(bad_in, weights=1 - share_below(bad, good) - value, minlength=groups) / len(bad)
    return wilson(value, float((parts**2).sum()) * groups / (groups - 1), trials, trials - 1)


def best_cutoff(good: FloatArray, bad: FloatArray, cost: float = 1.0) -> float:
    """Return the cutoff with the most good scores above and bad scores not above it; the lowest of several.

    A bad score above it costs `cost` times as much as a good one below. -inf if no cutoff is better than calling all
    scores good.
    """
    values, places = np.unique(np.concatenate([good, bad]), return_inverse=True)
    # A cutoff right above a value gains the bad scores of that value and loses the good ones.
    bad_counts, good_counts = (
        np.bincount(part, minlength=len(values)) for part in (places[len(good) :], places[: len(good)])
    )
    best = int(np.argmax(np.concatenate([[0], np.cumsum(cost * bad_counts - good_counts)])))
    if best == 0:
        return -np.inf
    return np.inf if best == len(values) else float((values[best - 1] + values[best]) / 2)
