"""What is left between two variables once a third is known: partial correlation and slope, on many resamples at once.

Shapes: N items, B resamples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.stats.resamples import FloatArray


class Left(NamedTuple):
    """What is left between y and x beside z.

    Attributes:
        correlation: [B] of what z leaves of both, by least squares; NaN where it leaves nothing of one.
        slope: [B] by how much y grows with x where z stays, in a regression on both.
    """

    correlation: FloatArray
    slope: FloatArray


def partial(x: FloatArray, y: FloatArray, z: FloatArray, weights: FloatArray) -> Left:
    """Correlation and slope of `y` and `x` given `z`, all [N], with each column of `weights` [N, B]."""
    values = np.stack([x, y, z])
    # Around the plain means first, so that little is lost to rounding.
    values = values - values.mean(axis=1, keepdims=True)
    total = weights.sum(axis=0)
    means = values @ weights / total
    products = {
        (one, other): (values[one] * values[other]) @ weights / total - means[one] * means[other]
        for one, other in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    }
    (xx, yy, zz), xy = (products[one, one] for one in range(3)), products[0, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        explains = np.where(zz > _least(z), 1 / zz, 0.0)  # a constant explains nothing
        left_xx, left_yy = xx - products[0, 2] ** 2 * explains, yy - products[1, 2] ** 2 * explains
        left_xy = xy - products[0, 2] * products[1, 2] * explains
        known = (left_xx > _least(x)) & (left_yy > _least(y))
        correlation = np.where(known, left_xy / np.sqrt(left_xx * left_yy), np.nan)
        slope = np.where(known, left_xy / left_xx, np.nan)
    return Left(np.clip(correlation, -1, 1), slope)


def _least(values: FloatArray) -> float:
    """A variance that is nothing but rounding."""
    return 1e-12 * max(float((values**2).mean()), 1e-300)
