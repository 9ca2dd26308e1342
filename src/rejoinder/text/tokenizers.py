"""The tokenizers, by name. A change of behaviour takes a new name, so a signature that holds the name stays true.

- `whitespace`: `text.split()`
- `space-1`: strip, then split on one space; case-sensitive (the script released with Liu et al. 2016)
- `words-1`: lower-cased words, single punctuation marks and single emoji
- `words-2`: the same, but for scripts without spaces between words, of which each character is a token. Where a table
  of words is at hand (that of word vectors), these are cut into the longest words that it holds, and every word stays
  as it is written where the table holds it so
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator
from functools import cache, partial
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.text.scripts import UNSPACED

Tokenize = Callable[[str], list[str]]
LONGEST = 12  # characters of a word that is looked for in a text without spaces


def tokenizer(name: str, table: Container[str] = frozenset()) -> Tokenize:
    """The tokenizer called `name`, a function from a text to its tokens.

    Args:
        name: one of `TOKENIZERS`.
        table: the words that something is known of; only `words-2` looks at them.

    Raises:
        UsageError: there is no tokenizer of that name; the message holds all names.
    """
    try:
        found = TOKENIZERS[name]
    except KeyError:
        raise UsageError(f"no tokenizer is called {name!r}. There are: {', '.join(TOKENIZERS)}") from None
    return partial(_words_of, table=table) if found is _words_of else found


def _whitespace(text: str) -> list[str]:
    """The tokens between runs of white space."""
    return text.split()


def _single_spaces(text: str) -> list[str]:
    """The tokens between single spaces; two spaces in a row give an empty token, and so does an empty text.

    Source: `embedding_metrics.py`, released with Liu et al. 2016 (`line.strip().split(" ")`).
    """
    return text.strip().split(" ")


def _words(text: str) -> list[str]:
    """Lower-cased words (letters, digits, marks, inner apostrophes) and single signs, in NFC.

    A typographic apostrophe between letters becomes a straight one, so both spellings of "don't" are one word. An emoji
    with its modifiers is one token. A script written without spaces gives one token for each run of letters.
    """
    if text.isascii():
        return _ASCII_WORDS(text.lower())
    found: list[str] = _word_pattern().findall(unicodedata.normalize("NFC", text.lower()))
    return [token.replace("’", "'") if len(token) > 1 else token for token in found]


def _words_of(text: str, table: Container[str] = frozenset()) -> list[str]:
    """The words of `words-1`, in the case that `table` has, and those of scripts without spaces as `table` has them."""
    if text.isascii():
        return [word if word in table else word.lower() for word in _ASCII_WORDS_OF_ANY_CASE(text)]
    text = unicodedata.normalize("NFC", text)
    if not _unspaced().search(text):
        return [_as_held(token, table) for token in _word_pattern().findall(text)]
    found: list[str] = []
    for token in _run_pattern().findall(text):
        word = _as_held(token, table)
        found += _longest(word, table) if word not in table and _unspaced().match(word) else [word]
    return found


def _as_held(token: str, table: Container[str]) -> str:
    """A token with a straight apostrophe: as it is written where `table` holds it so, else in lower case."""
    word = token.replace("’", "'") if len(token) > 1 else token
    return word if word in table else word.lower()


def _longest(run: str, table: Container[str]) -> Iterator[str]:
    """From the left, always the longest word of `table` that comes next, or one character where none does."""
    characters: list[str] = _character_pattern().findall(run)
    start = 0
    while start < len(characters):
        ends = range(min(start + LONGEST, len(characters)), start, -1)
        words = ("".join(characters[start:end]) for end in ends)
        word, end = next(
            ((word, end) for word, end in zip(words, ends, strict=True) if word in table), (None, start + 1)
        )
        yield word or characters[start]
        start = end


# What the general patterns below find in ASCII text, at nearly twice their speed.
_ASCII_WORDS = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*|[^\sa-z0-9\x00-\x1f\x7f]").findall
_ASCII_WORDS_OF_ANY_CASE = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*|[^\sA-Za-z0-9\x00-\x1f\x7f]").findall


@cache
def _word_pattern() -> Any:
    """The compiled pattern of `words-1`: a word with inner apostrophes, else one grapheme cluster that is no space."""
    import regex  # type: ignore[import-untyped]

    word = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
    return regex.compile(rf"{word}(?:['’]{word})*|(?![\s\p{{C}}])\X")


@cache
def _run_pattern() -> Any:
    """The compiled pattern of `words-2`: that of `words-1`, but letters of scripts without spaces are runs alone."""
    import regex

    run = rf"[[{UNSPACED}]&&[\p{{L}}\p{{N}}]][[[{UNSPACED}]&&[\p{{L}}\p{{N}}]]\p{{M}}\u200c\u200d]*"
    word = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}\u200c\u200d]--[{UNSPACED}]]*"
    return regex.compile(rf"(?V1){run}|{word}(?:['’]{word})*|(?![\s\p{{C}}])\X")


@cache
def _unspaced() -> Any:
    """The compiled pattern of a letter or digit of a script without spaces."""
    import regex

    return regex.compile(rf"(?V1)[[{UNSPACED}]&&[\p{{L}}\p{{N}}]]")


@cache
def _character_pattern() -> Any:
    """The compiled pattern of a character with its marks."""
    import regex

    return regex.compile(r"\X")


TOKENIZERS: dict[str, Tokenize] = {
    "whitespace": _whitespace,
    "space-1": _single_spaces,
    "words-1": _words,
    "words-2": _words_of,
}
