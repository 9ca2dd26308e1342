"""From what a head predicts to a rating and an interval around it.

A head that is fitted by least squares predicts means: its predictions spread less than people's ratings, the less the
less it knows. Scores are stretched so that they spread as people's ratings do within a data set; that costs squared
error and changes no order. Both the stretch and the interval come from lines of data sets that the head did not see:
what it says of a set that it was fitted on would look surer than it is of the next one.

What lies beyond the scale then, or near its ends, is bent into it: no score leaves the scale, and none ties with
another that it did not tie with before. Shapes: N lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.learner import PREDICTED
from rejoinder.scorer import FloatArray

COVERAGE = 0.9
OUTER = 0.1  # of the scale at either end, in which scores are bent
BINS = 5  # by score: a judge may be surer of the worst replies than of those between
FEWEST_IN_BIN = 20  # of fewer the 95th hundredth is hardly known


@dataclass(frozen=True)
class Calibration:
    """How predictions become ratings, and how far these may be off.

    Attributes:
        centre: the rating of the mean prediction.
        middle: that prediction.
        stretch: rating points a standard deviation of a data set.
        scores: [B] ratings in the middle of bins, ascending.
        below: [B] how far under such a score nineteen in twenty of people's ratings stay above; negative or 0.
        above: [B] how far over it nineteen in twenty stay below; positive or 0.
    """

    centre: float
    middle: float
    stretch: float
    scores: FloatArray
    below: FloatArray
    above: FloatArray

    def ratings(self, predictions: FloatArray) -> FloatArray:
        """[N] ratings, some of them beyond the scale."""
        return self.centre + self.stretch * (predictions - self.middle)

    def answers(self, predictions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """[N] scores inside the scale, and the ends of their intervals.

        An end beyond the scale is the end of the scale, which people's ratings reach and scores do not. An end inside
        is bent like a score only where that makes the interval longer, so bending never leaves a rating out.
        """
        ratings = self.ratings(predictions)
        low, high = self.interval(ratings)
        least, most = PREDICTED
        low = np.minimum(bent(low), np.maximum(low, least))
        return bent(ratings), low, np.maximum(bent(high), np.minimum(high, most))

    def interval(self, ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[N] the ends of the interval that holds `COVERAGE` of people's ratings of replies that are given `ratings`.

        The ratings are not yet bent into the scale, and neither are the ends.
        """
        return (
            ratings + np.interp(ratings, self.scores, self.below),
            ratings + np.interp(ratings, self.scores, self.above),
        )


def bent(ratings: FloatArray) -> FloatArray:
    """Return [N] ratings bent into the scale, in their order.

    In the inner four fifths of the scale they stay as they are. In the outer tenth at either end, d wide, what lies x
    beyond its inner edge comes to lie x d / (x + d) beyond it: the curve begins with slope 1 and never reaches the end
    of the scale. Exponential curves would be flat to the last bit sooner.
    """
    low, high = PREDICTED
    width = OUTER * (high - low)
    inner = np.clip(ratings, low + width, high - width)
    beyond = ratings - inner
    return np.asarray(inner + beyond * (width / (width + np.abs(beyond))))


def calibrate(predictions: FloatArray, ratings: FloatArray, sets: NDArray[np.intp]) -> Calibration:
    """The calibration that predictions ask for, made of lines that were not fitted on.

    Args:
        predictions: [N] in standard deviations of a data set.
        ratings: [N] people's.
        sets: [N] the data set of each line, from 0; all sets count alike, however many lines they have.
    """
    share = 1.0 / np.bincount(sets)[sets]
    share /= share.sum()
    centre, middle = float(share @ ratings), float(share @ predictions)
    spread = _spread(predictions, sets)
    plain = Calibration(
        centre, middle, _spread(ratings, sets) / spread if spread > 0 else 0.0, *(np.zeros(1) for _ in range(3))
    )
    return with_interval(plain, plain.ratings(predictions), ratings, share, FEWEST_IN_BIN)


def with_interval(
    plain: Calibration, scores: FloatArray, ratings: FloatArray, share: FloatArray, fewest: int
) -> Calibration:
    """A calibration whose intervals hold `COVERAGE` of [N] ratings of lines that it had scored unseen.

    Args:
        plain: what made the [N] `scores`.
        scores: [N] of lines that were not fitted on.
        ratings: [N] people's.
        share: [N] what each line weighs.
        fewest: lines in a bin at least.
    """
    middles, below, above = [], [], []
    for rows in _bins(scores, fewest):
        off = ratings[rows] - scores[rows]
        middles.append(float(np.average(scores[rows], weights=share[rows])))
        below.append(min(0.0, -weighted_quantile(-off, share[rows], (1 + COVERAGE) / 2)))
        above.append(max(0.0, weighted_quantile(off, share[rows], (1 + COVERAGE) / 2)))
    return replace(plain, scores=np.array(middles), below=np.array(below), above=np.array(above))


def weighted_quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """The least of `values` that holds `share` of the weight, with that of one line more, as conformal bounds ask for.

    Source: Vovk et al. 2005; the largest value where the lines are too few for any bound.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / (weights.sum() * (1 + 1 / len(values)))
    return float(values[order][min(int(np.searchsorted(reached, share)), len(values) - 1)])


def _spread(values: FloatArray, sets: NDArray[np.intp]) -> float:
    """The standard deviation within a data set, all sets alike."""
    return float(np.mean([values[sets == one].std() for one in np.unique(sets)]))


def _bins(scores: FloatArray, fewest: int) -> list[NDArray[np.intp]]:
    """Rows by score, in bins of like size, `fewest` or more in each where there are as many."""
    count = max(1, min(BINS, len(scores) // fewest))
    return np.array_split(np.argsort(scores, kind="stable"), count)
