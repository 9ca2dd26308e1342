"""The points nearest to others, exactly or nearly so. Shapes: P points and Q queries of D numbers, K neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import MissingExtra
from rejoinder.stats.arrays import FloatArray, IntArray, blocks

Points = NDArray[np.float32]
Index = Callable[[FloatArray, int], IntArray]
"""`index(queries [Q, D], count)` gives [Q, K] the places of the nearest points, the nearest first, in no order of ties;
K is `count`, or P where there are fewer."""
_AT_ONCE = 2**25  # distances in one working array
_CELLS_A_ROOT = 2  # cells an approximate index has for each of the square root of P
_LOOKED_INTO = 0.12  # share of the cells that a query looks into
_TRAINING = 40  # points a cell that its middle is found from


def faiss_version() -> str:
    """What an approximate index is made with.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss-cpu", "faiss", "An approximate index") from error
    return f"faiss {faiss.__version__}"


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


def approximate_index(points: FloatArray, seed: int = 0) -> Index:
    """Search in those cells of `points` [P, D] alone that lie nearest (faiss, an inverted file of whole vectors).

    It misses some neighbours; `benchmarks/pool_search.py` measures how many, and what is gained.

    Args:
        points: at least one.
        seed: decides the points that the cells are found from.

    Raises:
        MissingExtra: faiss is not installed.
    """
    faiss_version()
    import faiss

    table = np.ascontiguousarray(points, dtype=np.float32)
    cells = max(1, min(int(_CELLS_A_ROOT * len(table) ** 0.5), len(table) // _TRAINING))
    search = faiss.IndexIVFFlat(faiss.IndexFlatL2(table.shape[1]), table.shape[1], cells)
    search.cp.seed, search.cp.max_points_per_centroid = seed, _TRAINING
    search.train(table)
    search.add(table)
    search.nprobe = max(1, round(_LOOKED_INTO * cells))

    def index(queries: FloatArray, count: int) -> IntArray:
        kept = min(count, len(table))
        found = search.search(np.ascontiguousarray(queries, dtype=np.float32), kept)[1]
        # Where the cells hold too few, faiss says -1: the nearest point that was found stands for each of these.
        places: IntArray = np.where(found < 0, np.maximum(found[:, :1], 0), found).astype(np.int64)
        return places

    return index
