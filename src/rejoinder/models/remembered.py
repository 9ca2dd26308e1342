"""An encoder that keeps the vectors of the texts it met last, for those that ask for the same ones again.

Several views of one example need the vectors of the same turns, and the replies to one context come one after the
other. What is kept is what was encoded, so no result changes, and no more is kept than was allowed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from rejoinder.data.folders import Parts
from rejoinder.models.encoders import PortableEncoder
from rejoinder.scorer import FloatArray

MOST = 4096
"""Texts whose vectors are kept, and as many contexts."""
_LONGEST = 10_000  # characters; what is longer is not kept

Named = TypeVar("Named", str, tuple[str, ...])


class Remembered:
    """An encoder like another, whose vectors it keeps; threads may share it.

    Args:
        encoder: the other.
        most: texts to keep the vectors of, and as many contexts.
    """

    def __init__(self, encoder: PortableEncoder, most: int = MOST) -> None:
        self.encoder, self.most = encoder, most
        self._texts, self._contexts = _Memory[str](most), _Memory[tuple[str, ...]](most)

    @property
    def width(self) -> int:
        """D, the length of a vector."""
        return self.encoder.width

    @property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make the other again."""
        return self.encoder.parts

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors: what decides those of the other."""
        return self.encoder.options

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """[N, D] vectors of texts; the caller may write to them."""
        return self._rows(self._texts.vectors(texts, self.encoder.encode))

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        """[N, D] vectors of contexts; the caller may write to them."""
        return self._rows(self._contexts.vectors(contexts, self.encoder.encode_contexts))

    def _rows(self, vectors: Sequence[FloatArray]) -> FloatArray:
        """[N, D] the vectors as one array."""
        return np.array(vectors, dtype=np.float64).reshape(len(vectors), self.width)

    def __reduce__(self) -> tuple[Any, ...]:
        """As a new one that has yet to meet its first text: another process shares no memory."""
        return Remembered, (self.encoder, self.most)


class _Memory(Generic[Named]):
    """Vectors by what they are of; of more than `most` those go that were asked for longest ago."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: OrderedDict[Named, FloatArray] = OrderedDict()
        self._lock = Lock()

    def vectors(self, names: Sequence[Named], encode: Callable[[Sequence[Named]], FloatArray]) -> list[FloatArray]:
        """The vector of each of N names; `encode` gives those that are not known, each of them once."""
        with self._lock:
            found = {name: self._known[name] for name in names if name in self._known}
        missing = [name for name in dict.fromkeys(names) if name not in found]
        if missing:  # encoding takes long, and other threads need not wait for it
            found |= zip(missing, (row.copy() for row in encode(missing)), strict=True)
        with self._lock:
            for name, vector in found.items():
                self._keep(name, vector)
        return [found[name] for name in names]

    def _keep(self, name: Named, vector: FloatArray) -> None:
        """Keep a vector as the one that was asked for last."""
        if sum(map(len, name)) > _LONGEST:
            return
        self._known[name] = vector
        self._known.move_to_end(name)
        if len(self._known) > self.most:
            self._known.popitem(last=False)
