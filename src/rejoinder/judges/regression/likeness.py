"""Whether a line is like those that a judge was fitted on: a distance over its features.

Shapes: N lines, F features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.linear import moments, standardised
from rejoinder.scorer import FloatArray

USUAL = 0.95  # of the lines of data sets that were left out lie within the bound


@dataclass(frozen=True)
class Likeness:
    """The lines that a judge was fitted on, as one cloud.

    Attributes:
        centre: [F] their means.
        spread: [F] their standard deviations.
        bound: the distance from which on a line is unlike them.
    """

    centre: FloatArray
    spread: FloatArray
    bound: float = np.inf

    def distances(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] mean squares of standardised features, about 1 for a line of the cloud; missing ones count 0.

        Correlations are left out: with them (Mahalanobis) fewer texts of other kinds are told (docs/lab-notes.md).
        """
        standard = standardised(features, self.centre, self.spread)
        # A contiguous row adds up by itself, so that a line's distance does not depend on its neighbours.
        return np.asarray(np.ascontiguousarray(np.square(standard)).mean(axis=1))

    def unlike(self, features: NDArray[np.floating]) -> NDArray[np.bool_]:
        """[N] whether a line lies beyond the bound."""
        return self.distances(features) > self.bound


def cloud_of(features: NDArray[np.floating]) -> Likeness:
    """The cloud of [N, F] features, without a bound."""
    return Likeness(*moments(features, np.full(len(features), 1 / len(features))))
