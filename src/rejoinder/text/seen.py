"""Texts as a reader sees them: letters that only look Latin, characters of no width and tags of speakers are gone.

A judge should score what people read, not how it is encoded.
"""

from __future__ import annotations

import re
import unicodedata

# Letters of other scripts that look like Latin ones.
_OTHER = "асеорхуіѕјһԁԛԝАСЕОРХУІЅЈҺВКМНТΑΒΕΖΗΙΚΜΝΟΡΤΥΧον"
_LATIN = "aceopxyisjhdqwACEOPXYISJHBKMHTABEZHIKMNOPTYXov"
_ALIKE = str.maketrans(_OTHER, _LATIN)
_STRANGE = re.compile(f"[{_OTHER}]")
_TAG = re.compile(r"^\s*(?:bot|chatbot|assistant|system|user|human|speaker ?\w?|[ab])\s?:\s+(?=\S)", re.IGNORECASE)
_INVISIBLE = {"Cf", "Cc", "Co", "Cs", "Cn"}


def seen(text: str) -> str:
    """`text` as a reader sees it, without the tag of a speaker before it.

    A text in Russian or Greek stays as it is: it has letters that look like no Latin ones.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in text if sign.isspace() or unicodedata.category(sign) not in _INVISIBLE)
        if _STRANGE.search(text) and all(map(_latin, filter(str.isalpha, text.translate(_ALIKE)))):
            text = text.translate(_ALIKE)
    elif not text.isprintable():
        text = "".join(sign for sign in text if sign.isspace() or sign.isprintable())
    return _TAG.sub("", text)


def _latin(letter: str) -> bool:
    """Whether a letter is a Latin one."""
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
