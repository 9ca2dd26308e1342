"""The ADEM head: two bilinear forms between vectors, made into a rating (Lowe et al. 2017, equation 1).

    score(c, r, r^) = (c' M r^ + r' N r^ - alpha) / beta

with context c, reference r and response r^, which are projected onto principal components first. C-ADEM keeps the first
term alone, R-ADEM the second. The released program stores the transpose of this M and N.
Shapes: n or N examples with R references together, D width of a raw vector, K of a projected one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.errors import DataError
from rejoinder.judges.protocol import Rows, Side
from rejoinder.scorer import FloatArray

Terms = tuple[Side, ...]
Penalty = Literal["frobenius", "l2_squared", "l1"]
Normalise = Literal["none", "l2"]
References = Literal["best", "mean"]
"""Of several references, the best of the scores against each, or their mean."""
MATRICES: dict[Side, Literal["M", "N"]] = {"context": "M", "reference": "N"}
_PENALTY_GRADIENTS: dict[Penalty, Callable[[FloatArray], FloatArray]] = {
    "frobenius": lambda matrix: matrix / (np.linalg.norm(matrix) or 1.0),
    "l2_squared": lambda matrix: 2.0 * matrix,
    "l1": np.sign,
}


class Vectors(NamedTuple):
    """Vectors of n examples, each [n, K] or [n, D]. A side that the terms do not use may hold anything."""

    context: FloatArray
    reference: FloatArray
    response: FloatArray

    def at(self, rows: Rows) -> Vectors:
        """Return some of the examples."""
        return Vectors(*(side[rows] for side in self))


@dataclass(frozen=True)
class Encoded:
    """Raw vectors of N examples with R references together. A side that the terms leave out is zero."""

    context: FloatArray  # [N, D]
    references: FloatArray  # [R, D]; one of zeros for each example where the terms leave them out
    owner: Rows  # [R] the example of each reference, ascending
    response: FloatArray  # [N, D]

    def pairs(self) -> Vectors:
        """Return raw vectors [R, D], a row a reference, with its context and response."""
        return Vectors(self.context[self.owner], self.references, self.response[self.owner])

    def at(self, rows: Rows) -> Encoded:
        """Return the examples at ascending rows."""
        kept = np.flatnonzero(np.isin(self.owner, rows))
        owner = np.searchsorted(rows, self.owner[kept])
        return Encoded(self.context[rows], self.references[kept], owner, self.response[rows])

    @cached_property
    def means(self) -> Vectors:
        """Raw vectors [N, D] with the mean of each example's references; NaN where none has a known word."""
        # A judge is fitted on these means, as the release is on one reference each. In scoring each reference counts
        # by itself (`pairs`), so that the best can be taken.
        known = ~np.isnan(self.references).any(axis=1)
        sums = np.zeros_like(self.response)
        np.add.at(sums, self.owner[known], self.references[known])
        counts = np.bincount(self.owner[known], minlength=len(sums))[:, None]
        means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        return Vectors(self.context, means, self.response)

    def combine(self, values: FloatArray, references: References) -> FloatArray:
        """Return [N] scores of the examples from those of their references [R]; NaN where all of these are."""
        known = ~np.isnan(values)
        owner, values = self.owner[known], values[known]
        counts = np.bincount(owner, minlength=len(self.response))
        if references == "mean":
            combined = np.bincount(owner, values, len(counts)) / np.maximum(counts, 1)
        else:
            combined = np.full(len(counts), -np.inf)
            np.maximum.at(combined, owner, values)
        return np.where(counts > 0, combined, np.nan)

    def unknown_sides(self, terms: Terms) -> list[str]:
        """Return the first side of each example that counts and has no vector, or ""."""
        sides = np.full(len(self.response), "", dtype=object)
        for side in ("response", *terms)[::-1]:
            sides[np.isnan(getattr(self.means, side)).any(axis=1)] = side
        return sides.tolist()


@dataclass(frozen=True)
class AdemHead:
    """The parameters: M and N [K, K], shift alpha and scale beta of the sum, and which terms count."""

    M: FloatArray
    N: FloatArray
    alpha: float
    beta: float
    terms: Terms

    def matrix(self, term: Side) -> FloatArray:
        """Return [K, K]: M of the context, N of the reference."""
        return self.M if term == "context" else self.N

    def __call__(self, vectors: Vectors) -> FloatArray:
        """Return [n] predicted ratings, nominally 1 to 5, not clipped; NaN if a vector that the head uses is NaN."""
        total = np.zeros(vectors.response.shape[:-1])
        for term in self.terms:
            total += ((getattr(vectors, term) @ self.matrix(term)) * vectors.response).sum(axis=-1)
        return (total - self.alpha) / self.beta


