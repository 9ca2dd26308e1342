"""The dual encoder of a trained deep averaging network, run by numpy: no torch, a fraction of a millisecond.

Contexts and responses have a network each, whose vectors are compared with each other; a reference is read as a
response. A text is read to its end; a context is its last turns that have any pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from rejoinder.data.folders import AGAIN, Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.averaging import SIDES, TABLE, AveragingNetwork, Floats
from rejoinder.models.vocabulary import Vocabulary, as_turn
from rejoinder.models.weights import LARGEST, Count, Object, Size, Tensors, tensor, text_of
from rejoinder.scorer import FloatArray

VOCABULARY = "vocabulary.json"
_TOGETHER = 64


@dataclass(frozen=True)
class DanEncoder:
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
        return {"encoder": "dan", "weights": self.parts.digest}

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, O] unit vectors of texts read as responses; NaN for a text without a piece."""
        return self._encode([(text,) for text in texts], lambda bags: self.network.responses([own[0] for own in bags]))

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, O] unit vectors of contexts; NaN for a context without a piece."""
        return self._encode(contexts, self.network.contexts)

    def _encode(self, contexts: Sequence[tuple[str, ...]], run: Callable[[list[list[Floats]]], Floats]) -> FloatArray:
        """[N, O] what `run` makes of the bags of N contexts."""
        encoded = np.full((len(contexts), self.width), np.nan)
        bags = [self._bags(context) for context in contexts]
        usable = [place for place, own in enumerate(bags) if own]
        for start in range(0, len(usable), _TOGETHER):
            places = usable[start : start + _TOGETHER]
            encoded[places] = run([bags[place] for place in places])
        return encoded

    def _bags(self, context: tuple[str, ...]) -> list[Floats]:
        """The bags of the last turns with pieces, as many as the network reads, the last first."""
        found: list[Floats] = []
        for text in reversed(context):
            if len(found) > self.parts.config["sizes"]["earlier"]:
                break
            if ids := self.vocabulary.encode(text):
                found.append(self.network.bag(as_turn(ids, len(ids) + 1)))
        return found

    @cached_property
    def network(self) -> AveragingNetwork:
        """What turns pieces into vectors, with its table and its weights: all of it is here, none of it in a graph."""
        return AveragingNetwork(self.parts.tensors, self.parts.config["sizes"]["vocabulary"])


def from_parts(parts: Parts) -> DanEncoder:
    """The encoder of a trained network's folder, or of what one kept of it: its table in half precision.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    given = value_in(parts.config, "sizes", Object)
    vocabulary = value_in(given, "vocabulary", Annotated[int, Interval(ge=3, le=LARGEST)])
    earlier, output = value_in(given, "earlier", Size), value_in(given, "output", Count)
    read = Vocabulary.from_json(text_of(parts.files, VOCABULARY))
    if read.size > vocabulary:
        raise DataError(f"{read.size} pieces for a network of {vocabulary}", AGAIN, field="sizes.vocabulary")
    tensors = _tensors(parts.tensors, vocabulary, output)
    config = {"kind": "dan", "sizes": {**given, "earlier": earlier, "output": output}}
    return DanEncoder(Parts(config, tensors, {VOCABULARY: parts.files[VOCABULARY]}), read)


def _tensors(given: Tensors, vocabulary: int, output: int) -> dict[str, NDArray[Any]]:
    """The weights of a network, each of the shape that the others ask for."""
    table = tensor(given, TABLE, (None, None), np.float16)
    if len(table) <= vocabulary:
        raise DataError(f"{TABLE} has {len(table)} rows, none of them for pairs of {vocabulary} pieces", AGAIN)
    found: dict[str, NDArray[Any]] = {TABLE: table}
    for side, inputs in zip(SIDES, (2 * table.shape[1], table.shape[1]), strict=True):
        hidden = len(tensor(given, f"{side}.first.weight", (None, inputs)))
        shapes = {
            f"{side}.first.weight": (hidden, inputs),
            f"{side}.first.bias": (hidden,),
            f"{side}.second.weight": (output, hidden),
            f"{side}.second.bias": (output,),
        }
        found |= {name: tensor(given, name, shape, np.float32) for name, shape in shapes.items()}
    return found
