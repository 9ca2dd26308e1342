"""The smooth part of a head: kernel ridge regression on standardised features, over a sample of the lines.

The prediction for a line z follows from its distance to K landmarks (Williams and Seeger 2001):
b + sum_k a_k exp(-g |z - m_k|^2). Far from all of them it is b alone, so no odd text gets an extreme score.
Shapes: N lines, F features, K landmarks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.linear import moments, standardize
from rejoinder.scorer import FloatArray

LANDMARKS = 500
GAMMA = 0.3  # g times F: half or twice as much changes little
PENALTY = 3.0
CLIP = 4.0  # standard deviations; values beyond count as this
_CHUNK = 4096  # lines at a time, to bound memory
_STEPS = 24  # of an integral over a path
_NEWTON_STEPS = 4  # towards the line with the mean prediction
_JITTER = 1e-6  # on the diagonal, for landmarks that are nearly equal


@dataclass(frozen=True)
class Kernel:
    """A weighted sum of radial basis functions of standardised features."""

    centre: FloatArray  # [F] means of the features in the training lines, which replace missing values
    spread: FloatArray  # [F] their standard deviations
    landmarks: NDArray[np.float32]  # [K, F] standardised lines
    weights: FloatArray  # [K] a
    base: float  # b, the prediction far from all landmarks
    origin: FloatArray  # [F] the standardised line at which `contributions` begin

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] predictions for [N, F] features."""
        # Rounded, because the last bits of a product depend on the place of a row: equal rows get equal predictions.
        return np.round(self._at(self.standardize(features)), 10)

    @property
    def expected(self) -> float:
        """The prediction at `origin`."""
        return float(self._at(self.origin[None])[0])

    def with_baseline(self, features: NDArray[np.floating], weights: FloatArray) -> Kernel:
        """Return the same function with the mean prediction for [N, F] features with [N] weights as `expected`.

        The new origin is near the mean line.
        """
        share, rows = weights / weights.sum(), self.standardize(features)
        mean, origin = float(share @ self._at(rows)), share @ rows
        for _ in range(_NEWTON_STEPS):
            slope = self._slope(origin[None])[0]
            origin = origin + (mean - self._at(origin[None])) * slope / max(float(slope @ slope), _JITTER)
        return replace(self, origin=np.asarray(origin))

    def contributions(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F] what each feature adds to `expected`; they add up exactly.

        Source: integrated gradients along the line from `origin` (Sundararajan et al. 2017).
        """
        rows = self.standardize(features)
        way, gradient = rows - self.origin, np.zeros(rows.shape)
        places, counts = np.polynomial.legendre.leggauss(_STEPS)
        for place, count in zip((places + 1) / 2, counts / 2, strict=True):
            gradient += count * self._slope(self.origin + place * way)
        added = gradient * way
        # The error of the numerical integral goes to the features that moved the prediction most.
        rest, size = self._at(rows) - self.expected - added.sum(axis=1), np.abs(added)
        total = size.sum(axis=1)
        share = np.divide(rest, total, out=np.zeros(len(rest)), where=total > 0)
        return np.asarray(added + share[:, None] * size)

    def standardize(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F] in standard deviations from the mean, at most `CLIP`; 0 where missing."""
        return standardize(features, self.centre, self.spread, CLIP)

    def rbf(self, rows: FloatArray) -> FloatArray:
        """Return [N, K] the radial basis functions of standardised lines, from 0 to 1."""
        squares = np.square(rows).sum(axis=1)[:, None] + self._squares - 2 * (rows @ self._landmarks.T)
        return np.asarray(np.exp(-GAMMA / rows.shape[1] * np.maximum(squares, 0.0)))

    def _at(self, rows: FloatArray) -> FloatArray:
        """Return [N] predictions for standardised lines."""
        return np.concatenate([self.base + self.rbf(rows[part]) @ self.weights for part in _chunks(len(rows))])

    def _slope(self, rows: FloatArray) -> FloatArray:
        """Return [N, F] the gradients of the prediction at standardised lines."""
        weighted = self.rbf(rows) * self.weights
        pull = weighted @ self._landmarks - weighted.sum(axis=1, keepdims=True) * rows
        return np.asarray(2 * GAMMA / rows.shape[1] * pull)

    @cached_property
    def _landmarks(self) -> FloatArray:
        return self.landmarks.astype(np.float64)

    @cached_property
    def _squares(self) -> FloatArray:
        """[K] squared lengths of the landmarks."""
        return np.asarray(np.square(self._landmarks).sum(axis=1))


def fit_kernel(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> Kernel:
    """Fit kernel ridge regression of [N] targets on [N, F] features; lines count, and are drawn, by [N] weights."""
    from scipy.linalg import solve  # not needed to score

    total, share = weights.sum(), weights / weights.sum()
    centre, spread = moments(features, share)
    drawn = np.sort(rng.choice(len(targets), min(LANDMARKS, len(targets)), replace=False, p=share))
    landmarks = standardize(features[drawn], centre, spread, CLIP).astype(np.float32)
    count, width = landmarks.shape
    kernel = Kernel(centre, spread, landmarks, np.zeros(count), 0.0, np.zeros(width))
    means, products, with_targets = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    for part in _chunks(len(targets)):
        table = kernel.rbf(kernel.standardize(features[part]))
        weighted = table * weights[part, None]
        means += weighted.sum(axis=0) / total
        products += weighted.T @ table
        with_targets += weighted.T @ targets[part]
    middle = float(share @ targets)
    matrix = products - total * np.outer(means, means) + PENALTY * kernel.rbf(kernel._landmarks)
    solution = solve(matrix + _JITTER * np.eye(count), with_targets - total * middle * means, assume_a="pos")
    return replace(kernel, weights=np.asarray(solution, np.float64), base=middle - float(means @ solution))


def _chunks(length: int) -> Iterator[slice]:
    """Yield slices that cover `length` lines; one empty slice if `length` is 0."""
    for start in range(0, max(length, 1), _CHUNK):
        yield slice(start, min(start + _CHUNK, length))