def initial_head(vectors: Vectors, terms: Terms) -> AdemHead:
    """Return the head before training: M = N = I, and alpha and beta so that predictions have mean 3 and range 4.

    The paper says that alpha and beta bring the first predictions into [1, 5]; the released program sets mean and
    range, so some fall outside. With m the mean and R the range of the bilinear sum: alpha = m - 3/4 R, beta = R / 4.
    Raises `DataError` if all sums are equal.
    """
    width = vectors.response.shape[-1]
    head = AdemHead(np.eye(width), np.eye(width), 0.0, 1.0, terms)
    sums = head(vectors)
    spread = float(sums.max() - sums.min())
    if spread == 0.0:
        raise DataError(
            "the judge gives all examples the same score",
            "Give responses whose words differ, in a language that the encoder knows",
        )
    beta = spread / 4.0
    return replace(head, alpha=float(sums.mean()) - 3.0 * beta, beta=beta)


def gradient(
    head: AdemHead, vectors: Vectors, ratings: FloatArray, penalty: Penalty, weight: float
) -> dict[Side, FloatArray]:
    """Return the gradient [K, K] of mean squared error plus `weight` times a penalty, for the matrix of each term.

    The penalty is the size of both matrices: `frobenius` is that of the released program (the norm, not squared),
    `l2_squared` that of the paper (equation 2; it prints a sum of errors), `l1` that of the earlier submission.
    """
    slope = 2.0 * (head(vectors) - ratings) / (len(ratings) * head.beta)  # [n]
    weighted = slope[:, None] * vectors.response  # [n, K]
    return {
        term: getattr(vectors, term).T @ weighted + weight * _PENALTY_GRADIENTS[penalty](head.matrix(term))
        for term in head.terms
    }


@dataclass(frozen=True)
class Projection:
    """Principal components: centre by `mean` [D], rotate by orthonormal `components` [K, D]; no whitening, as released.

    `explained` is the share of the variance that the K components keep.
    """

    mean: FloatArray
    components: FloatArray
    explained: float

    def __call__(self, vectors: FloatArray) -> FloatArray:
        """Return [n, K] from [n, D]; a row of NaN stays one."""
        projected: FloatArray = vectors @ self.components.T
        projected -= self.mean @ self.components.T
        return projected


def fit_projection(sides: Sequence[FloatArray], components: int, rows: Rows) -> Projection:
    """Return the projection fitted on some rows of all sides [n, D], each distinct row once, without rows of NaN.

    K is `components`, at most D and the number of distinct rows. The released ADEM fits on rows repeated by
    over-sampling; the paper does not ask for that, and it only weights them.
    """
    from scipy.linalg import eigh

    # 64-bit sums of their bits distinguish the rows: sorting the rows themselves takes longer than all the rest.
    factors = np.random.default_rng(0).integers(2**64, size=sides[0].shape[1], dtype=np.uint64)
    seen, distinct = np.empty(0, dtype=np.uint64), []
    for side in sides:
        places = np.unique(rows)
        places = places[np.isfinite(side.sum(axis=1))[places]]
        sums = (np.ascontiguousarray(side).view(np.uint64) @ factors)[places]
        sums, first = np.unique(sums, return_index=True)
        distinct.append(side[places[np.sort(first[~np.isin(sums, seen)])]])
        seen = np.concatenate([seen, sums])
    vectors = np.concatenate(distinct)
    mean = vectors.mean(axis=0)
    vectors -= mean
    scatter = vectors.T @ vectors
    width, kept = len(mean), min(components, *vectors.shape)
    # The first K eigenvectors of a wide matrix take a fraction of the time of all of them.
    variances, axes = eigh(scatter, subset_by_index=(width - kept, width - 1))
    axes = axes.T[::-1]  # [K, D]
    # An axis has no direction: its largest number is made positive, so that it is the same on every machine.
    axes = axes * np.sign(axes[np.arange(kept), np.abs(axes).argmax(axis=1)])[:, None]
    total = float(np.trace(scatter))
    return Projection(mean, axes, float(variances.sum()) / total if total else 1.0)


def project(raw: Vectors, projection: Projection | None, normalise: Normalise) -> Vectors:
    """Return what the head reads: each side of raw vectors through `project_side`."""
    return Vectors(*(project_side(side, projection, normalise) for side in raw))


def project_side(vectors: FloatArray, projection: Projection | None, normalise: Normalise) -> FloatArray:
    """Return raw vectors [n, D], set to length 1 by `l2`, projected to [n, K]."""
    if normalise == "l2":
        vectors = vectors / lengths(vectors)
    return vectors if projection is None or not vectors.shape[-1] else projection(vectors)


def lengths(vectors: FloatArray) -> FloatArray:
    """Return [..., 1] lengths of vectors to divide them by; 1 for a vector of zeros."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(norms == 0, 1.0, norms)
