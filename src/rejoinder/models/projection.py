"""Principal components: the projection that ADEM puts between encoder and head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.scorer import FloatArray


@dataclass(frozen=True)
class Projection:
    """Centre, then rotate onto the first K principal components; no whitening, as in the released ADEM.

    Attributes:
        mean: [D] the mean of the vectors it was fitted on.
        components: [K, D] orthonormal rows, most variance first.
        explained: share of the variance that the K components keep, 0 to 1.
    """

    mean: FloatArray
    components: FloatArray
    explained: float

    def __call__(self, vectors: FloatArray) -> FloatArray:
        """[N, K] from [N, D]; a row of NaN stays one."""
        projected: FloatArray = vectors @ self.components.T
        projected -= self.mean @ self.components.T
        return projected


def fit_projection(groups: Sequence[FloatArray], components: int, places: NDArray[np.intp] | None = None) -> Projection:
    """The projection fitted on the rows of `groups` (contexts, references, responses), each distinct row once.

    The released ADEM fits on rows repeated by over-sampling; the paper does not ask for that, and it only weights them.

    Args:
        groups: arrays [N_i, D]; rows with NaN are left out.
        components: K; at most D and the number of rows.
        places: the rows of every group that count; None for all.
    """
    from scipy.linalg import eigh

    rows = np.concatenate(_distinct(groups, places))
    mean = rows.mean(axis=0)
    rows -= mean
    scatter = rows.T @ rows
    width, kept = len(mean), min(components, *rows.shape)
    # Of a wide matrix the first K eigenvectors are found in a fraction of the time that all of them take.
    variances, axes = eigh(scatter, subset_by_index=(width - kept, width - 1))
    found = axes.T[::-1]  # [K, D]
    # An axis has no direction of its own: the largest number is made positive, so that it is the same everywhere.
    found = found * np.sign(found[np.arange(kept), np.abs(found).argmax(axis=1)])[:, None]
    total = float(np.trace(scatter))
    return Projection(mean, found, float(variances.sum()) / total if total else 1.0)


def _distinct(groups: Sequence[FloatArray], places: NDArray[np.intp] | None) -> list[FloatArray]:
    """The distinct rows of all `groups` together, in the group where each stands first; rows with NaN are left out.

    They are told apart by 64-bit sums of their bits: to sort the rows themselves takes longer than all the rest.
    """
    factors = np.random.default_rng(0).integers(2**64, size=groups[0].shape[1], dtype=np.uint64)
    seen, found = np.empty(0, dtype=np.uint64), []
    for group in groups:
        counted = np.arange(len(group)) if places is None else np.unique(places)
        usable = counted[np.isfinite(group.sum(axis=1))[counted]]
        sums = (np.ascontiguousarray(group).view(np.uint64) @ factors)[usable]
        sums, first = np.unique(sums, return_index=True)
        new = ~np.isin(sums, seen)
        found.append(group[usable[np.sort(first[new])]])
        seen = np.concatenate([seen, sums])
    return found
