"""Texts as models of chat read them, whatever tokenizer they came through: `do n ' t you ?` is `don't you?` again.

Sets of rated replies and corpora are written in a dozen ways, cased or not, tokenised or not. What is learnt from one
and used on another must not see the difference.
"""

from __future__ import annotations

import re

from rejoinder.text.tokenizers import tokenizer
from rejoinder.text.untokenised import untokenised

_QUOTES, _APOSTROPHES = re.compile("``|''|[“”]"), re.compile("[‘´]")
_cut = tokenizer("words-1")


def plain(text: str) -> str:
    """`text` in lower case, quotation marks of one kind, and what tokenizers put apart joined again."""
    return untokenised(_APOSTROPHES.sub("'", _QUOTES.sub('"', text.lower())))


def plain_words(text: str) -> tuple[str, ...]:
    """The words and single signs of a text as `plain` makes it."""
    return tuple(_cut(plain(text)))
