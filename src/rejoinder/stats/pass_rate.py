"""The share of replies that people would pass, from a judge's verdicts on all lines and labels of some.

The labelled lines are a sample of all lines, so the share of good replies among those with each verdict is known from
the labels, and how frequent each verdict is, from all lines: the pass rate is the mean of these shares over the
verdicts (post-stratification). It holds for labels drawn by chance and for labels drawn by chance of each verdict, and
a poor judge does it no harm. Its interval has adjusted counts, because Student's interval of a share near 1 is too
narrow, and design effects, because lines of one conversation are not independent.

Half a good and half a bad reply are added to each verdict: with one of each, as for a single share, intervals of few
labels hold the truth in 98 % instead of 95 %.

Shapes: N labelled lines, M lines in all. A verdict is 1 (pass), 0 (fail) or `NO_VERDICT`.

Source: Tenenbein (1970), A double sampling scheme for estimating from binomial data with misclassifications; Agresti
and Coull (1998) for adjusted counts; Kish (1965) for design effects; Rogan and Gladen (1978) and Lang and Reiczigel
(2014), Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from rejoinder.estimates import CONFIDENCE, NAN, Estimate
from rejoinder.stats.prediction_powered import Sample, powered
from rejoinder.stats.resamples import FloatArray, IntArray, renumbered

NO_VERDICT = 2
"""The number of lines without a verdict, among the verdicts."""
_VERDICTS = {0: "fails", 1: "passes"}
_Z = 1.959963984540054


def design_effect(parts: FloatArray, clusters: IntArray) -> float:
    """Return how many times the variance of a sum over lines grows because lines of a cluster are alike; at least 1.

    `parts` [N] are what each line adds to the error of the sum.
    """
    alone, sums = float(parts @ parts), np.bincount(renumbered(clusters), weights=parts)
    if len(sums) < 2 or alone <= 0:
        return 1.0
    return max(float(sums @ sums) * len(sums) / (len(sums) - 1) / alone, 1.0)


@dataclass(frozen=True, eq=False)
class PassRate:
    """A pass rate with what its interval is made of.

    Attributes:
        value: the rate; NaN if undefined.
        n: number of labelled lines.
        lines: number of all lines with a known share of good ones.
        middle: the rate from adjusted counts, the middle of the interval.
        variance: of the middle; its part `of_labels` falls with more labels.
        of_labels: see `variance`.
        freedom: degrees of freedom of the variance; under 1 there is no interval.
        clusters: [C] the clusters of the lines.
        parts: [C] what each of them adds to the error of the rate.
        reason: why there is no rate.
    """

    value: float
    n: int
    lines: int = 0
    middle: float = NAN
    variance: float = NAN
    of_labels: float = NAN
    freedom: float = 0.0
    clusters: IntArray | None = None
    parts: FloatArray | None = None
    reason: str = ""

    @property
    def estimate(self) -> Estimate:
        """The rate with its interval."""
        return _between(self.value, self.middle, self.variance, self.freedom, self.n, (0.0, 1.0), self.reason)

    def minus(self, other: PassRate) -> Estimate:
        """Return the difference to the rate of other lines; lines of one cluster may be on both sides."""
        n, reason = self.n + other.n, self.reason or other.reason
        if reason or self.clusters is None or other.clusters is None or self.parts is None or other.parts is None:
            return Estimate(n=n, reason=reason)
        variance = self.variance + other.variance
        _, ours, theirs = np.intersect1d(self.clusters, other.clusters, assume_unique=True, return_indices=True)
        # Shared conversations narrow the interval by at most half: their covariance is only estimated.
        covariance = 2 * float(self.parts[ours] @ other.parts[theirs])
        squares = self.variance**2 / max(self.freedom, 1) + other.variance**2 / max(other.freedom, 1)
        freedom = variance**2 / squares if min(self.freedom, other.freedom) > 0 else 0
        middle, value = self.middle - other.middle, self.value - other.value
        return _between(value, middle, variance - min(covariance, variance / 2), freedom, n, (-1.0, 1.0))


def pass_rate(
    labels: FloatArray,
    verdicts: IntArray,
    clusters: IntArray,
    every_verdict: IntArray,
    every_cluster: IntArray,
    weights: FloatArray | None = None,
) -> PassRate:
    """Return the share of all lines that the labellers would pass.

    Lines without a verdict are a kind of their own if one of them is labelled, else they are left out.

    Args:
        labels: [N] 1 for a good reply, 0 for a bad one.
        verdicts: [N] of the labelled lines.
        clusters: [N] their clusters.
        every_verdict: [M] of all lines, the labelled ones too.
        every_cluster: [M] their clusters, numbered as `clusters`.
        weights: [N] 1 over the chance of each line to be labelled, times any constant; by default all are alike.
    """
    if not (verdicts == NO_VERDICT).any():
        every_verdict, every_cluster = (of[every_verdict != NO_VERDICT] for of in (every_verdict, every_cluster))
    kinds, n = np.unique(every_verdict).tolist(), len(labels)
    for kind in kinds:
        if not (verdicts == kind).any():
            return PassRate(NAN, n, reason=f"no line that the judge {_VERDICTS[kind]} is labelled")
    if not kinds:
        return PassRate(NAN, n, reason="no verdict")
    shares = {kind: float((every_verdict == kind).mean()) for kind in kinds}
    good, parts, kept = dict[int, float](), np.zeros(n), {kind: verdicts == kind for kind in kinds}
    weights = np.ones(n) if weights is None else weights
    for kind, own in kept.items():
        good[kind] = float(np.average(labels[own], weights=weights[own]))
        parts[own] = shares[kind] * (labels[own] - good[kind]) * weights[own] / weights[own].sum()
    effect, middle, variance, adjusted = design_effect(parts, clusters), 0.0, 0.0, dict[int, float]()
    for kind, own in kept.items():
        size = float(weights[own].sum() ** 2 / (weights[own] ** 2).sum()) / effect
        adjusted[kind] = p = (good[kind] * size + 0.5) / (size + 1)
        middle += shares[kind] * p
        variance += shares[kind] ** 2 * p * (1 - p) / (size + 2)
    lines = len(every_verdict)
    spread = np.array([adjusted[kind] for kind in every_verdict.tolist()]) - middle
    of_verdicts = design_effect(spread, every_cluster) * float(spread @ spread) / lines**2
    value = sum(shares[kind] * good[kind] for kind in kinds)
    numbers, places = np.unique(np.concatenate([clusters, every_cluster]), return_inverse=True)
    sums: FloatArray = np.bincount(places, weights=np.concatenate([parts, spread / lines])).astype(np.float64)
    freedom = len(np.unique(clusters)) - 1
    return PassRate(value, n, lines, middle, variance + of_verdicts, variance, freedom, numbers, sums)


def by_scores(sample: Sample, shared: float | None = None) -> PassRate:
    """Return the pass rate by scores that are no verdicts: the prediction-powered mean, with adjusted counts.

    The counts are those of as many labels as would have its variance. `shared` is as for `powered`.
    """
    from scipy.special import stdtrit

    mean = powered(sample, shared)
    if sample.freedom < 1:
        return PassRate(mean.powered.value, sample.n, reason=mean.powered.reason)
    value, freedom = min(max(mean.powered.value, 0.0), 1.0), max(sample.freedom - (mean.power != 0), 1.0)
    error = (mean.powered.high - mean.powered.low) / 2 / float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    size = sample.mean * (1 - sample.mean) / error**2 if error > 0 else sample.freedom + 1
    middle = (value * size + 0.5) / (size + 1)
    variance = middle * (1 - middle) / (size + 2)
    parts: FloatArray = sample.parts[0] - mean.power * (sample.parts[1] - sample.parts[2])
    return PassRate(value, sample.n, 0, middle, variance, variance, freedom, sample.clusters, parts)


def _between(
    value: float,
    middle: float,
    variance: float,
    freedom: float,
    n: int,
    scale: tuple[float, float],
    reason: str = "",
) -> Estimate:
    """Return a value with Student's interval around `middle`, cut off at the ends of the scale, and its p."""
    from scipy.special import stdtr, stdtrit

    if reason or freedom < 1:
        return Estimate(value=value, n=n, reason=reason or "no interval: labels of a single conversation")
    error = sqrt(variance)
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    low, high = max(scale[0], min(middle - reach, value)), min(scale[1], max(middle + reach, value))
    p = float(2 * stdtr(freedom, -abs(middle) / error)) if scale[0] < 0 and error > 0 else NAN
    return Estimate(value=value, low=low, high=high, p=p, n=n)


