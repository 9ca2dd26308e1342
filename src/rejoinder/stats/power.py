"""How many items a comparison needs, judged from a pilot.

A pilot is a difference with its spread per item: two systems' mean ratings, or two scorers' correlations with the same
ratings. Both differences are, up to terms that vanish as items grow, means over items, so one formula serves both.

Source: Guenther (1981), Sample Size Formulas for Normal Theory t Tests (the paired test's, which adds z^2 / 2).
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from rejoinder.stats.correlation import FEWEST, ROUNDING, pearson, standardised
from rejoinder.stats.figure import NONE
from rejoinder.stats.resamples import FloatArray, IntArray, renumbered

LEVEL = 0.05


class Pilot(NamedTuple):
    """What a pilot says about a difference.

    Attributes:
        effect: the difference found; NaN where there is none.
        spread: root of the number of items times the variance of the difference, so that on n items the difference has
            the standard error spread / sqrt(n); NaN where there is none.
        items: items of the pilot.
        reason: why nothing can be forecast, else "".
    """

    effect: float
    spread: float
    items: int
    reason: str = ""


def pilot_of_means(first: FloatArray, second: FloatArray, clusters: IntArray) -> Pilot:
    """The difference between two systems' means, from values [N] on the same items.

    Args:
        first: [N] of the first system.
        second: [N] of the second system.
        clusters: [N] cluster of each item; the coming items are taken to be clustered alike.
    """
    differences = np.asarray(first - second, dtype=np.float64)
    if not np.isfinite(differences).all():
        return Pilot(NONE, NONE, len(differences), "a value is not a finite number")
    effect = float(differences.mean()) if len(differences) else NONE
    scale = float(max(np.abs(first).max(), np.abs(second).max())) if len(differences) else 1.0
    return _pilot(effect, differences - effect, clusters, scale or 1.0)


def pilot_of_correlations(first: FloatArray, second: FloatArray, ratings: FloatArray, clusters: IntArray) -> Pilot:
    """The difference between two scorers' Pearson correlations with the same ratings.

    The part of one item in a correlation r is z_x z_y - r (z_x^2 + z_y^2) / 2 with standardised values, whatever their
    distribution; the spread is that of the difference of two such parts.

    Args:
        first: [N] scores of the first scorer.
        second: [N] scores of the second scorer.
        ratings: [N].
        clusters: [N] cluster of each item; the coming items are taken to be clustered alike.

    Source: Hampel (1974) and Devlin, Gnanadesikan and Kettenring (1975) for the correlation's influence function.
    """
    found = [pearson(scores, ratings, names=("score", "rating")) for scores in (first, second)]
    for correlation in found:
        if correlation.reason:
            return Pilot(NONE, NONE, len(ratings), correlation.reason)
    one, other = (
        _influence(scores, ratings, correlation.value)
        for scores, correlation in zip((first, second), found, strict=True)
    )
    return _pilot(found[0].value - found[1].value, one - other, clusters, 1.0)


def _influence(x: FloatArray, y: FloatArray, r: float) -> FloatArray:
    """[N] part of each pair in the correlation `r` of `x` and `y`; they sum to 0."""
    a, b = ((scaled - scaled.mean()) / scaled.std() for scaled in (standardised(x), standardised(y)))
    parts: FloatArray = a * b - r * (a * a + b * b) / 2
    return parts


def _pilot(effect: float, parts: FloatArray, clusters: IntArray, scale: float) -> Pilot:
    """The pilot of an `effect` whose error is the mean of `parts` [N]; digits below `scale` * 1e-12 are rounding."""
    n = len(parts)
    sums = np.bincount(renumbered(clusters), weights=parts)
    groups = len(sums)
    if groups < FEWEST:
        return Pilot(effect, NONE, n, f"{groups} {'cluster' if groups == 1 else 'clusters'}; three or more are needed")
    spread = sqrt(float((sums**2).sum()) / n * groups / (groups - 1))
    if abs(effect) < ROUNDING * scale:
        return Pilot(effect, spread, n, "no difference in the pilot, so no number of items would show one")
    if spread < ROUNDING * scale:
        return Pilot(effect, spread, n, "the difference is the same in all items, so there is no chance to forecast")
    return Pilot(effect, spread, n)


def items_needed(pilot: Pilot, chance: float = 0.8) -> int | None:
    """The number of items on which a two-sided test at the 5 % level finds the pilot's difference with this `chance`.

    None where the pilot has a reason. The pilot's difference is taken as the true one, which is optimistic where a
    small pilot was followed up because it looked promising.
    """
    from scipy.special import ndtri

    if pilot.reason:
        return None
    z = float(ndtri(1 - LEVEL / 2))
    return ceil(((z + float(ndtri(chance))) * pilot.spread / pilot.effect) ** 2 + z * z / 2)
