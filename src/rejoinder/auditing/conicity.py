"""How vectors lie: within a narrow cone or far apart, long or short.

Chandrahas, Sharma and Talukdar (2018), Towards understanding the geometry of knowledge graph embeddings. Alignments are
cosines with the mean of the vectors as they are, as in their program; Sai et al. (2019) print a plain product and say
cosine. Shapes: N vectors of D numbers, G clusters, B resamples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.stats.resamples import FloatArray, Resamples, percentile_interval


def alignments(vectors: FloatArray) -> FloatArray:
    """[N] the cosine of each vector [N, D] with the mean of all, from -1 to 1; NaN where one of the two is zero."""
    mean = vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(mean)
    found = np.full(len(vectors), np.nan)
    np.divide(vectors @ mean, lengths, out=found, where=lengths > 0)
    return found


def conicity(vectors: FloatArray) -> float:
    """The mean alignment of vectors [N, D]: 1 where all point one way; NaN where one has no alignment."""
    return float(alignments(vectors).mean()) if len(vectors) else float("nan")


def vector_spread(vectors: FloatArray) -> float:
    """The variance of the alignments of vectors [N, D]: how far apart they point."""
    return float(alignments(vectors).var()) if len(vectors) else float("nan")


def mean_length(vectors: FloatArray) -> float:
    """The mean length of vectors [N, D]."""
    return float(np.linalg.norm(vectors, axis=1).mean()) if len(vectors) else float("nan")


def conicity_over(vectors: FloatArray, resamples: Resamples) -> Estimate:
    """The conicity of vectors [N, D] with its interval; vectors that hold NaN, or zeros alone, are left out.

    Args:
        vectors: [N, D].
        resamples: of the vectors; each resample has a mean of its own.
    """
    kept = np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)
    vectors, resamples = vectors[kept], resamples.at(np.flatnonzero(kept))
    if not len(vectors):
        return Estimate(reason="no vector")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    values = []
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may draw none of the clusters that are left
        for weights in resamples.weights():  # [N, b]
            means = weights.T @ vectors  # [b, D]
            toward = (unit @ means.T) / np.linalg.norm(means, axis=1)
            values.append((weights * toward).sum(axis=0) / weights.sum(axis=0))
    return replace(percentile_interval(np.concatenate(values), resamples.size), n=len(vectors))
