"""The distance of a line to those that a judge was fitted on. Shapes: N lines, F features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.linear import moments, standardize
from rejoinder.scorer import FloatArray

INSIDE = 0.95  # share of further lines within the bound


@dataclass(frozen=True)
class TrainingCloud:
    """The lines that a judge was fitted on, as one cloud."""

    centre: FloatArray  # [F] means
    spread: FloatArray  # [F] standard deviations
    bound: float = np.inf  # a line at a larger distance is out of domain

    def distances(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] means of squared standardised features, about 1 for a line of the cloud; missing ones are 0.

        Correlations are left out: with them (Mahalanobis) fewer texts of other kinds are found (docs/lab-notes.md).
        """
        return np.asarray(np.square(standardize(features, self.centre, self.spread)).mean(axis=1))

    def out_of_domain(self, features: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return [N] whether a line lies beyond the bound."""
        return self.distances(features) > self.bound


def fit_cloud(features: NDArray[np.floating]) -> TrainingCloud:
    """Return the cloud of [N, F] features, without a bound."""
    return TrainingCloud(*moments(features, np.full(len(features), 1 / len(features))))
