"""Texts split into words, and an example as the features of words read it: everything that several of them need."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import fsum
from pathlib import Path

from rejoinder.example import Example
from rejoinder.models.phrases import Phrases
from rejoinder.text.normalize import match_words

SUBSEQUENCE_WORDS = 2000  # of either text: beyond them the time would grow with the square of a text
_CACHED_TEXTS = 1 << 12  # the replies to a context share its turns
_CACHED_CHARACTERS = 1000  # a longer text is read again, so that the cache takes some megabytes at most
_DATA = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
WORDS_IN_KIND = {kind: frozenset(words.split()) for kind, words in _DATA.pop("in_kind").items()}
"""Words of the answers to each kind of question. A number answers "when" and "how many" too."""
WORDS = {name: frozenset(words.split()) for name, words in _DATA.items()}
"""Lists of words that features look for."""


class Text:
    """A text as words.

    Attributes:
        words: its words and single signs, in order.
        kinds: the different ones.
        size: the number of words, at least 1: the denominator of shares.
    """

    def __init__(self, text: str) -> None:
        self.words = match_words(text)
        self.kinds = frozenset(self.words)
        self.size = len(self.words) or 1

    @cached_property
    def topics(self) -> frozenset[str]:
        """The different words that say what it is about."""
        return frozenset([word for word in self.kinds - WORDS["function"] if word[0].isalnum()])

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The different pairs of neighbouring words."""
        return frozenset(pairwise(self.words))

    @cached_property
    def negates(self) -> bool:
        """Whether a word negates."""
        return not self.kinds.isdisjoint(WORDS["negations"]) or "n't " in " ".join((*self.words, ""))

    @property
    def first(self) -> str:
        """Return the first word; "" if the text has no words."""
        return self.words[0] if self.words else ""

    def share(self, words: frozenset[str]) -> float:
        """Return the share of its words that are among some."""
        return 0.0 if self.kinds.isdisjoint(words) else sum(map(words.__contains__, self.words)) / self.size


_read_cached = lru_cache(_CACHED_TEXTS)(Text)
EMPTY = Text("")


def read_text(text: str) -> Text:
    """Return a text as words; short texts are cached."""
    return _read_cached(text) if len(text) <= _CACHED_CHARACTERS else Text(text)


def clear_cache() -> None:
    """Drop all texts that are cached."""
    _read_cached.cache_clear()


class ReadExample:
    """A response and its context as words.

    Attributes:
        text: the response as it is written.
        phrases: the rarity of words.
        reply: the response.
        context: the turns, oldest first.
        last: the turn that is answered; empty if there is no context.
        before_last: the turn before that.
        shared: of each turn, the words that it has in common with the response.
        shared_pairs: of each turn, how many pairs of words it has in common with the response.
        rarities: the idf of each word of the response.
        in_order: the length of the longest common subsequence of the response and the last turn.
    """

    def __init__(self, example: Example, phrases: Phrases) -> None:
        self.text, self.phrases = example.response, phrases
        self.reply, self.context = read_text(example.response), [*map(read_text, example.context)]
        self.before_last, self.last = [EMPTY, EMPTY, *self.context][-2:]
        self.shared = [self.reply.kinds & turn.kinds for turn in self.context]
        self.shared_pairs = [*map(self._shared_pairs, self.context, self.shared)]
        self.rarities = self.idf(self.reply.words)
        self.in_order = common_subsequence(self.reply, self.last)
        self._topics_weight = self.weight(self.reply.topics)

    def idf(self, words: Iterable[str]) -> list[float]:
        """Return the idf of each of some words."""
        known, rarest = self.phrases.rarity, self.phrases.rarest
        return [known.get(word, rarest) for word in words]

    def weight(self, words: Iterable[str]) -> float:
        """Return the sum of the idf of some words, rounded once, so that their order does not matter."""
        return fsum(self.idf(words))

    def shared_topics(self, turns: slice) -> frozenset[str]:
        """Return the topics of the response that one of some turns has too."""
        return self.reply.topics.intersection(chain.from_iterable(self.shared[turns]))

    def topic_share(self, turns: slice) -> float:
        """Return the share of the response's topics, by idf, that some turns have too; 0 where it has no topic."""
        return share(self.weight(self.shared_topics(turns)), self._topics_weight)

    def _shared_pairs(self, turn: Text, shared: frozenset[str]) -> int:
        """Return how many different pairs of the response a turn has; most turns have no two of its words in a row."""
        pairs = [pair for pair in self.reply.pairs if pair[0] in shared and pair[1] in shared] if shared else ()
        return len(turn.pairs.intersection(pairs)) if pairs else 0


def share(part: float, whole: float) -> float:
    """Return a share, 0 of nothing."""
    return part / whole if whole else 0.0


def common_subsequence(first: Text, second: Text) -> int:
    """Return the length of the longest common subsequence of two texts, of their first 2,000 words each."""
    if first.kinds.isdisjoint(second.kinds):
        return 0
    from rapidfuzz.distance.LCSseq import similarity

    return similarity(first.words[:SUBSEQUENCE_WORDS], second.words[:SUBSEQUENCE_WORDS])
