"""Columns of what a reply says twice: within itself, and of what its speaker said before. None, no repetition, is 0."""

from __future__ import annotations

from collections.abc import Callable, Sized
from itertools import pairwise

from rejoinder.judges.features.reading import Reading
from rejoinder.judges.features.view import Column


def _column(name: str, of: Callable[[Reading], float]) -> Column[Reading]:
    return Column(name, "repetition", of)


def _again(kinds: Sized, count: int) -> float:
    """What share of so many things repeats one before it."""
    return 1.0 - len(kinds) / count if count else 0.0


def _repeated_threes(read: Reading) -> float:
    """The share of three words in a row that stood there before."""
    words = read.reply.words
    return _again(set(zip(words, words[1:], words[2:], strict=False)), len(words) - 2) if len(words) > 2 else 0.0


def _doubled(read: Reading) -> float:
    """The share of words that stand right behind themselves."""
    return sum(one == next_ for one, next_ in pairwise(read.reply.words)) / read.reply.size


def _equal_halves(read: Reading) -> bool:
    """Whether a reply of four words or more says the same twice."""
    words, half = read.reply.words, len(read.reply.words) // 2
    return len(words) > 3 and words[:half] == words[half : 2 * half]


def _own_topics(read: Reading) -> float:
    """The share of topics, by idf, that the speaker had in turns before."""
    return read.shared(frozenset().union(*(turn.topics for turn in read.own)))


def _own_pairs(read: Reading) -> float:
    """The highest share of pairs of words that one earlier turn of the speaker has too."""
    pairs = read.reply.pairs
    return max((len(pairs & turn.pairs) for turn in read.own), default=0) / max(1, len(pairs))


COLUMNS: tuple[Column[Reading], ...] = (
    _column("repeated_words", lambda read: _again(read.reply.kinds, len(read.reply.words))),
    _column("repeated_pairs", lambda read: _again(read.reply.pairs, max(0, len(read.reply.words) - 1))),
    _column("repeated_threes", _repeated_threes),
    _column("doubled_words", _doubled),
    _column("repeated_content", lambda read: _again(read.reply.topics, len(read.reply.content))),
    _column("equal_halves", _equal_halves),
    _column("own_topics_again", _own_topics),
    _column("own_pairs_again", _own_pairs),
)
