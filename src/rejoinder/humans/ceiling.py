"""How far the people of a data set agree with each other, and so how far any scorer can agree with their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rejoinder.humans.rated_set import RatedSet
from rejoinder.stats.arrays import number_of
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval
from rejoinder.stats.figure import NONE
from rejoinder.stats.reliability import one_against_others, random_halves, reliability
from rejoinder.stats.sampling import Sampling

_RESAMPLES, _DRAWS = 200, 100


@dataclass(frozen=True, slots=True)
class People:
    """How far people agree with each other, and so how far any scorer can agree with their mean.

    Attributes:
        items: lines with a single rating.
        ratings: single ratings of them.
        single: reliability of one rating, ICC(1).
        mean: reliability of the mean rating.
        ceiling: square root of `mean`, the highest correlation with the mean rating to be expected of any scorer.
        low: lower end of the ceiling's 95 % interval.
        high: upper end.
        one_rater: Pearson correlation of one rater with the mean of the others.
        one_rater_spearman: the same, Spearman.
        halves: Pearson correlation between two random halves of the raters.
        halves_spearman: the same, Spearman.
        method: how the figures were worked out.
        seed: seed of the draws.
        reason: why figures are missing (NaN), else "".
    """

    items: int
    ratings: int
    single: float
    mean: float
    ceiling: float
    low: float
    high: float
    one_rater: float
    one_rater_spearman: float
    halves: float
    halves_spearman: float
    method: str
    seed: int
    reason: str = ""


def people_of(rated: RatedSet, seed: int) -> People:
    """How far those who rated a set agree; figures are NaN, with the reason, where that is not known."""
    if rated.pooled:
        return _unknown("data sets have raters and scales of their own; see each", seed)
    table = rated.single_ratings
    if not table.shape[1]:
        return _unknown("the data holds no single ratings, only means", seed)
    found = reliability(table)
    if found.reason:
        return _unknown(found.reason, seed)
    rng = Sampling(_RESAMPLES, seed).generator(rated.name, "ceiling")
    rows = [np.flatnonzero(rated.contexts == context) for context in range(number_of(rated.contexts))]
    counts = cluster_counts(len(rows), _RESAMPLES, rng)
    drawn = [
        reliability(table[np.concatenate([np.tile(r, k) for r, k in zip(rows, c, strict=True)])]) for c in counts.T
    ]
    interval = percentile_interval(np.array([one.ceiling for one in drawn]), len(rows), unit="context")
    one, halves = one_against_others(table, rng, _DRAWS), random_halves(table, rng, _DRAWS)
    return People(
        items=found.items,
        ratings=found.ratings,
        single=float(found.single),
        mean=float(found.mean),
        ceiling=float(found.ceiling),
        low=interval.low,
        high=interval.high,
        one_rater=one.pearson,
        one_rater_spearman=one.spearman,
        halves=halves.pearson,
        halves_spearman=halves.spearman,
        method=f"ceiling: root of ICC(1, k), 95% expanded percentile interval, {_RESAMPLES} resamples of contexts; "
        f"one rater and halves: Pearson, mean over {_DRAWS} random draws",
        seed=seed,
    )


def _unknown(reason: str, seed: int) -> People:
    """No figure, and why."""
    return People(0, 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, "none", seed, reason)
