"""From what a head predicts to a rating and an interval around it.

A head that is fitted by least squares predicts means: its predictions spread less than people's ratings, the less the
less it knows. Scores are stretched so that they spread as people's ratings do within a data set; that costs squared
error and changes no order. Both the stretch and the interval come from lines of data sets that the head did not see:
what it says of a set that it was fitted on would look surer than it is of the next one. Shapes: N lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rejoinder.scorer import FloatArray

COVERAGE = 0.9
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
        """[N] ratings, not clipped."""
        return self.centre + self.stretch * (predictions - self.middle)

    def interval(self, ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[N] the ends of the interval that holds `COVERAGE` of people's ratings of replies scored so."""
        return (
            ratings + np.interp(ratings, self.scores, self.below),
            ratings + np.interp(ratings, self.scores, self.above),
        )


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
