"""Texts to vectors, and the projection of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rejoinder.data.folders import Parts
from rejoinder.models.average import AverageEncoder
from rejoinder.models.batching import encode_once
from rejoinder.scorer import Encoder

__all__ = [
    "AverageEncoder",
    "Limited",
    "PortableEncoder",
    "encode_once",
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
