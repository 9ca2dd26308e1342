"""Batches of dialogues for hierarchical models, with little padding, in an order that a seed decides.

A batch takes pieces with like numbers of turns and like lengths. Its turns are then sorted by length, whatever dialogue
they stand in, and cut into a few chunks; only inside a chunk is anything padded. `rows` puts the dialogues together
again from what a model computed for each turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import UsageError
from rejoinder.models.vocabulary import PAD_ID
from rejoinder.pretraining.tokens import TokenStore

Ints = NDArray[np.int64]

BATCHES_A_BUCKET = 100
"""Batches whose pieces are sorted together: more give less padding, fewer give more chance in who meets whom."""
MOST_PADDING = 0.095
"""Share of a batch's positions that may be padding; a batch is cut into as few chunks as allow that."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Turns of like length.

    Attributes:
        tokens: `[n, T]` ids; a turn that is shorter than T is filled with `PAD_ID` after its end.
        lengths: `[n]` ids of each turn, its end included; longest first, so T is the first.
    """

    tokens: Ints
    lengths: Ints


@dataclass(frozen=True, slots=True)
class Batch:
    """B pieces of dialogues with N turns in all, U the most that one of them has.

    Attributes:
        chunks: the N turns, longest first, cut into chunks of like length.
        rows: `[B, U]` where each turn stands among the N turns of all chunks, one after the other; -1 where a piece
            has fewer turns.
    """

    chunks: list[Chunk]
    rows: Ints


def piece_stream(
    store: TokenStore, *, tokens_per_batch: int, seed: int, epoch: int, rank: int = 0, world: int = 1, first: int = 0
) -> Iterator[Ints]:
    """Yield the pieces of each batch of one epoch, in an order that `seed` and `epoch` decide (see `make_batch`).

    Every piece comes once, except that with several processes up to `world` - 1 batches at the end are left out, so
    that all processes get the same number. Memory grows with the number of pieces by a few bytes each.

    Args:
        store: the corpus.
        tokens_per_batch: the most positions of a batch, padding included; only a single piece that is larger than that
            by itself makes a larger batch.
        seed: decides the order, together with `epoch`.
        epoch: number of the pass over the corpus.
        rank: which of the `world` processes this one is; it gets every `world`-th batch.
        world: number of processes.
        first: how many batches of this process to pass over, as a run that is resumed needs.

    Raises:
        UsageError: `tokens_per_batch` is not positive, or `rank` is none of 0 to `world` - 1.
    """
    if not 0 <= rank < world:
        raise UsageError(f"rank is {rank}, expected 0 to {world - 1} (world is {world})")
    turn: list[Ints] = []
    for number, pieces in enumerate(_plan(store, tokens_per_batch, seed, epoch)):
        turn.append(pieces)
        if len(turn) == world:
            if number // world >= first:
                yield turn[rank]
            turn = []


def batch_count(store: TokenStore, *, tokens_per_batch: int, seed: int, epoch: int, world: int = 1) -> int:
    """The number of batches that `piece_stream` yields for the same arguments, to each of `world` processes.

    It differs a little from epoch to epoch, because other pieces meet.
    """
    return sum(1 for _ in _plan(store, tokens_per_batch, seed, epoch)) // world


def make_batch(store: TokenStore, pieces: Ints) -> Batch:
    """The batch of some pieces of the corpus; row b of `rows` is piece b."""
    sizes = store.starts[pieces + 1, 0] - store.starts[pieces, 0]
    lengths = np.concatenate([store.lengths(piece) for piece in pieces])
    ids = np.concatenate([store.ids(piece) for piece in pieces]).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    order = np.argsort(-lengths, kind="stable")
    chunks = [_chunk(ids, starts[part], lengths[part]) for part in np.split(order, _cuts(lengths[order]))]
    rows = np.full((len(pieces), int(sizes.max())), -1)
    # Row by row, the turns fill the places that are theirs, in the order they were read in.
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = np.argsort(order)
    return Batch(chunks, rows)


def _plan(store: TokenStore, tokens_per_batch: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield the pieces of each batch."""
    if tokens_per_batch < 1:
        raise UsageError(f"tokens_per_batch is {tokens_per_batch}, expected a positive number")
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


def _fill(sizes: Ints, budget: int) -> list[int]:
    """Where to cut a row of sizes so that the sum of each part is within `budget`, or the part is a single one."""
    cuts, total = [], 0
    for place, size in enumerate(sizes.tolist()):
        if total and total + size > budget:
            cuts.append(place)
            total = 0
        total += size
    return cuts


def _chunk(ids: Ints, starts: Ints, lengths: Ints) -> Chunk:
    """The turns that begin at `starts`, longest first, as one padded array."""
    places = np.arange(lengths[0])
    inside = places < lengths[:, None]
    tokens = np.full(inside.shape, PAD_ID)
    tokens[inside] = ids[(starts[:, None] + places)[inside]]
    return Chunk(tokens, lengths)


def _cuts(lengths: Ints) -> list[int]:
    """Where to cut turns, sorted longest first, into the fewest chunks whose padding is within `MOST_PADDING`.

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
