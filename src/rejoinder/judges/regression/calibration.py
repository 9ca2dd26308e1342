"""From what a head predicts to a rating and an interval around it.

A head fitted by least squares predicts means, which vary less than ratings do, the more so the less it knows. Scores
are stretched until they vary as ratings do within a data set; that costs squared error and changes no order. Stretch
and interval come from lines that the head was not fitted on. Scores near the ends of the scale are then squashed into
it without new ties. Shapes: N lines, B bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.protocol import PREDICTED
from rejoinder.scorer import FloatArray

COVERAGE = 0.9
OUTER = 0.1  # of the scale at either end, in which scores are squashed
BINS = 5  # by score: a judge may be surer of the worst replies than of average ones
MIN_IN_BIN = 20  # with fewer lines the estimate of the 95th percentile is unreliable


@dataclass(frozen=True)
class Calibration:
    """How predictions become ratings with intervals."""

    centre: float  # the rating of the mean prediction
    middle: float  # that prediction
    stretch: float  # rating points per unit of a prediction
    scores: FloatArray  # [B] ascending ratings in the middle of bins
    below: FloatArray  # [B] difference of which 95 % of human ratings stay above, at such a score; negative or 0
    above: FloatArray  # [B] difference of which 95 % stay below; positive or 0

    def ratings(self, predictions: FloatArray) -> FloatArray:
        """Return [N] ratings, some of them beyond the scale."""
        return self.centre + self.stretch * (predictions - self.middle)

    def answers(self, predictions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return [N] scores inside the scale and the ends of their intervals.

        An end beyond the scale becomes the end of the scale, which human ratings reach and scores do not. An end inside
        is squashed like a score only where that makes the interval longer, so squashing never leaves a rating out.
        """
        ratings, (least, most) = self.ratings(predictions), PREDICTED
        low, high = self.interval(ratings)
        low = np.minimum(squash(low), np.maximum(low, least))
        return squash(ratings), low, np.maximum(squash(high), np.minimum(high, most))

    def interval(self, ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return [N] ends, not squashed, of the intervals that hold `COVERAGE` of human ratings of such replies."""
        low, high = (np.interp(ratings, self.scores, ends) for ends in (self.below, self.above))
        return ratings + low, ratings + high


def squash(ratings: FloatArray) -> FloatArray:
    """Return [N] ratings inside the scale, in the same order.

    The inner four fifths of the scale stay as they are. In the outer tenth at either end, of width d, a rating x beyond
    its inner edge becomes x d / (x + d): slope 1 at the edge, never the end of the scale. Exponential curves would
    become exactly flat in floating point sooner.
    """
    low, high = PREDICTED
    width = OUTER * (high - low)
    inner = np.clip(ratings, low + width, high - width)
    beyond = ratings - inner
    return np.asarray(inner + beyond * (width / (width + np.abs(beyond))))


def calibrate(predictions: FloatArray, ratings: FloatArray, sets: NDArray[np.intp]) -> Calibration:
    """Calibrate on lines that were not fitted on, with [N] ratings by people.

    `predictions` [N] are in standard deviations of a data set. `sets` [N] numbers these from 0; all have equal weight.
    """
    share = 1.0 / np.bincount(sets)[sets]
    share /= share.sum()

    def spread(values: FloatArray) -> float:
        return float(np.mean([values[sets == number].std() for number in np.unique(sets)]))

    stretch = spread(ratings) / spread(predictions) if spread(predictions) > 0 else 0.0
    centre, middle = float(share @ ratings), float(share @ predictions)
    scores = centre + stretch * (predictions - middle)
    return Calibration(centre, middle, stretch, *interval_bins(scores, ratings, share, MIN_IN_BIN))


def interval_bins(
    scores: FloatArray, ratings: FloatArray, share: FloatArray, min_in_bin: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return [B] `scores`, `below` and `above` of a `Calibration`, from [N] ratings by people; lines count by `share`.

    The [N] `scores` are of lines that were not fitted on. Each bin has at least `min_in_bin` lines if there are enough.
    """
    tail, middles, below, above = (1 + COVERAGE) / 2, [], [], []
    for rows in np.array_split(np.argsort(scores, kind="stable"), max(1, min(BINS, len(scores) // min_in_bin))):
        error = ratings[rows] - scores[rows]
        middles.append(float(np.average(scores[rows], weights=share[rows])))
        below.append(min(0.0, -conformal_quantile(-error, share[rows], tail)))
        above.append(max(0.0, conformal_quantile(error, share[rows], tail)))
    return np.array(middles), np.array(below), np.array(above)


def conformal_quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """Return the least of `values` that holds `share` of the weight, counting that of one more line.

    The largest value if there are too few lines for any bound. Source: Vovk et al. 2005.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / (weights.sum() * (1 + 1 / len(values)))
    return float(values[order][min(int(np.searchsorted(reached, share)), len(values) - 1)])
