"""An empty reply is the worst reply: what it counts as where systems are compared."""

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
    """The scores of two sides, N and M replies, with the worst one at each empty reply.

    Attributes:
        a: [N] scores, NaN where there is none.
        b: [M] scores.
        empty_a: [N] where the worst score stands.
        empty_b: [M].
        worst: that score; NaN where it stands nowhere.
    """

    a: FloatArray
    b: FloatArray
    empty_a: BoolArray
    empty_b: BoolArray
    worst: float


def with_the_worst(card: Card, a: Sequence[Example], b: Sequence[Example], scores: tuple[Scores, Scores]) -> Filled:
    """The scores of both sides, with the worst in place of whatever a scorer says, or does not say, of empty replies.

    The worst is the low end of the scorer's range (the high end where lower is better), or, where it has none or has
    gone beyond it, the lowest score that it gave here. A scorer without a direction knows no worst: its scores stay. So
    does the gap where no reply could have been scored, for want of a reference or a context.

    Args:
        card: the scorer's.
        a: N lines of one side.
        b: M lines of the other.
        scores: of both, by the scorer.
    """
    worst = _worst(card, np.concatenate([side.values for side in scores]))
    empty_a, empty_b = (
        _empty(card, side, own.values) & ~np.isnan(worst) for side, own in zip((a, b), scores, strict=True)
    )
    filled_a, filled_b = (
        np.where(empty, worst, side.values) for empty, side in zip((empty_a, empty_b), scores, strict=True)
    )
    return Filled(filled_a, filled_b, empty_a, empty_b, worst if empty_a.any() or empty_b.any() else float("nan"))


def in_proportion(usable: BoolArray, empty: IntArray, kinds: NDArray[np.object_]) -> BoolArray:
    """[N] which replies or pairs count: of those with an empty reply as large a share as of the others.

    The worst stands at every empty reply. Where few of the others have a score, as in a column that was filled for some
    lines, all of the empty ones would weigh too much beside them. They are taken at even distances.

    Args:
        usable: [N] what has its score or scores.
        empty: [N] which of its replies are empty, as a number; 0 where none is.
        kinds: [N] value of the named field; the share is that of the same value, where this has others.
    """
    odds = np.zeros(len(usable))
    for kind in np.unique(kinds):
        own = kinds == kind
        others = own & (empty == 0) if (own & (empty == 0)).any() else empty == 0
        share = float(usable[others].mean()) if others.any() else 1.0
        for which in np.unique(empty[own & usable & (empty > 0)]):
            alike = own & (empty == which)
            odds[alike & usable] = min(1.0, share * alike.sum() / (alike & usable).sum())
    taken = np.diff(np.floor(np.cumsum(odds) + 0.5), prepend=0) > 0
    counted: BoolArray = usable & ((empty == 0) | taken)
    return counted


def _empty(card: Card, examples: Sequence[Example], values: FloatArray) -> BoolArray:
    """[N] where a reply is empty and another in its place would have been scored.

    A conversation that has a score is not empty for its last turn, which its score counts already; nor is a chat whose
    last question has no answer, where it has a score in the file.
    """
    silent = [one.unanswered and missing_need(card, one, allow_unanswered=True) is None for one in examples]
    whole = [one.is_dialogue or one.extra.get(UNANSWERED) == NO_ANSWER for one in examples]
    return np.array(silent, dtype=bool) & ~(np.array(whole, dtype=bool) & np.isfinite(values))


def _worst(card: Card, values: FloatArray) -> float:
    """The worst score; NaN where the scorer has no direction, or neither a range nor a single score."""
    if card.higher_is_better is None:
        return float("nan")
    sign, end = (1, card.range[0]) if card.higher_is_better else (-1, card.range[1])
    known = [sign * value for value in (*values[np.isfinite(values)].tolist(), end) if value is not None]
    return sign * min(known, default=float("nan"))
