"""What the judge in the box makes of systems that talk to themselves, in the setting of Deriu and Cieliebak 2019."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT, score
from rejoinder.errors import DataError
from rejoinder.meta.diversity import distinct
from rejoinder.papers.asked import Asked, Takes
from rejoinder.papers.figures import mean_by
from rejoinder.records import Example
from rejoinder.stats.paired import OverParts
from rejoinder.text import tokenizer

TAKES = Takes(("files", "seed"), must=("files",), why="reads what systems said: give turns.jsonl of rejoinder selftalk")
ENDS = 3  # turns at the beginning and at the end of a dialogue


class Row(NamedTuple):
    """What a system's turns come to.

    Attributes:
        name: of the system.
        judged: mean score of all turns.
        early: of the first three of each dialogue.
        late: of the last three.
        again: share of turns that stand word for word in their context.
        distinct: distinct-2.
        length: mean number of words.
    """

    name: str
    judged: OverParts
    early: OverParts
    late: OverParts
    again: float
    distinct: float
    length: float


@dataclass(frozen=True)
class Talks:
    """All that was found.

    Attributes:
        turns: of each system, in the order they were said.
        rows: one a system.
    """

    turns: Mapping[str, Sequence[Example]]
    rows: Sequence[Row]


def find(asked: Asked) -> Talks:
    """Every turn scored, by system.

    Raises:
        DataError: a line is not of self-talk.
    """
    turns: dict[str, list[Example]] = {}
    for turn in asked.examples(()):
        if missing := [key for key in ("start_id", "dialogue_id", "turn") if key not in turn.extra]:
            raise DataError(f"no {missing[0]}", "Give turns.jsonl of rejoinder selftalk", where=turn.where)
        turns.setdefault(turn.system or "", []).append(turn)
    with asked.stage("scoring", len(turns)) as advance:
        rows = []
        for name, own in turns.items():
            rows.append(_row(name, own, asked.seed))
            advance(1)
    return Talks(turns, rows)


def _row(name: str, turns: Sequence[Example], seed: int) -> Row:
    """What a system's turns come to; intervals are over the contexts that the dialogues began with."""
    scores = score(turns, DEFAULT, out_of_domain="keep").values
    starts = np.array([turn.extra["start_id"] for turn in turns])
    places = np.array([turn.extra["turn"] for turn in turns])
    early, late = places <= ENDS, places > places.max() - ENDS
    tokens = [tokenizer("words-1")(turn.response) for turn in turns]
    return Row(
        name,
        mean_by(scores, starts, seed),
        mean_by(scores[early], starts[early], seed),
        mean_by(scores[late], starts[late], seed),
        again=float(np.mean([turn.response in turn.context for turn in turns])),
        distinct=distinct(tokens, 2),
        length=float(np.mean([len(words) for words in tokens])),
    )
