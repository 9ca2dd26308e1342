"""How the score of a bilinear judge moves with the vector of the response: for what looks inside.

The head is linear in the response's projected vector, and the projection is linear too, so the gradient is exact. Only
the length of the raw vector, where it is set to 1 first, bends it. Shapes: N examples with R references together, D
width of a raw vector, K of a projected one, P other responses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rejoinder.judges.adem.fit import Normalise, project
from rejoinder.judges.adem.head import Head, Vectors
from rejoinder.judges.adem.sides import Encoded, References
from rejoinder.judges.learner import Rows
from rejoinder.models.encoders import Projection
from rejoinder.scorer import FloatArray


def gradients(
    encoded: Encoded, head: Head, projection: Projection | None, normalise: Normalise, references: References
) -> FloatArray:
    """[N, D] the derivative of each rating by the response's raw vector; NaN where there is no rating.

    Of several references the mean of the derivatives, or that of the best, as `references` has it for the ratings.
    """
    raw = encoded.pairs()
    projected = project(raw, projection, normalise)
    slopes = _coefficients(projected, head)
    if projection is not None:
        slopes = slopes @ projection.components  # [R, D]
    if normalise == "l2":
        slopes = _through_length(slopes, raw.response)
    ratings = head(projected)
    slopes[np.isnan(ratings)] = np.nan
    return _combined(slopes, ratings, encoded, references)


@dataclass(frozen=True)
class Forms:
    """The linear forms of n examples: what each would be rated with other responses.

    Attributes:
        slopes: [F, K] what each form multiplies a projected response with.
        owner: [F] the example of each, ascending; several where the best reference counts.
        examples: n.
        constant: what is taken off the product.
    """

    slopes: FloatArray
    owner: Rows
    examples: int
    constant: float

    def __call__(self, compared: FloatArray, rows: Rows | None = None) -> FloatArray:
        """[m, P] ratings of m ascending `rows`, of all where None, with responses [P, K]; NaN where there is none."""
        asked = np.arange(self.examples) if rows is None else rows
        kept = np.flatnonzero(np.isin(self.owner, asked))
        found = np.full((len(asked), len(compared)), np.nan)
        if len(kept):
            owners, starts = np.unique(self.owner[kept], return_index=True)
            best = np.maximum.reduceat(self.slopes[kept] @ compared.T, starts, axis=0)
            found[np.searchsorted(asked, owners)] = best - self.constant
        return found


def forms_of(encoded: Encoded, projected: Vectors, head: Head, references: References) -> Forms:
    """The forms of encoded examples; their own responses do not count.

    Args:
        encoded: the examples.
        projected: their pairs [R, K].
        head: the head.
        references: of several, the rating against the `best`, or the `mean`.
    """
    slopes = _coefficients(projected, head)
    known = np.flatnonzero(np.isfinite(slopes).all(axis=1))
    slopes, owner = slopes[known], encoded.owner[known]
    if references == "mean" and len(owner):  # the mean of linear forms is one itself
        owners, starts, counts = np.unique(owner, return_index=True, return_counts=True)
        slopes, owner = np.add.reduceat(slopes, starts, axis=0) / counts[:, None], owners
    return Forms(slopes, owner, len(encoded.response), head.alpha / head.beta)


def _coefficients(projected: Vectors, head: Head) -> FloatArray:
    """[R, K] what the head multiplies each projected response with, so that the product less alpha / beta is rated."""
    slopes = np.zeros((len(projected.response), head.M.shape[0]))
    if "context" in head.terms:
        slopes += projected.context @ head.M
    if "reference" in head.terms:
        slopes += projected.reference @ head.N
    return slopes / head.beta


def _through_length(slopes: FloatArray, raw: FloatArray) -> FloatArray:
    """[R, D] derivatives by vectors of length 1, handed on to the vectors [R, D] before their length was set."""
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    unit = raw / np.where(lengths == 0, 1.0, lengths)
    across: FloatArray = slopes - (slopes * unit).sum(axis=1, keepdims=True) * unit
    return across / np.where(lengths == 0, 1.0, lengths)


def _combined(slopes: FloatArray, ratings: FloatArray, encoded: Encoded, references: References) -> FloatArray:
    """[N, D] from [R, D], those without a rating [R] left out; NaN where an example has no other."""
    found = np.full((len(encoded.response), slopes.shape[1]), np.nan)
    for row in np.unique(encoded.owner[np.isfinite(ratings)]):
        own = np.flatnonzero((encoded.owner == row) & np.isfinite(ratings))
        found[row] = slopes[own].mean(axis=0) if references == "mean" else slopes[own[ratings[own].argmax()]]
    return found
