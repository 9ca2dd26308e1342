"""Whether two correlations with the same ratings differ, and p-values of many such questions.

The paired permutation test, the one to use for clustered items and for rank correlations, is
`paired.paired_permutation` with all lines in one part.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rejoinder.stats.arrays import FloatArray
from rejoinder.stats.correlation import ROUNDING, SMALLEST_P
from rejoinder.stats.figure import NONE, Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Williams(Figure):
    """The first of two dependent correlations less the second, with p of no difference.

    Attributes:
        t: the statistic, with n - 3 degrees of freedom; NaN where there is none.
    """

    t: float = NONE


def williams(first: float, second: float, between: float, n: int) -> Williams:
    """Whether two Pearson correlations that share a variable (the ratings) differ, over the same n items.

    Items must be independent and about normal; on clustered items p comes out too small.

    Args:
        first: correlation of the first scorer with the ratings.
        second: correlation of the second scorer with the ratings.
        between: correlation of the two scorers with each other.
        n: number of items.

    Source: Williams (1959); Steiger (1980), equation 7.
    """
    from scipy.stats import t as student

    difference = first - second
    # Determinant of the three correlations' matrix.
    k = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    reason = _no_test(first, second, between, n, k)
    if reason:
        return Williams(value=difference, n=n, reason=reason)
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3) + ((first + second) / 2) ** 2 * (1 - between) ** 3
    t = difference * sqrt((n - 1) * (1 + between) / spread)
    return Williams(value=difference, n=n, p=max(float(2 * student.sf(abs(t), n - 3)), SMALLEST_P), t=t)


def _no_test(first: float, second: float, between: float, n: int, k: float) -> str:
    """Why the correlations cannot be told apart by Williams' test, or ""."""
    if isnan(first) or isnan(second) or isnan(between):
        return "no test: one of the three correlations does not exist"
    if n < 4:
        return f"no test: {n} items; four or more are needed"
    if 1 - abs(between) < ROUNDING:
        return "no test: the two scorers are one up to scale"
    if k < -1e-9:
        return f"no test: no three variables have the correlations {first:g}, {second:g} and {between:g}"
    return ""


def adjusted(p: ArrayLike, method: Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]) -> FloatArray:
    """[M] p-values adjusted for there being M of them: compare them with the level as they are.

    "holm" bounds the chance of one false finding or more, whatever hangs together; "benjamini-hochberg" bounds the
    expected share of false ones among the findings, for tests that are independent or hang together positively,
    "benjamini-yekutieli" for any tests.

    Args:
        p: [M] p-values; NaN stays and does not count.
        method: which.

    Source: Holm (1979); Benjamini and Hochberg (1995); Benjamini and Yekutieli (2001).
    """
    given = np.asarray(p, dtype=np.float64)
    found = np.full_like(given, np.nan)
    known = np.flatnonzero(np.isfinite(given))
    order = known[np.argsort(given[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(given[order] * (len(order) + 1 - rank))
    else:
        whole = len(order) * (1.0 if method == "benjamini-hochberg" else (1 / rank).sum())
        stepped = np.minimum.accumulate((given[order] * whole / rank)[::-1])[::-1]
    found[order] = np.minimum(stepped, 1.0)
    return found
