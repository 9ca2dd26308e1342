"""Columns of how much a reply says: how rare its words are, and how usual it is as a whole."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum, log1p

from rejoinder.judges.views.reading import Reading
from rejoinder.judges.views.view import Column


def _column(name: str, of: Callable[[Reading], float]) -> Column[Reading]:
    return Column(name, "specificity", of)


def _unknown(read: Reading) -> float:
    """The share of words that are not known."""
    known = read.phrases.rarity
    return sum(word not in known for word in read.reply.words) / read.reply.size


COLUMNS: tuple[Column[Reading], ...] = (
    _column("idf_mean", lambda read: fsum(read.reply_rarities) / read.reply.size),
    _column("idf_max", lambda read: max(read.reply_rarities, default=0.0)),
    _column("idf_sum", lambda read: fsum(read.reply_rarities)),
    _column("content_words", lambda read: len(read.reply.content)),
    _column("content_share", lambda read: len(read.reply.content) / read.reply.size),
    _column("unknown_words", _unknown),
    _column("usual_reply", lambda read: log1p(read.phrases.said(read.reply.words))),
    _column("last_idf_mean", lambda read: read.weight(read.last.words) / read.last.size),
)
