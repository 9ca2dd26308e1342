"""Texts to vectors, and the projection of vectors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from rejoinder.data.folders import Parts
from rejoinder.models.average import AverageEncoder
from rejoinder.scorer import Encoder, FloatArray

Text = TypeVar("Text", bound=Hashable)

__all__ = [
    "AverageEncoder",
    "Limited",
    "PortableEncoder",
    "encode_distinct",
]


class PortableEncoder(Encoder, Protocol):
    """An encoder that a judge can take along in its folder."""

    @property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        ...


@runtime_checkable
class Limited(Protocol):
    """An encoder that reads texts up to a limit, and says of which it leaves something out."""

    def cuts(self, texts: Sequence[str]) -> list[int]:
        """The positions of texts that it does not read to the end."""
        ...

    def cuts_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """The positions of contexts of which it leaves out turns, or the end of a turn."""
        ...


def encode_distinct(encode: Callable[[Sequence[Text]], FloatArray], texts: Sequence[Text]) -> FloatArray:
    """Return [N, D] the vectors that `encode` gives for N texts or contexts, each distinct one encoded once."""
    places: dict[Text, int] = {}
    rows = [places.setdefault(text, len(places)) for text in texts]
    return encode(list(places))[rows]
