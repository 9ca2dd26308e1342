"""Attacks on how a reply is written: signs, case, spaces, characters that look alike. No word changes.

Each function gives the changed text, or None where there is nothing to change.
"""

from __future__ import annotations

import re
import unicodedata

# Cyrillic letters that look like Latin ones.
_ALIKE = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_STRAIGHT = str.maketrans("’“”", '\'""')
_STOPS = ".!?…"
UNSEEN = "\u200b"  # a space of no width


def unpunctuated(text: str) -> str | None:
    """The text without punctuation; apostrophes inside words go too, as everybody types them."""
    left = "".join(sign for sign in text if not unicodedata.category(sign).startswith("P"))
    left = " ".join(left.split())
    return left if left and left != " ".join(text.split()) else None


def looking_alike(text: str) -> str | None:
    """Latin letters replaced by Cyrillic ones that look the same."""
    return _other(text.translate(_ALIKE), text)


def with_unseen(text: str) -> str | None:
    """A space of no width after the first letter of each word."""
    return _other(re.sub(r"(\w)(?=\w)(?<!\w\w)", rf"\1{UNSEEN}", text), text)


def spaced(text: str) -> str | None:
    """Two spaces for one, one before the text and one after it."""
    return f" {re.sub(' +', '  ', text.strip())} " if text.strip() else None


def quoted_otherwise(text: str) -> str | None:
    """Straight quotes and apostrophes made round, and round ones straight."""
    if (straight := text.translate(_STRAIGHT)) != text:
        return straight
    opened = re.sub(r'(?<!\S)"', "“", text)
    return _other(opened.replace('"', "”").replace("'", "’"), text)


def decomposed(text: str) -> str | None:
    """Accents as signs of their own after the letter, or together with it where they were so."""
    apart = unicodedata.normalize("NFD", text)
    return _other(apart, text) or _other(unicodedata.normalize("NFC", text), text)


def shouted(text: str) -> str | None:
    """All in upper case."""
    return _other(text.upper(), text)


def lowered(text: str) -> str | None:
    """All in lower case."""
    return _other(text.lower(), text)


def unstopped(text: str) -> str | None:
    """Without the sign at its end, or with a full stop where it has none."""
    said = text.rstrip()
    if not said:
        return None
    left = said.rstrip(_STOPS).rstrip()
    return left or None if left != said else f"{said}."


def smiling(text: str) -> str | None:
    """With an emoji at the end."""
    return f"{text.rstrip()} 🙂" if text.strip() else None


def tagged_speaker(text: str) -> str | None:
    """With the name of the speaker before it."""
    return f"Bot: {text}" if text.strip() else None


def _other(found: str, text: str) -> str | None:
    """What was found, where it is another text."""
    return found if found != text else None
