"""Columns of how much a reply says: how rare its words are, and how usual it is as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import fsum, log1p

from rejoinder.judges.features.reading import Reading
from rejoinder.judges.features.table import Group
from rejoinder.judges.features.view import Column
from rejoinder.text.detect import is_code

SENSELESS = "senseless"
_LEAST = 4  # unknown words; of fewer, names and the words of a trade among them are answers
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _column(name: str, of: Callable[[Reading], float], group: Group = "specificity") -> Column[Reading]:
    return Column(name, group, of)


def _unknown(read: Reading) -> float:
    """The share of words that are not known."""
    known = read.phrases.rarity
    return sum(word not in known for word in read.reply.words) / read.reply.size


def _senseless(read: Reading) -> bool:
    """Whether a reply is a program, or most of its words are none: small letters that no corpus has."""
    words = _WORD.findall(read.text)
    unknown = sum(word.islower() and word.replace("’", "'") not in read.phrases.rarity for word in words)
    return (unknown >= _LEAST and 2 * unknown > len(words)) or is_code(read.text)


COLUMNS: tuple[Column[Reading], ...] = (
    _column("idf_mean", lambda read: fsum(read.reply_rarities) / read.reply.size),
    _column("idf_max", lambda read: max(read.reply_rarities, default=0.0)),
    _column("idf_sum", lambda read: fsum(read.reply_rarities)),
    _column("content_words", lambda read: len(read.reply.content)),
    _column("content_share", lambda read: len(read.reply.content) / read.reply.size),
    _column("unknown_words", _unknown),
    _column(SENSELESS, _senseless, "fluency"),
    _column("usual_reply", lambda read: log1p(read.phrases.reply_count(read.reply.words))),
    _column("last_idf_mean", lambda read: read.weight(read.last.words) / read.last.size),
)
