"""The encoder of a trained student, run by numpy: no torch, a fraction of a millisecond, tables in few bits.

A text is read to its end. A context is read as its last three turns, joined by spaces, which is what the student was
taught contexts are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, require_finite
from rejoinder.errors import DataError
from rejoinder.models.bpe import END_ID, PAD_ID, UNK_ID, Vocabulary
from rejoinder.models.convolving import StudentNetwork, shapes
from rejoinder.models.packing import Floats, packed, packed_shapes
from rejoinder.models.threads import one_thread
from rejoinder.models.weights import Tensors, sizes, tensor, text_of
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import detokenize

VOCABULARY = "vocabulary.json"
TURNS = 3
"""Turns that a context is read with."""
_SHORT = 1000  # characters: pieces of longer texts are not remembered, so that it takes some megabytes at most
_MOST_BLOCKS = 100


@dataclass(frozen=True)
class StudentEncoder:
    """Encodes texts with the trained network.

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
        """What decides the vectors."""
        return {"encoder": "student", "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, O] unit vectors of texts; NaN for a text without a piece."""
        encoded = np.full((len(texts), self.width), np.nan)
        known = {row: ids for row, text in enumerate(texts) if (ids := self.pieces(text))}
        if known:
            with one_thread():
                encoded[list(known)] = self.network.vectors(list(known.values()))
        return encoded

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, O] unit vectors of contexts, of each its last three turns that are not blank; NaN as in `encode`."""
        return self.encode([" ".join([turn for turn in context if turn.strip()][-TURNS:]) for context in contexts])

    def pieces(self, text: str) -> list[int]:
        """The ids of a text's pieces: rows of `table` and of `weights`."""
        return list((_known_pieces if len(text) <= _SHORT else _pieces)(self.vocabulary, text))

    @property
    def table(self) -> Floats:
        """[R, E] the vectors of the pieces."""
        return self.network.pieces

    @property
    def weights(self) -> Floats:
        """[R] how much each piece counts in a text, 0 or more."""
        return self.network.weights

    @cached_property
    def network(self) -> StudentNetwork:
        """What turns pieces into vectors."""
        return StudentNetwork(self.parts.tensors)


def _pieces(vocabulary: Vocabulary, text: str) -> tuple[int, ...]:
    """The ids of a text's pieces; what is written like padding or an end is unknown."""
    ids = vocabulary.encode(detokenize(text))
    if PAD_ID in ids or END_ID in ids:
        ids = [UNK_ID if number in (PAD_ID, END_ID) else number for number in ids]
    return tuple(ids)


_known_pieces = lru_cache(maxsize=1 << 12)(_pieces)
"""The same for short texts, remembered: views of one example ask for the vector of a text and for its pieces."""


def from_parts(parts: Parts) -> StudentEncoder:
    """The encoder of a trained network's folder.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    from rejoinder.models.sizes import StudentSizes

    shape = sizes(StudentSizes, parts.config)
    if shape.blocks > _MOST_BLOCKS:
        raise DataError(f"is {shape.blocks}, expected at most {_MOST_BLOCKS}", AGAIN, field="sizes.blocks")
    read = Vocabulary.from_json(text_of(parts.files, VOCABULARY))
    if read.size > shape.vocabulary:
        raise DataError(f"{read.size} pieces for a network of {shape.vocabulary}", AGAIN, field="sizes.vocabulary")
    tensors = _tensors(parts.tensors, shapes(shape))
    config = {"kind": "student", "sizes": parts.config["sizes"]}
    return StudentEncoder(Parts(config, tensors, {VOCABULARY: parts.files[VOCABULARY]}), read)


def _tensors(given: Tensors, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """The weights of a network, packed, each of the shape that its sizes ask for."""
    found: dict[str, NDArray[Any]] = {}
    for name, shape in shapes.items():
        one = given.get(name)
        if one is not None and one.dtype.kind in "iu":
            scale = name.replace(".weight", ".scale")
            found[name], found[scale] = _table(name, one, shape), tensor(given, scale, shape[:1])
        else:
            found[name] = tensor(given, name, shape)
    with np.errstate(over="ignore"):
        kept = packed(found)
    require_finite(kept)
    return kept


def _table(name: str, found: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A table in few bits, of the shape that this takes."""
    known = packed_shapes(name, shape)
    if known.get(found.dtype) != found.shape:
        expected = " or ".join(f"{kind} of shape {kept}" for kind, kept in known.items()) or "floats"
        raise DataError(f"the tensor {name} is {found.dtype} of shape {found.shape}, expected {expected}", AGAIN)
    return found
