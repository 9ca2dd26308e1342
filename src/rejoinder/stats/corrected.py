"""Mean ratings of systems and their differences, by ratings of some lines and scores of all.

Ratings on a scale are corrected in the regression form (`stats.prediction_powered`). If they are labels of 0 and 1, the
mean is a pass rate (`stats.pass_rate`), because Student's interval of a share near 1 is too narrow: labels are weighted
by the verdicts of a judge, and by other scores they are corrected in the regression form with adjusted counts.

Shapes: N lines of one system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.pass_rate import PassRate, by_scores, pass_rate
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray

BY_VERDICTS = "labels weighted by the verdicts on all lines, adjusted counts, Student's t"
_UNUSUAL = 0.001  # chance of labels without one of the verdicts, under which they were chosen by verdict
_BY_SCORES = "prediction-powered mean with power tuning (PPI++), Student's t, variance over conversations (CR2)"


class Corrected(NamedTuple):
    """What the mean rating of a system is made of.

    Attributes:
        sample: ratings and scores.
        alone: the pass rate by labels only; None if ratings are no labels.
        judged: the pass rate by labels and verdicts; None if scores are no verdicts.
    """

    sample: ppi.Sample
    alone: PassRate | None = None
    judged: PassRate | None = None

    @property
    def methods(self) -> tuple[str, str]:
        """The method of the mean, and that of the mean by ratings only."""
        if self.alone is None:
            return _BY_SCORES, "mean of the ratings, Student's t, variance over conversations (CR2)"
        by_scores = "prediction-powered mean with power tuning (PPI++), adjusted counts, Student's t"
        return BY_VERDICTS if self.judged else by_scores, "share of the labels, adjusted counts, Student's t"

    def mean(self, shared: float | None = None) -> ppi.Powered:
        """Return the mean with its intervals; `shared` is the power of all systems together."""
        mean = ppi.powered(self.sample, shared)
        if self.alone is None or not self.sample.n:
            return mean
        return self._with(mean, self.alone.estimate, self.rate(shared).estimate)

    def minus(self, other: Corrected, shared: float | None = None) -> ppi.Powered:
        """Return the difference to another system."""
        mean = ppi.powered(self.sample.minus(other.sample), shared)
        if self.alone is None or other.alone is None or not (self.sample.n and other.sample.n):
            return mean
        return self._with(mean, self.alone.minus(other.alone), self.rate(shared).minus(other.rate(shared)))

    def rate(self, shared: float | None = None) -> PassRate:
        """Return the pass rate by labels and scores."""
        return self.judged or by_scores(self.sample, shared)

    def _with(self, mean: ppi.Powered, alone: Estimate, powered: Estimate) -> ppi.Powered:
        """Return a mean with the figures of pass rates; verdicts need no power of all systems together."""
        return mean._replace(alone=alone, powered=powered, shared=mean.shared and self.judged is None)


def corrected(
    ratings: FloatArray,
    scores: FloatArray,
    weights: FloatArray,
    listed: BoolArray,
    clusters: IntArray,
    *,
    labels: bool,
    verdicts: IntArray | None = None,
) -> Corrected:
    """Return what the mean rating of a system is made of.

    If no label has one of the verdicts, verdicts do not count; but there is no mean if that is unlikely by chance.

    Args:
        ratings: [N] NaN for lines that are not rated.
        scores: [N] finite.
        weights: [N] weight of a rated line: 1 over its chance of being rated, times any constant.
        listed: [N] whether the line belongs to the population of the mean.
        clusters: [N] cluster of each line.
        labels: whether ratings are labels, 0 or 1.
        verdicts: [N] 1, 0 or `NO_VERDICT`, if scores are verdicts.
    """
    sample, rated = ppi.sample_of(ratings, scores, weights, listed, clusters), np.isfinite(ratings)
    if not labels or not sample.n:
        return Corrected(sample)

    def rate(kinds: IntArray) -> PassRate:
        known = ratings[rated], kinds[rated], clusters[rated]
        return pass_rate(*known, kinds[listed], clusters[listed], weights[rated])

    alone = rate(np.ones(len(ratings), dtype=np.int64))
    judged = None if verdicts is None else rate(verdicts)
    if judged and judged.reason and verdicts is not None:
        labelled = np.isin(verdicts[listed], verdicts[rated]).mean()
        judged = judged if labelled**sample.n < _UNUSUAL else alone
    return Corrected(sample, alone, judged)
