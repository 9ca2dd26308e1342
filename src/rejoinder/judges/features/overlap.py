"""Features of what a reply repeats: within itself, of its speaker's earlier turns, and of the context down to a copy.

Without repetition they are 0, and so they are of an empty context.
"""

from __future__ import annotations

from collections.abc import Sized
from itertools import pairwise
from math import inf

from rejoinder.judges.features.table import Feature
from rejoinder.judges.features.text import WORDS, ReadExample, common_subsequence, share

LAST, LAST_THREE, EARLIER, ALL = slice(-1, None), slice(-3, None), slice(None, -1), slice(None)
SAME_SPEAKER = slice(-2, None, -2)
"""Earlier turns of the speaker who answers, where two take turns."""


def _repeated(kinds: Sized, count: int) -> float:
    """Return the share of `count` items that repeat an earlier one; `kinds` holds the distinct items."""
    return 1.0 - len(kinds) / count if count > 0 else 0.0


def _repeated_threes(read: ReadExample) -> float:
    """Return the share of runs of three words that occurred before."""
    words = read.reply.words
    return _repeated(set(zip(words, words[1:], words[2:], strict=False)), len(words) - 2)


def _repeated_content(read: ReadExample) -> float:
    """Return the share of content words that occurred before."""
    topics = read.reply.topics
    return _repeated(topics, sum(map(topics.__contains__, read.reply.words)))


def _doubled(read: ReadExample) -> float:
    """Return the share of words that directly follow themselves."""
    return sum(word == following for word, following in pairwise(read.reply.words)) / read.reply.size


def _equal_halves(read: ReadExample) -> bool:
    """Return whether a reply of four words or more says the same twice."""
    words, half = read.reply.words, len(read.reply.words) // 2
    return half > 1 and words[:half] == words[half : 2 * half]


def _words(read: ReadExample, turns: slice) -> float:
    """Return the share of the reply's different words that are in some turns."""
    return len(frozenset().union(*read.shared[turns])) / (len(read.reply.kinds) or 1)


def _pairs(read: ReadExample, turns: slice) -> float:
    """Return the largest share of the reply's different pairs of words that one of some turns has."""
    return max(read.shared_pairs[turns], default=0) / (len(read.reply.pairs) or 1)


def _in_order_of_before(read: ReadExample) -> float:
    """Return the share of the reply that the turn before the last has in the same order."""
    return common_subsequence(read.reply, read.before_last) / read.reply.size


def _denied(read: ReadExample, turns: slice) -> float:
    """Return the largest share of topics in common with a turn that negates where the reply does not, or vice versa."""
    topics = read.reply.topics - WORDS["negations"]
    pairs = [(topics & shared, turn) for shared, turn in zip(read.shared[turns], read.context[turns], strict=True)]
    denied = [read.weight(shared) for shared, turn in pairs if shared and turn.negates != read.reply.negates]
    return share(max(denied), read.weight(topics)) if denied else 0.0


REPETITION: tuple[Feature[ReadExample], ...] = (
    Feature("repeated_words", "repetition", lambda read: _repeated(read.reply.kinds, len(read.reply.words)), 0, 1),
    Feature("repeated_pairs", "repetition", lambda read: _repeated(read.reply.pairs, len(read.reply.words) - 1), 0, 1),
    Feature("repeated_threes", "repetition", _repeated_threes, 0, 1),
    Feature("doubled_words", "repetition", _doubled, 0, 1),
    Feature("repeated_content", "repetition", _repeated_content, 0, 1),
    Feature("equal_halves", "repetition", _equal_halves, 0, 1),
    Feature("own_topics_again", "repetition", lambda read: read.topic_share(SAME_SPEAKER), 0, 1),
    Feature("own_pairs_again", "repetition", lambda read: _pairs(read, SAME_SPEAKER), 0, 1),
)
OVERLAP: tuple[Feature[ReadExample], ...] = (
    Feature("topics_of_last", "context overlap", lambda read: read.topic_share(LAST), 0, 1),
    Feature("topics_of_three", "context overlap", lambda read: read.topic_share(LAST_THREE), 0, 1),
    Feature("topics_of_all", "context overlap", lambda read: read.topic_share(ALL), 0, 1),
    Feature("shared_topics", "context overlap", lambda read: len(read.shared_topics(LAST_THREE)), 0, inf),
    Feature("shares_a_topic", "context overlap", lambda read: bool(read.shared_topics(LAST_THREE)), 0, 1),
    Feature("words_of_last", "context overlap", lambda read: _words(read, LAST), 0, 1),
    Feature("words_of_three", "context overlap", lambda read: _words(read, LAST_THREE), 0, 1),
    Feature("in_order_of_last", "context overlap", lambda read: read.in_order / read.reply.size, 0, 1),
    Feature("last_in_order", "context overlap", lambda read: read.in_order / read.last.size, 0, 1),
    Feature("in_order_of_before", "context overlap", _in_order_of_before, 0, 1),
    Feature("pairs_of_last", "context overlap", lambda read: _pairs(read, LAST), 0, 1),
    Feature("pairs_of_earlier", "context overlap", lambda read: _pairs(read, EARLIER), 0, 1),
    Feature(
        "is_copy", "context overlap", lambda read: any(read.reply.words == turn.words for turn in read.context), 0, 1
    ),
    Feature("denies_last", "context fit", lambda read: _denied(read, LAST), 0, 1),
    Feature("denies_own", "context fit", lambda read: _denied(read, SAME_SPEAKER), 0, 1),
)
