"""Undo what tokenizers did to a text: corpora and rated sets write the same words with other spaces."""

from __future__ import annotations

import re

_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\s+", " "),  # first, so that none of the others tries a long run of them over and over
        (r"[’`]", "'"),
        (r"<\s*/?\s*s\s*>|<pad>", ""),
        (r"\s+(?=[?.!,;:%)\]])", ""),
        (r"(?<=[(\[])\s+", ""),
        (r"\bn ' t\b", "n't"),
        (r"\s+(?:n't|n 't)\b", "n't"),
        (r"\s+'\s*(?=(?:s|m|re|ve|ll|d|t)\b)", "'"),
    )
)


def untokenised(text: str) -> str:
    """`text` with single spaces, none before a sign that ends something, contractions whole, marks of turns gone."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return " ".join(text.split())
