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

from rejoinder.judges.views.view import Features, Group
from rejoinder.learner import Side
from rejoinder.records import Example

Floats = NDArray[np.float32]
LONGEST = 4096  # pieces that are read of a reply, from its beginning
RECENT = 128  # pieces that are read of a context, to its end: time and memory grow with the product of both
_NEAREST = 3  # pieces that count as the nearest
_TURNS = 3
_SHORTEST = 1e-6  # no vector is shorter
_SIDES = ("last", "three")
_MEASURES = ("met", "met_weighted", "least_met", "taken_up", "nearest")
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

    @property
    def columns(self) -> tuple[str, ...]:
        """[F] the names of its features."""
        return _COLUMNS

    @property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        return tuple("context fit" for _ in _COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the vectors, and the version of the columns."""
        return {**self.encoder.options, "version": 1}

    def features(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, from -1 to 1; NaN where the reply or the context has no piece."""
        rows = np.full((len(examples), len(_COLUMNS)), np.nan, dtype=np.float32)
        for row, example in zip(rows, examples, strict=True):
            reply = self._read(self.encoder.pieces(example.response)[:LONGEST])
            contexts = (example.context[-1:], example.context[-_TURNS:])
            for start, turns in zip((0, len(_MEASURES)), contexts, strict=True):
                context = self._read(self.encoder.pieces(" ".join(turns))[-RECENT:])
                if reply and context:
                    row[start : start + len(_MEASURES)] = _aligned(reply, context)
        return rows

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
        weights = self.encoder.weights[rows] + np.float32(_SHORTEST)
        return Read(self.encoder.table[rows] / self._lengths[rows, None], weights / weights.sum())


def _aligned(reply: Read, context: Read) -> Sequence[float]:
    """The measures of a reply beside a context, by the cosines of all their pieces."""
    # Not `@`: how many threads a product of matrices runs on decides its last bits.
    cosines = np.einsum("ie,je->ij", reply.vectors, context.vectors)
    nearest = cosines.max(axis=1)
    worth = reply.shares * nearest
    return (
        nearest.mean(),
        worth.sum(),
        nearest.min(),
        (context.shares * cosines.max(axis=0)).sum(),
        np.sort(worth)[-_NEAREST:].sum(),
    )
