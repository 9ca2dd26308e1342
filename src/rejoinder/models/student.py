"""The trained student in numpy: sentence vectors without torch, over tables of vectors in few bits.

Texts are read in groups of about 512 pieces, and each product of matrices is of all pieces of a group. Long texts are
read in spans, each with the neighbours that layers of convolution reach from it, so memory stays flat.
The vector of a text depends on the rest of a batch in its last bits only.

A table of pieces is stored in a byte a number. The table of pairs, which is five times as long and adds less, is stored
in half a byte: the first half of a row's numbers in the lower halves of its bytes, the second in the upper.

Shapes: N texts, S spans, n pieces of a group with their neighbours, E width of a piece's vector, O width of a text's
vector, R rows of a table. `networks/student.py` is the same network in torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, require_finite, value_in
from rejoinder.errors import DataError
from rejoinder.models.threads import one_thread
from rejoinder.models.vocabulary import END_ID, PAD_ID, UNK_ID, Vocabulary
from rejoinder.models.weights import Tensors, tensor, text_of
from rejoinder.text.normalize import detokenize

if TYPE_CHECKING:
    from rejoinder.models.sizes import StudentSizes

KIND = "student"
VOCABULARY = "vocabulary.json"
TURNS = 3
"""Turns that a context is read with."""
LEFT, RIGHT = 1_000_003, 7_919
"""Factors that hash a pair of neighbours to a row: large and odd, so (a, b) and (b, a) differ. Never change them."""
HIGHEST = 4.0
"""The logarithm of a piece's weight counts from -HIGHEST to HIGHEST."""
BITS = {"pieces": 8, "pairs": 4}
"""Bits of a number in each table."""
_MIDDLE = 8  # half a byte has no sign
_EPSILON = np.float32(1e-5)  # of torch's layer normalisation
_SHORTEST = np.float32(1e-12)
_LEAST = np.float32(1e-6)  # length of the vector of a piece
_LONGEST = 1024  # pieces of a span
_TOGETHER = 512  # pieces of a group of several spans: their states stay in a processor's cache
_FEW = 4  # rows
_SHORT = 1000  # characters: pieces of longer texts are not cached, so the cache takes some megabytes at most
_MOST_BLOCKS = 100

Floats = NDArray[np.float32]


