"""What tells replies that people wrote to fit a context from those that they wrote to mislead, or for another context.

Each contrast is a straight line over all features, fitted to such replies alone: it knows no rating, and yet agrees
with people who rate (docs/lab-notes.md). What it says is one more feature for trees and kernel. Shapes: N rows, F
features, C contrasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.linear import Linear, fit_linear
from rejoinder.judges.regression.lines import FITTING, MISLEADING, OTHER, RANDOM
from rejoinder.scorer import FloatArray

AGAINST = ((MISLEADING, RANDOM), (MISLEADING,), (RANDOM,))
"""The kinds of replies that each contrast tells from fitting ones."""
FEWEST = 100  # replies of each kind
PENALTY = 1000.0
FOLDS = 5
_FITS, _FITS_NOT = 0.5, -1.0


class Written(NamedTuple):
    """Which rows are replies that people wrote to fit their context, or that do not fit it.

    Attributes:
        kinds: [N] `FITTING`, `MISLEADING` or `RANDOM`; `OTHER` where a row is none of these.
        contexts: [N] numbers of their contexts.
    """

    kinds: NDArray[np.intp]
    contexts: NDArray[np.intp]


def fit_contrasts(features: NDArray[np.floating], written: Written) -> tuple[tuple[Linear, ...], FloatArray]:
    """The contrasts over [N, F] features, and what they say of all rows, [N, C].

    Of the rows that a contrast is fitted on it is told what one says that was fitted on other contexts. None where
    there are too few replies of a kind, or too few contexts. (A random reply to one context fits another, so that its
    text may be among the other contexts' ones. Leaving these out too changed nothing that matters: docs/lab-notes.md.)
    """
    kinds = written.kinds
    folds = np.where(kinds != OTHER, written.contexts % FOLDS, -1)
    few = min(int((kinds == kind).sum()) for kind in (FITTING, MISLEADING, RANDOM)) < FEWEST
    if few or not np.isin(range(FOLDS), folds).all():
        return (), np.empty((len(features), 0))
    contrasts, said = [], np.empty((len(features), len(AGAINST)))
    for place, against in enumerate(AGAINST):
        shown = np.isin(kinds, (FITTING, *against))
        contrasts.append(_fitted(features[shown], kinds[shown]))
        said[:, place] = contrasts[-1].predict(features)
        for fold in range(FOLDS):
            apart, asked = shown & (folds != fold), folds == fold
            said[asked, place] = _fitted(features[apart], kinds[apart]).predict(features[asked])
    return tuple(contrasts), said


def said_of(contrasts: Sequence[Linear], features: NDArray[np.floating]) -> FloatArray:
    """[N, C] what contrasts say of [N, F] features, each row the same to the last bit whatever stands beside it."""
    return np.array([one.predict(features) for one in contrasts]).reshape(len(contrasts), len(features)).T


def shared_out(contrasts: Sequence[Linear], features: NDArray[np.floating], moved: FloatArray) -> FloatArray:
    """[N, F] what features add by way of contrasts, which add [N, C].

    Each gets as much as it moved the contrast, whichever way, from the mean of what the contrast was fitted on: shares
    by the way it moved would run away where features move a contrast against each other.
    """
    found = np.zeros(features.shape)
    for contrast, added in zip(contrasts, moved.T, strict=True):
        by = np.abs(contrast.moved(features))
        total = by.sum(axis=1, keepdims=True)
        found += added[:, None] * np.divide(by, total, out=np.full(by.shape, 1 / by.shape[1]), where=total > 0)
    return found


def _fitted(features: NDArray[np.floating], kinds: NDArray[np.intp]) -> Linear:
    """One contrast."""
    return fit_linear(features, np.where(kinds == FITTING, _FITS, _FITS_NOT), np.ones(len(kinds)), PENALTY)
