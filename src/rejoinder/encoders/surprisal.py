"""How surprising a reply is after its context, by a small network that was taught by a large one; numpy, no torch.

It reads texts by the vocabulary of the student that it was trained with and refuses every other; it carries none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from rejoinder.encoders.packed import packed_tensors
from rejoinder.encoders.student import StudentEncoder
from rejoinder.errors import DataError
from rejoinder.io.checks import AGAIN, inner, sizes, whole
from rejoinder.io.folders import Parts
from rejoinder.nn.attending import Before, SurprisalNetwork, Told
from rejoinder.nn.surprising import TURNS, SurprisalSizes
from rejoinder.text.bpe import Vocabulary
from rejoinder.text.untokenised import untokenised

_SHORT = 1000  # characters: what is longer is not remembered
_CONTEXTS = 32  # that are remembered, of a few hundred kilobytes each at most
_WORDS = 1 << 14


@dataclass(frozen=True, eq=False)
class Surprisal:
    """A network of attention over the pieces of a student.

    Attributes:
        parts: all that `from_parts` needs to make it again.
    """

    parts: Parts

    @cached_property
    def sizes(self) -> SurprisalSizes:
        """How large it is, and how much it reads."""
        return sizes(SurprisalSizes, self.parts.config)

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides what it tells, the vocabulary given."""
        return {"surprisal": self.parts.digest}

    def require(self, student: StudentEncoder) -> None:
        """Raise where a student is none that the network was trained with.

        Raises:
            DataError: it has another vocabulary.
        """
        own, other = self.parts.config["vocabulary"], student.vocabulary.digest
        if own != other:
            remedy = "Give the student that it was trained with, or train one with this student"
            raise DataError(f"a surprisal network over the vocabulary {own}, not {other}", remedy)

    def before(self, vocabulary: Vocabulary, context: tuple[str, ...]) -> Before:
        """What replies read of a context, worked out once for the replies that come one after the other.

        Args:
            vocabulary: that of the student.
            context: its turns, oldest first, the last of which are read; blank ones are none.
        """
        turns = tuple(turn for turn in context if turn.strip())[-TURNS:]
        known = sum(map(len, turns)) <= _SHORT
        return (_known_context if known else _context)(self, vocabulary, turns)

    def told(self, vocabulary: Vocabulary, reply: str, before: Before) -> Told | None:
        """What is told of a reply after a context; None of one without a word."""
        words = untokenised(reply).split()[: self.sizes.reply]
        return self.network.reply([_pieces(vocabulary, word) for word in words], before) if words else None

    @cached_property
    def network(self) -> SurprisalNetwork:
        """What turns pieces into what is told."""
        return SurprisalNetwork(self.parts.tensors, self.sizes)


def _context(surprisal: Surprisal, vocabulary: Vocabulary, turns: tuple[str, ...]) -> Before:
    """What replies read of some turns."""
    # Of words that are no piece, which are rare, fewer pieces than could be are read.
    read = (untokenised(turn).split()[-surprisal.sizes.context :] for turn in turns)
    return surprisal.network.context([[piece for word in one for piece in _pieces(vocabulary, word)] for one in read])


_known_context = lru_cache(maxsize=_CONTEXTS)(_context)


def _pieces(vocabulary: Vocabulary, word: str) -> tuple[int, ...]:
    """The pieces of a word."""
    return _known_word(vocabulary, word) if len(word) <= _SHORT else tuple(vocabulary.encode(word))


@lru_cache(maxsize=_WORDS)
def _known_word(vocabulary: Vocabulary, word: str) -> tuple[int, ...]:
    """The pieces of a word that is not long."""
    return tuple(vocabulary.encode(word))


def from_parts(parts: Parts) -> Surprisal:
    """The network in a folder.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    shape, given = sizes(SurprisalSizes, parts.config), inner(parts.config, "sizes")
    for name in given:
        whole(given, name, 1)
    if shape.width % shape.heads:
        raise DataError(f"{shape.heads} heads for a width of {shape.width}", AGAIN, field="sizes.heads")
    vocabulary = parts.config.get("vocabulary")
    if not isinstance(vocabulary, str):
        raise DataError("is no digest of a vocabulary", AGAIN, field="vocabulary")
    tensors = packed_tensors(parts.tensors, shape.shapes())
    return Surprisal(Parts({"kind": "surprisal", "sizes": dict(given), "vocabulary": vocabulary}, tensors))
