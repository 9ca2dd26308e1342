"""Geometry: how narrow the cone of a judge's vectors is, and how narrow the band of its scores.

Sai et al. (2019) explain with the first that ADEM scores nearly everything alike: a linear head hardly distinguishes
vectors that all point in one direction. Shapes: N examples, G contexts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rejoinder.auditing.conicity import conicity_over, mean_length, vector_spread
from rejoinder.auditing.spreads import ratio_of_spreads
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.judges.answers import is_judge
from rejoinder.judges.differentiable import is_differentiable
from rejoinder.scorer import FloatArray, Scorer
from rejoinder.stats.correlation import pearson
from rejoinder.stats.resamples import IntArray, Resamples, Sampling

RESAMPLES = 1000
_NO_RANGE = "its scores have no lowest and highest value"
_NO_RATINGS = "no human ratings on a known scale"


def cones(
    judge: Scorer, examples: Sequence[Example], clusters: IntArray, sampling: Sampling, **labels: Any
) -> list[Estimate]:
    """Return the conicity of the vectors of every side, before and after projection, with spread and mean length.

    The conicity is the mean cosine of the vectors with their mean: 1 if all point in one direction. The list is empty
    for a scorer without vectors. The group is `JUDGE: SIDE, SPACE`: the member of a panel; response, context or
    reference; vectors of the encoder, or projected as the head sees them.

    Args:
        judge: the scorer.
        examples: N examples.
        clusters: [N] context of each, in [0, G).
        sampling: decides the resamples.
        labels: fields of the estimates, such as the scorer.
    """
    if not is_differentiable(judge):
        return []
    resamples, estimates = _resamples(clusters, sampling), list[Estimate]()
    for space in judge.spaces(examples):
        for side in space.sides:
            vectors, rows = space.sides[side].vectors, space.sides[side].rows
            projected = space.project(vectors)
            kinds = {"encoder": vectors}
            if projected is not vectors:  # the head of AutoJudge compares the encoder's vectors themselves
                kinds["projected"] = projected
            for kind, values in kinds.items():
                group = f"{space.name}: {side}, {kind}"
                estimates += _cone(values, resamples.at(rows), by="vectors", group=group, **labels)
    return estimates


def _cone(vectors: FloatArray, resamples: Resamples, **labels: Any) -> Iterator[Estimate]:
    """Yield the estimates of vectors [M, D]."""
    kept = vectors[np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)]
    conicity = estimate_of(conicity_over(vectors, resamples), **labels, statistic="conicity", contexts=resamples.size)
    yield conicity
    yield Estimate(**labels, statistic="spread of vectors", n=conicity.n, value=vector_spread(kept))
    yield Estimate(**labels, statistic="length of vectors", n=conicity.n, value=mean_length(kept))


def breadth(
    judge: Scorer,
    examples: Sequence[Example],
    scores: FloatArray,
    clusters: IntArray,
    sampling: Sampling,
    **labels: Any,
) -> list[Estimate]:
    """Return how far scores [N] spread compared with human ratings, both as shares of their scales.

    A least-squares prediction with correlation r has the ratio r of standard deviations: what it cannot know stays at
    the mean. A ratio below r is a narrower band than the correlation explains. The correlation is reversed for a scorer
    whose lower scores are better.
    """
    scale = _range(judge)
    ratings = np.array([_share(example) for example in examples])
    both = np.isfinite(ratings) & np.isfinite(scores)
    labels |= {"n": int(both.sum())}
    if not both.any():
        plain_ratings = [NAN if (rating := example.rating()) is None else rating for example in examples]
        related = _related(judge, scores, np.array(plain_ratings), labels)
        return [Estimate(**labels, statistic="ratio of spreads", reason=_NO_RATINGS), related]
    related = _related(judge, scores, ratings, labels)
    spread = Estimate(**labels, statistic="sd of ratings, share of the scale", value=float(ratings[both].std()))
    if scale is None:
        return [Estimate(**labels, statistic="ratio of spreads", reason=_NO_RANGE), spread, related]
    shares = (scores[both] - scale[0]) / (scale[1] - scale[0])
    resamples = _resamples(clusters, sampling).at(np.flatnonzero(both))
    ratio = ratio_of_spreads(shares, ratings[both], resamples)
    return [
        estimate_of(ratio, **labels, statistic="ratio of spreads", contexts=resamples.size, seed=sampling.seed),
        Estimate(**labels, statistic="sd of scores, share of the scale", value=float(shares.std())),
        spread,
        related,
    ]


def _related(scorer: Scorer, scores: FloatArray, ratings: FloatArray, labels: dict[str, Any]) -> Estimate:
    """Return the correlation of N scores with N ratings, positive if better replies are rated higher."""
    both = np.isfinite(ratings) & np.isfinite(scores)
    related = pearson(scores[both], ratings[both], names=("score", "rating"))
    figure = -related if scorer.card.higher_is_better is False else related
    return estimate_of(figure, **{**labels, "n": int(both.sum())}, statistic="pearson")


def _range(scorer: Scorer) -> tuple[float, float] | None:
    """Return the lowest and highest score; of judges the nominal ones."""
    if is_judge(scorer):
        return scorer.scale
    low, high = scorer.card.range
    return None if low is None or high is None else (low, high)


def _share(example: Example) -> float:
    """Return the rating of an example as a share of its scale; NaN without a rating."""
    rating, scale = example.rating(), example.scale()
    return NAN if rating is None or scale is None else (rating - scale[0]) / (scale[1] - scale[0])


def _resamples(clusters: IntArray, sampling: Sampling) -> Resamples:
    """Return the resamples of contexts."""
    return Sampling(RESAMPLES, sampling.seed).draw(clusters, "audit", "geometry")
