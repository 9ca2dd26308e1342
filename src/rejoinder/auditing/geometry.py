"""Geometry: how narrow the cone of a judge's vectors is, and how narrow the band of its scores.

Sai et al. (2019) explain with the first that ADEM gives most replies nearly the same score: a linear head can barely
distinguish vectors that all point in one direction. Conicity is by Chandrahas, Sharma and Talukdar (2018), Towards
understanding the geometry of knowledge graph embeddings. Alignments are cosines with the mean of the vectors, as in
their program; Sai et al. print a plain product and call it a cosine.

Shapes: N examples or vectors, D numbers of a vector, G contexts, B resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.judges.protocol import is_differentiable, is_judge
from rejoinder.scorer import FloatArray, Scorer
from rejoinder.stats.correlation import pearson
from rejoinder.stats.resamples import IntArray, Resamples, Sampling, number_of, percentile_interval

RESAMPLES = 1000


def cones(
    judge: Scorer, examples: Sequence[Example], clusters: IntArray, sampling: Sampling, **labels: Any
) -> list[Estimate]:
    """Return the conicity of the vectors of every side, before and after projection, with spread and mean length.

    Conicity is the mean cosine of the vectors with their mean: 1 if all point in one direction. The list is empty for a
    scorer without vectors. The group is `JUDGE: SIDE, SPACE`: the member of a panel; response, context or reference;
    vectors of the encoder, or projected as the head sees them.
    """
    if not is_differentiable(judge):
        return []
    resamples, estimates = Sampling(RESAMPLES, sampling.seed).draw(clusters, "audit", "geometry"), list[Estimate]()
    for space in judge.spaces(examples):
        for name, side in space.sides.items():
            projected = space.project(side.vectors)
            kinds = {"encoder": side.vectors}
            if projected is not side.vectors:  # some heads compare the encoder's vectors themselves
                kinds["projected"] = projected
            for kind, vectors in kinds.items():
                group = f"{space.name}: {name}, {kind}"
                estimates += _cone(vectors, resamples.at(side.rows), by="vectors", group=group, **labels)
    return estimates


def _cone(vectors: FloatArray, resamples: Resamples, **labels: Any) -> Iterator[Estimate]:
    """Yield the estimates of vectors [N, D]; those with NaN, or with zeros alone, are left out."""
    kept = np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)
    vectors, within = vectors[kept], resamples.at(np.flatnonzero(kept))
    conicity = replace(conicity_over(vectors, within), contexts=resamples.size)
    labels["n"] = len(vectors)
    yield estimate_of(conicity, **labels, statistic="conicity")
    spread = float(alignments(vectors).var()) if len(vectors) else NAN
    length = float(np.linalg.norm(vectors, axis=1).mean()) if len(vectors) else NAN
    yield Estimate(**labels, statistic="spread of vectors", value=spread)
    yield Estimate(**labels, statistic="length of vectors", value=length)


def alignments(vectors: FloatArray) -> FloatArray:
    """Return [N] the cosine of each vector [N, D] with the mean of all, from -1 to 1; NaN if either is zero."""
    mean = vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(mean)
    cosines = np.full(len(vectors), np.nan)
    np.divide(vectors @ mean, lengths, out=cosines, where=lengths > 0)
    return cosines


def conicity_over(vectors: FloatArray, resamples: Resamples) -> Estimate:
    """Return the mean alignment of vectors [N, D], which are finite and not zero; each resample has its own mean."""
    if not len(vectors):
        return Estimate(reason="no vector")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    values = []
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may draw none of the clusters that are left
        for weights in resamples.weights():  # [N, b]
            means = weights.T @ vectors  # [b, D]
            cosines = (unit @ means.T) / np.linalg.norm(means, axis=1)
            values.append((weights * cosines).sum(axis=0) / weights.sum(axis=0))
    return replace(percentile_interval(np.concatenate(values), resamples.size), n=len(vectors))


def breadth(
    judge: Scorer,
    examples: Sequence[Example],
    scores: FloatArray,
    clusters: IntArray,
    sampling: Sampling,
    **labels: Any,
) -> list[Estimate]:
    """Return how far scores [N] spread compared with human ratings, both as shares of their scales.

    A least-squares prediction with correlation r has the ratio r of standard deviations, because it predicts the mean
    of everything that it does not know. A ratio below r is a narrower band than the correlation explains. The
    correlation is reversed for a scorer whose lower scores are better.
    """
    unscaled = np.array([NAN if (rating := example.rating()) is None else rating for example in examples])
    ratings = np.array([_share_of_scale(example) for example in examples])
    both = np.isfinite(ratings) & np.isfinite(scores)
    labels["n"] = int(both.sum())
    pairs = both if both.any() else np.isfinite(unscaled) & np.isfinite(scores)
    related = pearson(scores[pairs], (ratings if both.any() else unscaled)[pairs], names=("score", "rating"))
    related = -related if judge.card.higher_is_better is False else related
    related = estimate_of(related, **{**labels, "n": int(pairs.sum())}, statistic="pearson")
    if not both.any():
        reason = "no human ratings on a known scale"
        return [Estimate(**labels, statistic="ratio of spreads", reason=reason), related]
    spread = Estimate(**labels, statistic="sd of ratings, share of the scale", value=float(ratings[both].std()))
    low, high = judge.scale if is_judge(judge) else judge.card.range
    if low is None or high is None:
        reason = "its scores have no lowest and highest value"
        return [Estimate(**labels, statistic="ratio of spreads", reason=reason), spread, related]
    shares = (scores[both] - low) / (high - low)
    resamples = Sampling(RESAMPLES, sampling.seed).draw(clusters, "audit", "geometry").at(np.flatnonzero(both))
    ratio = ratio_of_spreads(shares, ratings[both], resamples)
    return [
        estimate_of(ratio, **labels, statistic="ratio of spreads", contexts=resamples.size, seed=sampling.seed),
        Estimate(**labels, statistic="sd of scores, share of the scale", value=float(shares.std())),
        spread,
        related,
    ]


def _share_of_scale(example: Example) -> float:
    """Return the rating of an example as a share of its scale; NaN without a rating or a scale."""
    rating, scale = example.rating(), example.scale()
    return NAN if rating is None or scale is None else (rating - scale[0]) / (scale[1] - scale[0])


def ratio_of_spreads(values: FloatArray, others: FloatArray, resamples: Resamples) -> Estimate:
    """Return the standard deviation of `values` [N] divided by that of `others` [N], with its interval."""
    if not len(values) or not others.std():
        return Estimate(n=len(values), reason="the ratings have no spread")
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may hold nothing but equal values
        drawn = [_deviations(values, weights) / _deviations(others, weights) for weights in resamples.weights()]
    return replace(percentile_interval(np.concatenate(drawn), number_of(resamples.clusters)), n=len(values))


def _deviations(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return [B] standard deviations of `values` [N] under each column of `weights` [N, B]."""
    centred = values - values.mean()  # or squares of large numbers would swallow small differences
    total = weights.sum(axis=0)
    means, squares = (centred @ weights) / total, (centred**2 @ weights) / total
    deviations: FloatArray = np.sqrt(np.maximum(squares - means**2, 0.0))
    return deviations
