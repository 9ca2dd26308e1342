"""Judges over views that never saw a data set, and what each says of it. Shapes: N rated lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.crossval import others
from rejoinder.judges.protocol import Rows
from rejoinder.judges.rated import RatedLines
from rejoinder.judges.regression.learner import AugmentedRows, FeatureLearner, FittedHeads, TrainingLines
from rejoinder.scorer import Advance, FloatArray
from rejoinder.stats.splits import fold_groups

FOLDS = 5
NOBODY: Rows = np.zeros(0, np.intp)


@dataclass(frozen=True)
class LeftOut:
    """What judges that never saw a line's data set say of it.

    Attributes:
        scores: [N] predicted ratings, 1 to 5; NaN where none reads the line.
        low: [N] lower ends of their intervals.
        high: [N] upper ends.
        unlike: [N] whether the line was said to be unlike what the judge was fitted on.
        fits: by data set, what was fitted without it.
    """

    scores: FloatArray
    low: FloatArray
    high: FloatArray
    unlike: NDArray[np.bool_]
    fits: dict[str, FittedHeads]


def blind(lines: TrainingLines) -> TrainingLines:
    """The lines as one sees them who reads no reference."""
    return replace(lines, reference=np.zeros_like(lines.reference))


def with_references(lines: TrainingLines) -> TrainingLines:
    """The lines of which the references are read, and no others."""
    return replace(lines, context=np.zeros_like(lines.context))


def undefended(lines: TrainingLines) -> TrainingLines:
    """The lines alone, without what attacks made of them and without replies that people wrote not to fit."""
    return replace(lines, augmented=AugmentedRows._make(column[:0] for column in lines.augmented))


def left_out(lines: RatedLines, encoded: TrainingLines, seed: int, advance: Advance) -> LeftOut:
    """Each data set by the judge that was fitted on all others, without lines that share a conversation with it.

    Args:
        lines: N rated lines, of a `FeatureLearner`.
        encoded: what is read of them.
        seed: decides what is random, of every judge alike.
        advance: called with 1 after each judge.
    """
    learner, count = cast("FeatureLearner", lines.learner), len(lines.ratings)
    scores, low, high = (np.full(count, np.nan) for _ in range(3))
    found = LeftOut(scores, low, high, np.zeros(count, np.bool_), {})
    for name, own in lines.sets.items():
        rest = others(lines, own)
        if _readable(encoded, own).any() and _readable(encoded, rest).any():
            fitted = _fitted(learner, lines, encoded, rest, seed)
            found.fits[name] = fitted
            _tell(found, fitted, encoded, own)
        advance(1)
    return found


def seen(lines: RatedLines, encoded: TrainingLines, seed: int, advance: Advance) -> FloatArray:
    """[N] each line by a judge that saw other conversations of its data set too: five folds over all conversations."""
    learner, groups = cast("FeatureLearner", lines.learner), lines.ties.clusters().numbers
    fold = fold_groups(groups, FOLDS, np.random.default_rng(seed))
    scores = np.full(len(fold), np.nan)
    for number in range(FOLDS):
        asked = np.flatnonzero(fold == number)
        fitted = _fitted(learner, lines, encoded, np.flatnonzero(fold != number), seed)
        scores[asked] = fitted.predict(encoded, asked)
        advance(1)
    return scores


def _readable(encoded: TrainingLines, rows: Rows) -> NDArray[np.bool_]:
    """[n] which rows have anything that is read."""
    return (encoded.context | encoded.reference)[rows]


def _fitted(learner: FeatureLearner, lines: RatedLines, encoded: TrainingLines, rows: Rows, seed: int) -> FittedHeads:
    """A judge fitted on some rows."""
    return learner.fit(encoded, lines.ratings, rows, NOBODY, np.random.default_rng(seed))


def _tell(found: LeftOut, fitted: FittedHeads, encoded: TrainingLines, own: Rows) -> None:
    """Write down what a judge says of its lines."""
    for part, rows in fitted.shared(encoded, own):
        features = encoded.features[np.ix_(rows, part.columns)]
        answers = part.calibration.answers(part.head.predict(features))
        found.scores[rows], found.low[rows], found.high[rows] = answers
        found.unlike[rows] = part.out_of_domain(features)


def within_systems(scores: FloatArray, ratings: FloatArray, systems: Sequence[str | None], fewest: int = 30) -> float:
    """The mean Spearman over systems of so many lines; people are none. NaN where there is no such system."""
    from rejoinder.stats.correlation import spearman

    named = np.array([system or "" for system in systems], np.str_)
    values = []
    for system in np.unique(named):
        rows = np.flatnonzero((named == system) & np.isfinite(scores))
        person = any(word in system.lower() for word in ("human", "ground")) or not system
        if len(rows) >= fewest and not person:
            values.append(spearman(scores[rows], ratings[rows]).value)
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def mean_within(lines: RatedLines, scores: FloatArray) -> float:
    """The mean over data sets of the mean Spearman within systems."""
    own = [
        within_systems(scores[rows], lines.ratings[rows], [lines.examples[row].system for row in rows])
        for rows in lines.sets.values()
    ]
    return float(np.nanmean(own)) if np.isfinite(own).any() else float("nan")
