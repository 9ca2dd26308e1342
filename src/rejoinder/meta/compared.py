"""The lines behind a comparison with their scores: one row each, and those that got worse.

Shapes: N lines of A, M lines of B, P pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rejoinder.example import FOLLOWED, Example
from rejoinder.data.clusters import Clusters
from rejoinder.meta.verdict import LEVEL
from rejoinder.meta.worst import Filled
from rejoinder.scorer import FloatArray
from rejoinder.stats.figure import plain

Places = Sequence[Sequence[int]]
Aligned = Literal["id", "context", "conversation"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """P pairs of lines.

    Attributes:
        aligned: what they rest on.
        a: the places of the lines of A that make up each; one, or all of a context.
        b: those of B.
    """

    aligned: Aligned
    a: Places
    b: Places


@dataclass(frozen=True, slots=True)
class Case:
    """A reply that got worse.

    Attributes:
        id: of the line of B, or where it was read.
        stratum: its value of the field that was named, else "".
        last_turn: what was replied to.
        a: the reply of A; "" without pairs.
        b: the reply of B.
        score_a: mean score of A's lines in the pair; NaN without pairs.
        score_b: that of B's.
        times: how often B says this: in pairs where it lost by it, without pairs in all.
    """

    id: str
    stratum: str
    last_turn: str
    a: str
    b: str
    score_a: float
    score_b: float
    times: int


@dataclass(frozen=True, slots=True)
class Compared:
    """What was compared.

    Attributes:
        a: N lines.
        b: M lines.
        scores: by scorer, those of both sides, the worst at empty replies.
        pairs: which lines make up pairs; None without pairs.
        strata: value of the named field of every line, by side; None where no field was named.
        conversations: name of every line's conversation, by side.
        clusters: of the pairs, or without pairs of the lines by side.
    """

    a: Sequence[Example]
    b: Sequence[Example]
    scores: Mapping[str, Filled]
    pairs: Pairs | None
    strata: tuple[Sequence[str], Sequence[str]] | None
    conversations: tuple[Sequence[str], Sequence[str]]
    clusters: tuple[Clusters, ...]

    @property
    def ended(self) -> str:
        """How many chats of either side the user ended, where that is more than chance apart; else "".

        What is compared of them is the reply before, so that a bot that timed out might win by its greeting.
        """
        from scipy.stats import fisher_exact

        counts = [
            (sum(FOLLOWED in one.extra and not one.is_dialogue for one in side), len(side)) for side in (self.a, self.b)
        ]
        if not any(count for count, _ in counts):
            return ""
        if fisher_exact([[count, lines - count] for count, lines in counts]).pvalue >= LEVEL:
            return ""
        a, b = (f"{count:,} of {lines:,}" for count, lines in counts)
        return f"{a} chats of A and {b} of B"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one record a pair, or without pairs a reply, with the scores of each scorer."""
        return self._paired_rows(self.pairs) if self.pairs else self._single_rows()

    def worse(self, scorer: str, sign: int, most: int) -> list[Case]:
        """The pairs that B lost by most, or without pairs its lowest replies, worst first.

        What B says several times stands there once, with how often.

        Args:
            scorer: whose scores.
            sign: 1 where higher is better, -1 where lower is.
            most: how many to give.
        """
        return _once(self._lost(self.pairs, scorer, sign) if self.pairs else self._lowest(scorer, sign), most)

    def _lost(self, pairs: Pairs, scorer: str, sign: int) -> list[Case]:
        """The pairs that B lost."""
        filled = self.scores[scorer]
        found = []
        for mine, other in zip(pairs.a, pairs.b, strict=True):
            first, second = mean_of(filled.a, mine), mean_of(filled.b, other)
            if sign * (second - first) < 0:
                found.append(self._case(other[0], self.a[mine[0]].response, first, second))
        return sorted(found, key=lambda one: sign * (one.score_b - one.score_a))

    def _lowest(self, scorer: str, sign: int) -> list[Case]:
        """The replies of B, lowest first, empty ones before all others."""
        filled = self.scores[scorer]
        keys = np.where(filled.empty_b, -np.inf, sign * filled.b)
        order = [int(place) for place in np.argsort(keys, kind="stable") if not math.isnan(keys[place])]
        return [self._case(place, "", math.nan, float(filled.b[place])) for place in order]

    def _case(self, place: int, reply: str, first: float, second: float) -> Case:
        """The case of one line of B."""
        one = self.b[place]
        stratum = self.strata[1][place] if self.strata else ""
        last = one.context[-1] if one.context else ""
        return Case(one.id or one.where, stratum, last, reply, one.response, first, second, 1)

    def _paired_rows(self, pairs: Pairs) -> Iterator[dict[str, Any]]:
        """Yield one record a pair."""
        for mine, other in zip(pairs.a, pairs.b, strict=True):
            one = self.b[other[0]]
            scores = {name: (mean_of(both.a, mine), mean_of(both.b, other)) for name, both in self.scores.items()}
            yield {
                "id": one.id or one.where,
                "context": list(one.context),
                **({"stratum": self.strata[0][mine[0]]} if self.strata else {}),
                "a": [self.a[place].response for place in mine],
                "b": [self.b[place].response for place in other],
                "scores_a": {name: plain(first) for name, (first, _) in scores.items()},
                "scores_b": {name: plain(second) for name, (_, second) in scores.items()},
                "difference": {name: plain(second - first) for name, (first, second) in scores.items()},
            }

    def _single_rows(self) -> Iterator[dict[str, Any]]:
        """Yield one record a reply, those of A first."""
        for side, lines in enumerate((self.a, self.b)):
            for place, one in enumerate(lines):
                yield {
                    "side": "AB"[side],
                    "id": one.id or one.where,
                    "conversation": self.conversations[side][place],
                    **({"stratum": self.strata[side][place]} if self.strata else {}),
                    "context": list(one.context),
                    "response": one.response,
                    "scores": {name: plain(float((both.a, both.b)[side][place])) for name, both in self.scores.items()},
                }


def mean_of(values: FloatArray, places: Sequence[int]) -> float:
    """The mean score of the lines at some places; NaN of nothing, and where one has none."""
    return float(values[list(places)].mean()) if len(places) else math.nan


def _once(cases: Sequence[Case], most: int) -> list[Case]:
    """The first case of each different reply of B, with how often it is there."""
    times = Counter(one.b.strip() for one in cases)
    first: dict[str, Case] = {}
    for one in cases:
        first.setdefault(one.b.strip(), one)
    chosen = list(first.items())[:most]
    return [
        Case(one.id, one.stratum, one.last_turn, one.a, one.b, one.score_a, one.score_b, times[said])
        for said, one in chosen
    ]
