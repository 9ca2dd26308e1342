"""Tell texts that are no English chat: another language, code, long prose, no words at all.

Each test takes some hundredths of a millisecond and prefers a miss to a false alarm (figures: `docs/notes.md`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from rejoinder.text.scripts import pattern

LEAST_WORDS = 4  # a shorter text may be names and typing errors: only unmistakably foreign words decide
LEAST_WORTH = 0.42  # the words of English chat are worth at least this on average
LONGEST_CHAT = 120  # words; of 70,685 rated replies of chatbots 17 have more
READ = 500  # characters of a longer text that decide

_DATA = tomllib.loads(Path(__file__).with_name("detect.toml").read_text(encoding="utf-8"))
AMBIGUOUS_WORDS, FOREIGN_WORDS = frozenset(_DATA["ambiguous_words"].split()), frozenset(_DATA["foreign_words"].split())
_WORDS = r"(?<![#@\p{Latin}])\p{Latin}[\p{Latin}\p{M}]+"  # no hashtags, no user names
_OTHER_LETTERS = r"(?:[\p{L}--\p{Latin}]\p{M}*){2,}"  # a single letter may be part of a face
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)]|#+) +\S", re.MULTILINE)
_CODE = re.compile(_DATA["code"], re.MULTILINE | re.VERBOSE)
_CODE_SIGNS = re.compile(r"[(){}\[\]<>=;`$#|&]")


def is_foreign(text: str, english: Mapping[str, float]) -> bool:
    """Return whether a text is in another language than English, or in another script than Latin.

    The script is another if its letters, at least two in a row, outnumber the Latin letters. A text in Latin script is
    foreign if its words (of two letters or more) are worth less than 0.42 on average by `english` (0 to 1); if it has
    fewer than four words, one of `FOREIGN_WORDS` must be among them. The first 500 characters decide.
    """
    words = pattern(_WORDS).findall(text[:READ].casefold())
    if not text.isascii():
        others = sum(map(len, pattern(_OTHER_LETTERS).findall(text[:READ])))
        if others > sum(map(len, words)):
            return True
    if len(words) < LEAST_WORDS and FOREIGN_WORDS.isdisjoint(words):
        return False
    return sum(english.get(word, 0.0) for word in words) < LEAST_WORTH * len(words)


def is_code(text: str) -> bool:
    """Return whether the first 500 characters of a text hold lines of a program, markup or structured data."""
    start = text[:READ]
    return len(_CODE_SIGNS.findall(start)) > 1 and _CODE.search(start) is not None


def is_wordless(text: str) -> bool:
    """Return whether a text has signs but neither letters nor digits; an empty text has no signs."""
    return bool(text.strip()) and pattern(r"[\p{L}\p{N}]").search(text) is None


def is_long(text: str) -> bool:
    """Return whether a text has more words than people write in a chat, or two list items or headings."""
    return len(text.split(None, LONGEST_CHAT)) > LONGEST_CHAT or ("\n" in text and len(_LIST_ITEM.findall(text)) > 1)
