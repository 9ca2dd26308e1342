"""Ridge regression on standardised features, with the weights of lines. Shapes: N examples, F features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rejoinder.scorer import FloatArray

PENALTY = 300.0
SILENT = 1e12  # the spread of a column that never varied: it has no say
FARTHEST = 6.0  # standard deviations: what lies beyond is as far as this, so that no odd text runs away with the score


@dataclass(frozen=True)
class Linear:
    """A weighted sum of features.

    Attributes:
        centre: [F] their means where it was fitted; what is missing counts as this.
        spread: [F] their standard deviations.
        weights: [F] by standardised feature.
        base: the prediction at the means.
    """

    centre: FloatArray
    spread: FloatArray
    weights: FloatArray
    base: float

    def moved(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] what each feature of [N, F] adds to `base`."""
        return self.standardised(features) * self.weights

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] predictions for [N, F] features; each row adds up by itself, to the same last bit."""
        return np.asarray(self.base + np.ascontiguousarray(self.moved(features)).sum(axis=1))

    def told_from(self, features: NDArray[np.floating], weights: FloatArray) -> Linear:
        """The same sum told from the means of [N, F] features with [N] weights; what is missing counts as these.

        Only what is missing, or `FARTHEST` off, is predicted a little otherwise.
        """
        share, known = weights / weights.sum(), np.isfinite(features)
        away = np.where(known, np.asarray(features, np.float64) - self.centre, 0.0)
        centre: FloatArray = self.centre + (share @ away) / np.maximum(share @ known, 1e-9)
        base = self.base + float(((centre - self.centre) / self.spread) @ self.weights)
        return replace(self, centre=centre, base=base)

    def standardised(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] in standard deviations from the mean, `FARTHEST` at most; 0 where missing."""
        return standardised(features, self.centre, self.spread)


def standardised(features: NDArray[np.floating], centre: FloatArray, spread: FloatArray) -> FloatArray:
    """[N, F] features in [F] spreads from [F] centres, `FARTHEST` at most; 0 where missing."""
    found: FloatArray = (np.asarray(features, np.float64) - centre) / spread
    found[np.isnan(found)] = 0.0
    return np.minimum(np.maximum(found, -FARTHEST, out=found), FARTHEST, out=found)


def moments(features: NDArray[np.floating], share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[F] means and [F] standard deviations of what is there of [N, F] features, lines counting by [N] shares.

    What never varies, or is never there, has the deviation `SILENT`.
    """
    known = np.isfinite(features)
    filled = np.where(known, features, 0.0).astype(np.float64)
    counts = np.maximum(share @ known, 1e-9)
    centre: FloatArray = (share @ filled) / counts
    spread = np.sqrt((share @ (np.where(known, filled - centre, 0.0) ** 2)) / counts)
    return centre, np.where(spread > 1e-9, spread, SILENT)


def fit_linear(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, penalty: float | FloatArray = PENALTY
) -> Linear:
    """Ridge regression of [N] targets on [N, F] features; lines count by their weights, columns by [F] penalties."""
    share = weights / weights.sum()
    centre, spread = moments(features, share)
    start = Linear(centre, spread, np.zeros(features.shape[1]), 0.0)
    standard, base = start.standardised(features), float(share @ targets)
    weighed = standard * weights[:, None]
    matrix = weighed.T @ standard + np.diag(np.full(features.shape[1], penalty))
    found = np.asarray(np.linalg.solve(matrix, weighed.T @ (targets - base)), np.float64)
    return Linear(centre, start.spread, found, base - float(share @ (standard @ found)))
