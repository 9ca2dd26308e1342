"""Batches of dialogues for hierarchical models, with little padding, in an order that a seed decides.

A batch takes pieces with like numbers of turns and like lengths. Its turns are then sorted by length, whatever dialogue
they belong to, and cut into a few chunks; only inside a chunk is anything padded. Shapes: N turns of B pieces.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.models.networks.dialogue import Dialogues, Turns
from rejoinder.models.networks.mrrnn import WordsAndCoarse
from rejoinder.models.vocabulary import PAD_ID
from rejoinder.pretraining.tokens import TokenStore

Ints = NDArray[np.int64]

BATCHES_A_BUCKET = 100
"""Batches whose pieces are sorted together: more give less padding, fewer give more chance in who meets whom."""
MOST_PADDING = 0.095
"""Share of a batch's positions that may be padding; a batch is cut into as few chunks as allow that."""


@dataclass(frozen=True)
class DialogueBatches:
    """The batches of two token stores; the training part is passed over as often as the run needs.

    Attributes:
        train: tokens to train on.
        held_out: tokens to validate on.
        tokens_per_batch: the most positions of a batch, padding included; only a piece that is larger by itself makes a
            larger batch.
        seed: decides the order.
        coarse: the coarse sequences of both parts, turn by turn, for a MrRNN.
    """

    train: TokenStore
    held_out: TokenStore
    tokens_per_batch: int
    seed: int
    coarse: tuple[TokenStore, TokenStore] | None = None

    def training(self, update: int, rank: int, world: int) -> Iterator[Dialogues | WordsAndCoarse]:
        """See `loop.Batches`."""
        turns = itertools.islice(self._passes(world), update, None)
        return (self._batch(self.train, 0, pieces[rank]) for pieces in turns)

    def validation(self) -> Iterator[Dialogues | WordsAndCoarse]:
        """See `loop.Batches`."""
        plan = batch_plan(self.held_out, self.tokens_per_batch, seed=0, epoch=0)
        return (self._batch(self.held_out, 1, pieces) for pieces in plan)

    def _batch(self, store: TokenStore, part: int, pieces: Ints) -> Dialogues | WordsAndCoarse:
        """Return the batch of some pieces of a part, with their coarse sequences if there are any."""
        words = make_batch(store, pieces)
        return words if self.coarse is None else WordsAndCoarse(words, make_batch(self.coarse[part], pieces))

    def _passes(self, world: int) -> Iterator[tuple[Ints, ...]]:
        """Yield the pieces of a batch for each of `world` processes, pass after pass, without end.

        Up to `world` - 1 batches at the end of a pass are left out, so that all processes get the same number.
        """
        for epoch in itertools.count():
            turn: tuple[Ints, ...] = ()
            plan = batch_plan(self.train, self.tokens_per_batch, self.seed, epoch)
            for turn in zip(*[plan] * world, strict=False):
                yield turn
            if not turn:
                raise DataError(f"fewer batches than processes ({world})", "Give a larger corpus, or smaller batches")


def batch_plan(store: TokenStore, tokens_per_batch: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield the pieces of each batch of a pass, in an order that `seed` and `epoch` decide; each piece once."""
    generator = np.random.default_rng([seed, epoch])
    # Chunks keep padding under its share, so this many ids stay within the budget with it.
    budget = int(tokens_per_batch * (1 - MOST_PADDING))
    shuffled = generator.permutation(store.pieces)
    a_bucket = max(1, BATCHES_A_BUCKET * budget * store.pieces // max(1, store.tokens))
    for first in range(0, store.pieces, a_bucket):
        bucket = shuffled[first : first + a_bucket]
        turns, tokens = (store.starts[bucket + 1] - store.starts[bucket]).T
        order = np.lexsort((tokens, turns))
        batches = np.split(bucket[order], _fill(tokens[order], budget))
        for place in generator.permutation(len(batches)):
            yield batches[place]


def make_batch(store: TokenStore, pieces: Ints) -> Dialogues:
    """Return the batch of some pieces of the corpus; row b of `rows` is piece b, its turns are the longest first."""
    sizes = store.starts[pieces + 1, 0] - store.starts[pieces, 0]
    lengths = np.concatenate([store.lengths(piece) for piece in pieces])
    ids = np.concatenate([store.ids(piece) for piece in pieces]).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    order = np.argsort(-lengths, kind="stable")
    chunks = [_chunk(ids, starts[part], lengths[part]) for part in np.split(order, _cuts(lengths[order]))]
    rows = np.full((len(pieces), int(sizes.max())), -1)
    # Row by row, the turns fill the places that are theirs, in the order they were read in.
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = np.argsort(order)
    return Dialogues(chunks, torch.from_numpy(rows))


def _fill(sizes: Ints, budget: int) -> list[int]:
    """Return where to cut sizes so that the sum of each part is within `budget`, or the part is a single one."""
    cuts, total = [], 0
    for place, size in enumerate(sizes.tolist()):
        if total and total + size > budget:
            cuts.append(place)
            total = 0
        total += size
    return cuts


def _chunk(ids: Ints, starts: Ints, lengths: Ints) -> Turns:
    """Return the turns that begin at `starts`, longest first, as one padded array."""
    places = np.arange(lengths[0])
    inside = places < lengths[:, None]
    tokens = np.full(inside.shape, PAD_ID)
    tokens[inside] = ids[(starts[:, None] + places)[inside]]
    return Turns(torch.from_numpy(tokens), torch.from_numpy(lengths))


def _cuts(lengths: Ints) -> list[int]:
    """Return where to cut turns, longest first, into the fewest chunks whose padding is within `MOST_PADDING`.

    Of all cuts into that many chunks, those that pad least. `least[j]` is the fewest positions for the turns before
    the j-th change of length, and `cost[i, j]` the positions of a chunk from change i to change j.
    """
    longest, first = np.unique(-lengths, return_index=True)
    ends = np.append(first, len(lengths))
    cost = -longest[:, None] * (ends[None, :] - first[:, None]).astype(float)
    cost[ends[None, :] <= first[:, None]] = np.inf
    enough = lengths.sum() / (1 - MOST_PADDING)
    least, paths = cost[0], []
    while least[-1] > enough:
        through = least[:-1, None] + cost
        paths.append(through.argmin(axis=0))
        least = through.min(axis=0)
    cuts, end = [], len(first)
    for path in reversed(paths):
        end = int(path[end])
        cuts.append(int(ends[end]))
    return cuts[::-1]
