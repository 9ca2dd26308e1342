"""The judge in the box against people's choices between two replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rejoinder.catalogue import DEFAULT
from rejoinder.io import read_pairs
from rejoinder.meta import study_pairs
from rejoinder.meta.preference_results import PairStudy
from rejoinder.papers.asked import PREFERENCES, Asked, Takes
from rejoinder.records import Pair

TAKES = Takes(("files", "data", "seed"))
SETS = ("pandalm", "hh_harmless")
# The set of which some pairs have one empty reply, that the other is easily told to be better than.
_WITH_EMPTY = "pandalm"


def find(asked: Asked) -> PairStudy:
    """The study of all pairs, those of `pandalm` without an empty reply also as a data set of their own."""
    files = asked.files_or(SETS, PREFERENCES)
    sets = [list(read_pairs(file, on_bad=asked.on_bad, note=asked.note)) for file in files]
    pairs = [pair for own in sets for pair in (*own, *_with_text(own))]
    with asked.stage("scoring", 2 * len(pairs)) as advance:
        return study_pairs(pairs, [DEFAULT], seed=asked.seed, advance=advance)


def _with_text(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs of `pandalm` without an empty reply, as a data set of their own."""
    for pair in pairs:
        if pair.dataset == _WITH_EMPTY and all(reply.response.strip() for reply in pair.replies):
            first, second = (replace(reply, dataset=f"{reply.dataset}, no empty reply") for reply in pair.replies)
            yield replace(pair, replies=(first, second))
