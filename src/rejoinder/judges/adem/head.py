"""The ADEM head: two bilinear forms between vectors, made into a rating (Lowe et al. 2017, equation 1).

Shapes: n examples, K width of a projected vector.

    score(c, r, r^) = (c' M r^ + r' N r^ - alpha) / beta

with context c, reference r and response r^. C-ADEM keeps the first term alone, R-ADEM the second. The released program
stores the transpose of this M and N, because it multiplies from the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.errors import DataError
from rejoinder.judges.learner import Side
from rejoinder.scorer import FloatArray

Terms = tuple[Side, ...]
Penalty = Literal["frobenius", "l2_squared", "l1"]
MATRICES: dict[str, Literal["M", "N"]] = {"context": "M", "reference": "N"}
_MIDDLE, _SPAN = 3.0, 4.0


class Vectors(NamedTuple):
    """Projected vectors of n examples, each [n, K]. An array that the head's terms do not use may hold anything."""

    context: FloatArray
    reference: FloatArray
    response: FloatArray


@dataclass(frozen=True)
class Head:
    """The learned parameters.

    Attributes:
        M: [K, K] between context and response.
        N: [K, K] between reference and response.
        alpha: shift of the bilinear sum.
        beta: its scale.
        terms: which of the two terms count.
    """

    M: FloatArray
    N: FloatArray
    alpha: float
    beta: float
    terms: Terms

    def __call__(self, vectors: Vectors) -> FloatArray:
        """[n] predicted ratings, nominally 1 to 5 and not clipped; NaN where a vector that counts is NaN."""
        return (self.bilinear(vectors) - self.alpha) / self.beta

    def bilinear(self, vectors: Vectors) -> FloatArray:
        """[n] the sum of the terms before shift and scale."""
        total = np.zeros(vectors.response.shape[:-1])
        if "context" in self.terms:
            total += ((vectors.context @ self.M) * vectors.response).sum(axis=-1)
        if "reference" in self.terms:
            total += ((vectors.reference @ self.N) * vectors.response).sum(axis=-1)
        return total


def initial_head(vectors: Vectors, terms: Terms) -> Head:
    """The head before training: M = N = I, and alpha and beta that give its predictions mean 3 and range 4.

    The paper says that alpha and beta bring the first predictions into [1, 5]; the released program sets mean and
    range, so some fall outside. With m the mean and R the range of the bilinear sum: alpha = m - 3/4 R, beta = R / 4.

    Raises:
        DataError: all sums are equal, so that no scale exists.
    """
    width = vectors.response.shape[1]
    head = Head(np.eye(width), np.eye(width), 0.0, 1.0, terms)
    sums = head.bilinear(vectors)
    spread = float(sums.max() - sums.min())
    if spread == 0.0:
        raise DataError(
            "all examples look alike to the judge",
            "Give responses whose words differ, in a language that the encoder knows",
        )
    beta = spread / _SPAN
    return replace(head, alpha=float(sums.mean()) - _MIDDLE * beta, beta=beta)


def gradient(
    head: Head, vectors: Vectors, ratings: FloatArray, kind: Penalty, weight: float
) -> tuple[FloatArray, FloatArray]:
    """Return the gradient of mean squared error plus `weight` times a penalty with respect to M and N, each [K, K].

    The penalty is the size of both matrices: `frobenius` is that of the released program (the norm, not squared),
    `l2_squared` that of the paper (equation 2; it prints a sum of errors), `l1` that of the earlier submission.
    Zero for a term that does not count: its matrix stays as it is, and its part of the penalty is a constant.
    """
    slope = 2.0 * (head(vectors) - ratings) / (len(ratings) * head.beta)  # [n]
    weighted = slope[:, None] * vectors.response  # [n, K]
    pairs = (("context", vectors.context, head.M), ("reference", vectors.reference, head.N))
    of_m, of_n = (
        side.T @ weighted + weight * _penalty_gradient(matrix, kind) if term in head.terms else np.zeros_like(matrix)
        for term, side, matrix in pairs
    )
    return of_m, of_n


def _penalty_gradient(matrix: FloatArray, kind: Penalty) -> FloatArray:
    """The gradient of one matrix's part of `penalty`; the norm's and the absolute value's at zero is taken as zero."""
    if kind == "frobenius":
        norm = float(np.linalg.norm(matrix))
        return matrix / norm if norm else np.zeros_like(matrix)
    return 2.0 * matrix if kind == "l2_squared" else np.sign(matrix)
