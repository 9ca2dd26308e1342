"""Baselines that read other lines' ratings and not a word of this one: what knowing the set or the system is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rejoinder.meta.parts import NO_SYSTEM, POOLED, Part
from rejoinder.scorer import FloatArray, Scores, Signature
from rejoinder.version import __version__

OF_SYSTEM, OF_SET = "mean of its system", "mean of its data set"


def known_means(parts: Sequence[Part], n: int) -> dict[str, Scores]:
    """The baselines that these parts allow, by name: [n] scores each.

    `mean of its system` is the mean rating of the line's system over the other contexts of its data set, where two
    systems or more are named; `mean of its data set` is there where data sets are pooled.
    """
    single = [part for part in parts if part.name != POOLED]
    found: dict[str, Scores] = {}
    # Of one system alone the others' mean falls as the own rating rises: it would correlate with it, at -1.
    several = [part for part in single if len(np.unique(part.systems[part.systems != NO_SYSTEM])) > 1]
    if several:
        values, reasons = np.full(n, np.nan), dict.fromkeys(range(n), "system not named, alone, or in no other context")
        for part in several:
            values[part.places] = _other_contexts(part)
        found[OF_SYSTEM] = _scores(OF_SYSTEM, values, reasons)
    pooled = next((part for part in parts if part.name == POOLED), None)
    if pooled is not None:
        on_one_scale = np.full(n, np.nan)
        on_one_scale[pooled.places] = pooled.ratings
        values = np.full(n, np.nan)
        for part in single:
            if len(part.places):
                values[part.places] = on_one_scale[part.places].mean()
        found[OF_SET] = _scores(OF_SET, values, dict.fromkeys(range(n), "not rated"))
    return found


def _other_contexts(part: Part) -> FloatArray:
    """[N] mean rating of the line's system over the lines of other contexts; NaN where there are none."""
    cells = part.systems * (int(part.contexts.max(initial=-1)) + 1) + part.contexts
    sums, lines = _totals(part.systems, part.ratings), _totals(part.systems, np.ones(len(part.ratings)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = (sums - _totals(cells, part.ratings)) / (lines - _totals(cells, np.ones(len(part.ratings))))
    return np.where(part.systems == NO_SYSTEM, np.nan, means)


def _totals(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """[N] sum of `values` over the lines of each line's group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    totals: FloatArray = np.bincount(numbers, weights=values)[numbers].astype(np.float64)
    return totals


def _scores(name: str, values: FloatArray, reasons: dict[int, str]) -> Scores:
    """`values` as scores; those that are NaN keep their reason."""
    rounded = values.round(9)
    missing = {place: reason for place, reason in reasons.items() if np.isnan(rounded[place])}
    signature = Signature({"scorer": name, "version": 1, "reads": "ratings", "rejoinder": __version__})
    return Scores(rounded, missing, signature)
