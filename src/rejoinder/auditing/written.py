"""Replies that people wrote to fit a context, or to look as if they did, as rows for a judge over views to learn from.

People hardly ever rated a reply that shares words with its context and answers nothing; a judge that was never shown
one takes it for on topic. What such replies deserve is a convention, in standard deviations of a data set; they weigh
so little that agreement with people on rated sets stays nearly as it was (docs/lab-notes.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rejoinder.example import Example, ReplySet
from rejoinder.humans.clusters import is_telling, normalized
from rejoinder.judges.views.lines import FITTING, MISLEADING, NO_LINE, RANDOM, Spoilt

_FITS, _MISLEADS, _RANDOM = 0.5, -1.0, -1.0
_WEIGHT = 0.06


def written(sets: Sequence[ReplySet], examples: Sequence[Example], every: int = 1) -> list[Spoilt]:
    """The replies of each `every`-th set of those whose context shares no long turn with the context of an example."""
    known = {trace for example in examples for turn in example.context if (trace := _long(turn))}
    apart = [one for one in sets if known.isdisjoint(map(_long, one.context))]
    return [row for one in apart[::every] for row in _rows(one)]


def _rows(one: ReplySet) -> Iterator[Spoilt]:
    """The replies of a set."""
    kinds = (FITTING, one.relevant, _FITS), (MISLEADING, one.misleading, _MISLEADS), (RANDOM, one.random, _RANDOM)
    for kind, replies, worth in kinds:
        for reply in replies:
            yield Spoilt(Example(one.context, reply), NO_LINE, worth, weight=_WEIGHT, kind=kind)


def _long(turn: str) -> str:
    """What tells a long turn from others, "" of a short one."""
    words = normalized(turn)
    return words if is_telling(words) else ""
