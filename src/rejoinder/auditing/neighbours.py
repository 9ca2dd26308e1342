"""The nearest points. Shapes: P points and Q queries of D numbers, K neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rejoinder.stats.resamples import FloatArray, IntArray, blocks

Index = Callable[[FloatArray, int], IntArray]
"""`index(queries [Q, D], count)` gives [Q, K] the places of the nearest points, the nearest first, in no order of ties;
K is `count`, or P where there are fewer."""
_AT_ONCE = 2**25  # distances in one working array


def exact_index(points: FloatArray) -> Index:
    """Search among all `points` [P, D], by Euclidean distance in single precision."""
    table = np.ascontiguousarray(points, dtype=np.float32)
    squares = (table**2).sum(axis=1)

    def index(queries: FloatArray, count: int) -> IntArray:
        kept = min(count, len(table))
        found = np.empty((len(queries), kept), dtype=np.int64)
        for block in blocks(len(queries), len(table), _AT_ONCE):
            # Less the square of the query's own length, which is the same for all points.
            distances = squares - 2 * (queries[block].astype(np.float32) @ table.T)
            nearest = np.argpartition(distances, kept - 1, axis=1)[:, :kept]
            order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1)
            found[block] = np.take_along_axis(nearest, order, axis=1)
        return found

    return index
