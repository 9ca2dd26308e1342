"""How the score of an ADEM judge moves with the vector of the response: for attacks that look inside.

Head and projection are linear in the response, so the gradient is exact. Only the length of the raw vector, where it is
set to 1 first, bends it. Shapes: N examples with R references together, D width of a raw vector, K of a projected one,
P other responses.
"""

from __future__ import annotations

import numpy as np

from rejoinder.judges.adem.head import AdemHead, Encoded, Normalise, Projection, References, Vectors, lengths, project
from rejoinder.judges.protocol import Grid, Rows
from rejoinder.scorer import FloatArray


def gradients(
    encoded: Encoded, head: AdemHead, projection: Projection | None, normalise: Normalise, references: References
) -> FloatArray:
    """Return [N, D] derivatives of the ratings by the responses' raw vectors; NaN for a missing rating.

    With several references, return the mean of their derivatives, or the derivative of the best one.
    """
    raw, owner = encoded.pairs(), encoded.owner
    projected = project(raw, projection, normalise)
    slopes = _coefficients(projected, head)
    if projection is not None:
        slopes = slopes @ projection.components  # [R, K] -> [R, D]
    if normalise == "l2":  # through the division by the length
        length = lengths(raw.response)
        unit = raw.response / length
        slopes = (slopes - (slopes * unit).sum(axis=1, keepdims=True) * unit) / length
    ratings = head(projected)
    rated = np.flatnonzero(np.isfinite(ratings))
    if references == "best":
        rated = rated[np.lexsort((-ratings[rated], owner[rated]))]
        rated = rated[np.unique(owner[rated], return_index=True)[1]]
    means, owners = _mean_by_owner(slopes[rated], owner[rated])
    derivatives = np.full(encoded.response.shape, np.nan)
    derivatives[owners] = means
    return derivatives


def linear_forms(
    encoded: Encoded, head: AdemHead, projection: Projection | None, normalise: Normalise, references: References
) -> Grid:
    """Return a function that rates the N examples with other responses (see `Grid`)."""
    slopes = _coefficients(project(encoded.pairs(), projection, normalise), head)
    known = np.flatnonzero(np.isfinite(slopes).all(axis=1))
    slopes, owner = slopes[known], encoded.owner[known]
    if references == "mean":  # the mean of linear forms is a linear form
        slopes, owner = _mean_by_owner(slopes, owner)

    def ratings(compared: FloatArray, rows: Rows | None = None) -> FloatArray:
        asked = np.arange(len(encoded.response)) if rows is None else rows
        kept = np.flatnonzero(np.isin(owner, asked))
        grid = np.full((len(asked), len(compared)), np.nan)
        owners, starts = np.unique(owner[kept], return_index=True)
        best = np.maximum.reduceat(slopes[kept] @ compared.T, starts, axis=0)
        grid[np.searchsorted(asked, owners)] = best - head.alpha / head.beta
        return grid

    return ratings


def _coefficients(projected: Vectors, head: AdemHead) -> FloatArray:
    """Return [R, K] factors of each projected response: rating = factors . response - alpha / beta."""
    slopes = np.zeros((len(projected.response), head.M.shape[0]))
    for term in head.terms:
        slopes += getattr(projected, term) @ head.matrix(term)
    return slopes / head.beta


def _mean_by_owner(values: FloatArray, owner: Rows) -> tuple[FloatArray, Rows]:
    """Return means [n, D] of the rows of each of n owners, and these; `owner` is ascending."""
    owners, starts, counts = np.unique(owner, return_index=True, return_counts=True)
    return np.add.reduceat(values, starts, axis=0) / counts[:, None], owners