def weighted_shares(
    labels: FloatArray, verdicts: IntArray, clusters: IntArray, passed: float, lines: int
) -> dict[str, Estimate]:
    """Return the shares of good replies passed ("TPR") and of bad replies caught ("TNR") for labels chosen by verdict.

    Among such labels the verdicts are not as frequent as among all lines, where the judge passes the share `passed` of
    the `lines`; so each verdict has its weight. The intervals are normal for the logarithm of the odds.
    """
    sides, weights = {kind: labels[verdicts == kind] for kind in (0, 1)}, {0: 1 - passed, 1: passed}
    if not all(map(len, sides.values())):
        return dict.fromkeys(("TPR", "TNR"), Estimate(reason="the judge passes, or fails, every labelled line"))
    parts = np.zeros(len(labels))
    for kind, side in sides.items():
        parts[verdicts == kind] = weights[kind] * (side - side.mean()) / len(side)
    effect, result = design_effect(parts, clusters), dict[str, Estimate]()
    for name, hit in (("TPR", 1), ("TNR", 0)):
        odds, variance, mass = 0.0, 1 / (lines * passed * (1 - passed)), dict[int, float]()
        for kind, side in sides.items():
            hits, size = (side == hit).sum() / effect, len(side) / effect
            p = (hits + 0.5) / (size + 1)
            mass[kind] = weights[kind] * float((side == hit).mean())
            odds += (1 if kind == hit else -1) * log(weights[kind] * p)
            variance += (1 - p) / (p * (size + 1))
        if not (total := sum(mass.values())):
            result[name] = Estimate(reason=f"no reply is labelled {'good' if hit else 'bad'}")
            continue
        value, reach = mass[hit] / total, _Z * sqrt(variance)
        low, high = (float(1 / (1 + np.exp(-(odds + sign * reach)))) for sign in (-1, 1))
        result[name] = Estimate(value=value, low=min(low, value), high=max(high, value))
    return result


