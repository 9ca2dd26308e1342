"""The view `reference`: how near a reply comes to what people replied, by words, characters and topics.

Each measure stands there twice, of the nearest reference and as the mean over all. Without a reference all is NaN but
the number of them. Shapes: R references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import fsum, log, nan
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.judges.features.reading import Remembered, Turn, Words, common_subsequence, words_of
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.protocol import Side
from rejoinder.models.phrases import Phrases

_RUNS = (2, 3, 4)  # characters
_MOST = 10  # so many references are many


@dataclass(frozen=True)
class Text:
    """A reply or reference, and what is counted in it."""

    words: Words

    @cached_property
    def bag(self) -> Mapping[str, int]:
        """How often each word stands in it."""
        return Counter(self.words)

    @cached_property
    def pairs(self) -> Mapping[tuple[str, str], int]:
        """How often each pair of neighbouring words stands in it."""
        return Counter(pairwise(self.words))

    @cached_property
    def topics(self) -> frozenset[str]:
        """Its different words that say what it is about."""
        return Turn(self.words).topics

    @cached_property
    def runs(self) -> tuple[Mapping[str, int], ...]:
        """How often each run of two, of three and of four characters stands in it, without spaces."""
        letters = "".join(self.words)
        return tuple(Counter(letters[at : at + size] for at in range(len(letters) - size + 1)) for size in _RUNS)


text_of = Remembered(lambda text: Text(words_of(text)))
"""A text and what is counted in it."""


Measure = Callable[[Text, Text, Phrases], float]


def _f1(met: float, mine: float, theirs: float) -> float:
    """The harmonic mean of the shares of two wholes that meet, 0 where nothing does."""
    return 2 * met / (mine + theirs) if met else 0.0


def _bags(mine: Mapping[Any, int], theirs: Mapping[Any, int]) -> float:
    """F1 of things that are counted."""
    met = sum(min(count, theirs.get(thing, 0)) for thing, count in mine.items())
    return _f1(met, sum(mine.values()), sum(theirs.values()))


def _words(reply: Text, reference: Text, _: Phrases) -> float:
    return _bags(reply.bag, reference.bag)


def _pairs(reply: Text, reference: Text, _: Phrases) -> float:
    return _bags(reply.pairs, reference.pairs)


def _in_order(reply: Text, reference: Text, _: Phrases) -> float:
    """ROUGE-L, as F1."""
    met = common_subsequence(reply.words, reference.words)
    return _f1(met, len(reply.words), len(reference.words))


def _characters(reply: Text, reference: Text, _: Phrases) -> float:
    """The mean F1 of runs of two, three and four characters."""
    return fsum(map(_bags, reply.runs, reference.runs)) / len(_RUNS)


def _topics(reply: Text, reference: Text, phrases: Phrases) -> float:
    """F1 of topics, by idf."""
    met, mine, theirs = (
        fsum(phrases.rarity.get(word, phrases.rarest) for word in words)
        for words in (reply.topics & reference.topics, reply.topics, reference.topics)
    )
    return _f1(met, mine, theirs)


def _length(reply: Text, reference: Text, _: Phrases) -> float:
    """How far apart the lengths are: the logarithm of their ratio, without sign, negated so that higher is nearer."""
    return -abs(log((len(reply.words) + 1) / (len(reference.words) + 1)))


MEASURES: Mapping[str, Measure] = {
    "words": _words,
    "pairs": _pairs,
    "in_order": _in_order,
    "characters": _characters,
    "topics": _topics,
    "length": _length,
}
_COLUMNS = (*(f"{name}_{how}" for name in MEASURES for how in ("best", "mean")), "references")


@dataclass(frozen=True)
class ReferenceView:
    """How near a reply comes to its references.

    Attributes:
        phrases: what words are worth.
    """

    phrases: Phrases
    name: str = "reference"
    needs: tuple[Side, ...] = ("reference",)
    columns: tuple[str, ...] = _COLUMNS
    groups: tuple[Group, ...] = tuple("other" if name == "references" else "reference fit" for name in _COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """The digest of what words are worth, and the version of the columns."""
        return {"phrases": self.phrases.parts.digest, "version": 1}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features; NaN without a reference, but for the number of them."""
        rows = np.array([self._row(example) for example in examples], dtype=np.float32)
        return rows.reshape(len(examples), len(_COLUMNS))

    def _row(self, example: Example) -> list[float]:
        """[F] the features of one example."""
        reply = Text(words_of(example.response))
        references = [text_of(text) for text in example.references if text.strip()]
        if not references:
            return [*[nan] * (len(_COLUMNS) - 1), 0]
        row: list[float] = []
        for measure in MEASURES.values():
            found = [measure(reply, reference, self.phrases) for reference in references]
            row += max(found), fsum(found) / len(found)
        return [*row, min(_MOST, len(references))]
