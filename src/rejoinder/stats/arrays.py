"""What all statistics say of their arrays: types, clusters counted from 0, and blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Counts = NDArray[np.uint16]  # [G, B] how often each cluster is drawn in each resample


def renumbered(labels: NDArray[Any]) -> IntArray:
    """`labels` [N] as numbers from 0 on, without gaps, in the same order."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def number_of(clusters: NDArray[Any]) -> int:
    """G, where `clusters` [N] are numbered from 0 to G - 1; 0 of nothing."""
    return int(clusters.max(initial=-1)) + 1


def numbers_of(clusters: IntArray, groups: IntArray) -> IntArray:
    """[K] how many different `clusters` [N] the members of each of K `groups` [N] are of; groups are numbered from 0.

    What is said of a group rests on these alone, however many clusters the data have.
    """
    kinds = np.unique(np.stack([groups, clusters]), axis=1)
    return np.bincount(kinds[0], minlength=number_of(groups)).astype(np.int64)


def blocks(width: int, height: int, numbers: int) -> Iterator[slice]:
    """Consecutive slices of `width` columns, each so narrow that `height` rows of it are at most so many `numbers`."""
    step = max(1, numbers // max(height, 1))
    for start in range(0, width, step):
        yield slice(start, min(start + step, width))
