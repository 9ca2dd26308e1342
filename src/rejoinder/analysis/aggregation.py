"""One rating a line from the ratings of several raters: by arithmetic, or by a model of the raters.

Shapes: N lines, R ratings of a line at most, J raters, L labels (the values that occur).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np

from rejoinder.analysis.raters import MOST_VALUES, Raters
from rejoinder.errors import DataError, UsageError
from rejoinder.stats.rater_models import Labelled, dawid_skene, mace
from rejoinder.stats.resamples import FloatArray

Aggregation = Literal["mean", "median", "majority", "z-score", "dawid-skene", "mace"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)


class Aggregated(NamedTuple):
    """One rating a line."""

    values: FloatArray  # [N] NaN if no rater who counts rated the line, or the model is too uncertain
    competence: Mapping[str, float] = {}  # by rater, the share of ratings given with knowledge, if a model knows it
    uncertain: int = 0  # lines left without a rating because the model is too uncertain


def aggregate(
    raters: Raters, name: Aggregation = "mean", *, rng: np.random.Generator, share: float = 1.0
) -> Aggregated:
    """Return one rating a line.

    `majority` is the most frequent value, or the median of several; `z-score` the mean of the ratings in standard
    deviations from the mean of their rater, on the scale of all ratings; `dawid-skene` the most probable value if each
    rater has a table of confusions (Dawid and Skene 1979); `mace` the most probable value if each rater either knows it
    or spams (Hovy et al. 2013), with starts by `rng`, for the most certain `share` of the lines.

    Raises:
        UsageError: the aggregation is unknown, or does not go with the share.
        DataError: a model is asked for, and the ratings take too many values or there are none.
    """
    if name not in AGGREGATIONS:
        raise UsageError(f"aggregation is {name!r}, expected one of {', '.join(AGGREGATIONS)}")
    if not 0 < share <= 1:
        raise UsageError(f"the share of lines that get a rating is {share!r}, expected more than 0 and at most 1")
    if share < 1 and name != "mace":
        raise UsageError(f"{name} has no measure of certainty. Leave the share out, or aggregate by mace")
    if name == "mace" or name == "dawid-skene":
        return _by_model(raters, rng if name == "mace" else None, share)
    if name in ("mean", "z-score"):
        return Aggregated(_mean(raters.ratings) if name == "mean" else _z_score(raters))
    middle = np.median if name == "median" else _most_frequent
    rows = (row[np.isfinite(row)] for row in raters.ratings)
    return Aggregated(np.array([middle(row) if len(row) else np.nan for row in rows]))


def _mean(ratings: FloatArray) -> FloatArray:
    """Return [N] means, rounded so that raters summed in another order do not break a tie."""
    known = np.isfinite(ratings)
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.where(known, ratings, 0).sum(axis=1) / known.sum(axis=1)
    return means.round(9)


def _most_frequent(ratings: FloatArray) -> float:
    """Return the most frequent of some ratings, the median of several."""
    values, counts = np.unique(ratings, return_counts=True)
    return float(np.median(values[counts == counts.max()]))


def _z_score(raters: Raters) -> FloatArray:
    """Return [N] means of the ratings without the mean and spread of their raters, on the scale of all ratings."""
    numbers, ratings = raters.raters[raters.present], raters.ratings[raters.present]
    table = np.full(raters.ratings.shape, np.nan)
    if not len(ratings):
        return table[:, 0]
    counts = np.maximum(raters.counts, 1)
    apart = ratings - (np.bincount(numbers, ratings, len(counts)) / counts)[numbers]
    spreads = np.sqrt(np.bincount(numbers, apart**2, len(counts)) / counts)[numbers]
    # A rater who always gives the same value adds nothing.
    table[raters.present] = np.divide(apart, spreads, out=np.zeros_like(apart), where=spreads > 0)
    values = ratings.mean() + ratings.std() * _mean(table)
    return np.asarray(np.clip(values, *(raters.rated.scale or (-np.inf, np.inf)))).round(9)


def _by_model(raters: Raters, rng: np.random.Generator | None, share: float) -> Aggregated:
    """Return the most probable values of the most certain lines: by MACE, without `rng` by Dawid and Skene's model.

    Source: Hovy et al. (2013), section 3.4, for the lines with the lowest entropy.
    """
    present, values = raters.present, raters.values
    rated, lines = np.unique(np.nonzero(present)[0], return_inverse=True)
    if not len(rated):
        raise DataError("no ratings are left to aggregate", "Leave fewer raters out")
    if len(values) > MOST_VALUES:
        problem = f"ratings take {len(values):,} values, and a model of raters takes {MOST_VALUES} at most"
        raise DataError(problem, "Aggregate by mean, median or z-score")
    people, numbers = np.unique(raters.raters[present], return_inverse=True)
    labels = np.searchsorted(values, raters.ratings[present])
    labelled = Labelled(lines, numbers, labels, (len(rated), len(people), len(values)))
    model = dawid_skene(labelled) if rng is None else mace(labelled, rng)
    entropy = -(model.belief * np.log(np.maximum(model.belief, np.finfo(np.float64).tiny))).sum(axis=1)
    kept = np.argsort(entropy, kind="stable")[: int(np.ceil(share * len(rated)))]
    likeliest = np.full(len(raters.ratings), np.nan)
    likeliest[rated[kept]] = values[model.belief[kept].argmax(axis=1)]
    names = [raters.names[number] for number in people.tolist()]
    return Aggregated(likeliest, dict(zip(names, model.competence.tolist(), strict=True)), len(rated) - len(kept))
