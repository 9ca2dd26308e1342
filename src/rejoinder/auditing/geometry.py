"""Why a judge may be easy to fool: how narrow the cone of its vectors is, and how narrow the band of its scores.

Sai et al. (2019) explain with the first that ADEM scores nearly everything alike: a head that is linear in vectors that
all point one way hardly tells them apart. Shapes: N examples, G contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rejoinder.auditing.conicity import conicity_over, mean_length, vector_spread
from rejoinder.auditing.spreads import ratio_of_spreads
from rejoinder.example import Example
from rejoinder.judges.answers import is_judge
from rejoinder.judges.differentiable import Space, is_differentiable
from rejoinder.scorer import FloatArray, Scorer
from rejoinder.stats.correlation import pearson
from rejoinder.stats.figure import NONE, NOTHING, Figure
from rejoinder.stats.resamples import IntArray, Resamples, Sampling

RESAMPLES = 1000
_NO_RANGE = "its scores have no lowest and highest value"
_NO_RATINGS = "nobody rated these replies on a known scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cone(Figure):
    """The conicity of n vectors of one side: their mean cosine with their mean, 1 where all point one way.

    Attributes:
        judge: which compares them, of a panel the member.
        side: response, context or reference.
        space: as the encoder makes them, or as the head sees them.
        spread: the variance of these cosines.
        length: the mean length of the vectors.
    """

    judge: str
    side: str
    space: Literal["encoder", "head"]
    spread: float = NONE
    length: float = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Breadth(Figure):
    """The standard deviation of n scores divided by that of the ratings, both as shares of their scales.

    A judge that predicts as well as its correlation r allows, by least squares, has the ratio r: what it cannot know it
    leaves at the mean. Less than r is a narrower band than it has a reason for.

    Attributes:
        scores: standard deviation of the scores, as a share of the scorer's scale.
        ratings: that of the ratings of the same replies, as a share of theirs.
        pearson: the correlation of both; of the scores turned round where lower ones are better.
    """

    scores: float = NONE
    ratings: float = NONE
    pearson: Figure = NOTHING


def cones(scorer: Scorer, examples: Sequence[Example], clusters: IntArray, sampling: Sampling) -> tuple[Cone, ...]:
    """The cones of every side of N examples, before and after projection; none where a scorer shows no vectors.

    Args:
        scorer: the scorer.
        examples: the examples.
        clusters: [N] the context of each, in [0, G).
        sampling: decides the resamples.
    """
    if not is_differentiable(scorer):
        return ()
    resamples = _resamples(clusters, sampling)
    return tuple(
        cone for space in scorer.spaces(examples) for side in space.sides for cone in _both(space, side, resamples)
    )


def _both(space: Space, name: str, resamples: Resamples) -> list[Cone]:
    """The cone of one side, before projection and, where there is one, after it."""
    side = space.sides[name]
    before, after = side.vectors, space.project(side.vectors)
    own = resamples.at(side.rows)
    found = [_cone(before, own, judge=space.name, side=name, space="encoder")]
    if after is not before:  # the head of AutoJudge compares the encoder's vectors themselves
        found.append(_cone(after, own, judge=space.name, side=name, space="head"))
    return found


def _cone(
    vectors: FloatArray, resamples: Resamples, *, judge: str, side: str, space: Literal["encoder", "head"]
) -> Cone:
    """The cone of vectors [M, D]."""
    kept = vectors[np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)]
    found = conicity_over(vectors, resamples)
    return Cone.of(found, judge=judge, side=side, space=space, spread=vector_spread(kept), length=mean_length(kept))


def breadth(
    scorer: Scorer, examples: Sequence[Example], scores: FloatArray, clusters: IntArray, sampling: Sampling
) -> Breadth:
    """How widely the scores [N] of examples are spread beside the ratings that people gave."""
    scale = _range(scorer)
    ratings = np.array([_share(one) for one in examples])
    both = np.isfinite(ratings) & np.isfinite(scores)
    if not both.any():
        given = np.array([NONE if (rating := one.rating()) is None else rating for one in examples])
        return Breadth(reason=_NO_RATINGS, pearson=_related(scorer, scores, given))
    related = _related(scorer, scores, ratings)
    if scale is None:
        return Breadth(n=int(both.sum()), reason=_NO_RANGE, ratings=float(ratings[both].std()), pearson=related)
    shares = (scores[both] - scale[0]) / (scale[1] - scale[0])
    found = ratio_of_spreads(shares, ratings[both], _resamples(clusters, sampling).at(np.flatnonzero(both)))
    return Breadth.of(found, scores=float(shares.std()), ratings=float(ratings[both].std()), pearson=related)


def _related(scorer: Scorer, scores: FloatArray, ratings: FloatArray) -> Figure:
    """The correlation of N scores with N ratings, where there are both; over 0 where the better is rated higher."""
    both = np.isfinite(ratings) & np.isfinite(scores)
    found = pearson(scores[both], ratings[both], names=("score", "rating"))
    return -found if scorer.card.higher_is_better is False else found


def _range(scorer: Scorer) -> tuple[float, float] | None:
    """The lowest and highest score, for judges nominally."""
    if is_judge(scorer):
        return scorer.scale
    low, high = scorer.card.range
    return None if low is None or high is None else (low, high)


def _share(example: Example) -> float:
    """An example's rating as a share of its scale; NaN where there is none."""
    rating, scale = example.rating(), example.scale()
    return NONE if rating is None or scale is None else (rating - scale[0]) / (scale[1] - scale[0])


def _resamples(clusters: IntArray, sampling: Sampling) -> Resamples:
    """Return the resamples of contexts."""
    return Sampling(RESAMPLES, sampling.seed).draw(clusters, "audit", "geometry")
