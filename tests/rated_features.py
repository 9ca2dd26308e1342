"""Made-up features with targets, for tests of what is fitted to them."""

from __future__ import annotations

import numpy as np

from rejoinder.judges.regression.trees import TreeOptions
from rejoinder.scorer import FloatArray

OPTIONS = TreeOptions(trees=15, leaves=5, learning_rate=0.3, min_leaf=5)


def lines(count: int = 200, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return five features, the third often missing and the last constant, targets of the first three, and weights."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 5))
    features[:, 4] = 2.0
    targets = features[:, 0] - 2 * (features[:, 1] > 0.3) + 0.1 * rng.normal(size=count)
    features[rng.random(count) < 0.3, 2] = np.nan
    targets[np.isnan(features[:, 2])] += 1
    return features, targets, rng.uniform(0.5, 2, count)
