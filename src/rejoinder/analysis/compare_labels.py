"""Comparisons by human labels and a scorer: the scorer's errors on labelled replies correct its difference.

Shapes: N lines of a side. Whatever is "by side" has A first, then B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.analysis.differences import SIDES, Lines, Outcome
from rejoinder.analysis.labels import FEWEST_LABELS, is_binary
from rejoinder.analysis.sample import weights_of
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.estimates import Estimate, estimate_of
from rejoinder.example import OVERALL, Example
from rejoinder.report.written import pluralize
from rejoinder.stats.corrected import Corrected, corrected
from rejoinder.stats.pass_rate import NO_VERDICT
from rejoinder.stats.prediction_powered import shared_power
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray

ALONE = "difference, scores only"
"""The difference as the scorer alone gives it."""
_DETECTABLE = 1.4293  # half intervals that a difference must have, to be shown with probability .8


class Ratings(NamedTuple):
    """Human ratings of both sides.

    Attributes:
        sides: by side [N] on one scale, NaN for lines that are not rated.
        labels: whether they are labels of 0 and 1.
        weights: by side [N] 1 over the chance of a line to be rated, times any constant.
    """

    sides: Sequence[FloatArray]
    labels: bool
    weights: Sequence[FloatArray]


class _Side(NamedTuple):
    """The lines of one side that are compared: ratings, scores, verdicts if scores are such, weights, clusters."""

    ratings: FloatArray
    scores: FloatArray
    verdicts: IntArray | None
    weights: FloatArray
    clusters: IntArray
    kinds: NDArray[np.object_]

    def at(self, rows: BoolArray) -> _Side:
        """Return some of the lines."""
        return _Side(*(None if facts is None else facts[rows] for facts in self))  # type: ignore[arg-type]

    def corrected(self, *, labels: bool) -> Corrected:
        """Return what their mean rating is made of."""
        listed = np.ones(len(self.ratings), dtype=bool)
        facts = (self.ratings, self.scores, self.weights, listed, self.clusters)
        return corrected(*facts, labels=labels, verdicts=self.verdicts)


def ratings_by_side(sides: Sequence[Sequence[Example]], *, rated: bool) -> Ratings | None:
    """Return the ratings that count, if there are some.

    Labels of 0 and 1 do; ratings on another scale only if they were `rated` for this comparison, as any metric may be
    compared on lines that have some.
    """
    lines = [*sides[0], *sides[1]]
    ratings = ratings_of(lines, OVERALL)
    known = np.isfinite(ratings)
    scales = {line.scales.get(OVERALL) for line, is_rated in zip(lines, known, strict=True) if is_rated}
    labels = is_binary(ratings[known]) and scales <= {None, (0.0, 1.0)}
    if not known.any() or not (labels or rated):
        return None
    if not labels:
        sets = rated_sets(lines, ratings, OVERALL)
        on_one_scale = sets.pool or sets.filled[0]
        ratings[on_one_scale.places] = on_one_scale.ratings
    return Ratings(np.split(ratings, [len(sides[0])]), labels, [weights_of(side) for side in sides])


def by_labels(outcome: Outcome, lines: Lines, ratings: Ratings | None) -> Outcome:
    """Return a scorer's outcome with the differences by ratings and scores together, of all lines and of each value.

    The scorer's difference stays as a row of its own. Nothing changes, with the reason, without enough ratings of each
    side; nor for a scorer without a direction, or that cannot judge the replies.
    """
    if ratings is None or outcome.card.higher_is_better is None or "" in outcome.outside:
        return outcome
    sides = [_side(outcome, lines, ratings, which) for which in range(2)]
    if reason := _too_few(sides):
        return replace(outcome, uncorrected=reason)
    estimates = list[Estimate]()
    for row in outcome.estimates:
        if row.statistic == "difference":
            of_group = [side.at(side.kinds == row.group) if row.by else side for side in sides]
            estimates += [*_corrected(of_group, row, labels=ratings.labels), replace(row, statistic=ALONE)]
            if not (row.by or estimates[0].known):
                return replace(outcome, uncorrected=estimates[0].reason)
        elif row.statistic != "detectable difference":
            estimates.append(row)
    return replace(outcome, estimates=tuple(estimates), corrected=True)


def _side(outcome: Outcome, lines: Lines, ratings: Ratings, which: int) -> _Side:
    """Return the lines of one side; those of a context are a cluster with the other side's, where there are pairs."""
    pairs = lines.places[which]
    places = np.array([place for of_pair in pairs for place in of_pair], dtype=np.int64)
    repeats = np.repeat(np.arange(len(pairs)), [len(of_pair) for of_pair in pairs])
    clusters = lines.clusters[which][repeats]
    if which and not lines.pairs.paired:
        clusters = clusters + lines.clusters[0].max() + 1
    values = outcome.values[which][places]
    known, everywhere = np.isfinite(values), np.concatenate(outcome.values)
    everywhere = everywhere[np.isfinite(everywhere)]
    verdicts = np.where(known, values, NO_VERDICT).astype(np.int64) if is_binary(everywhere) else None
    scores = np.where(known, values, everywhere.mean())
    of_places = ratings.sides[which][places], scores, verdicts, ratings.weights[which][places]
    return _Side(*of_places, clusters, lines.kinds[which][repeats])


def _too_few(sides: Sequence[_Side]) -> str:
    """Return why the ratings correct no difference, or ""."""
    known = [side.ratings[np.isfinite(side.ratings)] for side in sides]
    for name, ratings in zip(SIDES, known, strict=True):
        if len(ratings) < FEWEST_LABELS:
            return (
                f"{pluralize(len(ratings), 'label') if len(ratings) else 'no label'} of {name}, ten of each are needed"
            )
    return "all labels are the same" if np.ptp(np.concatenate(known)) == 0 else ""


def _corrected(sides: Sequence[_Side], row: Estimate, *, labels: bool) -> list[Estimate]:
    """Return difference, detectable difference and means by ratings and scores; `row` is the scorer's difference."""
    about: dict[str, Any] = {"by": row.by, "group": row.group, "scorer": row.scorer}
    if reason := _too_few(sides):
        nothing = {"value": np.nan, "low": np.nan, "high": np.nan, "p": np.nan, "method": "", "seed": None}
        return [estimate_of(row, **nothing, reason=reason)]
    first, second = (side.corrected(labels=labels) for side in sides)
    shared = shared_power([first.sample, second.sample])
    gap, method = second.minus(first, shared).powered, second.methods[0]
    figures = {"value": gap.value, "low": gap.low, "high": gap.high, "p": gap.p, "reason": gap.reason}
    estimates = [estimate_of(row, **figures, method=method, seed=None)]
    if gap.has_interval:
        least: dict[str, Any] = {"value": (gap.high - gap.low) / 2 * _DETECTABLE, "n": row.n, "contexts": row.contexts}
        least |= {"system": "B", "versus": "A", "statistic": "detectable difference", "method": "from the interval"}
        estimates.append(Estimate(**about, **least))
    for name, side in zip(SIDES, (first, second), strict=True):
        mean = side.mean(shared).powered
        fields = {**about, "system": name, "statistic": "mean rating", "method": method}
        estimates.append(estimate_of(mean, **fields, p=np.nan, n=side.sample.n))
    return estimates
