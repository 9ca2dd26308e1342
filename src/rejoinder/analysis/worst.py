"""Empty replies: each counts as the worst reply, not as a missing one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.chat import NO_ANSWER
from rejoinder.estimates import NAN
from rejoinder.example import UNANSWERED, Example
from rejoinder.scorer import Card, FloatArray, Scores, missing_need
from rejoinder.stats.resamples import BoolArray, IntArray


def with_the_worst(
    card: Card, sides: Sequence[tuple[Sequence[Example], Scores]]
) -> tuple[list[FloatArray], list[BoolArray], float]:
    """Return the scores of each side with the worst score for empty replies, where it was filled in, and that score.

    The worst is the low end of the scorer's range (the high end if lower is better), or the lowest score here if that
    is lower or there is no range; NaN if it was filled in nowhere. The scores of a scorer without a direction stay. An
    empty reply that could not have been scored with any text (no reference, no context) stays unscored.
    """
    worst = _worst(card, np.concatenate([scores.values for _, scores in sides]))
    empty = [_empty(card, lines, scores.values) & ~np.isnan(worst) for lines, scores in sides]
    filled = [np.where(rows, worst, scores.values) for rows, (_, scores) in zip(empty, sides, strict=True)]
    return filled, empty, worst if any(rows.any() for rows in empty) else NAN


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
    return np.asarray(usable & ((empty == 0) | taken))


def _empty(card: Card, lines: Sequence[Example], values: FloatArray) -> BoolArray:
    """Return [N] which replies are empty, and would have been scored with a text.

    A conversation or a chat without a last answer that has a score is not empty: its score counts the silence already.
    """
    silent = [line.unanswered and missing_need(card, line, allow_unanswered=True) is None for line in lines]
    whole = [line.is_dialogue or line.extra.get(UNANSWERED) == NO_ANSWER for line in lines]
    return np.array(silent, dtype=bool) & ~(np.array(whole, dtype=bool) & np.isfinite(values))


def _worst(card: Card, values: FloatArray) -> float:
    """Return the worst score; NaN if the scorer has no direction, or neither a range nor a single score."""
    if card.higher_is_better is None:
        return NAN
    sign, end = (1, card.range[0]) if card.higher_is_better else (-1, card.range[1])
    known = [sign * value for value in (*values[np.isfinite(values)].tolist(), end) if value is not None]
    return sign * min(known, default=NAN)
