"""How the score of a bilinear judge moves with the vector of the response: for what looks inside.

The head is linear in the response's projected vector, and the projection is linear too, so the gradient is exact. Only
the length of the raw vector, where it is set to 1 first, bends it. Shapes: N examples with R references together, D
width of a raw vector, K of a projected one, P other responses.
"""

from __future__ import annotations

import numpy as np

from rejoinder.encoders import Projection
from rejoinder.judges.bilinear.fit import Normalise, project
from rejoinder.judges.bilinear.head import Head, Vectors
from rejoinder.judges.bilinear.sides import Encoded, References
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


def ratings_of(
    encoded: Encoded, compared: FloatArray, head: Head, sides: Vectors, references: References
) -> FloatArray:
    """[N, P] the ratings that examples would have with other responses.

    Args:
        encoded: the examples, whose own responses do not count.
        compared: [P, K] the other responses, projected.
        head: the head.
        sides: of the pairs [R, K], projected.
        references: of several, the rating against the `best`, or the `mean`.
    """
    slopes = _coefficients(sides, head)
    known = np.flatnonzero(np.isfinite(slopes).all(axis=1))
    owner, n = encoded.owner[known], len(encoded.response)
    found = np.full((n, len(compared)), np.nan)
    counts = np.bincount(owner, minlength=n)
    rated = counts > 0
    if references == "mean":  # the mean of linear forms is one itself
        sums = np.zeros((n, slopes.shape[1]))
        np.add.at(sums, owner, slopes[known])
        found[rated] = (sums[rated] / counts[rated, None]) @ compared.T
    else:
        best = np.full(found.shape, -np.inf)
        np.maximum.at(best, owner, slopes[known] @ compared.T)
        found[rated] = best[rated]
    return found - head.alpha / head.beta


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
