"""What a difference in length does to scores and ratings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.data.rated import PEOPLE, RatedSet
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.metrics.baselines import words
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import SMALLEST_P
from rejoinder.stats.figure import NONE, Figure, written_as
from rejoinder.stats.resamples import Sampling, numbers_of, percentile_interval

APART = 6  # words; Liu et al. (2016), table 5, print "<= 6" and ">= 6"


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthEffect(Figure):
    """Mean score of responses about as long as the nearest reference, less that of the others.

    p is Mann-Whitney's, two-sided, and takes lines as independent.

    Attributes:
        scorer: its name; "people" for the ratings.
        n: lines of both kinds.
        n_close: lines whose response differs from a reference by six words at most.
        n_far: the others.
        mean_close: mean score of the close ones; NaN where there are none.
        mean_far: mean score of the others.
    """

    scorer: str
    n: int = written_as(default=0)
    n_close: int
    n_far: int
    mean_close: float
    mean_far: float

    statistic: ClassVar = "mean near a reference's length less mean far from it"


def length_effects(scored: ScoredSet) -> tuple[LengthEffect, ...]:
    """Mean scores of responses within six words of a reference's length and of the others, people first.

    Nothing where no line has a reference, and of a pool, whose scales differ. Source: Liu et al. (2016), table 5.
    """
    rated = scored.rated
    apart = np.array([_apart(one) for one in rated.examples], dtype=np.float64)
    if rated.pooled or not np.isfinite(apart).any():
        return ()
    return tuple(
        _effect(rated, name, values, apart, scored.sampling)
        for name, values in {PEOPLE: rated.ratings, **scored.blind}.items()
    )


def _apart(example: Example) -> float:
    """Words by which the response and the reference nearest to it in length differ; NaN without a reference."""
    lengths = [len(words(reference)) for reference in example.references if reference.strip()]
    own = len(words(example.response))
    return min((abs(own - length) for length in lengths), default=NONE)


def _effect(rated: RatedSet, name: str, values: FloatArray, apart: FloatArray, sampling: Sampling) -> LengthEffect:
    """The effect on one scorer."""
    from scipy.stats import mannwhitneyu

    usable = np.flatnonzero(np.isfinite(apart) & np.isfinite(values))
    far: NDArray[np.int64] = (apart[usable] > APART).astype(np.int64)
    own = values[usable]
    close_ones, far_ones = own[far == 0], own[far == 1]
    close, beyond = (float(group.mean()) if len(group) else NONE for group in (close_ones, far_ones))
    n = (len(close_ones), len(far_ones))
    found = LengthEffect(
        scorer=name,
        n=len(own),
        n_close=n[0],
        n_far=n[1],
        mean_close=close,
        mean_far=beyond,
        method="none",
        seed=sampling.seed,
        reason=f"{n[0]} responses within {APART} words of a reference and {n[1]} beyond; one of each is needed",
    )
    if not all(n):
        return found
    lines = rated.at(usable)
    drawn = sampling.draw(lines.contexts, rated.name, "length").means(own, far)
    interval = percentile_interval(drawn[0] - drawn[1], int(numbers_of(lines.contexts, far).min()))
    return replace(
        found,
        value=close - beyond,
        low=interval.low,
        high=interval.high,
        p=max(float(mannwhitneyu(close_ones, far_ones).pvalue), SMALLEST_P),
        method=f"difference of means; 95% expanded percentile interval, {sampling.resamples} resamples of contexts; "
        "p: Mann-Whitney, takes lines as independent",
        reason=interval.reason,
    )
