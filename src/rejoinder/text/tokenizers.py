"""The tokenizers, by name. A change of behaviour takes a new name, so a signature that holds the name stays true.

- `whitespace`: `text.split()`
- `space-1`: strip, then split on one space; case-sensitive (the script released with Liu et al. 2016)
- `words-1`: lower-cased words, single punctuation marks and single emoji
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

from rejoinder.errors import UsageError

Tokenize = Callable[[str], list[str]]


def tokenizer(name: str) -> Tokenize:
    """The tokenizer called `name`, a function from a text to its tokens.

    Raises:
        UsageError: there is no tokenizer of that name; the message holds all names.
    """
    try:
        return TOKENIZERS[name]
    except KeyError:
        raise UsageError(f"no tokenizer is called {name!r}. There are: {', '.join(TOKENIZERS)}") from None


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


# What the general pattern below finds in ASCII text, at nearly twice its speed.
_ASCII_WORDS = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*|[^\sa-z0-9\x00-\x1f\x7f]").findall


@cache
def _word_pattern() -> Any:
    """The compiled pattern of `words-1`: a word with inner apostrophes, else one grapheme cluster that is no space."""
    import regex  # type: ignore[import-untyped]

    word = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
    return regex.compile(rf"{word}(?:['’]{word})*|(?![\s\p{{C}}])\X")


TOKENIZERS: dict[str, Tokenize] = {"whitespace": _whitespace, "space-1": _single_spaces, "words-1": _words}