class Affine(NamedTuple):
    """A matrix [inputs, outputs] and a bias [outputs]."""

    matrix: Floats
    bias: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Return [n, outputs] from [n, inputs]."""
        outputs = product(rows, self.matrix)
        outputs += self.bias
        return outputs


def product(rows: Floats, matrix: Floats) -> Floats:
    """Return `rows @ matrix`: of two or three rows one by one, which takes BLAS half the time."""
    if 1 < len(rows) < _FEW:
        return np.array([row @ matrix for row in rows])
    return rows @ matrix


def units(vectors: NDArray[Any]) -> Floats:
    """Return vectors [N, D] in single precision and of length 1; zeros stay zeros."""
    rows: Floats = vectors.astype(np.float32)
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), _SHORTEST)[:, None]
    return rows


def tensor_shapes(sizes: StudentSizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of the network, by the names that `StudentModel` has for them."""
    width, norm = sizes.embedding, (sizes.embedding,)
    shapes: dict[str, tuple[int, ...]] = {
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
        shapes |= {f"{name}.kernel": (2 * sizes.reach + 1, width), f"{name}.bias": norm}
        shapes |= {f"{name}.norm.weight": norm, f"{name}.norm.bias": norm}
        shapes |= _shapes(f"{name}.up", sizes.inner, width) | _shapes(f"{name}.down", width, sizes.inner)
    return shapes


def _shapes(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a linear map."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


class _Span(NamedTuple):
    """A part of a text of at most `_LONGEST` pieces.

    Attributes:
        ids: its pieces, and the neighbours that are needed to read them.
        place: the place of the first of `ids` in the text.
        before: how many neighbours are in front.
        after: how many are behind.
    """

    ids: Sequence[int]
    place: int
    before: int
    after: int


def _spans(ids: Sequence[int], neighbours: int) -> Iterator[_Span]:
    """Yield the spans of a text."""
    for start in range(0, len(ids), _LONGEST):
        low, stop = max(start - neighbours, 0), min(start + _LONGEST, len(ids))
        high = min(stop + neighbours, len(ids))
        yield _Span(ids[low:high], low, start - low, high - stop)


def _groups(spans: Sequence[_Span]) -> Iterator[slice]:
    """Yield the places of spans that are read together."""
    start = pieces = 0
    for place, span in enumerate(spans):
        if pieces and pieces + len(span.ids) > _TOGETHER:
            yield slice(start, place)
            start, pieces = place, 0
        pieces += len(span.ids)
    if pieces:
        yield slice(start, len(spans))


class _Sums(NamedTuple):
    """What is added up over the pieces of each span, and later of each text.

    Attributes:
        bags: [S, E] the weighted vectors of pieces, and those of pairs.
        states: [S, E] what the layers make of the pieces, each by the exponential of its logit less `tops`.
        masses: [S] the sum of these exponentials.
        tops: [S] the largest logit.
    """

    bags: Floats
    states: Floats
    masses: Floats
    tops: Floats

    def by_text(self, counts: Sequence[int]) -> _Sums:
        """Return the sums of N texts; `counts` [N] has the number of spans of each."""
        first = np.cumsum([0, *counts[:-1]])
        tops = np.maximum.reduceat(self.tops, first)
        factors = np.exp(self.tops - np.repeat(tops, counts))
        bags, states, masses = (
            np.add.reduceat(sums, first) for sums in (self.bags, self.states * factors[:, None], self.masses * factors)
        )
        return _Sums(bags, states, masses, tops)


class _Layer(NamedTuple):
    """The weights of one layer of convolution; its normalisation is part of `up`."""

    kernel: Floats
    bias: Floats
    up: Affine
    down: Affine

    def add_to(self, states: Floats, windows: NDArray[np.int64]) -> None:
        """Add to states [n, E] what the layer makes of them; `windows` [n] keep texts apart (see `_read`)."""
        width, size = states.shape[1], len(self.kernel)
        height = int(windows[-1]) + 1
        wide = np.zeros((height + size - 1, width), np.float32)
        wide[windows + size // 2] = states
        around = np.ndarray((height, size, width), np.float32, wide, strides=(wide.strides[0], *wide.strides))
        mixed = np.einsum("nke,ke->ne", around, self.kernel)[windows]
        mixed += self.bias
        inner = self.up(_normalised(mixed))
        np.maximum(inner, 0, out=inner)
        states += self.down(inner)


@dataclass(frozen=True)
class StudentNetwork:
    """The tables, and what reads over them.

    Attributes:
        tensors: weights by the names that `StudentModel` has for them, packed or not.
    """

    tensors: Tensors

    def vectors(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return the unit vectors [N, O] of N texts, each the ids of one piece or more."""
        spans_of_texts = [list(_spans(ids, self._neighbours)) for ids in texts]
        spans = list(chain.from_iterable(spans_of_texts))
        shape = (len(spans), self._width)
        sums = _Sums(*(np.empty(size, np.float32) for size in (shape, shape, shape[:1], shape[:1])))
        for group in _groups(spans):
            self._read(spans[group], _Sums(*(array[group] for array in sums)))
        if len(spans) > len(texts):
            sums = sums.by_text(list(map(len, spans_of_texts)))
        roots = np.sqrt(np.array(list(map(len, texts)), np.float32))
        return units(self._output(np.hstack((sums.bags / roots[:, None], sums.states / sums.masses[:, None]))))

    @cached_property
    def pieces(self) -> Floats:
        """[R, E] the vectors of pieces."""
        return _unpacked(self.tensors, "pieces", self._width)

    @cached_property
    def lengths(self) -> Floats:
        """[R] the length of each vector."""
        lengths: Floats = np.sqrt(np.square(self.pieces).sum(axis=1))
        return lengths

    def _read(self, spans: Sequence[_Span], sums: _Sums) -> None:
        """Write the sums of a group of S spans; all products are of all its pieces."""
        place, before, after = np.array([span[1:] for span in spans]).T
        lengths = np.fromiter((len(span.ids) for span in spans), np.int64, len(spans))
        ends = np.cumsum(lengths)
        starts, size = ends - lengths, int(ends[-1])
        span, pieces = np.repeat(np.arange(len(spans)), lengths), np.arange(size)
        numbers = np.fromiter(chain.from_iterable(span.ids for span in spans), np.int64, size)
        neighbour = (pieces < (starts + before)[span]) | (pieces >= (ends - after)[span])
        rows = self.pieces[numbers]  # [n, E]
        # Sums over spans are products with a matrix of weights.
        weights = np.zeros((len(spans), size), np.float32)
        weights[span, pieces] = np.where(neighbour, 0, self.counts[numbers])
        np.matmul(weights, rows, out=sums.bags)
        # A piece makes a pair with the next one; the last of a span is the last of its text or a neighbour.
        following = np.append(numbers[1:], 0)
        pairs, scale = self._pairs(numbers * LEFT + following * RIGHT)
        weights[span, pieces] = np.where(neighbour, 0, scale)
        weights[:, ends - 1] = 0
        np.add(sums.bags, weights @ pairs, out=sums.bags)
        states = self._states(rows, pieces + (place - starts)[span], pieces + span * self._reach)
        logits = states @ self._gate + self._logs[numbers] / 2
        logits[neighbour] = -np.inf
        np.maximum.reduceat(logits, starts, out=sums.tops)
        shares = np.exp(logits - sums.tops[span])
        np.add.reduceat(shares, starts, out=sums.masses)
        weights[span, pieces] = shares
        np.matmul(weights, states, out=sums.states)

    def _states(self, rows: Floats, places: NDArray[np.int64], windows: NDArray[np.int64]) -> Floats:
        """Return [n, E] what the layers make of the vectors [n, E] of pieces.

        Args:
            rows: the vectors.
            places: [n] the place of each piece in its text.
            windows: [n] the first row that a convolution reads for each, far enough apart that it reads no other span.
        """
        states = _normalised(rows)
        states *= self._first
        states += self._positions[np.minimum(places, len(self._positions) - 1)]
        for layer in self._layers:
            layer.add_to(states, windows)
        return _normalised(states)

    def _pairs(self, hashes: NDArray[np.int64]) -> tuple[Floats, Floats | float]:
        """Return the vectors [n, E] of pairs without their scale, and the scale [n]."""
        table, scale = self.tensors["pairs.weight"], self.tensors.get("pairs.scale")
        rows = hashes % len(table)
        return _floats(table[rows], self._width), 1.0 if scale is None else scale[rows].astype(np.float32)

    def _float(self, name: str) -> Floats:
        """Return a tensor in single precision."""
        return self.tensors[name].astype(np.float32)

    def _affine(self, name: str, after: str = "") -> Affine:
        """Return a linear map; with the factors and the bias of the normalisation called `after` in front of it."""
        matrix, bias = np.ascontiguousarray(self._float(f"{name}.weight").T), self._float(f"{name}.bias")
        if after:
            bias += self._float(f"{after}.bias") @ matrix
            matrix *= self._float(f"{after}.weight")[:, None]
        return Affine(matrix, bias)

    @cached_property
    def _width(self) -> int:
        """E."""
        return int(self.tensors["positions.weight"].shape[1])

    @cached_property
    def _logs(self) -> Floats:
        """[R] the logarithm of each piece's weight."""
        return np.clip(self._float("weights.weight")[:, 0], -HIGHEST, HIGHEST)

    @cached_property
    def counts(self) -> Floats:
        """[R] the weight of each piece."""
        counts: Floats = np.exp(self._logs)
        return counts

    @cached_property
    def _reach(self) -> int:
        """How many neighbours on either side a layer reads."""
        return max((len(layer.kernel) // 2 for layer in self._layers), default=0)

    @cached_property
    def _neighbours(self) -> int:
        """How many neighbours on either side all layers read; at least the next piece, which makes a pair."""
        return max(1, self._reach * len(self._layers))

    @cached_property
    def _first(self) -> Floats:
        """[E] the factors of the first normalisation."""
        return self._float("first.weight")

    @cached_property
    def _positions(self) -> Floats:
        """[positions, E] what is added to a piece at each place, and by the first normalisation."""
        return self._float("positions.weight") + self._float("first.bias")

    @cached_property
    def _gate(self) -> Floats:
        """[E] from states to logits; the bias of the last normalisation moves all logits alike, so it is left out."""
        gate: Floats = self._float("gate.weight")[0] * self._float("last.weight")
        return gate

    @cached_property
    def _output(self) -> Affine:
        """From a bag and the mean of states [2E] to a vector [O]."""
        bag, read = self._affine("bag"), self._affine("read", after="last")
        return Affine(np.vstack((bag.matrix, read.matrix)), bag.bias + read.bias)

    @cached_property
    def _layers(self) -> list[_Layer]:
        """The layers of convolution, first to last."""
        layers: list[_Layer] = []
        while (name := f"blocks.{len(layers)}") + ".kernel" in self.tensors:
            kernel = self._float(f"{name}.kernel")
            kernel[len(kernel) // 2] += 1  # the mixture is added to the piece itself
            up = self._affine(f"{name}.up", after=f"{name}.norm")
            layers.append(_Layer(kernel, self._float(f"{name}.bias"), up, self._affine(f"{name}.down")))
        return layers


def _normalised(inputs: Floats) -> Floats:
    """Return [n, E] each row minus its mean, divided by its standard deviation."""
    width = inputs.shape[1]
    mean = np.full(width, 1 / width, np.float32)
    rows: Floats = inputs - (inputs @ mean)[:, None]
    rows *= np.reciprocal(np.sqrt(np.einsum("ij,ij->i", rows, rows) / np.float32(width) + _EPSILON))[:, None]
    return rows


@dataclass(frozen=True)
class StudentEncoder:
    """Encodes texts with the trained network. A text is read to its end, a context as its last three turns.

    Attributes:
        parts: all that `from_parts` needs to make it again.
        vocabulary: its pieces.
    """

    parts: Parts
    vocabulary: Vocabulary

    @property
    def width(self) -> int:
        """O, the length of a vector."""
        return int(self.parts.config["sizes"]["output"])

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The digest of the weights."""
        return {"encoder": KIND, "weights": self.parts.digest}

    @one_thread()
    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return [N, O] unit vectors of texts in single precision; NaN for a text without a piece."""
        encoded = np.full((len(texts), self.width), np.nan, np.float32)
        ids = {row: pieces for row, text in enumerate(texts) if (pieces := self.pieces(text))}
        if ids:
            encoded[list(ids)] = self.network.vectors(list(ids.values()))
        return encoded

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> NDArray[Any]:
        """Return [N, O] unit vectors of contexts, of each its last three turns that are not blank."""
        return self.encode([" ".join([turn for turn in context if turn.strip()][-TURNS:]) for context in contexts])

    def pieces(self, text: str) -> Sequence[int]:
        """Return the ids of a text's pieces: rows of `table` and of `weights`."""
        return (_cached_pieces if len(text) <= _SHORT else _pieces)(self.vocabulary, text)

    @property
    def table(self) -> Floats:
        """[R, E] the vectors of the pieces."""
        return self.network.pieces

    @cached_property
    def scales(self) -> Floats:
        """[R] what makes the length of each vector 1."""
        return np.reciprocal(np.maximum(self.network.lengths, _LEAST))

    @cached_property
    def weights(self) -> Floats:
        """[R] how much each piece counts in a text: its weight times the length of its vector."""
        return self.network.counts * self.network.lengths

    @cached_property
    def network(self) -> StudentNetwork:
        """The network that turns pieces into vectors."""
        return StudentNetwork(self.parts.tensors)


def _pieces(vocabulary: Vocabulary, text: str) -> tuple[int, ...]:
    """Return the ids of a text's pieces; padding and ends that are written in it are unknown pieces."""
    ids = vocabulary.encode(detokenize(text))
    if PAD_ID in ids or END_ID in ids:
        ids = [UNK_ID if number in (PAD_ID, END_ID) else number for number in ids]
    return tuple(ids)


_cached_pieces = lru_cache(maxsize=1 << 12)(_pieces)  # several features ask for the pieces of one text


def from_parts(parts: Parts) -> StudentEncoder:
    """Return the encoder made from the parts of a trained network.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    from rejoinder.models.sizes import StudentSizes

    shape: StudentSizes = value_in(parts.config, "sizes", StudentSizes)
    if shape.blocks > _MOST_BLOCKS:
        raise DataError(f"is {shape.blocks}, expected at most {_MOST_BLOCKS}", AGAIN, field="sizes.blocks")
    vocabulary = Vocabulary.from_json(text_of(parts.files, VOCABULARY))
    if vocabulary.size > shape.vocabulary:
        raise DataError(f"{vocabulary.size} pieces for {shape.vocabulary}", AGAIN, field="sizes.vocabulary")
    tensors: dict[str, NDArray[Any]] = {}
    for name, expected in tensor_shapes(shape).items():
        table, values = name.removesuffix(".weight"), parts.tensors.get(name)
        if table in BITS and values is not None and values.dtype.kind in "iu":
            rows, width = expected
            packed = {np.dtype(np.int8): expected, np.dtype(np.uint8): (rows, -(-width // 2))}
            if packed.get(values.dtype) != values.shape:
                found = f"{values.dtype} of shape {values.shape}"
                fitting = " or ".join(f"{kind} of shape {stored}" for kind, stored in packed.items())
                raise DataError(f"the tensor {name} is {found}, expected {fitting}", AGAIN)
            tensors |= {name: values, f"{table}.scale": tensor(parts.tensors, f"{table}.scale", expected[:1])}
        else:
            tensors[name] = tensor(parts.tensors, name, expected)
    with np.errstate(over="ignore"):
        tensors = pack(tensors)
    require_finite(tensors)
    config = {"kind": KIND, "sizes": parts.config["sizes"]}
    return StudentEncoder(Parts(config, tensors, {VOCABULARY: parts.files[VOCABULARY]}), vocabulary)


def pack(tensors: Tensors) -> dict[str, NDArray[Any]]:
    """Return the weights of a network as they are stored: tables in few bits, the rest in half precision.

    Tables that are packed already stay as they are.
    """
    packed: dict[str, NDArray[Any]] = {}
    for name, values in tensors.items():
        table = name.removesuffix(".weight")
        if values.dtype.kind != "f":
            packed[name] = values
        elif table in BITS:
            packed[name], packed[f"{table}.scale"] = _quantised(values.astype(np.float32), BITS[table])
        else:
            packed[name] = values.astype(np.float16)
    return packed


def unpack(tensors: Tensors, width: int) -> dict[str, Floats]:
    """Return the weights of a network that were packed, in single precision; `width` is that of its tables."""
    names = (name for name in tensors if not name.endswith(".scale"))
    tables = {f"{table}.weight": table for table in BITS}
    return {
        name: _unpacked(tensors, tables[name], width) if name in tables else tensors[name].astype(np.float32)
        for name in names
    }


def _unpacked(tensors: Tensors, table: str, width: int) -> Floats:
    """Return [R, E] all rows of a table."""
    rows, scale = _floats(tensors[f"{table}.weight"], width), tensors.get(f"{table}.scale")
    return rows if scale is None else rows * scale.astype(np.float32)[:, None]


def _floats(numbers: NDArray[Any], width: int) -> Floats:
    """Return [n, E] the numbers of rows, without their scale, from floats, signed bytes or bytes of two numbers."""
    if numbers.dtype != np.uint8:
        return numbers.astype(np.float32, copy=False)
    halves = np.concatenate((numbers & 15, numbers >> 4), axis=1)[:, :width].astype(np.float32)
    halves -= _MIDDLE
    return halves


def _quantised(rows: Floats, bits: int) -> tuple[NDArray[Any], NDArray[np.float16]]:
    """Return rows as whole numbers of `bits` bits, and the scale of each row."""
    most = 2 ** (bits - 1) - 1
    scale = (np.abs(rows).max(axis=1) / most).astype(np.float16)
    # A row that half precision cannot distinguish from zeros is zeros.
    steps = np.where(scale > 0, scale, 1).astype(np.float32)[:, None]
    numbers = np.clip(np.rint(rows / steps), -most, most).astype(np.int8)
    if bits > 4:
        return numbers, scale
    halves = np.pad(numbers, ((0, 0), (0, rows.shape[1] % 2))).astype(np.int16) + _MIDDLE
    lower, upper = np.split(halves, 2, axis=1)
    return (lower | upper << 4).astype(np.uint8), scale
