"""An example as the plain views read it: every text cut into words once, and what several features ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import fsum
from typing import Generic, TypeVar

from rejoinder.example import Example
from rejoinder.models.phrases import Phrases
from rejoinder.text.normalize import match_words

Words = tuple[str, ...]
Made = TypeVar("Made")
LONGEST = 2000  # words of a longest common subsequence: beyond them the time would grow with the square of a text
_REMEMBERED = 1 << 11  # texts; the replies to one context share its turns
_SHORT = 1000  # characters: longer texts are read anew, so that what is remembered takes some megabytes at most
# Words that say nothing of what a text is about.
FUNCTION_WORDS = frozenset(
    "i you he she it we they me my your a an the is are was were be been am do does did to of in on for and or but "  # noqa: SIM905 - words
    "that this what so not no n't with at have has had it's i'm don't that's can will would just as if there about "
    "like know".split()
)
NEGATIONS = frozenset("not no never nothing nobody none neither nor cannot nowhere hardly without".split())  # noqa: SIM905 - words


class Remembered(Generic[Made]):
    """Reads texts, and remembers what it made of the last short ones."""

    def __init__(self, read: Callable[[str], Made]) -> None:
        self._read, self._known = read, lru_cache(maxsize=_REMEMBERED)(read)

    def __call__(self, text: str) -> Made:
        """What is made of a text."""
        return self._known(text) if len(text) <= _SHORT else self._read(text)

    def forget(self) -> None:
        """Forget all texts."""
        self._known.cache_clear()


words_of = Remembered(match_words)
"""The words and signs of a text."""


def content(words: Iterable[str]) -> list[str]:
    """The words that say what a text is about, in their order."""
    return [word for word in words if word[0].isalnum() and word not in FUNCTION_WORDS]


def share(part: float, whole: float) -> float:
    """A share, 0 of nothing."""
    return part / whole if whole else 0.0


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words the longest common subsequence of two texts has, of their first 2,000 words each.

    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited; a row of the table is one whole number.
    """
    first, second = first[:LONGEST], second[:LONGEST]
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    every = row = (1 << len(first)) - 1
    for word in second:
        met = row & places.get(word, 0)
        row = (row + met | row - met) & every
    return len(first) - row.bit_count()


@dataclass(frozen=True)
class Turn:
    """A text cut into words."""

    words: Words

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Its different words."""
        return frozenset(self.words)

    @cached_property
    def content(self) -> list[str]:
        """Its words that say what it is about."""
        return content(self.words)

    @cached_property
    def topics(self) -> frozenset[str]:
        """Its different words that say what it is about."""
        return frozenset(self.content)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Its different pairs of neighbouring words."""
        return frozenset(pairwise(self.words))

    @property
    def first(self) -> str:
        """Its first word; "" where there is none."""
        return self.words[0] if self.words else ""

    @property
    def size(self) -> int:
        """How many words it has, 1 where it has none: what shares are taken of."""
        return max(1, len(self.words))

    @cached_property
    def negates(self) -> bool:
        """Whether it has a word that negates."""
        return bool(self.kinds & NEGATIONS) or any(word.endswith("n't") for word in self.kinds)

    def share(self, words: frozenset[str]) -> float:
        """What share of its words is among some."""
        return sum(map(words.__contains__, self.words)) / self.size


turn_of = Remembered(lambda text: Turn(words_of(text)))
"""A text as the views read it."""
NOTHING = Turn(())


@dataclass(frozen=True)
class Reading:
    """An example as the plain views read it.

    Attributes:
        text: the response as it is written.
        reply: the response.
        context: its turns, oldest first.
        phrases: what words are worth.
    """

    text: str
    reply: Turn
    context: tuple[Turn, ...]
    phrases: Phrases

    @classmethod
    def of(cls, example: Example, phrases: Phrases) -> Reading:
        """An example, read."""
        return cls(example.response, Turn(words_of(example.response)), tuple(map(turn_of, example.context)), phrases)

    @property
    def last(self) -> Turn:
        """The turn that is answered; an empty one where there is none."""
        return self.context[-1] if self.context else NOTHING

    @property
    def before_last(self) -> Turn:
        """The turn before that: in a conversation of two the last of who answers."""
        return self.context[-2] if len(self.context) > 1 else NOTHING

    @property
    def own(self) -> tuple[Turn, ...]:
        """The turns of who answers, where two take turns."""
        return self.context[-2::-2]

    def rarities(self, words: Iterable[str]) -> list[float]:
        """The idf of each of some words."""
        known, rarest = self.phrases.rarity, self.phrases.rarest
        return [known.get(word, rarest) for word in words]

    def weight(self, words: Iterable[str]) -> float:
        """The idf of some words together, in whatever order they come."""
        return fsum(self.rarities(words))

    def shared(self, words: frozenset[str]) -> float:
        """What share of the reply's topics, by idf, is among some words; 0 of a reply without topics."""
        return share(self.weight(self.reply.topics & words), self.topics_weight)

    @cached_property
    def topics_weight(self) -> float:
        """The idf of the reply's topics together."""
        return self.weight(self.reply.topics)

    @cached_property
    def reply_rarities(self) -> list[float]:
        """The idf of each word of the reply."""
        return self.rarities(self.reply.words)

    @cached_property
    def in_order_with_last(self) -> int:
        """How many words the reply and the last turn have in the same order."""
        return common_subsequence(self.reply.words, self.last.words)

    @cached_property
    def recent_words(self) -> frozenset[str]:
        """The different words of the last three turns."""
        return frozenset().union(*(turn.kinds for turn in self.context[-3:]))

    @cached_property
    def recent_topics(self) -> frozenset[str]:
        """The topics of the last three turns."""
        return frozenset().union(*(turn.topics for turn in self.context[-3:]))

    @cached_property
    def all_topics(self) -> frozenset[str]:
        """The topics of the whole context."""
        return frozenset().union(*(turn.topics for turn in self.context))
