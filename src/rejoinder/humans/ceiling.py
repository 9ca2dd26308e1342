"""How far the people of a data set agree with each other, and so how far any scorer can agree with their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rejoinder.data.rated import PEOPLE, RatedSet
from rejoinder.stats.agreement import one_against_others, random_halves, reliability
from rejoinder.stats.figure import NOTHING, Figure, written_as
from rejoinder.stats.resamples import Resamples, Sampling, percentile_interval

# Fewer than elsewhere: each resample works the reliability of a table of single ratings out anew.
_RESAMPLES = 200
_DRAWS = 100  # of who is the one rater, or in which half


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """How far people agree with each other, and so how far any scorer can agree with their mean.

    Attributes:
        items: lines with a single rating.
        ratings: single ratings of them.
        single: reliability of one rating, ICC(1).
        mean: reliability of the mean rating.
        ceiling: square root of `mean`, the highest correlation with the mean rating to be expected of any scorer.
        one_rater: Pearson correlation of one rater with the mean of the others.
        one_rater_spearman: the same, Spearman.
        halves: Pearson correlation between two random halves of the raters.
        halves_spearman: the same, Spearman.
        method: how the figures were worked out.
        seed: seed of the draws.
        reason: why figures are missing, else "".
    """

    items: int = 0
    ratings: int = 0
    single: Figure = written_as(value="single", called="reliability of one rating", default=NOTHING)
    mean: Figure = written_as(value="mean", called="reliability of the mean rating", default=NOTHING)
    ceiling: Figure = written_as(value="ceiling", low="low", high="high", called="ceiling of pearson", default=NOTHING)
    one_rater: Figure = written_as(value="one_rater", called="pearson, one rater against the others", default=NOTHING)
    one_rater_spearman: Figure = written_as(
        value="one_rater_spearman", called="spearman, one rater against the others", default=NOTHING
    )
    halves: Figure = written_as(value="halves", called="pearson, random halves of the raters", default=NOTHING)
    halves_spearman: Figure = written_as(
        value="halves_spearman", called="spearman, random halves of the raters", default=NOTHING
    )
    method: str = "none"
    seed: int
    reason: str = ""

    scorer: ClassVar = PEOPLE

    @property
    def n(self) -> int:
        """What its figures are of."""
        return self.items


def people_of(rated: RatedSet, seed: int) -> People:
    """How far those who rated a set agree; figures are NaN, with the reason, where that is not known."""
    if rated.pooled:
        return People(seed=seed, reason="data sets have raters and scales of their own; see each")
    table = rated.single_ratings
    if not table.shape[1]:
        return People(seed=seed, reason="the data holds no single ratings, only means")
    found = reliability(table)
    if found.reason:
        return People(seed=seed, reason=found.reason)
    rng = Sampling(_RESAMPLES, seed).generator(rated.name, "ceiling")
    found = reliability(table, Resamples.draw(rated.contexts, _RESAMPLES, rng))
    one, halves = one_against_others(table, rng, _DRAWS), random_halves(table, rng, _DRAWS)
    return People(
        items=found.items,
        ratings=found.ratings,
        single=Figure(value=float(found.single[0])),
        mean=Figure(value=float(found.mean[0])),
        ceiling=percentile_interval(found.ceiling, rated.clusters),
        one_rater=one.pearson,
        one_rater_spearman=one.spearman,
        halves=halves.pearson,
        halves_spearman=halves.spearman,
        method=f"ceiling: root of ICC(1, k), 95% expanded percentile interval, {_RESAMPLES} resamples of contexts; "
        f"one rater and halves: Pearson, mean over {_DRAWS} random draws",
        seed=seed,
    )
