"""Texts of any length as spans of their pieces, several at a time: little is in memory at once, little is done twice.

Each span has the neighbours on either side that layers of convolution reach from it. Shapes: n pieces of a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LONGEST = 1024  # pieces of a span
_TOGETHER = 256  # pieces of a group of several spans: what is worked out of so many stays in a processor's cache
_FOURS = 4  # rows: products of matrices take longer for one to three left over than for four

Ints = NDArray[np.int64]


class Span(NamedTuple):
    """Where a span stands in its group.

    Attributes:
        text: the number of its text.
        own: its pieces without the neighbours.
        pairs: those of `own` that have a next piece in the text.
        windows: the windows of its pieces and neighbours, filled up to a multiple of four.
        size: how many pieces and neighbours these are.
    """

    text: int
    own: slice
    pairs: slice
    windows: slice
    size: int


class Group(NamedTuple):
    """Spans that are read together.

    Attributes:
        numbers: [n] the ids of their pieces and neighbours.
        places: [n] where each stands in its text.
        windows: [n] the first row that a convolution reads for each, where they stand so far apart that none reads
            another span.
        height: rows of windows.
        spans: the spans.
    """

    numbers: Ints
    places: Ints
    windows: Ints
    height: int
    spans: tuple[Span, ...]


class _Cut(NamedTuple):
    """A span before it has a place in a group; counts from the beginning of its text."""

    text: int
    ids: Sequence[int]
    low: int
    start: int
    stop: int
    pairs: int


def groups(texts: Sequence[Sequence[int]], reach: int, layers: int) -> Iterator[Group]:
    """The spans of N texts in their order, some at a time.

    Args:
        texts: the ids of their pieces.
        reach: pieces on either side that a convolution reads.
        layers: convolutions one after the other.
    """
    # The next piece is always there: it makes a pair with the last one.
    halo = max(1, reach * layers)
    waiting: list[_Cut] = []
    for cut in chain.from_iterable(_cuts(text, ids, halo) for text, ids in enumerate(texts)):
        if waiting and sum(len(one.ids) for one in waiting) + len(cut.ids) > _TOGETHER:
            yield _group(waiting, reach)
            waiting = []
        waiting.append(cut)
    if waiting:
        yield _group(waiting, reach)


def _cuts(text: int, ids: Sequence[int], halo: int) -> Iterator[_Cut]:
    """The spans of one text."""
    for start in range(0, len(ids), _LONGEST):
        stop = min(start + _LONGEST, len(ids))
        low = max(start - halo, 0)
        yield _Cut(text, ids[low : stop + halo], low, start, stop, min(stop, len(ids) - 1))


def _group(cuts: Sequence[_Cut], reach: int) -> Group:
    """Spans, placed one after the other."""
    spans, windows, place, row = [], list[Ints](), 0, 0
    for text, ids, low, start, stop, pairs in cuts:
        first, size = place - low + start, len(ids)
        filled = -(-size // _FOURS) * _FOURS
        own, paired = slice(first, place - low + stop), slice(first, place - low + pairs)
        spans.append(Span(text, own, paired, slice(row, row + filled), size))
        windows.append(np.arange(row, row + size))
        place, row = place + size, row + max(filled, size + reach)
    return Group(
        np.array(list(chain.from_iterable(cut.ids for cut in cuts)), np.int64),
        np.concatenate([np.arange(cut.low, cut.low + len(cut.ids)) for cut in cuts]),
        np.concatenate(windows),
        row,
        tuple(spans),
    )
