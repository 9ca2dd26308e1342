"""Tokenizers by name and version. A changed tokenizer gets a new name, because signatures of scores hold the name.

- `whitespace`: `text.split()`
- `space-1`: strip, then split at each single space; case-sensitive (the script released with Liu et al. 2016)
- `words-1`: lower-cased words, single punctuation marks and single emoji
- `words-2`: the same, but each character is a token in scripts without spaces between words. A table of words (of word
  vectors) splits these scripts into its longest words, and a word keeps its case if the table has it in that case
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator
from functools import partial

from rejoinder.errors import UsageError
from rejoinder.text.scripts import UNSPACED, pattern

Tokenize = Callable[[str], list[str]]
LONGEST = 12  # characters of a word that is looked up in a text without spaces

# In ASCII texts these find the same words as the general patterns, in nearly half the time.
_ASCII_WORDS = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*|[^\sa-z0-9\x00-\x1f\x7f]").findall
_ASCII_WORDS_OF_ANY_CASE = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*|[^\sA-Za-z0-9\x00-\x1f\x7f]").findall
# A word with inner apostrophes, else a grapheme cluster that is no space.
_WORD = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
_WORDS = rf"{_WORD}(?:['’]{_WORD})*|(?![\s\p{{C}}])\X"
# The same, but letters of scripts without spaces form words of their own.
_UNSPACED = rf"[[{UNSPACED}]&&[\p{{L}}\p{{N}}]]"
_RUN = rf"{_UNSPACED}[{_UNSPACED}\p{{M}}\u200c\u200d]*"
_SPACED_WORD = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}\u200c\u200d]--[{UNSPACED}]]*"
_WORDS_AND_RUNS = rf"{_RUN}|{_SPACED_WORD}(?:['’]{_SPACED_WORD})*|(?![\s\p{{C}}])\X"


def tokenizer(name: str, table: Container[str] = frozenset()) -> Tokenize:
    """Return the tokenizer of a name; only `words-2` uses the table of known words.

    Raises:
        UsageError: no tokenizer has this name.
    """
    if name not in TOKENIZERS:
        raise UsageError(f"no tokenizer has the name {name!r}. Use one of {', '.join(TOKENIZERS)}")
    return partial(_words_of, table=table) if name == "words-2" else TOKENIZERS[name]


def _single_spaces(text: str) -> list[str]:
    """Split at each single space, as `embedding_metrics.py` of Liu et al. 2016; two in a row give an empty token."""
    return text.strip().split(" ")


def _words(text: str) -> list[str]:
    """Return lower-cased words with straight apostrophes and single signs, in NFC; an emoji keeps its modifiers."""
    if text.isascii():
        return _ASCII_WORDS(text.lower())
    tokens: list[str] = pattern(_WORDS).findall(unicodedata.normalize("NFC", text.lower()))
    return [token.replace("’", "'") if len(token) > 1 else token for token in tokens]


def _words_of(text: str, table: Container[str] = frozenset()) -> list[str]:
    """Return the words of `words-1` in the case of the table, and scripts without spaces split into its words."""
    if text.isascii():
        return [word if word in table else word.lower() for word in _ASCII_WORDS_OF_ANY_CASE(text)]
    text = unicodedata.normalize("NFC", text)
    if not pattern(_UNSPACED).search(text):
        return [_as_in(table, token) for token in pattern(_WORDS).findall(text)]
    tokens: list[str] = []
    for token in pattern(_WORDS_AND_RUNS).findall(text):
        word = _as_in(table, token)
        tokens += _longest(word, table) if word not in table and pattern(_UNSPACED).match(word) else [word]
    return tokens


def _as_in(table: Container[str], token: str) -> str:
    """Return a token with straight apostrophes, in its own case if the table has it, else in lower case."""
    word = token.replace("’", "'") if len(token) > 1 else token
    return word if word in table else word.lower()


def _longest(run: str, table: Container[str]) -> Iterator[str]:
    """Yield, from the left, the longest next word of the table, or one character if the table has none."""
    characters: list[str] = pattern(r"\X").findall(run)
    start = 0
    while start < len(characters):
        ends = range(min(start + LONGEST, len(characters)), start, -1)
        end = next((end for end in ends if "".join(characters[start:end]) in table), start + 1)
        yield "".join(characters[start:end])
        start = end


TOKENIZERS: dict[str, Tokenize] = {
    "whitespace": str.split,
    "space-1": _single_spaces,
    "words-1": _words,
    "words-2": _words_of,
}
