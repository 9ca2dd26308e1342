"""Scores of whole conversations against people's ratings of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT, load_scorer
from rejoinder.meta.study import study
from rejoinder.papers.asked import Asked, Takes
from rejoinder.records import LEVEL, Example
from rejoinder.scorer import Scorer, run
from rejoinder.stats.figure import Figure
from rejoinder.stats.sampling import Sampling
from rejoinder.streams.dialogue import of_dialogues

TAKES = Takes(("files", "data", "seed"))
SETS = ("fed_dialogue", "ieval_dialogue", "dstc9_dialogue", "reliable_dialogue", "spotthebot_*")
MOST = 300  # conversations of a set; of more they are drawn by the seed
WHOLE, LAST, LENGTH = "judge", "judge, last turn alone", "length"


class OfSet(NamedTuple):
    """One data set.

    Attributes:
        dataset: its name.
        given: rated conversations that it has.
        n: those that were scored.
        spearman: with the ratings, by scorer.
    """

    dataset: str
    given: int
    n: int
    spearman: Mapping[str, Figure]


def find(asked: Asked) -> list[OfSet]:
    """How far the judge in the box agrees with people on whole conversations, a record a set."""
    examples = [one for one in asked.examples(SETS) if one.is_dialogue and one.rating() is not None]
    sets: dict[str, list[Example]] = {}
    for one in examples:
        sets.setdefault(one.dataset or "unnamed", []).append(one)
    judge = load_scorer(DEFAULT)
    found = []
    with asked.stage("scoring", len(sets)) as advance:
        for name, own in sets.items():
            found.append(_of_set(name, own, judge, asked.seed))
            advance(1)
    return found


def _of_set(name: str, given: Sequence[Example], judge: Scorer, seed: int) -> OfSet:
    """One data set."""
    drawn = list(given)
    if len(drawn) > MOST:
        rng = Sampling(0, seed).generator(name, "paper, lines quoted")
        drawn = [given[place] for place in np.sort(rng.choice(len(given), MOST, replace=False)).tolist()]
    scores = {
        WHOLE: run(of_dialogues(judge), drawn),
        LAST: run(judge, list(map(_last_turn, drawn))),
        LENGTH: run(of_dialogues(load_scorer("length")), drawn),
    }
    rows = study(drawn, scores, seed=seed).agreements
    found = {row.scorer: row for row in rows if row.statistic == "spearman" and row.level == "dialogue"}
    return OfSet(name, len(given), len(drawn), found)


def _last_turn(example: Example) -> Example:
    """The reply by itself."""
    return replace(example, extra={key: value for key, value in example.extra.items() if key != LEVEL})
