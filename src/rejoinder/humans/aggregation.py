"""One rating a line, of what several raters gave: by arithmetic here, by models of raters in `crowd`.

Shapes: N lines, R ratings of a line at most, J raters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.humans.crowd import believed
from rejoinder.humans.raters import NOBODY, Raters
from rejoinder.stats.rater_models import dawid_skene, mace
from rejoinder.stats.resamples import BoolArray, FloatArray

Aggregation = Literal["mean", "median", "majority", "z-score", "dawid-skene", "mace"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)


@dataclass(frozen=True, slots=True)
class Aggregated:
    """One rating a line.

    Attributes:
        name: how it was made.
        values: [N] NaN where nobody who counts rated, or the model is not sure enough.
        entropy: [N] of the model's belief, in nats; NaN where there is no model.
        competence: by rater, how often the model believes that they knew, 0 to 1; empty where there is none.
        unsure: lines left without a rating because the model was not sure enough.
    """

    name: Aggregation
    values: FloatArray
    entropy: FloatArray
    competence: Mapping[str, float] = field(default_factory=dict)
    unsure: int = 0


def aggregate(
    raters: Raters, name: Aggregation = "mean", *, rng: np.random.Generator, share: float = 1.0
) -> Aggregated:
    """One rating a line.

    Args:
        raters: who rated what.
        name: `mean`; `median`; `majority`, the value that most gave, the median of those where several did;
            `z-score`, the mean of what each gave, counted from their own mean in their own standard deviations, brought
            back to mean and spread of all ratings; `dawid-skene`, the likeliest value by a table of confusions a rater
            (Dawid and Skene 1979); `mace`, by how often each rater knows rather than spams (Hovy et al. 2013).
        rng: decides the starts of `mace`.
        share: of the lines, the surest, that get a rating from `mace`; 1 for all.

    Raises:
        UsageError: there is no such aggregation; a share that is none, or of something without a measure of sureness.
        DataError: a model is asked for, and ratings are no categories or nobody's are left.
    """
    if name not in AGGREGATIONS:
        raise UsageError(f"{name!r} aggregates nothing. There are: {', '.join(AGGREGATIONS)}")
    if not 0 < share <= 1:
        raise UsageError(f"the share of lines that get a rating is {share!r}, expected one over 0 and at most 1")
    if share < 1 and name != "mace":
        raise UsageError(f"{name} does not say how sure it is of a line. Leave the share out, or aggregate by mace")
    if name in _PLAIN:
        values = _PLAIN[name](raters)
        return Aggregated(name, values, np.full(len(values), np.nan))
    found = believed(raters, partial(mace, rng=rng) if name == "mace" else dawid_skene)
    kept = surest(found.entropy, share)
    values = np.where(kept, found.values, np.nan)
    return Aggregated(name, values, found.entropy, found.competence, int(np.isfinite(found.values).sum() - kept.sum()))


def surest(entropy: FloatArray, share: float) -> BoolArray:
    """[N] whether a line is among the `share` with the lowest entropy, of those that have one.

    Source: Hovy et al. (2013), section 3.4: a threshold that keeps so many lines.
    """
    known = np.flatnonzero(np.isfinite(entropy))
    kept = np.zeros(len(entropy), dtype=np.bool_)
    kept[known[np.argsort(entropy[known], kind="stable")[: int(np.ceil(share * len(known)))]]] = True
    return kept


def _mean(raters: Raters) -> FloatArray:
    """[N] means, rounded so that raters summed in another order do not break a tie."""
    known = np.isfinite(raters.ratings)
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.where(known, raters.ratings, 0).sum(axis=1) / known.sum(axis=1)
    return means.round(9)


def _median(raters: Raters) -> FloatArray:
    """[N] medians."""
    return _by_line(raters.ratings, lambda given: float(np.median(given)))


def _majority(raters: Raters) -> FloatArray:
    """[N] the value given most often; the median of those where several are."""

    def most(given: FloatArray) -> float:
        values, counts = np.unique(given, return_counts=True)
        return float(np.median(values[counts == counts.max()]))

    return _by_line(raters.ratings, most)


def _z_score(raters: Raters) -> FloatArray:
    """[N] means of what is left of ratings without mean and spread of who gave them, on the scale of all."""
    known = raters.raters != NOBODY
    who, given = raters.raters[known], raters.ratings[known]
    if not len(given):
        return np.full(len(known), np.nan)
    counts = np.bincount(who, minlength=len(raters.names))
    means = np.bincount(who, weights=given, minlength=len(raters.names)) / np.maximum(counts, 1)
    squares = np.bincount(who, weights=(given - means[who]) ** 2, minlength=len(raters.names))
    spreads = np.sqrt(squares / np.maximum(counts, 1))
    # Who gave one value throughout says nothing of any line.
    apart = np.divide(given - means[who], spreads[who], out=np.zeros_like(given), where=spreads[who] > 0)
    table = np.full(raters.ratings.shape, np.nan)
    table[known] = apart
    values = given.mean() + given.std() * _mean(Raters(raters.rated, raters.names, raters.named, table, raters.raters))
    low, high = raters.rated.scale or (-np.inf, np.inf)
    brought: FloatArray = np.clip(values, low, high).round(9)
    return brought


def _by_line(ratings: FloatArray, of: Callable[[FloatArray], float]) -> FloatArray:
    """[N] a number of the ratings of each line, NaN where there is none."""
    rows = (row[np.isfinite(row)] for row in ratings)
    return np.array([of(row) if len(row) else np.nan for row in rows])


_PLAIN: Mapping[str, Callable[[Raters], FloatArray]] = {
    "mean": _mean,
    "median": _median,
    "majority": _majority,
    "z-score": _z_score,
}
