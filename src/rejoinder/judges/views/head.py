"""The head over all features: boosted trees averaged with a smooth part, fitted to ratings of many data sets at once.

People of one study use a scale otherwise than those of another. So a head is fitted to ratings that are standardised
within their data set, and every set weighs by the square root of its size: a set of ten thousand lines is not to drown
ten of five hundred. Shapes: N lines, F features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.views.kernel import Kernel, fit_kernel
from rejoinder.judges.views.trees import FULL, Growth, Trees, grow, joined
from rejoinder.scorer import Advance, FloatArray, ignore

TREES = 0.5  # what the trees weigh, against the smooth part
SEEDS = 2  # forests, each grown with other draws of features: their mean is steadier than one
USUAL_SIZE = 500  # lines of a data set whose lines weigh 1


@dataclass(frozen=True)
class Head:
    """Predicts ratings in standard deviations of a data set, from F features.

    Attributes:
        kernel: the smooth part.
        trees: all forests, each leaf divided by their number.
    """

    kernel: Kernel
    trees: Trees

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] predictions for [N, F], each the same to the last bit whatever stands beside it."""
        return (1 - TREES) * self.kernel.predict(features) + TREES * self.trees.predict(features)

    @property
    def expected(self) -> float:
        """The prediction before any feature has moved it."""
        return (1 - TREES) * self.kernel.expected + TREES * self.trees.expected

    def told_from(self, features: NDArray[np.floating], weights: FloatArray) -> Head:
        """The same head; `expected` is what it says of the average line of [N, F] features with [N] weights."""
        return Head(self.kernel.told_from(features, weights), self.trees.told_from(features, weights))

    def moved(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] what each feature adds to `expected`; together they add up to the prediction."""
        return (1 - TREES) * self.kernel.moved(features) + TREES * self.trees.moved(features)


def fit_head(
    features: NDArray[np.floating],
    targets: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    growth: Growth = FULL,
    seeds: int = SEEDS,
    advance: Advance = ignore,
) -> Head:
    """A head fitted to [N] targets of [N, F] features, whose lines count by [N] weights."""
    own = fit_kernel(features, targets, weights, rng)
    forests = []
    for _ in range(seeds):
        forests.append(grow(features, targets, weights, growth, rng))
        advance(1)
    return Head(own, joined(forests))


def standardised(ratings: FloatArray, sets: NDArray[np.intp]) -> FloatArray:
    """[N] ratings in standard deviations from the mean of their own data set; `sets` numbers these from 0."""
    counts = np.maximum(np.bincount(sets), 1)
    means = np.bincount(sets, ratings) / counts
    spreads = np.sqrt(np.bincount(sets, (ratings - means[sets]) ** 2) / counts)
    return (ratings - means[sets]) / np.where(spreads > 0, spreads, 1.0)[sets]


def weights_of(sets: NDArray[np.intp]) -> FloatArray:
    """[N] what each line weighs."""
    return np.sqrt(USUAL_SIZE / np.bincount(sets)[sets])
