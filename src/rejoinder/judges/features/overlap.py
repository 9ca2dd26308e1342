"""Columns of what a reply shares with its context, down to copying it; and of what it shares and denies.

An empty context shares nothing: all are 0 then.
"""

from __future__ import annotations

from collections.abc import Callable

from rejoinder.judges.features.reading import NEGATIONS, Reading, Turn, common_subsequence, share
from rejoinder.judges.features.view import Column


def _column(name: str, of: Callable[[Reading], float]) -> Column[Reading]:
    return Column(name, "context overlap", of)


def _words(read: Reading, words: frozenset[str]) -> float:
    """The share of the reply's different words that are among some."""
    return len(read.reply.kinds & words) / max(1, len(read.reply.kinds))


def _pairs(read: Reading, turn: Turn) -> float:
    """The share of the reply's different pairs of words that stand in a turn too."""
    return len(read.reply.pairs & turn.pairs) / max(1, len(read.reply.pairs))


def _in_order_before(read: Reading) -> float:
    """How much of the reply stands in the turn before the last in the same order."""
    return common_subsequence(read.reply.words, read.before_last.words) / read.reply.size


def _is_copy(read: Reading) -> bool:
    """Whether a turn of the context is the reply, word for word."""
    return any(read.reply.words == turn.words for turn in read.context)


def _denied(read: Reading, *turns: Turn) -> float:
    """The highest share of topics that the reply has from a turn which negates where it does not, or the reverse."""
    topics = read.reply.topics - NEGATIONS
    others = [turn.topics for turn in turns if turn.negates != read.reply.negates]
    return share(max((read.weight(topics & other) for other in others), default=0.0), read.weight(topics))


COLUMNS: tuple[Column[Reading], ...] = (
    _column("topics_of_last", lambda read: read.shared(read.last.topics)),
    _column("topics_of_three", lambda read: read.shared(read.recent_topics)),
    _column("topics_of_all", lambda read: read.shared(read.all_topics)),
    _column("shared_topics", lambda read: len(read.reply.topics & read.recent_topics)),
    _column("shares_a_topic", lambda read: bool(read.reply.topics & read.recent_topics)),
    _column("words_of_last", lambda read: _words(read, read.last.kinds)),
    _column("words_of_three", lambda read: _words(read, read.recent_words)),
    _column("in_order_of_last", lambda read: read.in_order_with_last / read.reply.size),
    _column("last_in_order", lambda read: read.in_order_with_last / read.last.size),
    _column("in_order_of_before", _in_order_before),
    _column("pairs_of_last", lambda read: _pairs(read, read.last)),
    _column("pairs_of_earlier", lambda read: max((_pairs(read, turn) for turn in read.context[:-1]), default=0.0)),
    _column("is_copy", _is_copy),
    Column("denies_last", "context fit", lambda read: _denied(read, read.last)),
    Column("denies_own", "context fit", lambda read: _denied(read, *read.own)),
)
