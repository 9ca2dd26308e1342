"""Whether a line is like those that a judge was fitted on: a distance over its features.

Shapes: N lines, F features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.views.linear import SILENT, standardised
from rejoinder.scorer import FloatArray

USUAL = 0.95  # of the lines of data sets that were left out lie within the bound
SHRINKAGE = 0.1  # of the covariance towards the diagonal: features that nearly repeat each other would decide all else


@dataclass(frozen=True)
class Likeness:
    """The lines that a judge was fitted on, as one cloud.

    Attributes:
        centre: [F] their means.
        spread: [F] their standard deviations.
        whitening: [F, F] makes standardised features uncorrelated.
        bound: the squared distance from which on a line is unlike them.
    """

    centre: FloatArray
    spread: FloatArray
    whitening: FloatArray
    bound: float = np.inf

    def distances(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] squared Mahalanobis distances, a feature on average 1 for a line of the cloud; missing ones count 0."""
        standard = standardised(features, self.centre, self.spread)
        # A product of its own for each row, so that a line's distance does not depend on its neighbours.
        return np.array([float(np.square(row @ self.whitening).mean()) for row in standard])

    def unlike(self, features: NDArray[np.floating]) -> NDArray[np.bool_]:
        """[N] whether a line lies beyond the bound."""
        return self.distances(features) > self.bound


def cloud_of(features: NDArray[np.floating], shrinkage: float = SHRINKAGE) -> Likeness:
    """The cloud of [N, F] features, without a bound."""
    given = np.asarray(features, np.float64)
    known = ~np.isnan(given)
    counts = np.maximum(known.sum(axis=0), 1)
    centre = np.where(known, given, 0.0).sum(axis=0) / counts
    spread = np.sqrt(np.where(known, (given - centre) ** 2, 0.0).sum(axis=0) / counts)
    spread = np.where(spread > 1e-9, spread, SILENT)  # what never varied, or was never there, tells nothing
    covariance = np.cov(standardised(given, centre, spread).T)
    covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    return Likeness(centre, spread, vectors / np.sqrt(np.maximum(values, 1e-6)))
