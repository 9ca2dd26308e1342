"""The view `alignment`: how near each word of a reply comes to some word of its context, by vectors of word pieces.

It finds "dog" in a reply to "my puppy": overlap that needs no equal words. Nothing here is learnt. Shapes: R pieces of
a reply, C of a context, E dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.protocol import Side

Floats = NDArray[np.float32]
LONGEST = 4096  # pieces that are read of a reply, from its beginning
RECENT = 128  # pieces that are read of a context, to its end: time and memory grow with the product of both
_NEAREST = 3  # pieces that count as the nearest
_TURNS = 3
_SHORTEST = 1e-6  # no vector is shorter
_SIDES = ("last", "three")
_MEASURES = ("met", "met_weighted", "least_met", "taken_up", "nearest")
_NOTHING = (np.nan,) * len(_MEASURES)
_COLUMNS = tuple(f"{side}_{measure}" for side in _SIDES for measure in _MEASURES)


class Pieces(Protocol):
    """An encoder that has a vector and a weight for each piece of a text, whatever stands beside it."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors, for signatures."""
        ...

    @property
    def table(self) -> Floats:
        """The vector of each piece."""
        ...

    @property
    def weights(self) -> Floats:
        """How much each piece counts in a text, 0 or more."""
        ...

    def pieces(self, text: str) -> Sequence[int]:
        """The rows of a text's pieces in `table` and `weights`."""
        ...


class Read(NamedTuple):
    """A text of one piece or more.

    Attributes:
        vectors: [R, E] of length 1.
        shares: [R] of the weight of the text, together 1.
    """

    vectors: Floats
    shares: Floats


@dataclass(frozen=True)
class AlignmentView:
    """How near the pieces of a reply come to those of the last turn, and of the last three.

    For either: how near they come on average, and weighted by how much they count; how near the farthest comes; how
    near what was said comes to the reply, weighted; and what the three pieces that add most to the second come to.

    Attributes:
        encoder: has the vectors.
    """

    encoder: Pieces
    name: str = "alignment"
    needs: tuple[Side, ...] = ("context",)
    columns: tuple[str, ...] = _COLUMNS
    groups: tuple[Group, ...] = tuple("context fit" for _ in _COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors, and the version of the columns."""
        return {**self.encoder.options, "version": 1}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, from -1 to 1; NaN where the reply or the context has no piece."""
        rows = np.full((len(examples), len(_COLUMNS)), np.nan, dtype=np.float32)
        for row, example in zip(rows, examples, strict=True):
            reply = self._read(self.encoder.pieces(example.response)[:LONGEST])
            if reply is not None:
                last, three = (
                    self.encoder.pieces(" ".join(example.context[-turns:]))[-RECENT:] for turns in (1, _TURNS)
                )
                row[:] = self._measured(reply, last, three)
        return np.clip(rows, -1.0, 1.0)  # the last bits of a cosine of 1 depend on the processor

    def _measured(self, reply: Read, last: Sequence[int], three: Sequence[int]) -> Sequence[float]:
        """[F] the measures of a reply beside the pieces of the last turn, and beside those of the last three."""
        whole = self._read(three)
        if whole is None or three[-len(last) :] != last:
            return (*self._beside(reply, self._read(last)), *self._beside(reply, whole))
        # Mostly the last turn's pieces are the last of all three, and its cosines among theirs.
        cosines = _cosines(reply, whole)
        part = _measures(reply, self._shares(last), cosines[:, -len(last) :])
        return (*part, *_measures(reply, whole.shares, cosines))

    def _beside(self, reply: Read, context: Read | None) -> Sequence[float]:
        """The measures of a reply beside a context; NaN where it has no piece."""
        return _NOTHING if context is None else _measures(reply, context.shares, _cosines(reply, context))

    @cached_property
    def _lengths(self) -> Floats:
        """The length of each piece's vector."""
        found: Floats = np.sqrt(np.square(self.encoder.table).sum(axis=1))
        return np.maximum(found, np.float32(_SHORTEST))

    def _read(self, ids: Sequence[int]) -> Read | None:
        """The vectors and shares of some pieces; None where there are none."""
        if not ids:
            return None
        rows = np.asarray(ids, dtype=np.int64)
        vectors = self.encoder.table.take(rows, axis=0)
        vectors /= self._lengths.take(rows)[:, None]
        return Read(vectors, self._shares(rows))

    def _shares(self, ids: Sequence[int] | NDArray[np.int64]) -> Floats:
        """[R] the shares of one piece or more."""
        weights = self.encoder.weights.take(np.asarray(ids, dtype=np.int64))
        weights += np.float32(_SHORTEST)
        weights /= weights.sum()
        return weights


def _cosines(reply: Read, context: Read) -> Floats:
    """[R, C] the cosines of all pieces, each from its two alone, to the last bit."""
    # Not `@`: how many threads a product of matrices runs on decides its last bits.
    found: Floats = np.einsum("ie,je->ij", reply.vectors, context.vectors)
    return found


def _measures(reply: Read, shares: Floats, cosines: Floats) -> Sequence[float]:
    """The measures of a reply beside a context.

    Args:
        reply: of R pieces.
        shares: [C] of the pieces of the context.
        cosines: [R, C].
    """
    nearest = cosines.max(axis=1)
    worth = reply.shares * nearest
    return (
        nearest.sum() / np.float32(len(nearest)),
        worth.sum(),
        nearest.min(),
        (shares * cosines.max(axis=0)).sum(),
        np.sort(worth)[-_NEAREST:].sum(),
    )
