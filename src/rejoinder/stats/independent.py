"""The interval of a mean of figures that are independent of each other, from their intervals alone.

Each end of a sum lies as far from it as the root of the summed squares of how far the same ends of its parts lie from
theirs.

Source: Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach, Statistics
in Medicine 27, pages 1693-1702.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rejoinder.stats.figure import NOTHING, Figure


def mean_of_independent(figures: Sequence[Figure], counts: Sequence[int] | None = None) -> Figure:
    """The mean of S independent figures with intervals of one confidence.

    Nothing where there are none, and no end where one of them has none.

    Args:
        figures: S figures.
        counts: [S] how often each counts in the mean; None is once.
    """
    if not figures:
        return NOTHING
    values, lows, highs = (np.array([getattr(one, end) for one in figures]) for end in ("value", "low", "high"))
    weights = np.ones(len(values)) if counts is None else np.array(counts, dtype=np.float64)
    mean, count = float(np.average(values, weights=counts)), weights.sum()
    below = float(np.sqrt(np.square(weights * (values - lows)).sum()) / count)
    above = float(np.sqrt(np.square(weights * (highs - values)).sum()) / count)
    return Figure(value=mean, low=mean - below, high=mean + above)
