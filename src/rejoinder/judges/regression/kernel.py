"""The smooth part of a head: kernel ridge regression on standardised features, over some of the lines.

What is told of a line follows from how near it lies to each of K lines that stand for all (Williams and Seeger 2001):
b + sum_k a_k exp(-g |z - m_k|^2). Far from all of them that is the base alone, so that no odd text runs away with the
score. Shapes: N lines, F features, K marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.linear import moments, standardised
from rejoinder.scorer import FloatArray

MARKS = 500
REACH = 0.3  # g, by feature: half as much or twice as much changes little
PENALTY = 3.0
FARTHEST = 4.0  # standard deviations: what lies beyond is as far as this
_AT_ONCE = 4096
_STEPS = 24  # of an integral over a path
_NEWTON = 4  # steps towards the line that a mean is told of
_JITTER = 1e-6  # on the diagonal, where two marks are nearly one


@dataclass(frozen=True)
class Kernel:
    """A sum of bells over standardised features.

    Attributes:
        centre: [F] means of the features where it was fitted; what is missing counts as this.
        spread: [F] their standard deviations.
        marks: [K, F] the lines that stand for all, standardised.
        weights: [K] a.
        base: b, what it tells far from all.
        origin: [F] the standardised line that `moved` begins at.
    """

    centre: FloatArray
    spread: FloatArray
    marks: NDArray[np.float32]
    weights: FloatArray
    base: float
    origin: FloatArray

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] predictions for [N, F] features, each worked out by itself, to the same last bit."""
        return np.array([self._at(row) for row in self._standardised(features)], np.float64)

    @property
    def expected(self) -> float:
        """The prediction at `origin`."""
        return self._at(self.origin)

    def told_from(self, features: NDArray[np.floating], weights: FloatArray) -> Kernel:
        """The same; `origin` is the line next to the mean of [N, F] features that is told their mean prediction.

        Args:
            features: of the lines.
            weights: [N] what each counts.
        """
        share, rows = weights / weights.sum(), self._standardised(features)
        mean = sum(float(share[part] @ self._many(rows[part])) for part in _spans(len(rows)))
        origin = share @ rows
        for _ in range(_NEWTON):
            slope = self._slope(origin)
            origin = origin + (mean - self._at(origin)) * slope / max(float(slope @ slope), _JITTER)
        return replace(self, origin=np.asarray(origin))

    def moved(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] what each feature adds to `expected`.

        Gradients along the way from `origin` (integrated gradients, Sundararajan et al. 2017).
        """
        rows = self._standardised(features)
        return np.array([self._path(row) for row in rows]).reshape(rows.shape)

    def _standardised(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] in standard deviations from the mean, `FARTHEST` at most; 0 where missing."""
        found = standardised(np.ascontiguousarray(features), self.centre, self.spread)
        return np.minimum(np.maximum(found, -FARTHEST, out=found), FARTHEST, out=found)

    def _at(self, row: FloatArray) -> float:
        """The prediction of one standardised line."""
        return float(self.base + self._bells(row) @ self.weights)

    def _bells(self, row: FloatArray) -> FloatArray:
        """[K] how near a standardised line lies to each mark, at most 1."""
        squares = self._squares - 2 * (self._wide @ row) + row @ row
        return np.asarray(np.exp(-REACH / len(row) * np.maximum(squares, 0.0)))

    def _slope(self, row: FloatArray) -> FloatArray:
        """[F] the gradient of the prediction at a standardised line."""
        bells = self._bells(row) * self.weights
        return np.asarray(2 * REACH / len(row) * (bells @ self._wide - bells.sum() * row))

    def _many(self, rows: FloatArray) -> FloatArray:
        """[n] the predictions of standardised lines, many at once: nearly to the last bit those of each by itself."""
        return np.asarray(self.base + _table(self, rows) @ self.weights)

    def _path(self, row: FloatArray) -> FloatArray:
        """[F] what each feature of a standardised line adds to `expected`; they add up."""
        way, total = row - self.origin, np.zeros(len(row))
        for place, share in zip(*_legendre(), strict=True):
            total += share * self._slope(self.origin + place * way)
        found = total * way
        # What the sum over steps leaves of the integral goes where most was moved.
        left, size = self._at(row) - self.expected - found.sum(), np.abs(found).sum()
        return np.asarray(found + left * np.abs(found) / size) if size > 0 else found

    @cached_property
    def _wide(self) -> FloatArray:
        """[K, F] the marks in double precision."""
        return self.marks.astype(np.float64)

    @cached_property
    def _squares(self) -> FloatArray:
        """[K] the squared length of each mark."""
        return np.asarray(np.square(self._wide).sum(axis=1))


def fit_kernel(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> Kernel:
    """Kernel ridge regression of [N] targets on [N, F] features.

    Lines count by [N] weights; `rng` draws the marks among them, likely ones of much weight.
    """
    from scipy.linalg import solve  # which scoring does without

    share = weights / weights.sum()
    centre, spread = moments(features, share)
    width = features.shape[1]
    start = Kernel(centre, spread, np.zeros((1, width), np.float32), np.zeros(1), 0.0, np.zeros(width))
    drawn = np.sort(rng.choice(len(targets), min(MARKS, len(targets)), replace=False, p=share))
    start = replace(start, marks=start._standardised(features[drawn]).astype(np.float32))
    sums = _sums(start, features, targets, weights)
    total = weights.sum()
    means, middle = sums.bells / total, float(share @ targets)
    matrix = sums.products - total * np.outer(means, means) + PENALTY * _between(start)
    own = solve(matrix + _JITTER * np.eye(len(matrix)), sums.targets - total * middle * means, assume_a="pos")
    return replace(start, weights=np.asarray(own, np.float64), base=middle - float(means @ own))


class _Sums(NamedTuple):
    """Sums over weighed lines: of bells [K], of their products [K, K], and with targets [K]."""

    bells: FloatArray
    products: FloatArray
    targets: FloatArray


def _sums(kernel: Kernel, features: NDArray[np.floating], targets: FloatArray, weights: FloatArray) -> _Sums:
    """What the regression needs of the lines, a few thousand at a time."""
    count = len(kernel.marks)
    found = _Sums(np.zeros(count), np.zeros((count, count)), np.zeros(count))
    for part in _spans(len(targets)):
        bells = _table(kernel, kernel._standardised(features[part]))
        weighed = bells * weights[part, None]
        found.bells[:] += weighed.sum(axis=0)
        found.products[:] += weighed.T @ bells
        found.targets[:] += weighed.T @ targets[part]
    return found


def _between(kernel: Kernel) -> FloatArray:
    """[K, K] the bells between marks."""
    return _table(kernel, kernel._wide)


def _table(kernel: Kernel, rows: FloatArray) -> FloatArray:
    """[n, K] the bells of standardised lines, many at once."""
    squares = np.square(rows).sum(axis=1)[:, None] + kernel._squares - 2 * (rows @ kernel._wide.T)
    return np.asarray(np.exp(-REACH / rows.shape[1] * np.maximum(squares, 0.0)))


def _spans(length: int) -> Iterator[slice]:
    """Parts of lines."""
    for start in range(0, length, _AT_ONCE):
        yield slice(start, min(start + _AT_ONCE, length))


def _legendre() -> tuple[FloatArray, FloatArray]:
    """Places between 0 and 1, and what each counts: an integral as a sum (Gauss and Legendre)."""
    places, counts = np.polynomial.legendre.leggauss(_STEPS)
    return (places + 1) / 2, counts / 2
