"""An empty reply is the worst reply: what it counts as where systems are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rejoinder.records import Example
from rejoinder.scorer import Card, FloatArray, Scores, missing_need
from rejoinder.stats.arrays import BoolArray


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


def _empty(card: Card, examples: Sequence[Example], values: FloatArray) -> BoolArray:
    """[N] where a reply is empty and another in its place would have been scored.

    A conversation that has a score is not empty for its last turn, which its score counts already.
    """
    silent = [one.unanswered and missing_need(card, one, silence=True) is None for one in examples]
    counted = np.array([one.is_dialogue for one in examples], dtype=bool) & np.isfinite(values)
    return np.array(silent, dtype=bool) & ~counted


def _worst(card: Card, values: FloatArray) -> float:
    """The worst score; NaN where the scorer has no direction, or neither a range nor a single score."""
    if card.higher_is_better is None:
        return float("nan")
    sign, end = (1, card.range[0]) if card.higher_is_better else (-1, card.range[1])
    known = [sign * value for value in (*values[np.isfinite(values)].tolist(), end) if value is not None]
    return sign * min(known, default=float("nan"))
