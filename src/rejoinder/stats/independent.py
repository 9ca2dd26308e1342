"""The interval of a mean of figures that are independent of each other, from their intervals alone.

Each end of a sum lies as far from it as the root of the summed squares of how far the same ends of its parts lie from
theirs.

Source: Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach, Statistics
in Medicine 27, pages 1693-1702.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean_of_independent(values: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[float, ...]:
    """Mean, lower and upper end of its interval, of S independent values with intervals of one confidence.

    NaN for all where there are no values, and for an end where one of them has none.
    """
    if not values:
        return (float("nan"),) * 3
    mean, count = float(np.mean(values)), len(values)
    below = float(np.sqrt(np.square(np.subtract(values, lows)).sum())) / count
    above = float(np.sqrt(np.square(np.subtract(highs, values)).sum())) / count
    return mean, mean - below, mean + above
