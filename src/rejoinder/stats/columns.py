"""The three correlations down the columns of two matrices: few items, many resamples with values of their own.

Shapes: S items (systems), B columns (resamples). A column with fewer than three items, a constant variable or a value
that is not finite gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rejoinder.stats.arrays import FloatArray
from rejoinder.stats.correlation import FEWEST, snap


def columns_pearson(x: FloatArray, y: FloatArray) -> FloatArray:
    """[B] Pearson correlations of the columns of `x` [S, B] with those of `y` [S, B]."""
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return _defined(values, x, y)


def columns_spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    """[B] Spearman correlations of the columns of `x` [S, B] with those of `y` [S, B]."""
    from scipy.stats import rankdata

    return _defined(columns_pearson(rankdata(x, axis=0), rankdata(y, axis=0)), x, y)


def columns_kendall(x: FloatArray, y: FloatArray) -> FloatArray:
    """[B] Kendall's tau-b of the columns of `x` [S, B] with those of `y` [S, B], from the signs of all differences."""
    difference, untied_x, untied_y = np.zeros((3, x.shape[1]))
    for item in range(1, len(x)):
        a, b = np.sign(x[item] - x[:item]), np.sign(y[item] - y[:item])
        difference += (a * b).sum(axis=0)
        untied_x += (a * a).sum(axis=0)
        untied_y += (b * b).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _defined(difference / np.sqrt(untied_x * untied_y), x, y)


COLUMNS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pearson": columns_pearson,
    "spearman": columns_spearman,
    "kendall": columns_kendall,
}


def _defined(values: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """`values` inside [-1, 1], NaN for columns that have no correlation."""
    usable = np.isfinite(values) & np.isfinite(x).all(axis=0) & np.isfinite(y).all(axis=0) & (len(x) >= FEWEST)
    varied = (x != x[:1]).any(axis=0) & (y != y[:1]).any(axis=0)
    return snap(np.where(usable & varied, values, np.nan))
