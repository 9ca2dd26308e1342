"""A judge that can judge some replies only, for tests of what analyses make of that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rejoinder.example import Example
from rejoinder.scorer import OUT_OF_DOMAIN, Card, Scores

DOMAIN = "short chat about numbers"


@dataclass(frozen=True)
class NarrowJudge:
    """Scores a reply with its first number; a reply with the word "support" in it is out of its domain."""

    name: str = "narrow"
    domain: str = DOMAIN
    unread: tuple[str, ...] = ("facts", "sources")
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        return Card(
            self.name, "a number", "judge", frozenset(), (0, 10), "a test", domain=self.domain, unread=self.unread
        )

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        values = np.array([_number(one.response) for one in examples])
        reasons = {row: "no number" for row, value in enumerate(values) if math.isnan(value)}
        notes = {row: (OUT_OF_DOMAIN, "support") for row, one in enumerate(examples) if "support" in one.response}
        return Scores(values, reasons, warnings=notes)


def _number(text: str) -> float:
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        return math.nan


def replies(values: Sequence[float | str], outside: int = 0) -> list[Example]:
    """One reply to each of as many contexts; the first `outside` of them are out of the domain of a `NarrowJudge`."""
    return [
        Example((f"what is number {place}?",), f"{value}{' support' * (place < outside)}", id=str(place))
        for place, value in enumerate(values)
    ]
