"""Ridge regression on standardised features, and probes: linear functions trained without ratings.

A probe separates replies that people wrote to fit their context from replies that they wrote to mislead, or for
another context. It agrees with human ratings without having seen any (docs/lab-notes.md). Its output is one more
feature for trees and kernel. Shapes: N rows, F features, P penalties, C probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.augmentation import WrittenFor
from rejoinder.scorer import FloatArray

PENALTY = 300.0
SILENT = 1e12  # the spread of a column that never varies, so that it has no influence
CLIP = 6.0  # standard deviations; values beyond count as this, so that no odd text gets an extreme score
MIN_REPLIES = 100  # of each kind, for probes
PROBE_FOLDS = 5
_PROBE_PENALTY = 1000.0
# The kinds of replies that each probe separates from fitting ones.
_AGAINST = (WrittenFor.MISLEADING, WrittenFor.RANDOM), (WrittenFor.MISLEADING,), (WrittenFor.RANDOM,)
PROBES = len(_AGAINST)


@dataclass(frozen=True)
class Linear:
    """A weighted sum of features."""

    centre: FloatArray  # [F] means of the features in the training lines, which replace missing values
    spread: FloatArray  # [F] their standard deviations
    weights: FloatArray  # [F] of the standardised features
    base: float  # the prediction at the means

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] predictions for [N, F] features."""
        # A sum by row, not a product of matrices: equal rows get equal predictions.
        return np.asarray(self.base + self.contributions(features).sum(axis=1))

    def contributions(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F] what each feature adds to `base`."""
        return self.standardize(features) * self.weights

    def standardize(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F] standardised features."""
        return standardize(features, self.centre, self.spread)

    def with_baseline(self, features: NDArray[np.floating], weights: FloatArray) -> Linear:
        """Return the same function with the means of [N, F] features with [N] weights as `centre`.

        Predictions change a little only where a feature is missing or beyond `CLIP`.
        """
        share, present = weights / weights.sum(), np.isfinite(features)
        away = np.where(present, np.asarray(features, np.float64) - self.centre, 0.0)
        shift = (share @ away) / np.maximum(share @ present, 1e-9)
        return replace(self, centre=self.centre + shift, base=self.base + float((shift / self.spread) @ self.weights))


def standardize(
    features: NDArray[np.floating], centre: FloatArray, spread: FloatArray, clip: float = CLIP
) -> FloatArray:
    """Return [N, F] features in [F] spreads from [F] centres, at most `clip`; 0 where missing."""
    standard: FloatArray = (np.asarray(features, np.float64) - centre) / spread
    standard[np.isnan(standard)] = 0.0
    return np.minimum(np.maximum(standard, -clip, out=standard), clip, out=standard)


def moments(features: NDArray[np.floating], share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return [F] means and standard deviations of the values present in [N, F] features; rows have [N] shares.

    A column that never varies or is always missing has the deviation `SILENT`.
    """
    present = np.isfinite(features)
    filled = np.where(present, features, 0.0).astype(np.float64)
    counts = np.maximum(share @ present, 1e-9)
    centre: FloatArray = (share @ filled) / counts
    spread = np.sqrt((share @ (np.where(present, filled - centre, 0.0) ** 2)) / counts)
    return centre, np.where(spread > 1e-9, spread, SILENT)


def fit_linear(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, penalty: float = PENALTY
) -> Linear:
    """Fit ridge regression of [N] targets on [N, F] features; rows count by [N] weights."""
    return fit_path(features, targets, weights, np.full((1, features.shape[1]), penalty))[0]


def fit_path(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, penalties: FloatArray
) -> list[Linear]:
    """Fit ridge regression under each of [P, F] penalties of columns; moments and products are computed once."""
    share = weights / weights.sum()
    centre, spread = moments(features, share)
    standard, base = standardize(features, centre, spread), float(share @ targets)
    weighted = standard * weights[:, None]
    matrix, products, means = weighted.T @ standard, weighted.T @ (targets - base), share @ standard
    solutions = [np.linalg.solve(matrix + np.diag(row), products) for row in penalties]
    return [Linear(centre, spread, np.asarray(own), base - float(means @ own)) for own in solutions]


class Written(NamedTuple):
    """Which rows are replies that people wrote to fit their context, or that do not fit it."""

    kinds: NDArray[np.intp]  # [N] `WrittenFor`
    contexts: NDArray[np.intp]  # [N] numbers of their contexts


def fit_probes(features: NDArray[np.floating], written: Written) -> tuple[tuple[Linear, ...], FloatArray]:
    """Fit probes over [N, F] features; return them and [N, C] their outputs on all rows.

    A row that a probe is fitted on gets the output of one fitted on other contexts. There are no probes with fewer than
    `MIN_REPLIES` of a kind, or with too few contexts. (A random reply to one context fits another, so its text may be
    among the other contexts. Leaving these out made no measurable difference: docs/lab-notes.md.)
    """
    kinds = written.kinds
    folds = np.where(kinds != WrittenFor.OTHER, written.contexts % PROBE_FOLDS, -1)
    counts = [int((kinds == kind).sum()) for kind in WrittenFor if kind != WrittenFor.OTHER]
    if min(counts) < MIN_REPLIES or not np.isin(range(PROBE_FOLDS), folds).all():
        return (), np.empty((len(features), 0))

    def fit(rows: NDArray[np.bool_]) -> Linear:
        targets = np.where(kinds[rows] == WrittenFor.FITTING, 0.5, -1.0)
        return fit_linear(features[rows], targets, np.ones(len(targets)), _PROBE_PENALTY)

    probes, outputs = [], np.empty((len(features), PROBES))
    for place, against in enumerate(_AGAINST):
        used = np.isin(kinds, (WrittenFor.FITTING, *against))
        probes.append(fit(used))
        outputs[:, place] = probes[-1].predict(features)
        for fold in range(PROBE_FOLDS):
            held_out = folds == fold
            outputs[held_out, place] = fit(used & ~held_out).predict(features[held_out])
    return tuple(probes), outputs


def probe_outputs(probes: Sequence[Linear], features: NDArray[np.floating]) -> FloatArray:
    """Return [N, C] outputs of probes for [N, F] features."""
    return np.array([probe.predict(features) for probe in probes]).reshape(len(probes), len(features)).T


def share_contributions(probes: Sequence[Linear], features: NDArray[np.floating], added: FloatArray) -> FloatArray:
    """Return [N, F] what features add through probes, whose outputs add [N, C].

    Shares are by absolute contributions to the probe: signed shares would grow without bound where features move a
    probe in opposite directions.
    """
    total = np.zeros(features.shape)
    for probe, column in zip(probes, added.T, strict=True):
        size = np.abs(probe.contributions(features))
        whole = size.sum(axis=1, keepdims=True)
        total += column[:, None] * np.divide(size, whole, out=np.full(size.shape, 1 / size.shape[1]), where=whole > 0)
    return total