def rogan_gladen(right: tuple[float, float], labelled: tuple[float, float], passed: float, lines: float) -> Estimate:
    """Return the pass rate of `lines` other than the labelled ones, of which the judge passes the share `passed`.

    It assumes that the judge makes the same share of errors on both. If the judge is not clearly better than chance,
    the interval is [0, 1].

    Args:
        right: of the good labelled replies how many are passed, of the bad ones how many are caught.
        labelled: how many good replies and how many bad ones are labelled, divided by their design effects.
        passed: share of the lines that the judge passes.
        lines: number of lines, divided by the design effect.
    """
    if not min(labelled):
        return Estimate(reason=f"no reply is labelled {'bad' if labelled[0] else 'good'}")
    shares = [hits / size for hits, size in zip(right, labelled, strict=True)]
    gap = sum(shares) - 1
    value = min(max((passed + shares[1] - 1) / gap, 0.0), 1.0) if gap > 0 else NAN
    (se, sp), (P, N) = [(hits + 1) / (size + 2) for hits, size in zip(right, labelled, strict=True)], labelled  # noqa: N806
    of_se, of_sp, J = se * (1 - se) / (P + 2), sp * (1 - sp) / (N + 2), se + sp - 1  # noqa: N806
    if _Z * sqrt(of_se + of_sp) >= J:
        return Estimate(value=value, low=0.0, high=1.0, reason="the judge is not clearly better than chance")
    total = lines + _Z**2
    share = (passed * lines + _Z**2 / 2) / total
    p = (share + sp - 1) / J
    shift = 2 * _Z**2 * (p * of_se - (1 - p) * of_sp)
    reach = _Z / J * sqrt(share * (1 - share) / total + p**2 * of_se + (1 - p) ** 2 * of_sp)
    low, high = min(max(p + shift - reach, 0.0), value), max(min(p + shift + reach, 1.0), value)
    return Estimate(value=value, low=low, high=high)


def labels_for(half: float, *rates: PassRate) -> int | None:
    """Return how many labels bring a rate, or the difference of two, to ± `half`; None if no number does.

    The part of the variance that comes from how many lines there are does not fall with more labels.
    """
    if any(rate.reason for rate in rates):
        return None
    left = (half / _Z) ** 2 - sum(rate.variance - rate.of_labels for rate in rates)
    most, n = sum(rate.lines for rate in rates), sum(rate.n for rate in rates)
    labels = ceil(n * sum(rate.of_labels for rate in rates) / left) if left > 0 else most + 1
    return labels if labels <= most else None


def labels_for_caught(half: float, caught: float, bad: float) -> int:
    """Return how many labels bring the share of bad replies caught to ± `half`, by Wilson's interval.

    Args:
        half: of the width.
        caught: the share.
        bad: the share of labels that are bad.
    """
    # Half the width of Wilson's interval is a quadratic equation in the number of bad replies.
    square, spread = _Z**2, caught * (1 - caught)
    first, second = 2 * half**2 * square - square * spread, square**2 * (half**2 - 0.25)
    replies = (sqrt(max(first**2 - 4 * half**2 * second, 0.0)) - first) / (2 * half**2)
    return ceil(max(replies, 1.0) / bad)


def highest_caught(passed: float, error: float) -> float:
    """Return the share of bad replies that a perfect judge catches, if this share of the labels is wrong each way.

    `passed` is the share of good replies; NaN if there are no bad ones.
    """
    bad = (1 - passed) * (1 - error)
    return bad / (bad + passed * error) if passed < 1 else NAN


def label_error(apart: float) -> float:
    """Return the share of wrong labels if two people disagree on the share `apart`; NaN from one half on."""
    return (1 - sqrt(1 - 2 * apart)) / 2 if apart < 0.5 else NAN
