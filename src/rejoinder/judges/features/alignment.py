"""Features of how near each word piece of a reply comes to some word piece of its context, by vectors of word pieces.

They find "dog" in a reply to "my puppy": overlap without equal words. Nothing is fitted. Shapes: N examples, P pairs of
a reply with a part of its context, R pieces of a reply, C of a context, E dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import FeatureBlock, Features, joint_features

Floats = NDArray[np.float32]
LONGEST_REPLY = 4096  # pieces that are read of a reply, its first ones
LONGEST_CONTEXT = 128  # pieces that are read of a context, its last ones: the cost grows with the product of both
_NEAREST = 3  # pieces of `nearest`
_TURNS = 3
_LEAST = np.float32(1e-6)  # added to weights


class PieceVectors(Protocol):
    """An encoder with a vector and a weight for each piece of a text, independent of the other pieces."""

    @property
    def table(self) -> Floats:
        """[V, E] the vector of each piece."""
        ...

    @property
    def scales(self) -> Floats:
        """[V] what makes the length of each vector 1."""
        ...

    @property
    def weights(self) -> Floats:
        """[V] how much each piece counts in a text, 0 or more."""
        ...

    def pieces(self, text: str) -> Sequence[int]:
        """Return the rows of a text's pieces in `table` and `weights`."""
        ...


def alignment_block(encoder: PieceVectors) -> FeatureBlock:
    """Return how near a reply comes to the last turn, and to the last three turns.

    `met` is the mean cosine of the reply's pieces with their nearest piece of the context, `met_weighted` weights it by
    how much a piece counts, `least_met` is the lowest. `taken_up` is the weighted mean for the pieces of the context,
    `nearest` the three largest terms of `met_weighted`.
    """
    measures = ("met", "met_weighted", "least_met", "taken_up", "nearest")
    names = [f"{part}_{measure}" for part in ("last", "three") for measure in measures]
    features = joint_features("context fit", -1, 1, *names)
    return FeatureBlock("alignment", features, partial(_alignment, encoder))


def _alignment(encoder: PieceVectors, examples: Sequence[Example]) -> Features:
    """Return [N, 10] features; NaN where the reply or the part of the context has no piece."""
    replies = [example.response for example in examples] * 2
    parts = [" ".join(example.context[-turns:]) for turns in (1, _TURNS) for example in examples]
    pieces = {text: encoder.pieces(text) for text in {*replies, *parts}}
    rows = [row for row, texts in enumerate(zip(replies, parts, strict=True)) if all(pieces[text] for text in texts)]
    features = np.full((len(parts), 5), np.nan, np.float32)  # first of last turns, then of three
    if rows:
        reply_ids = [pieces[replies[row]][:LONGEST_REPLY] for row in rows]
        features[rows] = _measures(encoder, reply_ids, [pieces[parts[row]][-LONGEST_CONTEXT:] for row in rows])
    return features.reshape(2, -1, 5).swapaxes(0, 1).reshape(-1, 10)


def _measures(encoder: PieceVectors, replies: Sequence[Sequence[int]], contexts: Sequence[Sequence[int]]) -> Floats:
    """Return [P, 5] the measures of P pairs of a reply and a context of one piece or more each."""
    reply_ids, context_ids = (np.array([*chain.from_iterable(texts)]) for texts in (replies, contexts))
    reply_scales, context_scales = encoder.scales[reply_ids], encoder.scales[context_ids]
    lengths = np.array([[*map(len, texts)] for texts in (replies, contexts)])  # [2, P]
    (reply_starts, context_starts), owners = np.cumsum(lengths, axis=1) - lengths, np.arange(len(replies))
    nearest, met = np.empty(len(reply_ids)), np.empty(len(context_ids))  # of each piece, the cosine with its nearest
    for r, rows, c, columns in zip(reply_starts, lengths[0], context_starts, lengths[1], strict=True):
        reply, context = slice(r, r + rows), slice(c, c + columns)
        cosines = encoder.table[reply_ids[reply]] @ encoder.table[context_ids[context]].T  # [R, C]
        cosines *= reply_scales[reply, None]
        cosines *= context_scales[context]
        cosines.max(axis=1, out=nearest[reply])
        cosines.max(axis=0, out=met[context])
    reply_shares = _shares(encoder.weights[reply_ids], reply_starts, lengths[0])
    context_shares = _shares(encoder.weights[context_ids], context_starts, lengths[1])
    worth, owner = reply_shares * nearest, np.repeat(owners, lengths[0])
    order = np.lexsort((-worth, owner))
    best = order[np.arange(len(order)) < (reply_starts + _NEAREST)[owner]]
    measures = (
        np.add.reduceat(nearest, reply_starts) / lengths[0],
        np.add.reduceat(worth, reply_starts),
        np.minimum.reduceat(nearest, reply_starts),
        np.add.reduceat(context_shares * met, context_starts),
        np.bincount(owner[best], worth[best], len(replies)),
    )
    return np.array(measures, np.float32).clip(-1.0, 1.0).T


def _shares(counts: Floats, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each piece in the weight of its text."""
    weights = counts.astype(np.float64) + _LEAST
    shares: NDArray[np.float64] = weights / np.repeat(np.add.reduceat(weights, starts), lengths)
    return shares
