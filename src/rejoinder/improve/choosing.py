"""The best of several replies by a scorer, or none where not one of them is good enough.

Shapes: P pools, N candidates of all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.improve.pools import Pool
from rejoinder.scorer import Card, FloatArray, Scorer, run
from rejoinder.scoring.domain import NO_REPLIES, DomainShare, domain_share

_EMPTY = "an empty reply, which is never chosen"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen in one pool.

    Attributes:
        pool: what there was to choose among.
        values: [N] score of each candidate; NaN where it has none.
        reasons: why candidates were not eligible, by their place.
        order: the places of all candidates, the best first, those that were not eligible last.
        place: of the chosen candidate; None where none was chosen.
        reason: why none was, the same words for all of its kind; "" where one was.
        notes: what the scorer cannot judge of the chosen reply.
        share: how many of the candidates are out of the scorer's domain.
    """

    pool: Pool
    values: FloatArray
    reasons: dict[int, str]
    order: list[int]
    place: int | None
    reason: str = ""
    notes: tuple[str, ...] = ()
    share: DomainShare = NO_REPLIES

    @property
    def reply(self) -> Example | None:
        """The line of the chosen reply."""
        return None if self.place is None else self.pool.candidates[self.place]


def require_direction(scorer: Scorer, purpose: str) -> int:
    """1 where a higher score is better, -1 where a lower one is.

    Raises:
        UsageError: the scorer claims no direction, so that it cannot choose.
    """
    if scorer.card.higher_is_better is None:
        raise UsageError(
            f"{scorer.card.name} does not say whether higher is better, so it cannot {purpose}. Name another"
        )
    return 1 if scorer.card.higher_is_better else -1


def choose(scorer: Scorer, pools: Sequence[Pool], at_least: float | None = None) -> list[Choice]:
    """The best candidate of each pool; of several that are equal the one that comes first.

    References are hidden from a scorer that can do without them: who looks for a reply has no reference, and the
    candidate that is nearest to it would be chosen for that. An empty reply is never chosen.

    Args:
        scorer: what chooses, by its direction.
        pools: P pools.
        at_least: a score that is as good as the chosen reply's has to be; None asks for nothing.

    Raises:
        UsageError: the scorer claims no direction.
    """
    sign = require_direction(scorer, "choose")
    seen = [as_asked(scorer.card, candidate) for pool in pools for candidate in pool.candidates]
    scores = run(scorer, seen, last=False)
    choices, start = [], 0
    for pool in pools:
        rows = range(start, start + len(pool.candidates))
        reasons = {place: scores.reasons[row] for place, row in enumerate(rows) if row in scores.reasons}
        choice = _choice(pool, scores.values[rows.start : rows.stop], reasons, sign, at_least)
        notes = () if choice.place is None else scores.warnings.get(start + choice.place, ())
        choices.append(replace(choice, notes=tuple(notes), share=domain_share(scores, scorer, rows)))
        start = rows.stop
    return choices


def as_asked(card: Card, candidate: Example) -> Example:
    """A candidate as one knows it who looks for a reply: without references, but for a scorer of nothing else."""
    return candidate if "reference" in card.needs else replace(candidate, references=())


def _choice(pool: Pool, values: FloatArray, reasons: dict[int, str], sign: int, at_least: float | None) -> Choice:
    """The choice in one pool."""
    reasons |= {place: _EMPTY for place, one in enumerate(pool.candidates) if one.unanswered and place not in reasons}
    eligible = np.where([place in reasons for place in range(len(values))], -np.inf, sign * values)
    order = np.argsort(-eligible, kind="stable").tolist()
    if len(reasons) == len(pool.candidates):
        why = Counter(reasons.values()).most_common(1)
        return Choice(pool, values, reasons, order, None, pool.reason or f"no candidate has a score ({why[0][0]})")
    if at_least is not None and eligible[order[0]] < sign * at_least:
        return Choice(pool, values, reasons, order, None, f"no candidate has a score of {at_least:g} or better")
    return Choice(pool, values, reasons, order, order[0])
