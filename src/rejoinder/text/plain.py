"""Texts as models of chat read them, whatever tokenizer they came through: `do n ' t you ?` is `don't you?` again.

Sets of rated replies and corpora are written in a dozen ways, cased or not, tokenised or not. What is learnt from one
and used on another must not see the difference.
"""

from __future__ import annotations

import re

from rejoinder.text.tokenizers import tokenizer

# Applied in this order; each pattern takes time that grows with the length of the text alone.
_RULES = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"<\s?/?\s?s\s?>|<pad>|\s", " "),  # marks of the start and end of a sentence
        (" +", " "),
        ("[’‘`´]", "'"),
        ("''|[“”]", '"'),
        (r"(?<=\w) '\s?(s|m|re|ve|ll|d|t)\b", r"'\1"),
        (r"(?<=\w) n ?'t\b", "n't"),
        (r" ([?.!,;:%)\]])", r"\1"),
        (r"([(\[]) ", r"\1"),
    )
)
_cut = tokenizer("words-1")


def plain(text: str) -> str:
    """`text` in lower case, white space and quotation marks of one kind, and what tokenizers put apart joined again.

    A text that is plain already stays as it is.
    """
    text = text.lower()
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text.strip()


def plain_words(text: str) -> tuple[str, ...]:
    """The words and single signs of a text as `plain` makes it."""
    return tuple(_cut(plain(text)))
