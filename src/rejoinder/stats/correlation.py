"""Pearson, Spearman and Kendall correlation of two variables, with a p-value and a defined outcome for every input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rejoinder.errors import UsageError
from rejoinder.stats.arrays import FloatArray
from rejoinder.stats.figure import Figure

SMALLEST_P = float(np.finfo(np.float64).tiny)
FEWEST = 3
ROUNDING = 1e-12


def pearson(x: ArrayLike, y: ArrayLike, *, names: tuple[str, str] = ("x", "y")) -> Figure:
    """Pearson's product-moment correlation of `x` [N] and `y` [N], in [-1, 1], with a two-sided p of none.

    Input that has no correlation (fewer than three pairs, a constant variable, values that are not finite) gives NaN
    and a reason. A correlation within 1e-12 of 1 or -1 is 1 or -1. The p-value takes the pairs as independent.

    Args:
        x: [N] values.
        y: [N] values, paired with `x`.
        names: what one value of each variable is called in a reason.

    Raises:
        UsageError: `x` and `y` are not two vectors of one length.

    Source: scipy.stats.pearsonr.
    """

    def compute(a: FloatArray, b: FloatArray) -> Any:
        from scipy import stats

        return stats.pearsonr(standardised(a), standardised(b))

    return _correlation(compute, x, y, names)


def spearman(x: ArrayLike, y: ArrayLike, *, names: tuple[str, str] = ("x", "y")) -> Figure:
    """Spearman's rank correlation of `x` [N] and `y` [N]: Pearson's of the ranks, tied values sharing their mean rank.

    Outcomes, arguments and errors as for `pearson`. Source: scipy.stats.spearmanr.
    """

    def compute(a: FloatArray, b: FloatArray) -> Any:
        from scipy import stats

        return stats.spearmanr(a, b)

    return _correlation(compute, x, y, names)


def kendall(x: ArrayLike, y: ArrayLike, *, names: tuple[str, str] = ("x", "y")) -> Figure:
    """Kendall's tau-b of `x` [N] and `y` [N], which corrects for ties in both variables.

    Outcomes, arguments and errors as for `pearson`. Source: scipy.stats.kendalltau, variant b; its p-value is exact for
    small samples without ties, else from the normal approximation.
    """

    def compute(a: FloatArray, b: FloatArray) -> Any:
        from scipy import stats

        return stats.kendalltau(a, b, variant="b")

    return _correlation(compute, x, y, names)


CORRELATIONS: Mapping[str, Callable[..., Figure]] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def snap(values: FloatArray) -> FloatArray:
    """`values` inside [-1, 1], those within 1e-12 of an end set to it; NaN stays."""
    near = np.where(1 - np.abs(values) < ROUNDING, np.sign(values), values)
    return np.clip(near, -1.0, 1.0)


def standardised(values: FloatArray) -> FloatArray:
    """`values` moved and scaled to fill [0, 1], which leaves Pearson's correlation as it is.

    Small spread beside a large mean then does not round away. `values` must not be constant.
    """
    with np.errstate(over="ignore"):
        spread = values.max() - values.min()
    if not np.isfinite(spread):
        return standardised(values / 4)
    moved: FloatArray = (values - values.min()) / spread
    return moved


def _correlation(
    compute: Callable[[FloatArray, FloatArray], Any], x: ArrayLike, y: ArrayLike, names: tuple[str, str]
) -> Figure:
    """What `compute` finds for usable input, else NaN with the reason."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise UsageError(f"a correlation needs two vectors of one length, not shapes {a.shape} and {b.shape}")
    reason = _no_correlation(a, b, names)
    if reason:
        return Figure(n=len(a), reason=reason)
    found = compute(a, b)
    value = float(snap(np.array([found.statistic]))[0])
    return Figure(value=value, p=max(float(found.pvalue), SMALLEST_P), n=len(a))


def _no_correlation(a: FloatArray, b: FloatArray, names: tuple[str, str]) -> str:
    """Why `a` and `b` have no correlation, or ""."""
    if len(a) < FEWEST:
        return f"{len(a)} {'pair' if len(a) == 1 else 'pairs'} of {names[0]} and {names[1]}; three or more are needed"
    for values, name in zip((a, b), names, strict=True):
        if unusable := int((~np.isfinite(values)).sum()):
            return f"the {name} is not a finite number in {unusable} of {len(values)} pairs"
    for values, name in zip((a, b), names, strict=True):
        if (values == values[0]).all():
            return f"the {name} is the same in all {len(values)} pairs ({values[0]:g})"
    return ""
