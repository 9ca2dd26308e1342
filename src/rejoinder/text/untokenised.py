"""Undo what tokenizers did to a text: corpora and rated sets write the same words with other spaces."""

from __future__ import annotations

import re

_SPACES = re.compile(r"\s+")
# What a text holds in which a rule may find something (nothing: every text does), the rule, and what it writes instead.
_RULES = tuple(
    (sign, re.compile(pattern, re.IGNORECASE), instead)
    for sign, pattern, instead in (
        ("<", r"<\s*/?\s*s\s*>|<pad>", ""),
        ("", r" +(?=[?.!,;:%)\]])", ""),  # by then there is no other space
        ("(", r"(?<=\()\s+", ""),
        ("[", r"(?<=\[)\s+", ""),
        ("'", r"\bn ' t\b", "n't"),
        ("'", r"\s+(?:n't|n 't)\b", "n't"),
        ("'", r"\s+'\s*(?=(?:s|m|re|ve|ll|d|t)\b)", "'"),
    )
)


def untokenised(text: str) -> str:
    """`text` with single spaces, none before a sign that ends something, contractions whole, marks of turns gone."""
    # Spaces first, so that no rule tries a long run of them over and over.
    if "  " in text or not text.isprintable():  # no other space is printable
        text = _SPACES.sub(" ", text)
    text = text.replace("’", "'").replace("`", "'")
    for sign, pattern, instead in _RULES:
        if sign in text:
            text = pattern.sub(instead, text)
    return " ".join(text.split())
