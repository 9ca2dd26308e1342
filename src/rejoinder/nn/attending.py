"""The trained surprisal network in numpy: the arithmetic of `nn/surprisal.py` without torch, over tables in few bits.

What is told of a reply depends on nothing but it and its context, to the last bit: each is multiplied by itself. A
context goes through once, and what replies need of it can be kept. Whatever a weight does to all that is asked alike is
folded into another one when they are read. Shapes: c pieces of a context, n of a reply, w words, D width, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from rejoinder.nn.packing import Floats, Table, Tensors
from rejoinder.nn.surprising import Laid, SurprisalSizes

_EPSILON = 1e-5  # of torch's layer normalisation
_STEP = np.float32(2)  # as in training

Before = tuple[Floats, ...]
"""What replies read of a context: by layer, keys and values [c, 2D]; of none, nothing."""


class Told(NamedTuple):
    """What is told of a reply, in nats, 0 or more; its end is the last of its w words where it was read to its end.

    Attributes:
        surprisal: [w] of each word after the context.
        alone: [w] of each word without the context.
        entropy: [w] of what is expected for each word after the context.
        ended: whether the reply was read to its end.
    """

    surprisal: Floats
    alone: Floats
    entropy: Floats
    ended: bool


class _Layer(NamedTuple):
    """The weights of a layer as they are multiplied with: its normalisations are part of `reads` and `up`.

    Attributes:
        reads: [D, 3D] queries, keys and values, the queries divided by the root of a head's width.
        asks: [D] what is added to queries. A bias of keys adds the same to all that one piece asks, so it is left out;
            one of values comes through as it is, so it is part of `adds`.
        writes: [D, D].
        adds: [D] its bias.
        up: [D, I].
        cut: [I] where what comes up is cut from below; what it leaves out of its bias is part of `rest`.
        down: [I, D].
        rest: [D] its bias.
    """

    reads: Floats
    asks: Floats
    writes: Floats
    adds: Floats
    up: Floats
    cut: Floats
    down: Floats
    rest: Floats


@dataclass(frozen=True)
class SurprisalNetwork:
    """The tables, and what reads over them.

    Attributes:
        tensors: weights by the names that `SurprisalModel` has for them, packed or not.
        sizes: their shapes.
    """

    tensors: Tensors
    sizes: SurprisalSizes

    def context(self, turns: Sequence[Sequence[int]]) -> Before:
        """What replies read of a context, given as the pieces of each of its turns, oldest first."""
        laid, width = self.sizes.context_laid(turns), self.sizes.width
        if not len(laid.ids):
            return ()
        states, _ = self._entered(laid)
        kept: list[Floats] = []
        for layer in self._layers[:-1]:
            read = _read(states, layer)
            kept.append(read[:, width:])
            found = np.empty_like(states)
            self._attend(read, None, found)
            states = _gone_on(states, found, layer)
        # Of the last layer replies need no more than this.
        return (*kept, _normed(states) @ self._layers[-1].reads[:, width:])

    def reply(self, words: Sequence[Sequence[int]], before: Before) -> Told:
        """What is told of a reply, given as the pieces of each of its words, after a context and alone."""
        laid, owners = self.sizes.reply_laid(words)
        # After the context and alone, one below the other: few large products are quicker than many small ones.
        contexts = (before, ()) if before else ((),)
        (states, by_itself), n = self._entered(laid), len(laid.ids)
        for number, layer in enumerate(self._layers):
            read = _read(states, layer)
            found = np.empty((len(contexts) * n, self.sizes.width), np.float32)
            for place, context in enumerate(contexts):
                rows = slice(place * n, (place + 1) * n)
                # Before the first layer both are the same.
                self._attend(read[rows] if number else read, context[number] if context else None, found[rows])
            states = _gone_on(states if number else np.concatenate((states,) * len(contexts)), found, layer)
        told = (_normed(states) @ self._told).reshape(len(contexts), n, 2) + by_itself
        told = np.logaddexp(told, 0, out=told)
        told *= _STEP
        starts = owners.searchsorted(np.arange(owners[-1] + 1))
        sums = np.add.reduceat(told[:, :, 0], starts, axis=1)
        return Told(sums[0], sums[-1], told[0, starts, 1], bool(owners[-1] == len(words)))

    def _attend(self, read: Floats, before: Floats | None, found: Floats) -> None:
        """Fill [n, D] with what n pieces take from those before them, whose keys and values [c, 2D] may come first.

        Args:
            read: [n, 3D] their queries, keys and values.
            before: of the context.
            found: to be filled.
        """
        heads, width, count = self.sizes.heads, self.sizes.width, len(read)
        both = read[:, width:] if before is None else np.concatenate((before, read[:, width:]))
        queries = read[:, :width].reshape(count, heads, -1).transpose(1, 0, 2)
        keys = both[:, :width].reshape(len(both), heads, -1).transpose(1, 2, 0)
        values = both[:, width:].reshape(len(both), heads, -1).transpose(1, 0, 2)
        shares = queries @ keys
        shares[:, :, -count:] += _later(count)
        shares -= shares.max(axis=2, keepdims=True)
        np.exp(shares, out=shares)
        taken = np.matmul(shares, values, out=found.reshape(count, heads, -1).transpose(1, 0, 2))
        taken /= shares.sum(axis=2, keepdims=True)

    def _entered(self, laid: Laid) -> tuple[Floats, Floats]:
        """[n, D] what stands for each piece before the first layer, and [n, 2] what is told of it by itself."""
        pairs = self.sizes.pairs(laid)
        states = self._pieces.take(laid.ids, axis=0)
        states += self._pairs.vectors(pairs)
        states += self._spots.take(laid.roles * (2 * self.sizes.places) + laid.places, axis=0)
        states -= (states @ self._evenly)[:, None]
        told: Floats = self._piece_says.take(laid.ids, axis=0)
        told += self._pair_says.take(pairs, axis=0)
        return states, told

    def _float(self, name: str) -> Floats:
        """A tensor in single precision."""
        return self.tensors[name].astype(np.float32)

    def _map(self, name: str, after: str = "") -> tuple[Floats, Floats]:
        """A linear map [inputs, outputs] and its bias; with what the normalisation called `after` does before it."""
        matrix, bias = np.ascontiguousarray(self._float(f"{name}.weight").T), self._float(f"{name}.bias")
        if not after:
            return matrix, bias
        # `_normed` makes rows of length 1; they had the length of the root of D.
        scale = self._float(f"{after}.weight") * np.float32(np.sqrt(self.sizes.width))
        return scale[:, None] * matrix, self._float(f"{after}.bias") @ matrix + bias

    @cached_property
    def _pieces(self) -> Floats:
        return Table.of(self.tensors, "pieces", self.sizes.width).whole()

    @cached_property
    def _pairs(self) -> Table:
        """The table of pairs, which stays as it is kept: in single precision it would take eight times as much."""
        return Table.of(self.tensors, "pairs", self.sizes.width)

    @cached_property
    def _spots(self) -> Floats:
        """[roles * places, D] what each place adds in each role."""
        roles, places = self._float("roles.weight"), self._float("places.weight")
        return (roles[:, None] + places).reshape(-1, self.sizes.width)

    @cached_property
    def _evenly(self) -> Floats:
        """[D] what makes the mean of a row."""
        return np.full(self.sizes.width, 1 / self.sizes.width, np.float32)

    @cached_property
    def _piece_says(self) -> Floats:
        """[R, 2] what each piece says, and the bias, which is added once to each."""
        found: Floats = self._float("piece_says.weight") + self._map("told", after="last")[1]
        return found

    @cached_property
    def _pair_says(self) -> Floats:
        return self._float("pair_says.weight")

    @cached_property
    def _told(self) -> Floats:
        return self._map("told", after="last")[0]

    @cached_property
    def _layers(self) -> list[_Layer]:
        """The layers, first to last."""
        return [self._layer(f"layers.{number}") for number in range(self.sizes.layers)]

    def _layer(self, name: str) -> _Layer:
        """The weights of one layer, folded."""
        width = self.sizes.width
        reads, bias = self._map(f"{name}.reads", after=f"{name}.before")
        scale = np.float32(np.sqrt(self.sizes.heads / width))
        reads[:, :width] *= scale
        writes, adds = self._map(f"{name}.writes")
        up, raised = self._map(f"{name}.up", after=f"{name}.after")
        down, rest = self._map(f"{name}.down")
        return _Layer(
            reads,
            bias[:width] * scale,
            _centred(writes),
            _centred(adds + bias[2 * width :] @ writes),
            up,
            -raised,
            _centred(down),
            _centred(rest + raised @ down),
        )


def _read(states: Floats, layer: _Layer) -> Floats:
    """[n, 3D] queries, keys and values of [n, D]."""
    read = _normed(states) @ layer.reads
    read[:, : len(layer.asks)] += layer.asks
    return read


def _gone_on(states: Floats, found: Floats, layer: _Layer) -> Floats:
    """[n, D] states after a layer whose attention found [n, D]; the states before it are overwritten."""
    states += found @ layer.writes
    states += layer.adds
    inner = _normed(states) @ layer.up
    states += np.maximum(inner, layer.cut, out=inner) @ layer.down
    states += layer.rest
    return states


def _normed(states: Floats) -> Floats:
    """[n, D] rows of mean 0 by their lengths."""
    lengths = np.einsum("ij,ij->i", states, states)
    lengths += np.float32(_EPSILON * states.shape[1])
    return np.asarray(states / np.sqrt(lengths, out=lengths)[:, None])


def _centred(rows: Floats) -> Floats:
    """Rows, or one, less the mean of each."""
    found: Floats = rows - rows.mean(axis=-1, keepdims=True)
    return found


@lru_cache(maxsize=128)
def _later(count: int) -> Floats:
    """[n, n] what keeps pieces from those behind them: added to what they ask of each other."""
    return np.triu(np.full((count, count), -np.inf, np.float32), 1)
