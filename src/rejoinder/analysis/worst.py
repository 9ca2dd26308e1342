"""Empty replies: each counts as the worst reply, not as a missing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.chat import NO_ANSWER
from rejoinder.example import UNANSWERED, Example
from rejoinder.scorer import Card, FloatArray, Scores, missing_need
from rejoinder.stats.resamples import BoolArray, IntArray


class Filled(NamedTuple):
    """The scores of two sides, N and M replies, with the worst score for each empty reply.

    Attributes:
        a: [N] scores, NaN for a reply without one.
        b: [M] scores.
        empty_a: [N] where the worst score was filled in.
        empty_b: [M].
        worst: that score; NaN if it was filled in nowhere.
    """

    a: FloatArray
    b: FloatArray
    empty_a: BoolArray
    empty_b: BoolArray
    worst: float


def with_the_worst(card: Card, a: Sequence[Example], b: Sequence[Example], scores: tuple[Scores, Scores]) -> Filled:
    """Return the scores of both sides, with the worst score for each empty reply.

    The worst is the low end of the scorer's range (the high end if lower is better), or the lowest score here if that
    is lower or there is no range. A scorer without a direction has no worst score: its scores stay. An empty reply that
    could not have been scored with any text (no reference, no context) stays unscored.

    Args:
        card: of the scorer.
        a: N lines of one side.
        b: M lines of the other.
        scores: of both, by the scorer.
    """
    worst = _worst(card, np.concatenate([side.values for side in scores]))
    empty_a, empty_b = (
        _empty(card, side, of_side.values) & ~np.isnan(worst) for side, of_side in zip((a, b), scores, strict=True)
    )
    filled_a, filled_b = (
        np.where(empty, worst, side.values) for empty, side in zip((empty_a, empty_b), scores, strict=True)
    )
    return Filled(filled_a, filled_b, empty_a, empty_b, worst if empty_a.any() or empty_b.any() else float("nan"))


def in_proportion(usable: BoolArray, empty: IntArray, kinds: NDArray[np.object_]) -> BoolArray:
    """Return [N] which replies or pairs count: the same share of those with an empty reply as of the others.

    Every empty reply has the worst score. If few of the others have a score, as in a column that was filled for some
    lines, all empty ones together would weigh too much. Of these some are taken, at even distances.

    Args:
        usable: [N] what has its score or scores.
        empty: [N] which of its replies are empty, as a number; 0 if none is.
        kinds: [N] value of the `--by` column; the share is that of the lines with the same value.
    """
    odds = np.zeros(len(usable))
    for kind in np.unique(kinds):
        of_kind = kinds == kind
        others = of_kind & (empty == 0) if (of_kind & (empty == 0)).any() else empty == 0
        share = float(usable[others].mean()) if others.any() else 1.0
        for which in np.unique(empty[of_kind & usable & (empty > 0)]):
            same = of_kind & (empty == which)
            odds[same & usable] = min(1.0, share * same.sum() / (same & usable).sum())
    taken = np.diff(np.floor(np.cumsum(odds) + 0.5), prepend=0) > 0
    counted: BoolArray = usable & ((empty == 0) | taken)
    return counted


def _empty(card: Card, examples: Sequence[Example], values: FloatArray) -> BoolArray:
    """Return [N] which replies are empty, and would have been scored with a text.

    A conversation that has a score is not empty because of its last turn, which its score counts already; nor is a chat
    without an answer to its last question that has a score in the file.
    """
    silent = [example.unanswered and missing_need(card, example, allow_unanswered=True) is None for example in examples]
    whole = [example.is_dialogue or example.extra.get(UNANSWERED) == NO_ANSWER for example in examples]
    return np.array(silent, dtype=bool) & ~(np.array(whole, dtype=bool) & np.isfinite(values))


def _worst(card: Card, values: FloatArray) -> float:
    """Return the worst score; NaN if the scorer has no direction, or neither a range nor a single score."""
    if card.higher_is_better is None:
        return float("nan")
    sign, end = (1, card.range[0]) if card.higher_is_better else (-1, card.range[1])
    known = [sign * value for value in (*values[np.isfinite(values)].tolist(), end) if value is not None]
    return sign * min(known, default=float("nan"))
