"""The trained student in numpy: the arithmetic of `nn/student.py` without torch, over tables in few bits.

A text's vector depends on nothing else, to the last bit. Texts are read together, but each is multiplied by itself; a
long one is read in spans (`nn/spans.py`), so memory stays flat however long it is.
Shapes: n pieces of a text, E width of a piece's vector, O width of an encoding, R rows of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rejoinder.models.averaging import LEFT, RIGHT
from rejoinder.models.packing import Floats, Table, Tensors
from rejoinder.models.spans import Group, groups

if TYPE_CHECKING:
    from rejoinder.models.sizes import StudentSizes

HIGHEST = 4.0
"""The logarithm of a piece's weight counts from -HIGHEST to HIGHEST."""
_EPSILON = np.float32(1e-5)  # of torch's layer normalisation
_SHORTEST = np.float32(1e-12)

_Map = tuple[Floats, Floats]  # a matrix [inputs, outputs] and a bias


def shapes(sizes: StudentSizes) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor of the network, by the names that `StudentModel` has for them."""
    width, norm = sizes.embedding, (sizes.embedding,)
    found: dict[str, tuple[int, ...]] = {
        "pieces.weight": (sizes.vocabulary, width),
        "weights.weight": (sizes.vocabulary, 1),
        "pairs.weight": (sizes.buckets, width),
        "positions.weight": (sizes.positions, width),
        **_shapes("bag", sizes.output, width),
        "gate.weight": (1, width),
        **_shapes("read", sizes.output, width),
        **{f"{name}.{part}": norm for name in ("first", "last") for part in ("weight", "bias")},
    }
    for name in (f"blocks.{number}" for number in range(sizes.blocks)):
        found |= {f"{name}.kernel": (2 * sizes.reach + 1, width), f"{name}.bias": norm}
        found |= {f"{name}.norm.weight": norm, f"{name}.norm.bias": norm}
        found |= _shapes(f"{name}.up", sizes.inner, width) | _shapes(f"{name}.down", width, sizes.inner)
    return found


def _shapes(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a linear map."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


class _Layer(NamedTuple):
    """The weights of one layer of convolution, as they are multiplied with: its normalisation is part of `up`."""

    kernel: Floats
    bias: Floats
    up: _Map
    down: _Map


class _Pooled(NamedTuple):
    """What a span adds to a mean by softmax: its largest logit, the sum of shares below that, and the summed states."""

    top: np.float32
    mass: np.float32
    states: Floats


@dataclass(frozen=True)
class StudentNetwork:
    """The tables, and what reads over them.

    Attributes:
        tensors: weights by the names that `StudentModel` has for them, packed or not.
    """

    tensors: Tensors

    def vector(self, ids: Sequence[int]) -> Floats:
        """[O] the unit vector of a text of one piece or more."""
        (unit,) = self.vectors([ids])
        return np.asarray(unit)

    def vectors(self, texts: Sequence[Sequence[int]]) -> Floats:
        """[N, O] the unit vectors of N texts of one piece or more, each what it is by itself, to the last bit."""
        bags, pooled = np.zeros((len(texts), self._width), np.float32), [list[_Pooled]() for _ in texts]
        for group in groups(texts, self._reach, len(self._layers)):
            self._add(group, bags, pooled)
        bags /= np.sqrt(np.array(list(map(len, texts)), np.float32))[:, None]
        found = _mapped(bags, self._bag) + _mapped([_mean(parts) for parts in pooled], self._read)
        found /= np.maximum(np.sqrt(np.square(found).sum(axis=1, keepdims=True)), _SHORTEST)
        return found

    @cached_property
    def pieces(self) -> Floats:
        """[R, E] the vectors of pieces, in single precision."""
        return Table.of(self.tensors, "pieces", self._width).whole()

    @cached_property
    def weights(self) -> Floats:
        """[R] how much each piece counts in a text: its weight times the length of its vector."""
        found: Floats = self._counts * np.sqrt(np.square(self.pieces).sum(axis=1))
        return found

    def _add(self, group: Group, bags: Floats, pooled: Sequence[list[_Pooled]]) -> None:
        """Add spans to the bags [N, E] of their texts, and to what is pooled of each."""
        numbers, rows = group.numbers, self.pieces[group.numbers]
        counts, logs, states = self._counts[numbers], self._logs[numbers], self._read_over(rows, group)
        # Each piece with the next; those of one text with another are in no span's `pairs`.
        following = np.concatenate((numbers[1:], numbers[:1]))
        pairs = self._pairs.rows((numbers * LEFT + following * RIGHT) % len(self._pairs))
        # Products are of one text each: of several at once the last bits may depend on what stands beside it.
        for span in group.spans:
            bags[span.text] += counts[span.own] @ rows[span.own]
            bags[span.text] += pairs.total(span.pairs)
            pooled[span.text].append(self._pooled(states[span.own], logs[span.own]))

    def _read_over(self, rows: Floats, group: Group) -> Floats:
        """[n, E] what the layers make of the pieces of a group, whose vectors are [n, E]."""
        states = _normed(rows) * self._first
        states += self._positions[np.minimum(group.places, len(self._positions) - 1)]
        for layer in self._layers:
            states += _layered(states, layer, group)
        return _normed(states)

    def _pooled(self, states: Floats, logs: Floats) -> _Pooled:
        """What n pieces add to the mean of what was read: their states [n, E], and the logarithms [n] of weights."""
        logits = states @ self._gate + logs / 2
        top = logits.max()
        shares = np.exp(logits - top)
        return _Pooled(top, shares.sum(), shares @ states)

    def _float(self, name: str) -> Floats:
        """A tensor in single precision."""
        return self.tensors[name].astype(np.float32)

    def _map(self, name: str, after: str = "") -> _Map:
        """A linear map; with what the normalisation called `after` multiplies and adds before it."""
        matrix, bias = np.ascontiguousarray(self._float(f"{name}.weight").T), self._float(f"{name}.bias")
        if not after:
            return matrix, bias
        return self._float(f"{after}.weight")[:, None] * matrix, self._float(f"{after}.bias") @ matrix + bias

    @property
    def _width(self) -> int:
        """E."""
        return int(self.tensors["positions.weight"].shape[1])

    @cached_property
    def _pairs(self) -> Table:
        """The table of pairs, which stays as it is kept: in single precision it would take eight times as much."""
        return Table.of(self.tensors, "pairs", self._width)

    @cached_property
    def _logs(self) -> Floats:
        """[R] the logarithm of each piece's weight."""
        return np.clip(self._float("weights.weight")[:, 0], -HIGHEST, HIGHEST)

    @cached_property
    def _counts(self) -> Floats:
        """[R] the weight of each piece."""
        found: Floats = np.exp(self._logs)
        return found

    @property
    def _reach(self) -> int:
        """How many neighbours on either side a layer reads."""
        return max((len(layer.kernel) // 2 for layer in self._layers), default=0)

    @cached_property
    def _first(self) -> Floats:
        """[E] what the first normalisation multiplies with."""
        return self._float("first.weight")

    @cached_property
    def _positions(self) -> Floats:
        """[positions, E] what is added to a piece at each place, and by the first normalisation."""
        return self._float("positions.weight") + self._float("first.bias")

    @cached_property
    def _gate(self) -> Floats:
        """[E] what makes logits of states; what the last normalisation adds moves them all alike, so it is left out."""
        gate: Floats = self._float("gate.weight")[0] * self._float("last.weight")
        return gate

    @cached_property
    def _bag(self) -> _Map:
        return self._map("bag")

    @cached_property
    def _read(self) -> _Map:
        return self._map("read", after="last")

    @cached_property
    def _layers(self) -> list[_Layer]:
        """The layers of convolution, first to last."""
        found: list[_Layer] = []
        while (name := f"blocks.{len(found)}") + ".kernel" in self.tensors:
            kernel = self._float(f"{name}.kernel")
            kernel[len(kernel) // 2] += 1  # what is mixed is added to the piece itself
            up = self._map(f"{name}.up", after=f"{name}.norm")
            found.append(_Layer(kernel, self._float(f"{name}.bias"), up, self._map(f"{name}.down")))
        return found


def _layered(states: Floats, layer: _Layer, group: Group) -> Floats:
    """[n, E] what one layer of convolution adds to [n, E]."""
    width, size = states.shape[1], len(layer.kernel)
    wide = np.zeros((group.height + size - 1, width), dtype=np.float32)
    wide[group.windows + size // 2] = states
    # [height, size, E] each piece with its neighbours: a view whose first two axes both step from row to row.
    around = np.ndarray((group.height, size, width), np.float32, wide, strides=(wide.strides[0], *wide.strides))
    mixed: Floats = np.einsum("nke,ke->ne", around, layer.kernel)
    mixed += layer.bias
    mixed, found = _normed(mixed), np.empty_like(states)
    start = 0
    for span in group.spans:
        inner = mixed[span.windows] @ layer.up[0]
        inner += layer.up[1]
        found[start : start + span.size] = (np.maximum(inner, 0, out=inner) @ layer.down[0])[: span.size]
        start += span.size
    found += layer.down[1]
    return found


def _mapped(inputs: Iterable[Floats], by: _Map) -> Floats:
    """[N, O] a linear map of N vectors, one after the other."""
    found = np.array([vector @ by[0] for vector in inputs])
    found += by[1]
    return found


def _normed(inputs: Floats) -> Floats:
    """[n, E] each row less its mean, by its spread."""
    width = np.float32(inputs.shape[1])
    normed: Floats = inputs - inputs.sum(axis=1, keepdims=True) / width
    spread = np.sqrt(np.einsum("ij,ij->i", normed, normed) / width + _EPSILON)
    normed /= spread[:, None]
    return normed


def _mean(parts: Sequence[_Pooled]) -> Floats:
    """[E] the mean by softmax over all spans; mostly there is one."""
    if len(parts) == 1:
        return np.asarray(parts[0].states / parts[0].mass)
    top = max(part.top for part in parts)
    shares = [np.exp(part.top - top) for part in parts]
    mass = sum(share * part.mass for share, part in zip(shares, parts, strict=True))
    states = sum(share * part.states for share, part in zip(shares, parts, strict=True))
    mean: Floats = np.asarray(states / mass, dtype=np.float32)
    return mean
