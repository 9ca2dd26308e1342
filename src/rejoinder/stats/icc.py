"""Intraclass correlations where the same raters rated every item: two-way analysis of variance.

Where items have raters of their own, or differently many, `reliability` says what can be said (one-way).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.stats.arrays import FloatArray
from rejoinder.stats.correlation import FEWEST
from rejoinder.stats.figure import NONE


class TwoWay(NamedTuple):
    """Intraclass correlations of a full table, at most 1; NaN where there are none.

    Attributes:
        agreement: ICC(2, 1), of one rating: a rater who is always stricter disagrees.
        agreement_mean: ICC(2, k), of the mean of the k ratings.
        consistency: ICC(3, 1): a rater who is always stricter agrees.
        consistency_mean: ICC(3, k).
        items: how many were rated by all.
        reason: why there are no values, else "".
    """

    agreement: float = NONE
    agreement_mean: float = NONE
    consistency: float = NONE
    consistency_mean: float = NONE
    items: int = 0
    reason: str = ""


def two_way(ratings: FloatArray) -> TwoWay:
    """The intraclass correlations of the items that all raters rated.

    Args:
        ratings: [N, J], a column a rater; items with a gap do not count.

    Raises:
        UsageError: `ratings` is not a table.

    Source: Shrout and Fleiss (1979), cases 2 and 3.
    """
    if ratings.ndim != 2:
        raise UsageError(f"ratings are a table of items and raters, not of shape {ratings.shape}")
    table = ratings[np.isfinite(ratings).all(axis=1)]
    n, k = table.shape
    if n < FEWEST or k < 2:
        found = f"{n} items were rated by all {k} raters" if k > 1 else "there is one rater"
        return TwoWay(items=n, reason=f"{found}; three items and two raters or more are needed")
    if np.ptp(table) == 0:
        return TwoWay(items=n, reason=f"all ratings are the same ({table[0, 0]:g})")
    rows, columns, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    between = k * ((rows - mean) ** 2).sum() / (n - 1)
    raters = n * ((columns - mean) ** 2).sum() / (k - 1)
    rest = ((table - rows[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    stricter = k * (raters - rest) / n
    wholes = (between + (k - 1) * rest + stricter, between + stricter / k, between + (k - 1) * rest, between)
    one, mean, one_aside, mean_aside = (float((between - rest) / whole) if whole else NONE for whole in wholes)
    return TwoWay(one, mean, one_aside, mean_aside, n)
