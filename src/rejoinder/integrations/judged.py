"""One reply judged, as tools ask for it: a number, whether it will do, and a reason in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rejoinder.catalogue import load_scorer
from rejoinder.explained import explanations, is_explained
from rejoinder.records import Example
from rejoinder.scorer import ScorerLike, run
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.written import interval


class Judged(NamedTuple):
    """What a scorer says of a reply.

    Attributes:
        score: with the interval that the scorer gives; its reason says why there is none.
        why: what moved it, in words; "" where the scorer does not say it.
        notes: what the scorer cannot judge about the reply.
    """

    score: Figure
    why: str
    notes: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """The score, or None."""
        return self.score.value if self.score.known else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval, or None."""
        return self.score.ends if self.score.has_interval else None

    @property
    def words(self) -> str:
        """All of it in a line: `3.42 [2.10, 4.60]; context fit +0.41; noted: not English`."""
        if not self.score.known:
            return f"no score: {self.score.reason}"
        noted = f"noted: {', '.join(self.notes)}" if self.notes else ""
        return "; ".join(part for part in (interval(self.score, 2), self.why, noted) if part)


def judged(examples: Sequence[Example], scorer: ScorerLike) -> list[Judged]:
    """[N] what a scorer says of each reply."""
    loaded = load_scorer(scorer)
    scores = run(loaded, examples)
    told = explanations(loaded, examples) if is_explained(loaded) else [None] * len(examples)
    ends = [(NONE, NONE)] * len(examples)
    if scores.low is not None and scores.high is not None:
        ends = list(zip(scores.low.tolist(), scores.high.tolist(), strict=True))
    return [
        Judged(
            Figure(value=value, low=low, high=high, reason=scores.reasons.get(row, "")),
            why.words if why else "",
            scores.notes.get(row, ()),
        )
        for row, (value, (low, high), why) in enumerate(zip(scores.values.tolist(), ends, told, strict=True))
    ]
