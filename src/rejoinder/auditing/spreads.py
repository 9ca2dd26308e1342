"""How widely one set of values is spread beside another, and what that comes from.

Shapes: N items, G clusters, B resamples, R rows and C columns of a table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.resamples import FloatArray, Resamples, number_of, percentile_interval


def ratio_of_spreads(values: FloatArray, others: FloatArray, resamples: Resamples) -> Estimate:
    """The standard deviation of `values` [N] divided by that of `others` [N], with its interval.

    Args:
        values: finite ones.
        others: finite ones of the same items.
        resamples: of the items.
    """
    if not len(values) or not others.std():
        return Estimate(n=len(values), reason="what it is set beside has no spread")
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may hold nothing but equal values
        drawn = [_deviations(values, weights) / _deviations(others, weights) for weights in resamples.weights()]
    return replace(percentile_interval(np.concatenate(drawn), number_of(resamples.clusters)), n=len(values))


def _deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """[B] the standard deviations of `values` [N] under each column of `weights` [N, B]."""
    centred = values - values.mean()  # or squares of large numbers would swallow small differences
    total = weights.sum(axis=0)
    means, squares = (centred @ weights) / total, (centred**2 @ weights) / total
    spread: FloatArray = np.sqrt(np.maximum(squares - means**2, 0.0))
    return spread


class TwoWay(NamedTuple):
    """What the variance of a table of values [R, C] comes from, as shares of it that add up to 1.

    Attributes:
        rows: from the means of the rows.
        columns: from those of the columns.
        both: from how they go together.
    """

    rows: float
    columns: float
    both: float


def two_way(table: FloatArray) -> TwoWay:
    """The shares of rows, columns and their interaction in the variance of `table` [R, C]; NaN where it has none."""
    total = float(table.var())
    if not total:
        return TwoWay(NAN, NAN, NAN)
    rows, columns = float(table.mean(axis=1).var()) / total, float(table.mean(axis=0).var()) / total
    return TwoWay(rows, columns, 1 - rows - columns)
