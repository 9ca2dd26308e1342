"""How the score of a bilinear judge moves with the vector of the response: for attacks that look inside.

The head is linear in the response's projected vector, and the projection is linear too, so the gradient is exact. Only
the length of the raw vector, where it is set to 1 first, bends it. Shapes: N examples with R references together, D
width of a raw vector, K of a projected one.
"""

from __future__ import annotations

import numpy as np

from rejoinder.encoders import Projection
from rejoinder.judges.bilinear.fit import Normalise, project
from rejoinder.judges.bilinear.head import Head
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
    slopes = np.zeros_like(projected.response)  # [R, K]
    if "context" in head.terms:
        slopes += projected.context @ head.M
    if "reference" in head.terms:
        slopes += projected.reference @ head.N
    slopes /= head.beta
    if projection is not None:
        slopes = slopes @ projection.components  # [R, D]
    if normalise == "l2":
        slopes = _through_length(slopes, raw.response)
    ratings = head(projected)
    slopes[np.isnan(ratings)] = np.nan
    return _combined(slopes, ratings, encoded, references)


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
